/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames in, records out: whose numbers are looked at, and what is counted. */
#include "int/frame_decoder.h"

#include <string.h>

#include "bytes.h"
#include "report_group.h"
#include "test.h"
#include "net/net.h"

enum {
	REPORTS = 3,
	HEAD = NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN,
};

static struct int_record seen[8];
static unsigned n_seen;

static struct int_from noted[8];
static unsigned n_noted;

static int number(void *ctx, uint64_t ts_ns, const struct int_from *from)
{
	(void)ctx;
	TEST(ts_ns == 5);
	if (n_noted < 8)
		noted[n_noted++] = *from;
	return 0;
}

static int views(void *ctx, const struct int_record *v, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n && n_seen < 8; i++)
		seen[n_seen++] = v[i];
	return 0;
}

/* A datagram of so many reports of one node, about nothing in particular. */
static size_t group(uint8_t *frame)
{
	uint8_t md[4] = {0, 0, 0, 9};
	struct treport_fields s = {
		.from = {.version = 2, .hw_id = 1, .node = 7, .sequence = 42},
		.bits = 1 << 13, /* hop latency */
		.metadata = true,
		.md = md,
		.md_len = sizeof(md),
	};
	struct net_udp4 h = {.dst_port = 54321, .ttl = 64};
	int len = treport_encode(frame + HEAD, 400, &s);

	for (int i = 1; i < REPORTS; i++)
		len += add_report(frame + HEAD, (size_t)len, 400, &s);
	TEST(net_udp4_encode(frame, HEAD, &h, (size_t)len) == HEAD);
	return HEAD + (size_t)len;
}

enum {
	PORT = 54321, /* of reports */
	FRAME_MAX = 512,
};

static struct int_frame_decoder *in;

/* A datagram is taken. */
static void take_bytes(const uint8_t *payload, size_t len)
{
	static uint8_t frame[FRAME_MAX];
	struct net_udp4 h = {.dst_port = PORT, .ttl = 64};
	struct pkt p = {.data = frame, .ts_ns = 5};

	memcpy(frame + HEAD, payload, len);
	TEST(net_udp4_encode(frame, HEAD, &h, len) == HEAD);
	p.len = p.wire_len = (uint32_t)(HEAD + len);
	TEST(int_decode_frames(in, &p, 1) == 0);
}

/* The same, by the hexadecimal of its payload. */
static void take(const char *hex)
{
	uint8_t payload[FRAME_MAX - HEAD];

	take_bytes(payload, unhex(payload, sizeof(payload), hex));
}

static void noted_is(uint32_t node, uint8_t hw_id, uint32_t sequence)
{
	TEST(n_noted == 1 && noted[0].has_node && noted[0].node == node);
	TEST(noted[0].hw_id == hw_id && noted[0].sequence == sequence);
	n_noted = 0;
}

/* A packet to the port of reports: what a report about one has in it. */
#define OWN "4500001c 12340000 40110000 0a000001 0a000002 03e8d431 00080000"

/* The number of a report that is refused is told where its header has it, and
 * in a datagram of several only if all of them are refused. */
static void test_numbers(const struct int_frame_decoder_options *o)
{
	const struct int_report_ledger *c;

	TEST(int_frame_decoder_open(&in, o) == 0);
	c = int_frame_decoder_report_counters(in);
	n_seen = 0;
	/* 1.0: own, a length that lies, a type that there is not, a header
	 * that is cut */
	take("14200005 00000009 00000007 00000001" OWN);
	noted_is(9, 5, 7);
	take("13200005 00000009 00000008 00000001" OWN);
	noted_is(9, 5, 8);
	take("14e00005 00000009 00000009 00000001" OWN);
	noted_is(9, 5, 9);
	take("14200005 00000009 0000000a");
	TEST(n_noted == 0);
	TEST(c->own_report == 1 && c->bad_length == 1);
	TEST(c->unknown_type == 1 && c->truncated == 1);
	/* 2.0: own, a report beyond the datagram, none, none known */
	take("21400005 00000009 04070000" OWN);
	noted_is(9, 5, 5);
	take("21400006 00000009 04ff0000" OWN);
	take("21400006 00000009 04080000" OWN);
	TEST(n_noted == 2 && noted[1].sequence == 6);
	n_noted = 0;
	take("21400007 00000009");
	noted_is(9, 5, 7);
	take("21400007 00");
	take("31400007 00000009 04070000" OWN);
	TEST(n_noted == 0 && n_seen == 0);
	/* Of an empty datagram nobody is told, least of all the one before. */
	take("21400007 00000009");
	noted_is(9, 5, 7);
	take("");
	TEST(n_noted == 0 && c->truncated == 5);
	/* One of two is good: it has the number. */
	take("21400008 00000009 04070000" OWN "00000000");
	TEST(n_noted == 0 && n_seen == 1 && seen[0].from.numbered);
	TEST(seen[0].from.sequence == 8);
	int_frame_decoder_close(in);
}

/* Reports 0.5 tell their node behind the header, and not always. */
static void test_numbers05(struct int_frame_decoder_options *o)
{
	struct int_profile p = *o->profile;

	p.version = INT_V0_5;
	o->profile = &p;
	TEST(int_frame_decoder_open(&in, o) == 0);
	take("02000005 00000007 00000001 00000009 00010002 02000003 00000004"
	     "020000000002 020000000001 0800" OWN);
	noted_is(9, 5, 7);
	take("02000005 00000008 00000001 00000009 0001");
	noted_is(9, 5, 8);
	take("00000005 00000008 00000001 020000000002 020000000001 0800" OWN);
	take("02000005 00000009 00000001 0000");
	take("09000005 0000000a 00000001 00000009 00010002");
	TEST(n_noted == 0);
	int_frame_decoder_close(in);
}

/* Packets of reports: with INT whose shim is longer than they are, with none,
 * and by a report 2.0 as well. */
#define BAD_INT                                                                \
	"455c0028 12340000 40110000 0a000001 0a000002 03e80050 00140000"       \
	"10060000 20000206 90000000"
#define NO_INT                                                                 \
	"45000028 12340000 40110000 0a000001 0a000002 03e80050 00140000"       \
	"10060000 20000206 90000000"

static void test_inner(const struct int_frame_decoder_options *o)
{
	uint8_t inner[64], payload[128];
	struct treport_fields s = {
		.from = {.version = 2, .node = 7},
		.flags = INT_TRACKED,
		.inner_type = TREPORT_IP4,
		.inner = inner,
	};
	const struct int_report_ledger *c;
	int len;

	TEST(int_frame_decoder_open(&in, o) == 0);
	c = int_frame_decoder_report_counters(in);
	n_seen = 0;
	take("14200045 00000009 00000007 00000001" BAD_INT);
	TEST(c->taken == 1 && c->bad_inner == 1);
	TEST(n_seen == 1 && seen[0].from.numbered && seen[0].key_len == 13);
	take("14200045 00000009 00000008 00000001" NO_INT);
	TEST(c->taken == 2 && c->bad_inner == 1);
	s.inner_len = unhex(inner, sizeof(inner), BAD_INT);
	len = treport_encode(payload, sizeof(payload), &s);
	TEST(len > 0);
	take_bytes(payload, (size_t)len);
	TEST(c->taken == 3 && c->bad_inner == 2);
	TEST(ledger_balanced(&int_report_ledger, c));
	int_frame_decoder_close(in);
	n_noted = 0;
}

int main(void)
{
	struct int_frame_decoder_options o = {
		.profile = int_profile_named("2.1"),
		.records = views,
		.number = number};
	uint8_t frame[FRAME_MAX];
	struct pkt p = {.data = frame, .ts_ns = 5};

	p.len = p.wire_len = (uint32_t)group(frame);
	TEST(int_frame_decoder_open(&in, &o) == 0);
	TEST(int_decode_frames(in, &p, 1) == 0);
	TEST(n_seen == REPORTS);
	for (unsigned i = 0; i < REPORTS; i++) {
		TEST(seen[i].ts_ns == 5 && seen[i].own.n == 1);
		TEST(seen[i].from.sequence == 42 && seen[i].from.node == 7);
		/* One number belongs to one datagram. */
		TEST(seen[i].from.numbered == (i == 0));
	}
	TEST(int_frame_decoder_report_counters(in)->taken == REPORTS);
	TEST(ledger_balanced(&int_frame_ledger,
			     int_frame_decoder_counters(in)));
	TEST(ledger_balanced(&int_report_ledger,
			     int_frame_decoder_report_counters(in)));
	int_frame_decoder_close(in);
	TEST(n_noted == 0);
	test_inner(&o);
	test_numbers(&o);
	test_numbers05(&o);
	return test_end();
}
