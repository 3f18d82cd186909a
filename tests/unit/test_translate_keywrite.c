/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Key-Write and Key-Increment against a model of dta(7), MEMORY, that takes one
 * report after the other and hashes bit by bit.
 */
#include "base/rng.h"
#include "test.h"
#include "translate_transport.h"
#include "net/be.h"

enum {
	MAX_LEN = 1100,
	ROUNDS = 6,
};

/* What the memory of a table should hold after a report. */
static void model(uint8_t *mem, const struct table *t,
		  const struct dta_report *r)
{
	unsigned copies = r->copies ? r->copies : t->copies;
	uint8_t slot[MAX_LEN] = {0};
	uint64_t v;

	be32_store(slot, test_crc(poly_checksum, r->key, r->key_len));
	memcpy(slot + 4, r->data, r->data_len);
	for (unsigned c = 0; c < copies; c++) {
		uint64_t i = test_crc(poly_slot[c], r->key, r->key_len) %
			     t->units;
		uint8_t *at = mem + i * t->stride;

		if (t->kind == TABLE_KEYWRITE) {
			memcpy(at, slot, t->stride);
			continue;
		}
		memcpy(&v, at, 8);
		v += be64_load(r->data);
		memcpy(at, &v, 8);
	}
}

/*
 * Random reports with few keys into few slots: keys and slots meet within a
 * batch all the time, and every report has an N of its own.
 */
static void against_model(const struct table *t, uint64_t seed)
{
	struct test_transport *transport = test_transport_new(t, 1);
	uint8_t *mem = calloc(1, t->length);
	struct rng rng = {seed};
	struct translator *tr;
	struct frames f = {.n = 0};
	struct error why = {0};
	uint64_t sent = 0, copies = 0;

	if (!TEST(translate_open(&tr, t, 1, &transport->transport, NULL,
				 &why) == 0)) {
		fprintf(stderr, "%s\n", why.text);
		exit(1);
	}
	for (int round = 0; round < ROUNDS; round++) {
		unsigned n = 1 + (unsigned)rng_below(&rng, PKT_BATCH);

		for (unsigned i = 0; i < n; i++) {
			uint8_t key[64], value[1024], frame[FRAME_ROOM];
			struct dta_report r = {
				.opcode = t->kind,
				.copies = (uint8_t)rng_below(&rng, 5),
				.table = t->id,
				.key_len = t->key_len,
				.data_len = t->value_len,
				.key = key,
				.data = value,
			};
			struct rng k = {rng_below(&rng, 40)};

			for (unsigned b = 0; b < sizeof(key); b++)
				key[b] = (uint8_t)rng_u64(&k);
			for (unsigned b = 0; b < sizeof(value); b++)
				value[b] = (uint8_t)rng_u64(&rng);
			frames_add(&f, frame,
				   frame_of(frame, DTA_FORMAT_1, &r, 1,
					    (int)rng_below(&rng, SHAPES)),
				   0);
			model(mem, t, &r);
			copies += r.copies ? r.copies : t->copies;
		}
		TEST(translate_rx(tr, f.pkt, f.n) == 0);
		sent += n;
		frames_clear(&f);
		TEST(!memcmp(mem, transport->mem[0], t->length));
	}
	TEST(!transport->bad);
	TEST(translate_counters(tr)->received == sent);
	TEST(translate_counters(tr)->stored == sent);
	TEST(translate_counters(tr)->ops == copies);
	TEST(transport->nops == copies);
	TEST(ledger_balanced(&translate_ledger, translate_counters(tr)));
	translate_close(tr);
	test_transport_free(transport);
	free(mem);
}

static void geometries(void)
{
	static const struct {
		uint16_t key, value;
		uint32_t stride;
		uint64_t units;
		uint8_t copies;
	} g[] = {
		{13, 4, 8, 64, 1},	{13, 4, 8, 61, 2},
		{4, 1, 8, 32, 4},	{37, 20, 32, 64, 3},
		{17, 20, 24, 50, 2},	{1, 60, 64, 16, 1},
		{64, 61, 128, 16, 2},	{16, 61, 68, 16, 2},
		{13, 1020, 1024, 8, 4}, {13, 7, 12, 1, 1},
	};

	for (unsigned i = 0; i < sizeof(g) / sizeof(g[0]); i++) {
		struct table t = test_table(TABLE_KEYWRITE, 7, g[i].key,
					    g[i].value, g[i].stride,
					    g[i].units);

		t.copies = g[i].copies;
		against_model(&t, 100 + i);
	}
	for (unsigned i = 0; i < 3; i++) {
		struct table t = test_table(TABLE_KEYINC, 7, g[i].key, 8, 8,
					    g[i].units);

		t.copies = g[i].copies;
		against_model(&t, 200 + i);
	}
}

/* The last operation of a report carries the immediate; a fetch-and-add none.
 */
static void immediates(void)
{
	struct table t[2] = {test_table(TABLE_KEYWRITE, 9, 4, 4, 8, 64),
			     test_table(TABLE_KEYINC, 10, 4, 8, 8, 64)};
	struct test_transport *transport = test_transport_new(t, 2);
	struct dta_report r = {.opcode = TABLE_KEYWRITE,
			       .copies = 3,
			       .immediate = true,
			       .table = 9,
			       .sequence = 0xbeef,
			       .key_len = 4,
			       .data_len = 4,
			       .key = (const uint8_t *)"abcd",
			       .data = (const uint8_t *)"12345678"};
	struct translator *tr;
	struct frames f = {.n = 0};

	TEST(translate_open(&tr, t, 2, &transport->transport, NULL, NULL) == 0);
	frames_report(&f, &r);
	r.immediate = false;
	frames_report(&f, &r);
	r.opcode = TABLE_KEYINC;
	r.table = 10;
	r.data_len = 8;
	r.immediate = true;
	frames_report(&f, &r);
	TEST(translate_rx(tr, f.pkt, f.n) == 0);
	TEST(transport->nops == 9);
	for (unsigned i = 0; i < 6; i++)
		TEST(transport->op[i].verb ==
		     (i == 2 ? OP_WRITE_IMM : OP_WRITE));
	TEST(transport->op[2].immediate == 0x0009beef);
	for (unsigned i = 6; i < 9; i++)
		TEST(transport->op[i].verb == OP_FETCH_ADD);
	TEST(translate_counters(tr)->immediates == 1);
	translate_close(tr);
	/* the table's own setting does the same */
	t[0].immediate = 1;
	frames_clear(&f);
	r.opcode = TABLE_KEYWRITE;
	r.table = 9;
	r.data_len = 4;
	r.immediate = false;
	r.copies = 0;
	frames_report(&f, &r);
	transport->nops = 0;
	TEST(translate_open(&tr, t, 2, &transport->transport, NULL, NULL) == 0);
	TEST(translate_rx(tr, f.pkt, f.n) == 0);
	TEST(transport->nops == 1 && transport->op[0].verb == OP_WRITE_IMM);
	TEST(!transport->bad);
	translate_close(tr);
	frames_clear(&f);
	test_transport_free(transport);
}

/* Slots and checksums as the published DTA translator writes them. */
static void dta0(void)
{
	static const struct {
		uint32_t key;
		uint8_t sum[4];
		unsigned slot[4];
	} want[] = {
		{0, {0x1c, 0xdf, 0x44, 0x21}, {29, 139, 49, 167}},
		{1, {0x79, 0xb8, 0xf8, 0x99}, {173, 59, 129, 23}},
		{2, {0x97, 0x17, 0x4d, 0x8b}, {125, 235, 81, 199}},
		{0x0a000001, {0x67, 0x51, 0x2d, 0x79}, {39, 177, 11, 157}},
		{0xdeadbeef, {0x1f, 0x60, 0x5a, 0x1a}, {24, 142, 52, 162}},
		{123456789, {0x9e, 0x6c, 0xdf, 0x18}, {162, 52, 142, 24}},
	};
	struct table t[3] = {test_table(TABLE_KEYWRITE, 3, 13, 4, 8, 256),
			     test_table(TABLE_KEYWRITE, 4, 4, 4, 8, 256),
			     test_table(TABLE_KEYINC, 5, 4, 8, 8, 256)};
	struct translate_options o = {.format = DTA_FORMAT_0B};
	uint8_t frame[FRAME_ROOM], key[4];

	t[1].hash = t[2].hash = HASH_DTA0;
	for (unsigned i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct test_transport *transport = test_transport_new(t, 3);
		struct dta_report r = {.opcode = DTA_KEYWRITE,
				       .copies = 4,
				       .key_len = 4,
				       .data_len = 4,
				       .key = key,
				       .data = (const uint8_t *)"\0\0\0\x2a"};
		struct translator *tr;
		struct frames f = {.n = 0};

		be32_store(key, want[i].key);
		frames_add(&f, frame, frame_of(frame, DTA_FORMAT_0B, &r, 1, 0),
			   0);
		r.opcode = DTA_KEYINC;
		r.data_len = 8;
		r.data = (const uint8_t *)"\0\0\0\0\0\0\0\x05";
		frames_add(&f, frame, frame_of(frame, DTA_FORMAT_0B, &r, 1, 0),
			   0);
		TEST(translate_open(&tr, t, 3, &transport->transport, &o,
				    NULL) == 0);
		TEST(translate_rx(tr, f.pkt, f.n) == 0);
		TEST(transport->nops == 8);
		for (unsigned c = 0; c < 4; c++) {
			uint8_t *at = transport->mem[1] + 8 * want[i].slot[c];
			uint64_t v;

			TEST(!memcmp(at, want[i].sum, 4));
			TEST(!memcmp(at + 4, "\0\0\0\x2a", 4));
			memcpy(&v, transport->mem[2] + 8 * want[i].slot[c], 8);
			TEST(v == 5);
		}
		translate_close(tr);
		frames_clear(&f);
		test_transport_free(transport);
	}
}

int main(void)
{
	geometries();
	immediates();
	dta0();
	return test_end();
}
