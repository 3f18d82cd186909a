/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs transport with a connection that this test makes and breaks: what
 * it remembers of lists.
 */
#include <stdlib.h>
#include <string.h>

#include "verbs/verbs_link.h"
#include "test.h"
#include "net/be.h"

enum {
	TABLES = 2,
	LISTS = 4,
};

static uint64_t heads_at;	     /* in each table */
static uint64_t told[TABLES][LISTS]; /* the collector's counts */
static struct verbs_link *used;
static unsigned executed, reaped;

int verbs_link_open(struct verbs_link *l, const char *address,
		    const struct verbs_transport_options *o, struct error *err)
{
	static const atomic_int never;

	(void)address;
	(void)o;
	(void)err;
	l->stop = &never;
	return 0;
}

/* A ticket, as a text. */
static char text[4096];

int verbs_link_connect(struct verbs_link *l, uint32_t kind, struct error *err)
{
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct ticket t = {.version = 4, .mtu = 1024, .epoch = 1, .n = TABLES};

	TEST(kind == VERBS_CM_WRITE);
	for (unsigned i = 0; i < TABLES; i++) {
		struct table *g = &t.table[i];

		snprintf(g->name, sizeof(g->name), "t%u", i);
		g->id = (uint16_t)(i + 1);
		g->kind = TABLE_APPEND;
		g->value_len = 4;
		g->lists = LISTS;
		g->units = 64;
		TEST(table_finish(g, err) == 0);
		heads_at = g->heads;
		t.at[i].qpn = 0x11 + i;
		t.at[i].heads = told[i];
	}
	TEST(ticket_write(&t, out) == 0);
	fclose(out);
	l->answer.length = strlen(text);
	l->up = true;
	used = l;
	return 0;
}

int verbs_link_read(struct verbs_link *l, const struct memory_piece *p,
		    size_t n, struct error *err)
{
	(void)l;
	(void)err;
	TEST(n == 1 && p->offset == 0);
	memcpy(p->to, text, p->length);
	return 0;
}

void verbs_link_poll(struct verbs_link *l)
{
	(void)l;
}

void verbs_link_disconnect(struct verbs_link *l)
{
	const atomic_int *stop = l->stop;

	memset(l, 0, sizeof(*l));
	l->stop = stop;
}

void verbs_link_close(struct verbs_link *l)
{
	verbs_link_disconnect(l);
}

void verbs_queue_exec(struct verbs_queue *q, const struct op *ops, size_t n)
{
	(void)q;
	(void)ops;
	executed += (unsigned)n;
}

void verbs_queue_settle(struct verbs_queue *q)
{
	(void)q;
}

unsigned verbs_queue_reap(struct verbs_queue *q)
{
	(void)q;
	reaped++;
	return 0;
}

static void count_goes(struct transport *transport, uint8_t verb,
		       unsigned table, uint32_t list, uint64_t count)
{
	uint8_t data[8];
	const struct op op = {
		.verb = verb,
		.table = (uint16_t)table,
		.offset = heads_at + 8 * list,
		.length = sizeof(data),
		.data = data,
	};

	be64_store(data, count);
	TEST(transport->exec(transport, &op, 1, 0) == 0);
}

/* The one with an immediate is a count as any other. */
static void test_heads(void)
{
	struct error err = {""};
	struct transport *transport;
	uint64_t generation;

	told[0][1] = 70;
	told[1][2] = 7;
	TEST(verbs_transport_open(&transport, "nowhere", NULL, &err) == 0);
	generation = transport->begin(transport);
	TEST(transport->head(transport, 0, 1) == 70 &&
	     transport->head(transport, 1, 2) == 7);
	count_goes(transport, OP_WRITE, 0, 1, 74);
	count_goes(transport, OP_WRITE, 1, 2, 11);
	count_goes(transport, OP_WRITE_IMM, 1, 2, 13);
	TEST(executed == 3);
	reaped = 0;
	TEST(transport->account(transport, &(struct transport_account){0}));
	TEST(reaped == 1);
	/* The connection is lost: what the collector says is right. */
	told[0][1] = 72;
	told[1][2] = 13;
	used->disconnected = true;
	TEST(transport->begin(transport) != generation);
	TEST(transport->head(transport, 0, 1) == 72);
	TEST(transport->head(transport, 1, 2) == 13);
	transport->close(transport);
}

int main(void)
{
	test_heads();
	return test_end();
}
