/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several collectors (admit.c): each has the memory that a translator
 * of its own would have left, given the reports whose keys are its (hashed bit
 * by bit) and, with mirrors, those of the one before it.
 */
#include "base/rng.h"
#include "test.h"
#include "translate_transport.h"
#include "net/be.h"

enum {
	TABLES = 4,
	COLLECTORS = 3,
	ROUNDS = 8,
};

static const uint32_t poly_collector = 0x8C2BFECF;

static void make_tables(struct table t[TABLES])
{
	t[0] = test_table(TABLE_KEYWRITE, 1, 13, 4, 8, 512);
	t[0].copies = 2;
	t[1] = test_table(TABLE_KEYINC, 2, 17, 8, 8, 512);
	t[2] = test_lists(3, 6, 8, 50, 20, 4);
	t[3] = test_postcards(4, 5, 32, 512, 64);
}

/* Random reports to all tables, with few keys. */
static void random_report(struct rng *rng, const struct table *tables,
			  struct dta_report *r, uint8_t key[32],
			  uint8_t value[32])
{
	const struct table *t = &tables[rng_below(rng, TABLES)];
	struct rng k = {rng_below(rng, 60)};

	for (unsigned i = 0; i < 32; i++) {
		key[i] = (uint8_t)rng_u64(&k);
		value[i] = (uint8_t)rng_u64(rng);
	}
	*r = (struct dta_report){
		.opcode = t->kind,
		.table = t->id,
		.copies = t->kind == TABLE_APPEND ? 0
						  : (uint8_t)rng_below(rng, 3),
		.key_len = t->key_len,
		.data_len = t->kind == TABLE_KEYINC ? 8 : t->value_len,
		.key = key,
		.data = value,
	};
	if (t->kind == TABLE_APPEND)
		be32_store(key, (uint32_t)rng_below(rng, t->lists));
	if (t->kind != TABLE_POSTCARD)
		return;
	r->hop = (uint8_t)rng_below(rng, 5);
	r->path_len = 5;
	be32_store(value, 1 + (uint32_t)rng_below(rng, 1000));
}

/* A transport to all of them: table t of collector c is c * TABLES + t. */
struct fan {
	struct transport transport;
	struct transport *to[COLLECTORS];
};

static uint64_t fan_begin(struct transport *r)
{
	struct fan *f = (struct fan *)r;

	for (unsigned c = 0; c < COLLECTORS; c++)
		f->to[c]->begin(f->to[c]);
	return 1;
}

static int fan_exec(struct transport *r, const struct op *ops, size_t n,
		    uint64_t ts_ns)
{
	struct fan *f = (struct fan *)r;
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		struct transport *to = f->to[ops[i].table / TABLES];
		struct op op = ops[i];

		op.table %= TABLES;
		rc = to->exec(to, &op, 1, ts_ns);
	}
	return rc;
}

static void fan_end(struct transport *r)
{
	struct fan *f = (struct fan *)r;

	for (unsigned c = 0; c < COLLECTORS; c++)
		if (f->to[c]->end)
			f->to[c]->end(f->to[c]);
}

static uint64_t fan_head(struct transport *r, unsigned table, uint32_t list)
{
	struct transport *to = ((struct fan *)r)->to[table / TABLES];

	return to->head(to, table % TABLES, list);
}

struct own { /* what one collector alone would have */
	struct test_transport *transport;
	struct translator *tr;
	struct frames frames;
};

static void own_open(struct own *o, struct table *t)
{
	o->transport = test_transport_new(t, TABLES);
	o->frames.n = 0;
	TEST(translate_open(&o->tr, t, TABLES, &o->transport->transport, NULL,
			    NULL) == 0);
}

static void own_close(struct own *o)
{
	frames_clear(&o->frames);
	translate_close(o->tr);
	test_transport_free(o->transport);
}

static void same_memory(const struct test_transport *a,
			const struct test_transport *b, const struct table *t)
{
	for (unsigned i = 0; i < TABLES; i++)
		TEST(!memcmp(a->mem[i], b->mem[i], t[i].length));
}

static unsigned owner_of(const struct dta_report *r)
{
	return test_crc(poly_collector, r->key, r->key_len) % COLLECTORS;
}

/* n random reports, to all and to those whose they are. */
static void make_reports(struct rng *rng, const struct table *t, unsigned n,
			 struct frames *all, struct own *own, bool mirror)
{
	for (unsigned i = 0; i < n; i++) {
		uint8_t key[32], value[32], frame[FRAME_ROOM];
		int shape = (int)rng_below(rng, SHAPES);
		struct dta_report r;
		unsigned owner;
		size_t len;

		random_report(rng, t, &r, key, value);
		len = frame_of(frame, DTA_FORMAT_1, &r, 1, shape);
		frames_add(all, frame, len, 0);
		owner = owner_of(&r);
		frames_add(&own[owner].frames, frame, len, 0);
		owner = (owner + 1) % COLLECTORS;
		if (mirror)
			frames_add(&own[owner].frames, frame, len, 0);
	}
}

static void against_owners(uint64_t seed, bool mirror)
{
	static struct own own[COLLECTORS];
	static struct frames all;
	struct table t[TABLES], divided[TABLES];
	struct test_transport *transport[COLLECTORS];
	struct fan fan = {.transport = {.begin = fan_begin,
					.exec = fan_exec,
					.end = fan_end,
					.head = fan_head}};
	struct translate_options o = {.collectors = COLLECTORS,
				      .mirror = mirror};
	struct rng rng = {seed};
	struct translator *tr;
	struct error err = {""};
	uint64_t sent = 0;

	make_tables(t);
	memcpy(divided, t, sizeof(t));
	/* By the next power of two; mirrors' rows are there twice. */
	divided[3].cache_rows /= mirror ? 2 : 4;
	for (unsigned c = 0; c < COLLECTORS; c++) {
		own_open(&own[c], divided);
		transport[c] = test_transport_new(t, TABLES);
		fan.to[c] = &transport[c]->transport;
	}
	if (!TEST(translate_open(&tr, t, TABLES, &fan.transport, &o, &err) ==
		  0)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	for (int round = 0; round < ROUNDS; round++) {
		unsigned n = 1 + (unsigned)rng_below(&rng, PKT_BATCH);

		make_reports(&rng, t, n, &all, own, mirror);
		sent += n;
		TEST(translate_rx(tr, all.pkt, all.n) == 0);
		frames_clear(&all);
		for (unsigned c = 0; c < COLLECTORS; c++) {
			TEST(translate_rx(own[c].tr, own[c].frames.pkt,
					  own[c].frames.n) == 0);
			frames_clear(&own[c].frames);
		}
	}
	TEST(translate_flush(tr) == 0);
	for (unsigned c = 0; c < COLLECTORS; c++) {
		TEST(translate_flush(own[c].tr) == 0);
		TEST(!transport[c]->bad && transport[c]->nops > 100);
		same_memory(transport[c], own[c].transport, t);
	}
	TEST(translate_counters(tr)->received == sent);
	TEST(translate_counters(tr)->stored == sent);
	TEST(ledger_balanced(&translate_ledger, translate_counters(tr)));
	translate_close(tr);
	for (unsigned c = 0; c < COLLECTORS; c++) {
		own_close(&own[c]);
		test_transport_free(transport[c]);
	}
}

int main(void)
{
	against_owners(1, false);
	against_owners(2, false);
	against_owners(3, true);
	return test_end();
}
