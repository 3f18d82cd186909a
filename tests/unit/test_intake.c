/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames in, views out: whose numbers are looked at, and what is counted. */
#include "inband/intake.h"

#include <string.h>

#include "inband/treport.h"
#include "test.h"
#include "wire/net.h"

enum {
	REPORTS = 3,
	HEAD = NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN,
};

static struct int_view seen[8];
static unsigned n_seen;

static int views(void *ctx, const struct int_view *v, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n && n_seen < 8; i++)
		seen[n_seen++] = v[i];
	return 0;
}

/* A datagram of so many reports of one node, about nothing in particular. */
static size_t group(uint8_t frame[512])
{
	uint8_t md[4] = {0, 0, 0, 9};
	struct treport_say s = {
		.from = {.version = 2, .hw_id = 1, .node = 7, .sequence = 42},
		.bits = 1 << 13, /* hop latency */
		.metadata = true,
		.md = md,
		.md_len = sizeof(md),
	};
	struct net_udp4 h = {.dst_port = 54321, .ttl = 64};
	int len = treport_encode(frame + HEAD, 400, &s);

	for (int i = 1; i < REPORTS; i++)
		len += treport_encode_more(frame + HEAD + len,
					   (size_t)(400 - len), &s);
	TEST(net_udp4_encode(frame, HEAD, &h, (size_t)len) == HEAD);
	return HEAD + (size_t)len;
}

int main(void)
{
	struct intake_options o = {.profile = int_profile_named("2.1"),
				   .views = views};
	uint8_t frame[512];
	struct pkt p = {.data = frame, .ts_ns = 5};
	struct intake *in;

	p.len = p.wire_len = (uint32_t)group(frame);
	TEST(intake_open(&in, &o) == 0);
	TEST(intake_take(in, &p, 1) == 0);
	TEST(n_seen == REPORTS);
	for (unsigned i = 0; i < REPORTS; i++) {
		TEST(seen[i].ts_ns == 5 && seen[i].own.n == 1);
		TEST(seen[i].from.sequence == 42 && seen[i].from.node == 7);
		/* One number belongs to one datagram. */
		TEST(seen[i].from.numbered == (i == 0));
	}
	TEST(intake_report_counters(in)->taken == REPORTS);
	TEST(ledger_balanced(&intake_ledger, intake_counters(in)));
	TEST(ledger_balanced(&intake_report_ledger,
			     intake_report_counters(in)));
	intake_close(in);
	return test_end();
}
