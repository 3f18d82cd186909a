/* SPDX-License-Identifier: BSD-2-Clause */
/* Sequence checks of tracked reports, and the NACKs that answer them. */
#include <errno.h>
#include <unistd.h>

#include "test.h"
#include "translate_transport.h"
#include "net/be.h"

static struct frames fed;

static void report(uint16_t table, uint16_t sequence, uint8_t src)
{
	uint8_t frame[FRAME_ROOM];
	struct dta_report r = {.opcode = DTA_KEYWRITE,
			       .tracked = true,
			       .table = table,
			       .sequence = sequence,
			       .key_len = 4,
			       .data_len = 4,
			       .key = (const uint8_t *)"abcd",
			       .data = (const uint8_t *)"1234"};

	frames_add(&fed, frame, frame_of(frame, DTA_FORMAT_1, &r, src, 0), 9);
}

static void feed(struct translator *tr)
{
	TEST(translate_rx(tr, fed.pkt, fed.n) == 0);
	frames_clear(&fed);
}

static void tables_make(struct table t[3])
{
	for (unsigned i = 0; i < 3; i++)
		t[i] = test_table(TABLE_KEYWRITE, (uint16_t)(1 + i), 4, 4, 8,
				  64);
	t[0].sequence = TABLE_SEQ_OFF;
	t[1].sequence = TABLE_SEQ_COUNT;
	t[2].sequence = TABLE_SEQ_STRICT;
}

static void counted(void)
{
	static const uint16_t seq[] = {65534, 65535, 0, 1, /* wraps */
				       4,		   /* a gap */
				       4,     2,	   /* again, late */
				       5,     9};	   /* another gap */
	struct table t[3];
	struct test_transport *transport;
	struct translator *tr;
	const struct translate_ledger *c;

	tables_make(t);
	transport = test_transport_new(t, 3);
	TEST(translate_open(&tr, t, 3, &transport->transport, NULL, NULL) == 0);
	c = translate_counters(tr);
	for (unsigned i = 0; i < sizeof(seq) / sizeof(seq[0]); i++)
		report(2, seq[i], 1);
	report(2, 7000, 2); /* another reporter's first */
	feed(tr);
	TEST(c->gaps == 2 && c->out_of_order == 0 && c->stored == 10);
	/* one counter for all tables: those of "off" are no gaps for "count" */
	report(1, 10, 1);
	report(2, 11, 1);
	report(1, 13, 1);
	report(2, 12, 1);
	feed(tr);
	TEST(c->gaps == 2 && c->stored == 14);
	translate_close(tr);
	test_transport_free(transport);
}

static void strict(void)
{
	static const uint16_t seq[] = {7, 8, 10, 11, 8, 3, 9, 10, 11};
	struct table t[3];
	struct test_transport *transport;
	struct translator *tr;
	const struct translate_ledger *c;

	tables_make(t);
	transport = test_transport_new(t, 3);
	TEST(translate_open(&tr, t, 3, &transport->transport, NULL, NULL) == 0);
	c = translate_counters(tr);
	for (unsigned i = 0; i < sizeof(seq) / sizeof(seq[0]); i++)
		report(3, seq[i], 1);
	feed(tr);
	/* dropped: 10, 11, and again 8, 3; one gap, mended by 9 */
	TEST(c->out_of_order == 2 && c->gaps == 1 && c->stored == 5);
	TEST(c->repeated == 2);
	TEST(ledger_balanced(&translate_ledger, c));
	/* nonsense in order does not stop the reporter for ever */
	report(99, 12, 1);
	report(3, 13, 1);
	feed(tr);
	TEST(c->bad_table == 1 && c->out_of_order == 2 && c->stored == 6);
	TEST(transport->nops == 6);
	translate_close(tr);
	test_transport_free(transport);
}

/* Tables that only count do not close a gap that a strict one waits for. */
static void mixed(void)
{
	struct table t[3];
	struct test_transport *transport;
	struct translator *tr;
	const struct translate_ledger *c;

	tables_make(t);
	transport = test_transport_new(t, 3);
	TEST(translate_open(&tr, t, 3, &transport->transport, NULL, NULL) == 0);
	c = translate_counters(tr);
	report(3, 1, 1);
	report(3, 3, 1); /* 2 is missing: dropped */
	report(2, 4, 1); /* carried out all the same */
	report(3, 5, 1);
	feed(tr);
	TEST(c->stored == 2 && c->out_of_order == 2 && c->gaps == 1);
	for (uint16_t s = 2; s <= 5; s++) /* sent again */
		report(s == 4 ? 2 : 3, s, 1);
	feed(tr);
	TEST(c->stored == 6 && c->out_of_order == 2 && c->gaps == 1);
	translate_close(tr);
	test_transport_free(transport);
}

/* An IPv6 frame around the same payload, its checksum right. */
static void report6(uint16_t sequence)
{
	uint8_t frame[FRAME_ROOM], *p = frame, pseudo[64] = {0};
	struct dta_report r = {.opcode = DTA_KEYWRITE,
			       .tracked = true,
			       .table = 3,
			       .sequence = sequence,
			       .key_len = 4,
			       .data_len = 4,
			       .key = (const uint8_t *)"abcd",
			       .data = (const uint8_t *)"1234"};
	struct put w = put_to(p, sizeof(frame));

	put_bytes(&w,
		  "\2\0\0\0\0\2\2\0\0\0\0\1\x86\xdd\x60\0\0\0\0\x18\x11\x40",
		  22);
	put_bytes(&w, "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	put_bytes(&w, "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2", 16);
	put_be16(&w, 50000);
	put_be16(&w, DTA_PORT);
	put_be16(&w, 24);
	put_be16(&w, 0);
	TEST(dta_encode(p + 62, 16, DTA_FORMAT_1, &r) == 16);
	memcpy(pseudo, p + 22, 32);
	pseudo[35] = 24;
	pseudo[39] = NET_PROTO_UDP;
	memcpy(pseudo + 40, p + 54, 24);
	be16_store(p + 60, net_checksum(pseudo, 64));
	frames_add(&fed, frame, 78, 9);
}

/* What the translator answers, decoded again with the suite's own decoder. */
static void nacks(void)
{
	char path[] = "/tmp/test-nacks-XXXXXX";
	struct translate_options o = {.format = DTA_FORMAT_1};
	struct table t[3];
	struct test_transport *transport;
	struct translator *tr;
	struct pkt pkt[8];
	struct src *s;
	int fd = mkstemp(path);

	if (!TEST(fd >= 0 && snk_open(&o.nacks, path, NULL) == 0))
		return;
	close(fd);
	tables_make(t);
	transport = test_transport_new(t, 3);
	TEST(translate_open(&tr, t, 3, &transport->transport, &o, NULL) == 0);
	report(3, 100, 7);
	report(3, 102, 7);
	report6(200);
	report6(202);
	feed(tr);
	TEST(translate_counters(tr)->out_of_order == 2);
	translate_close(tr);
	TEST(snk_close(o.nacks) == 0);
	TEST(src_open(&s, path, NULL) == 0);
	TEST(src_rx(s, pkt, 8, NULL) == 2);
	for (unsigned i = 0; i < 2; i++) {
		struct net_udp u;
		struct dta_report r;

		TEST(!memcmp(pkt[i].data, "\2\0\0\0\0\1\2\0\0\0\0\2", 12));
		TEST(pkt[i].ts_ns == 9);
		if (!TEST(net_udp_decode(&u, pkt[i].data, pkt[i].len) == 0))
			continue;
		TEST(u.dst_port == DTA_NACK_PORT && u.len == DTA_HEADER_LEN);
		TEST(u.version == (i ? 6 : 4));
		if (i)
			TEST(u.dst[15] == 1 && u.src[15] == 2);
		else
			TEST(!memcmp(u.dst, "\x0a\0\1\7", 4) &&
			     !memcmp(u.src, "\x0a\0\0\x33", 4));
		TEST(dta_decode(&r, DTA_FORMAT_1, u.payload, u.len) == 0);
		TEST(r.opcode == DTA_NACK && r.hop == DTA_NACK_GAP &&
		     r.sequence == (i ? 200 : 100));
	}
	src_close(s);
	unlink(path);
	test_transport_free(transport);
}

/* DTA/0's numbers have 8 bits and its NACK two bytes. */
static void dta0(void)
{
	struct translate_options o = {.format = DTA_FORMAT_0B};
	struct table t = test_table(TABLE_KEYWRITE, 1, 4, 4, 8, 64);
	struct test_transport *transport = test_transport_new(&t, 1);
	struct translator *tr;

	t.sequence = TABLE_SEQ_STRICT;
	TEST(translate_open(&tr, &t, 1, &transport->transport, &o, NULL) == 0);
	for (unsigned i = 0; i < 5; i++) {
		static const uint16_t seq[] = {254, 255, 0, 1, 3};
		uint8_t frame[FRAME_ROOM];
		struct dta_report r = {.opcode = DTA_KEYWRITE,
				       .copies = 1,
				       .tracked = true,
				       .sequence = seq[i],
				       .key_len = 4,
				       .data_len = 4,
				       .key = (const uint8_t *)"abcd",
				       .data = (const uint8_t *)"1234"};

		frames_add(&fed, frame,
			   frame_of(frame, DTA_FORMAT_0B, &r, 1, 0), 0);
	}
	feed(tr);
	TEST(translate_counters(tr)->stored == 4);
	TEST(translate_counters(tr)->out_of_order == 1);
	translate_close(tr);
	test_transport_free(transport);
}

/* More reporters than there is room for: some are forgotten, none is refused.
 */
static void many(void)
{
	struct table t = test_table(TABLE_KEYWRITE, 1, 4, 4, 8, 64);
	struct test_transport *transport = test_transport_new(&t, 1);
	struct translator *tr;

	t.sequence = TABLE_SEQ_STRICT;
	TEST(translate_open(&tr, &t, 1, &transport->transport, NULL, NULL) ==
	     0);
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < 100000; i++) {
			uint8_t *p;

			report(1, (uint16_t)(5 + round), 1);
			p = (uint8_t *)fed.pkt[fed.n - 1].data;
			be32_store(p + 26, 0x0a000000 + i);
			be16_store(p + 24, 0);
			be16_store(p + 24, net_checksum(p + 14, 20));
			if (fed.n == PKT_BATCH)
				feed(tr);
		}
	feed(tr);
	TEST(translate_counters(tr)->stored == 200000);
	translate_close(tr);
	test_transport_free(transport);
}

/* Other collectors: who reported what is known on, and the ledger goes on. */
static void succeeded(void)
{
	struct translate_options o = {.collectors = 2};
	struct test_transport *transport, *two;
	struct table t[6];
	struct translator *tr;
	const struct translate_ledger *c;

	tables_make(t);
	tables_make(t + 3);
	transport = test_transport_new(t, 3);
	two = test_transport_new(t, 6);
	TEST(translate_open(&tr, t, 3, &transport->transport, NULL, NULL) == 0);
	report(3, 1, 1);
	report(3, 2, 1);
	report(3, 4, 1); /* 3 is missing */
	feed(tr);
	TEST(translate_flush(tr) == 0);
	o.collectors = 2;
	t[1].id = t[0].id; /* refused: all stays as it was */
	TEST(translate_succeed(&tr, t, 3, &two->transport, &o, NULL) ==
	     -EINVAL);
	t[1].id = t[4].id;
	TEST(translate_succeed(&tr, t, 3, &two->transport, &o, NULL) == 0);
	c = translate_counters(tr);
	TEST(c->received == 3 && c->stored == 2 && c->out_of_order == 1);
	report(3, 5, 1); /* still in the gap */
	report(3, 3, 1);
	report(3, 4, 1);
	report(3, 2, 1); /* was there */
	feed(tr);
	TEST(c->received == 7 && c->stored == 4 && c->out_of_order == 2);
	TEST(c->repeated == 1 && c->gaps == 1);
	TEST(ledger_balanced(&translate_ledger, c));
	TEST(transport->nops == 2 && two->nops == 2 && !two->bad);
	translate_close(tr);
	test_transport_free(transport);
	test_transport_free(two);
}

int main(void)
{
	succeeded();
	counted();
	strict();
	mixed();
	nacks();
	dta0();
	many();
	return test_end();
}
