/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which reports are carried out, and under what reason the others are counted;
 * several tables in a batch; what a failing transport does.
 */
#include "base/rng.h"
#include "test.h"
#include "translate_transport.h"
#include "net/be.h"

enum {
	KEYWRITE = 10,
	APPEND = 11,
	KEYINC = 12,
	POSTCARD = 13,
	TABLES = 4,
	COUNTERS = sizeof(struct translate_ledger) / sizeof(uint64_t),
};

static const uint8_t some[64] = {0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3};

static void tables_make(struct table t[TABLES])
{
	t[0] = test_table(TABLE_KEYWRITE, KEYWRITE, 13, 4, 8, 64);
	t[1] = test_lists(APPEND, 4, 4, 64, 3, 8);
	t[2] = test_table(TABLE_KEYINC, KEYINC, 13, 8, 8, 64);
	t[3] = test_postcards(POSTCARD, 5, 32, 64, 16);
}

static struct dta_report report_of(uint8_t kind)
{
	static const uint8_t key_len[] = {0, 13, 4, 13, 13};
	static const uint8_t data_len[] = {0, 4, 4, 8, 4};

	return (struct dta_report){.opcode = kind,
				   .table = (uint16_t)(KEYWRITE - 1 + kind),
				   .key_len = key_len[kind],
				   .data_len = data_len[kind],
				   .key = some,
				   .data = some};
}

/* One frame into a fresh translator; its counters. */
static struct translate_ledger outcome(const uint8_t *frame, size_t len,
				       enum dta_format format)
{
	struct translate_options o = {.format = format};
	struct translate_ledger out;
	struct table t[TABLES];
	struct translator *tr;
	struct test_transport *transport;
	struct frames f = {.n = 0};

	tables_make(t);
	transport = test_transport_new(t, TABLES);
	frames_add(&f, frame, len, 0);
	TEST(translate_open(&tr, t, TABLES, &transport->transport, &o, NULL) ==
	     0);
	TEST(translate_rx(tr, f.pkt, f.n) == 0);
	TEST(translate_flush(tr) == 0);
	out = *translate_counters(tr);
	TEST(out.received == 1 && ledger_balanced(&translate_ledger, &out));
	TEST((transport->nops > 0) == (out.stored == 1));
	TEST(!transport->bad);
	translate_close(tr);
	test_transport_free(transport);
	frames_clear(&f);
	return out;
}

/* The counter at offset is 1 for this report, in every shape of frame. */
static void expect(const struct dta_report *r, size_t offset)
{
	for (int shape = 0; shape < SHAPES; shape++) {
		uint8_t frame[FRAME_ROOM];
		size_t len = frame_of(frame, DTA_FORMAT_1, r, 1, shape);
		struct translate_ledger c = outcome(frame, len, DTA_FORMAT_1);

		TEST(*(uint64_t *)((char *)&c + offset) == 1);
	}
}

#define EXPECT(r, name) expect(&(r), offsetof(struct translate_ledger, name))

static void reasons(void)
{
	struct dta_report r;

	for (uint8_t kind = 1; kind <= 4; kind++) {
		r = report_of(kind);
		EXPECT(r, stored);
		r.copies = 4;
		EXPECT(r, stored);
		r = report_of(kind);
		r.table = 99;
		EXPECT(r, bad_table);
		r.table = DTA_NO_TABLE; /* DTA/1 with DTA/0's mark */
		EXPECT(r, bad_table);
		r = report_of(kind);
		r.table = (uint16_t)(KEYWRITE + kind % 4); /* the next table */
		EXPECT(r, bad_opcode);
		r = report_of(kind);
		r.key_len--;
		EXPECT(r, bad_key);
		r = report_of(kind);
		r.data_len--;
		EXPECT(r, bad_data);
		r.data_len = 0;
		EXPECT(r, bad_data);
		r = report_of(kind);
		r.data_len *= 2;
		if (kind == TABLE_APPEND) /* two entries */
			EXPECT(r, stored);
		else
			EXPECT(r, bad_data);
	}
	r = report_of(TABLE_APPEND);
	r.key = (const uint8_t *)"\0\0\0\3";
	EXPECT(r, bad_list);
	r.key = (const uint8_t *)"\0\0\0\2";
	EXPECT(r, stored);
	r = report_of(TABLE_POSTCARD);
	r.data = (const uint8_t *)"\xff\xff\xff\xff";
	EXPECT(r, bad_value);
	r = report_of(DTA_KEYWRITE);
	r.opcode = DTA_NACK;
	r.key_len = r.data_len = 0;
	EXPECT(r, foreign);
	EXPECT(r, nacks);
}

static void hops(void)
{
	struct dta_report r = report_of(TABLE_POSTCARD);

	for (unsigned hop = 0; hop < 16; hop++)
		for (unsigned path = 0; path < 16; path++) {
			r.hop = (uint8_t)hop;
			r.path_len = (uint8_t)path;
			if (hop < 5 && path <= 5 && (!path || hop < path))
				EXPECT(r, stored);
			else
				EXPECT(r, bad_hop);
		}
}

/* What dta_encode() would not write, and what is no report. */
static void oddities(void)
{
	struct dta_report r = report_of(DTA_KEYWRITE);
	uint8_t frame[FRAME_ROOM], bad[FRAME_ROOM];
	size_t len = frame_of(frame, DTA_FORMAT_1, &r, 1, SHAPE_COMMON);

	for (size_t n = 0; n < len; n++) {
		struct translate_ledger c = outcome(frame, n, DTA_FORMAT_1);

		TEST(c.malformed == 1);
	}
	memcpy(bad, frame, len);
	bad[43] = 5; /* N */
	TEST(outcome(bad, len, DTA_FORMAT_1).bad_copies == 1);
	bad[43] = 9;
	TEST(outcome(bad, len, DTA_FORMAT_1).bad_copies == 1);
	memcpy(bad, frame, len);
	bad[42] = 0x21;
	TEST(outcome(bad, len, DTA_FORMAT_1).bad_version == 1);
	bad[42] = 0x01;
	TEST(outcome(bad, len, DTA_FORMAT_1).bad_version == 1);
	bad[42] = 0x15;
	TEST(outcome(bad, len, DTA_FORMAT_1).bad_opcode == 1);
	memcpy(bad, frame, len);
	bad[37] ^= 1; /* another port */
	TEST(outcome(bad, len, DTA_FORMAT_1).foreign == 1);
	be16_store(bad + 36, DTA_NACK_PORT);
	TEST(outcome(bad, len, DTA_FORMAT_1).foreign == 1);
	TEST(outcome(bad, len, DTA_FORMAT_1).nacks == 1);
	memcpy(bad, frame, len);
	bad[13] = 6; /* ARP */
	TEST(outcome(bad, len, DTA_FORMAT_1).foreign == 1);
	memcpy(bad, frame, len);
	bad[22]++; /* TTL: the header checksum is wrong */
	TEST(outcome(bad, len, DTA_FORMAT_1).malformed == 1);
	memcpy(bad, frame, len);
	bad[40] = 0x12; /* a UDP checksum, and a wrong one */
	TEST(outcome(bad, len, DTA_FORMAT_1).malformed == 1);
	memcpy(bad, frame, len);
	bad[len] = 0; /* shorter by the UDP length than by the IP length */
	bad[39]--;
	TEST(outcome(bad, len, DTA_FORMAT_1).bad_data == 1);
}

/* DTA/0 goes to the first table of its kind with 4-byte keys, if there is one.
 */
static void dta0(void)
{
	struct dta_report r = report_of(TABLE_APPEND);
	uint8_t frame[FRAME_ROOM];
	size_t len = frame_of(frame, DTA_FORMAT_0A, &r, 1, SHAPE_COMMON);

	TEST(outcome(frame, len, DTA_FORMAT_0A).stored == 1);
	TEST(outcome(frame, len, DTA_FORMAT_1).bad_version == 1);
	r = report_of(DTA_KEYWRITE);
	r.key_len = 4;
	r.copies = 1;
	len = frame_of(frame, DTA_FORMAT_0B, &r, 1, SHAPE_COMMON);
	TEST(outcome(frame, len, DTA_FORMAT_0B).bad_table == 1);
	frame[len - 9] = 5; /* the redundancy level */
	TEST(outcome(frame, len, DTA_FORMAT_0B).bad_copies == 1);
	/* DTA/1 beside it */
	r = report_of(DTA_KEYWRITE);
	len = frame_of(frame, DTA_FORMAT_1, &r, 1, SHAPE_COMMON);
	TEST(outcome(frame, len, DTA_FORMAT_0B).stored == 1);
}

/* Right again after bytes of the IPv4 header have changed. */
static void ip_sum_mend(uint8_t *frame)
{
	be16_store(frame + 24, 0);
	be16_store(frame + 24, net_checksum(frame + 14, 20));
}

/*
 * A frame of the common shape and the same with a VLAN tag take different ways
 * through admit.c; whatever is broken in them, the verdict is the same.
 */
static void ways_agree(void)
{
	static const uint8_t interesting[] = {0,    1,	  4,	5,    13,
					      0x10, 0x11, 0x40, 0x7f, 0xff};
	struct table t[TABLES];
	struct translator *tr[2];
	struct test_transport *transport[2];
	struct frames f[2] = {{.n = 0}, {.n = 0}};
	struct rng rng = {4242};
	uint64_t stored = 0;

	tables_make(t);
	for (int w = 0; w < 2; w++) {
		transport[w] = test_transport_new(t, TABLES);
		TEST(translate_open(&tr[w], t, TABLES, &transport[w]->transport,
				    NULL, NULL) == 0);
	}
	for (int i = 0; i < 60000; i++) {
		struct dta_report r = report_of(
			(uint8_t)(1 + rng_below(&rng, 4)));
		uint8_t frame[2][FRAME_ROOM];
		size_t len;

		r.path_len = (uint8_t)rng_below(&rng, 8);
		r.copies = (uint8_t)rng_below(&rng, 5);
		len = frame_of(frame[0], DTA_FORMAT_1, &r, 1, SHAPE_COMMON);
		for (uint64_t n = rng_below(&rng, 3); n > 0; n--)
			frame[0][14 + rng_below(&rng, len - 14)] =
				rng_below(&rng, 2)
					? (uint8_t)rng_u64(&rng)
					: interesting[rng_below(
						  &rng, sizeof(interesting))];
		if (rng_below(&rng, 4))
			ip_sum_mend(frame[0]);
		if (!rng_below(&rng, 8))
			len -= rng_below(&rng, 12);
		memcpy(frame[1], frame[0], 12);
		memcpy(frame[1] + 12, (uint8_t[]){0x81, 0, 0, 9}, 4);
		memcpy(frame[1] + 16, frame[0] + 12, len - 12);
		for (int w = 0; w < 2; w++) {
			frames_add(&f[w], frame[w], len + 4u * (unsigned)w, 0);
			if (f[w].n < PKT_BATCH)
				continue;
			TEST(translate_rx(tr[w], f[w].pkt, f[w].n) == 0);
			frames_clear(&f[w]);
		}
	}
	for (int w = 0; w < 2; w++) {
		TEST(translate_rx(tr[w], f[w].pkt, f[w].n) == 0);
		TEST(translate_flush(tr[w]) == 0);
		frames_clear(&f[w]);
	}
	TEST(!memcmp(translate_counters(tr[0]), translate_counters(tr[1]),
		     sizeof(struct translate_ledger)));
	stored = translate_counters(tr[0])->stored;
	TEST(stored > 9000 && stored < 50000); /* both verdicts are tested */
	TEST(ledger_balanced(&translate_ledger, translate_counters(tr[0])));
	for (unsigned i = 0; i < TABLES; i++)
		TEST(!memcmp(transport[0]->mem[i], transport[1]->mem[i],
			     t[i].length));
	for (int w = 0; w < 2; w++) {
		TEST(!transport[w]->bad);
		translate_close(tr[w]);
		test_transport_free(transport[w]);
	}
}

/* A batch of reports for all tables leaves what four batches of one leave. */
static void mixed_batch(void)
{
	struct table t[TABLES];
	struct translator *tr[2];
	struct test_transport *transport[2];
	struct frames mixed = {.n = 0}, one[5] = {{.n = 0}};
	struct rng rng = {1};

	tables_make(t);
	for (int w = 0; w < 2; w++) {
		transport[w] = test_transport_new(t, TABLES);
		TEST(translate_open(&tr[w], t, TABLES, &transport[w]->transport,
				    NULL, NULL) == 0);
	}
	for (int i = 0; i < PKT_BATCH; i++) {
		struct dta_report r = report_of(
			(uint8_t)(1 + rng_below(&rng, 4)));
		uint8_t data[8];

		for (unsigned b = 0; b < sizeof(data); b++)
			data[b] = (uint8_t)rng_below(&rng, 250);
		r.data = data;
		r.key = some + 4 * rng_below(&rng, 8);
		if (r.opcode == TABLE_APPEND)
			r.key = some;
		frames_report(&mixed, &r);
		frames_report(&one[r.opcode], &r);
	}
	TEST(translate_rx(tr[0], mixed.pkt, mixed.n) == 0);
	for (int k = 1; k <= 4; k++) {
		TEST(translate_rx(tr[1], one[k].pkt, one[k].n) == 0);
		frames_clear(&one[k]);
	}
	frames_clear(&mixed);
	for (int w = 0; w < 2; w++)
		TEST(translate_flush(tr[w]) == 0);
	for (unsigned i = 0; i < TABLES; i++)
		TEST(!memcmp(transport[0]->mem[i], transport[1]->mem[i],
			     t[i].length));
	TEST(translate_counters(tr[0])->stored == PKT_BATCH);
	for (int w = 0; w < 2; w++) {
		TEST(!transport[w]->bad);
		translate_close(tr[w]);
		test_transport_free(transport[w]);
	}
}

/* The transport's error comes out, and the batch is closed all the same. */
static void failing_transport(void)
{
	struct dta_report r = report_of(DTA_KEYWRITE);
	struct table t[TABLES];
	struct test_transport *transport;
	struct translator *tr;
	struct frames f = {.n = 0};

	tables_make(t);
	transport = test_transport_new(t, TABLES);
	TEST(translate_open(&tr, t, TABLES, &transport->transport, NULL,
			    NULL) == 0);
	frames_report(&f, &r);
	transport->fail = -ENOSPC;
	TEST(translate_rx(tr, f.pkt, f.n) == -ENOSPC);
	transport->fail = 0;
	TEST(translate_rx(tr, f.pkt, f.n) == 0);
	TEST(transport->nops == 1 && !transport->bad &&
	     transport->batches == 2);
	TEST(translate_rx(tr, NULL, 0) == 0);
	translate_close(tr);
	frames_clear(&f);
	test_transport_free(transport);
}

static void refused_tables(void)
{
	struct test_transport *transport = test_transport_new(NULL, 0);
	struct table t[TABLES];
	struct translator *tr;
	struct error why = {0};

	tables_make(t);
	t[1].id = t[0].id;
	TEST(translate_open(&tr, t, 2, &transport->transport, NULL, &why) ==
	     -EINVAL);
	TEST(strstr(why.text, "id 10") != NULL);
	t[1].id = 11;
	t[1].batch = 0;
	TEST(translate_open(&tr, t, 2, &transport->transport, NULL, &why) ==
	     -EINVAL);
	translate_close(NULL);
	test_transport_free(transport);
}

int main(void)
{
	reasons();
	hops();
	oddities();
	dta0();
	ways_agree();
	mixed_batch();
	failing_transport();
	refused_tables();
	return test_end();
}
