/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The postcard cache against a model of dta(7), MEMORY, that takes one postcard
 * after the other, writes entry by entry, and hashes bit by bit.
 */
#include "base/rng.h"
#include "test.h"
#include "translate_transport.h"
#include "net/be.h"

enum {
	KEY = 13,
};

struct model_row {
	bool used;
	uint8_t key[KEY];
	bool have[8];
	uint32_t value[8];
	unsigned path_len, copies;
};

struct model {
	const struct table *t;
	struct model_row *row;
	uint8_t *mem;
	uint64_t chunks, early, duplicates;
};

static void model_entry(struct model *m, const struct model_row *r,
			unsigned hop, uint32_t value)
{
	for (unsigned c = 0; c < r->copies; c++) {
		uint64_t i = test_crc(poly_slot[c], r->key, KEY) % m->t->units;

		be32_store(m->mem + i * m->t->stride + 4 * hop,
			   test_crc(poly_hop[hop], r->key, KEY) ^ value);
	}
}

/* Nothing but what the row knows: held hops, blanks behind a known end. */
static void model_write(struct model *m, struct model_row *r, unsigned end)
{
	for (unsigned i = 0; i < m->t->hops; i++) {
		if (r->have[i])
			model_entry(m, r, i, r->value[i]);
		else if (end && i >= end)
			model_entry(m, r, i, 0xffffffff);
	}
	*r = (struct model_row){.used = false};
}

static void model_add(struct model *m, const struct dta_report *r)
{
	struct model_row *row = &m->row[test_crc(poly_checksum, r->key, KEY) %
					m->t->cache_rows];
	unsigned path = r->path_len, end;
	bool all = true;

	if (path > m->t->hops) /* dropped: bad_hop */
		return;
	if (row->used && memcmp(row->key, r->key, KEY)) {
		m->early++;
		model_write(m, row, row->path_len);
	}
	row->used = true;
	memcpy(row->key, r->key, KEY);
	if (path > row->path_len)
		row->path_len = path;
	if ((r->copies ? r->copies : m->t->copies) > row->copies)
		row->copies = r->copies ? r->copies : m->t->copies;
	m->duplicates += row->have[r->hop];
	row->have[r->hop] = true;
	row->value[r->hop] = be32_load(r->data);
	end = row->path_len ? row->path_len : m->t->hops;
	for (unsigned i = 0; i < end; i++)
		all = all && row->have[i];
	if (!all)
		return;
	m->chunks++;
	model_write(m, row, end);
}

static void model_flush(struct model *m)
{
	for (unsigned i = 0; i < m->t->cache_rows; i++) {
		if (!m->row[i].used)
			continue;
		m->early++;
		model_write(m, &m->row[i], m->row[i].path_len);
	}
}

static void compare(const struct model *m, const struct translator *tr,
		    const struct test_transport *transport)
{
	const struct translate_ledger *c = translate_counters(tr);

	TEST(!memcmp(m->mem, transport->mem[0], m->t->length));
	TEST(c->chunks == m->chunks);
	TEST(c->early_emissions == m->early);
	TEST(c->duplicates == m->duplicates);
	TEST(ledger_balanced(&translate_ledger, c));
}

/* Random postcards of few flows: holes, duplicates, rows that collide, path
 * lengths told by some, or longer than the chunk. */
static void against_model(const struct table *t, uint64_t seed, unsigned flows)
{
	struct test_transport *transport = test_transport_new(t, 1);
	struct model m = {.t = t};
	struct rng rng = {seed};
	struct translator *tr;
	struct frames f = {.n = 0};

	m.row = calloc(t->cache_rows, sizeof(*m.row));
	m.mem = calloc(1, t->length);
	TEST(translate_open(&tr, t, 1, &transport->transport, NULL, NULL) == 0);
	for (int round = 0; round < 8; round++) {
		while (f.n < PKT_BATCH - 7u * (unsigned)round) {
			uint8_t key[KEY], value[4], frame[FRAME_ROOM];
			uint64_t flow = rng_below(&rng, flows);
			struct rng k = {flow};
			unsigned len = 1 + flow % (t->hops + 2u);
			struct dta_report r = {
				.opcode = TABLE_POSTCARD,
				.copies = (uint8_t)(rng_below(&rng, 8)
							    ? 0
							    : rng_below(&rng,
									5)),
				.path_len = (uint8_t)(rng_below(&rng, 2) ? len
									 : 0),
				.table = t->id,
				.key_len = KEY,
				.data_len = 4,
				.key = key,
				.data = value,
			};

			r.hop = (uint8_t)rng_below(
				&rng, len < t->hops ? len : t->hops);
			for (unsigned b = 0; b < KEY; b++)
				key[b] = (uint8_t)rng_u64(&k);
			be32_store(value, (uint32_t)rng_below(&rng, 1000));
			frames_add(&f, frame,
				   frame_of(frame, DTA_FORMAT_1, &r, 1,
					    (int)rng_below(&rng, SHAPES)),
				   0);
			model_add(&m, &r);
		}
		TEST(translate_rx(tr, f.pkt, f.n) == 0);
		frames_clear(&f);
		compare(&m, tr, transport);
	}
	model_flush(&m);
	TEST(translate_flush(tr) == 0);
	compare(&m, tr, transport);
	/* all that is here to test has come about */
	TEST(m.chunks && (t->hops == 1 || (m.early && m.duplicates)));
	TEST(translate_flush(tr) == 0);
	compare(&m, tr, transport); /* nothing is written twice */
	TEST(!transport->bad);
	translate_close(tr);
	test_transport_free(transport);
	free(m.row);
	free(m.mem);
}

static void geometries(void)
{
	struct table t;

	t = test_postcards(1, 5, 32, 64, 16);
	against_model(&t, 1, 40);
	t.copies = 2;
	against_model(&t, 2, 40);
	t = test_postcards(1, 8, 32, 61, 8);
	t.copies = 4;
	against_model(&t, 3, 30);
	t = test_postcards(1, 1, 4, 64, 8);
	t.copies = 1;
	against_model(&t, 4, 300);
	t = test_postcards(1, 3, 128, 16, 4);
	against_model(&t, 5, 12);
}

static struct frames fed;

static void feed(struct translator *tr, uint8_t flow, uint8_t hop,
		 uint8_t path_len, bool immediate, uint16_t sequence)
{
	uint8_t key[KEY] = {flow}, value[4] = {0, 0, 1, hop};
	struct dta_report r = {.opcode = TABLE_POSTCARD,
			       .hop = hop,
			       .path_len = path_len,
			       .immediate = immediate,
			       .sequence = sequence,
			       .table = 1,
			       .key_len = KEY,
			       .data_len = 4,
			       .key = key,
			       .data = value};

	frames_report(&fed, &r);
	TEST(translate_rx(tr, fed.pkt, fed.n) == 0);
	frames_clear(&fed);
}

/* Which operations there are: one store for a chunk, runs for a part of it. */
static void operations(void)
{
	struct table t = test_postcards(1, 5, 32, 64, 1); /* all rows collide */
	struct test_transport *transport;
	struct translator *tr;

	t.copies = 2;
	transport = test_transport_new(&t, 1);
	TEST(translate_open(&tr, &t, 1, &transport->transport, NULL, NULL) ==
	     0);
	for (uint8_t hop = 0; hop < 5; hop++) {
		TEST(transport->nops == 0);
		feed(tr, 1, hop, 5, hop == 1, 73 + hop);
	}
	TEST(transport->nops == 2 && transport->op[0].length == 32 &&
	     transport->op[1].length == 32);
	TEST(transport->op[0].verb == OP_WRITE &&
	     transport->op[1].verb == OP_WRITE_IMM &&
	     transport->op[1].immediate == (1u << 16 | 77));
	/* hops 0, 1 and 3 of an unknown length, pushed out: two runs a copy */
	feed(tr, 2, 0, 0, false, 0);
	feed(tr, 2, 3, 0, false, 0);
	feed(tr, 2, 1, 0, false, 0);
	TEST(transport->nops == 2);
	feed(tr, 3, 2, 4, false, 0);
	TEST(transport->nops == 6);
	TEST(transport->op[2].length == 8 && transport->op[2].offset % 32 == 0);
	TEST(transport->op[3].length == 4 &&
	     transport->op[3].offset % 32 == 12);
	/* hop 2 of 4: itself, and the blank behind the path */
	TEST(translate_flush(tr) == 0);
	TEST(transport->nops == 10);
	TEST(transport->op[6].length == 4 && transport->op[6].offset % 32 == 8);
	TEST(transport->op[7].length == 4 &&
	     transport->op[7].offset % 32 == 16);
	/* a path of one hop is complete at once */
	feed(tr, 4, 0, 1, false, 0);
	TEST(transport->nops == 12 && transport->op[11].length == 32);
	TEST(!transport->bad);
	translate_close(tr);
	test_transport_free(transport);
}

/* A chunk and its cells as the published DTA translator writes them. */
static void dta0(void)
{
	static const uint32_t cell[5] = {0xfcbb7a2f, 0x119ca20c, 0x55f952f3,
					 0xf4b8da4a, 0xf1be4f77};
	struct table t = test_postcards(1, 5, 32, 256, 1024);
	struct translate_options o = {.format = DTA_FORMAT_0A};
	struct test_transport *transport;
	struct translator *tr;

	t.key_len = 4;
	t.hash = HASH_DTA0;
	transport = test_transport_new(&t, 1);
	TEST(translate_open(&tr, &t, 1, &transport->transport, &o, NULL) == 0);
	for (uint8_t hop = 5; hop-- > 0;) {
		uint8_t frame[FRAME_ROOM], value[4] = {9, 0, 0, hop};
		struct dta_report r = {.opcode = TABLE_POSTCARD,
				       .hop = hop,
				       .key_len = 4,
				       .data_len = 4,
				       .key = (const uint8_t *)"\0\0\0\1",
				       .data = value};

		frames_add(&fed, frame,
			   frame_of(frame, DTA_FORMAT_0A, &r, 1, 0), 0);
	}
	TEST(translate_rx(tr, fed.pkt, fed.n) == 0);
	frames_clear(&fed);
	TEST(transport->nops == 1);
	for (unsigned i = 0; i < 5; i++) /* CRC32(key BE) is 0x5643ef8a */
		TEST(be32_load(transport->mem[0] + 32 * 0x8a + 4 * i) ==
		     (cell[i] ^ (9u << 24 | i)));
	translate_close(tr);
	test_transport_free(transport);
}

/* A cache that would break the memory limit is refused, with the number. */
static void limit(void)
{
	struct table t = test_postcards(1, 5, 32, 64, 4u << 20);
	struct test_transport *transport = test_transport_new(&t, 1);
	struct translator *tr;
	struct error why = {0};

	TEST(translate_open(&tr, &t, 1, &transport->transport, NULL, &why) ==
	     -EINVAL);
	TEST(strstr(why.text, "cache") != NULL);
	test_transport_free(transport);
}

int main(void)
{
	geometries();
	operations();
	dta0();
	limit();
	return test_end();
}
