/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs road with connections that this test makes and breaks: what it
 * remembers of lists while some of its tables come and go.
 */
#include <stdlib.h>
#include <string.h>

#include "verbs/verbs_link.h"
#include "test.h"
#include "wire/be.h"

enum {
	TABLES = 2,
	LISTS = 4,
	HEADS = 4096,
};

static struct verbs_link *link_of[TABLES];
static uint64_t told[TABLES][LISTS]; /* the collector's counts */
static unsigned executed, reaped;

int verbs_peer_open(struct verbs_peer *p, const char *address,
		    const atomic_int *stop, struct fault *f)
{
	static const atomic_int never;

	(void)address;
	(void)stop;
	(void)f;
	*p = (struct verbs_peer){.stop = &never};
	return 0;
}

void verbs_peer_close(struct verbs_peer *p)
{
	(void)p;
}

void verbs_peer_poll(struct verbs_peer *p)
{
	(void)p;
}

int verbs_link_ticket(struct verbs_peer *p, struct ticket *t, struct fault *f)
{
	(void)p;
	(void)f;
	*t = (struct ticket){.n = TABLES, .epoch = 1};
	for (unsigned i = 0; i < TABLES; i++) {
		t->table[i].id = (uint16_t)i;
		t->table[i].kind = TABLE_APPEND;
		t->table[i].lists = LISTS;
		t->table[i].heads = HEADS;
		t->at[i].heads = malloc(sizeof(told[i]));
		memcpy(t->at[i].heads, told[i], sizeof(told[i]));
	}
	return 0;
}

int verbs_link_table(struct verbs_link *l, struct verbs_peer *p,
		     const struct table *t, uint64_t epoch,
		     struct verbs_road_ledger *ctr, struct fault *f)
{
	(void)epoch;
	(void)ctr;
	(void)f;
	l->peer = p;
	l->id = (void *)l;
	l->up = true;
	link_of[t->id] = l;
	return 0;
}

void verbs_link_close(struct verbs_link *l)
{
	memset(l, 0, sizeof(*l));
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

static void count_goes(struct road *road, uint8_t verb, unsigned table,
		       uint32_t list, uint64_t count)
{
	uint8_t data[8];
	const struct op op = {
		.verb = verb,
		.table = (uint16_t)table,
		.offset = HEADS + 8 * list,
		.length = sizeof(data),
		.data = data,
	};

	be64_store(data, count);
	TEST(road->exec(road, &op, 1, 0) == 0);
}

/* The one with an immediate is a count as any other. */
static void test_heads(void)
{
	struct verbs_road *v;
	struct fault f = {""};
	struct road *road;
	uint64_t generation;

	told[0][1] = 70;
	told[1][2] = 7;
	TEST(verbs_road_open(&v, "nowhere", NULL, &f) == 0);
	road = verbs_road(v);
	generation = road->begin(road);
	TEST(road->head(road, 0, 1) == 70 && road->head(road, 1, 2) == 7);
	count_goes(road, OP_WRITE, 0, 1, 74);
	count_goes(road, OP_WRITE, 1, 2, 11);
	count_goes(road, OP_WRITE_IMM, 1, 2, 13);
	road->end(road);
	TEST(executed == 3);
	reaped = 0;
	TEST(road_account(verbs_road(v), &(struct road_account){0}));
	TEST(reaped == TABLES);
	/* The first table's connection is lost, the second's lists go on. */
	told[0][1] = 72;
	link_of[0]->disconnected = true;
	TEST(road->begin(road) != generation);
	TEST(road->head(road, 0, 1) == 72);
	TEST(road->head(road, 1, 2) == 13);
	road->end(road);
	verbs_road_close(v);
}

int main(void)
{
	test_heads();
	return test_end();
}
