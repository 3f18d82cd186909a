/* SPDX-License-Identifier: BSD-2-Clause */
/* What frames say takes memory in proportion to them, also where each view
 * comes alone: traces with snapshots, reports of which only the number can be
 * read. */
#include "collect/batch.h"

#include <malloc.h>
#include <string.h>

#include "bytes.h"
#include "inband/treport.h"
#include "packet/kind.h"
#include "test.h"
#include "wire/net.h"

enum {
	FRAMES = 256,
	TRACES = 100, /* of a frame */
	TRACE_LEN = 20,
	HEADER_LEN = 4 + TRACES * TRACE_LEN + 4, /* hop-by-hop options */
	FRAME_LEN = 14 + 40 + HEADER_LEN + 12,
	MEMORY_MAX = 16 << 20,
};

static size_t memory(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* IPv6 with so many traces (RFC 9197, section 4.4) of one node, which has an
 * empty snapshot. */
static void traces(uint8_t *frame)
{
	static const char head[] =
		"020000000002 020000000001 86dd 6000000007e40040"
		"20010db8000000000000000000000001"
		"20010db8000000000000000000000002"
		"11fa 0100";
	size_t at = unhex(frame, FRAME_LEN, head);

	for (unsigned i = 0; i < TRACES; i++)
		at += unhex(frame + at, FRAME_LEN - at,
			    "31120000 00050800 80000200 3e000003 00ffffff");
	at += unhex(frame + at, FRAME_LEN - at,
		    "01020000 03e80050000c0000 01020304");
	TEST(at == FRAME_LEN);
}

/* A report whose header says who and which, of a type that is refused. */
static size_t report(uint8_t *frame, const struct int_profile *profile)
{
	static const uint8_t inner[64];
	const struct treport_say say = {.from = {.version = 1,
						 .has_node = true,
						 .node = 7,
						 .hw_id = 1,
						 .sequence_bits = 32,
						 .sequence = 9},
					.flags = INT_TRACKED,
					.inner_type = TREPORT_ETHERNET,
					.inner = inner,
					.inner_len = sizeof(inner)};
	const struct net_udp4 u = {.src = {10, 0, 0, 1},
				   .dst = {10, 0, 0, 2},
				   .src_port = 1,
				   .dst_port = profile->report_port,
				   .ttl = 64};
	uint8_t payload[256];
	int head;

	TEST(treport_encode(payload, sizeof(payload), &say) > 16);
	payload[1] |= 0xe0; /* a type that there is not */
	head = net_udp4_encode(frame, FRAME_LEN, &u, 16);
	memcpy(frame + head, payload, 16);
	return (size_t)head + 16;
}

static void look(struct batch *b, const uint8_t *frame, size_t len)
{
	struct pkt pkts[FRAMES];

	for (unsigned i = 0; i < FRAMES; i++)
		pkts[i] = (struct pkt){frame, (uint32_t)len, (uint32_t)len,
				       1000 + i};
	batch_look(b, pkts, FRAMES);
	TEST(!b->error);
}

/* Each has its own: what was kept of the first is as it was. */
static void test_traces(struct batch *b, const uint8_t *frame)
{
	size_t before = memory(), once;
	bool kept = true;

	look(b, frame, FRAME_LEN);
	TEST(b->n == (size_t)FRAMES * TRACES);
	for (size_t i = 0; i < b->n; i++) {
		const struct int_view *v = b->item[i].view;

		kept = kept && v && v->format == INT_IOAM &&
		       v->ts_ns == 1000 + i / TRACES && v->stack.n == 1 &&
		       v->stack.at && v->stack.at[0] == 0 &&
		       (!i || (v != b->item[i - 1].view &&
			       v->stack.at != b->item[i - 1].view->stack.at));
	}
	TEST(kept);
	once = memory();
	TEST(once - before < MEMORY_MAX);
	look(b, frame, FRAME_LEN);
	TEST(memory() == once);
}

static void test_numbers(struct batch *b, const uint8_t *frame, size_t len)
{
	size_t before = memory();
	bool kept = true;

	look(b, frame, len);
	TEST(b->n == FRAMES);
	for (size_t i = 0; i < b->n; i++) {
		const struct batch_number *number = &b->number[i];

		kept = kept && !b->item[i].view && number->item == i &&
		       b->item[i].ts_ns == 1000 + i && number->sequence == 9 &&
		       b->run[number->run].from.node == 7;
	}
	TEST(kept);
	TEST(memory() - before < MEMORY_MAX / 64);
}

/* Nothing is left of the view that was read before. */
static void test_view(void)
{
	static const uint8_t source[4];
	const struct int_view kept = {
		.format = INT_IOAM,
		.from = {.numbered = true, .has_node = true},
		.own = {.n = 1},
		.domain = 1,
		.domain_bits = 1,
		.source = source,
		.source_len = sizeof(source)};
	const struct batch_share of_kept = {.kept = BATCH_KEPT, .view = &kept};
	const struct batch_share plain = {.ip_len = 100, .hops = 2};
	struct int_view out;

	batch_view(&of_kept, &out);
	TEST(out.from.has_node && out.own.n);
	batch_view(&plain, &out);
	TEST(out.ip_len == 100 && out.stack.n == 2 && !out.stack.at);
	TEST(!out.own.n && !out.from.has_node && !out.from.numbered &&
	     out.format == INT_MD && !out.domain && !out.domain_bits &&
	     !out.source && !out.source_len);
}

int main(void)
{
	const struct int_profile *profile = int_profile_named("any");
	const struct batch_options o = {.profile = profile};
	uint8_t frame[FRAME_LEN], number[FRAME_LEN];
	size_t len = report(number, profile);
	struct batch b;

	test_view();
	traces(frame);
	TEST(!batch_open(&b, &o));
	test_numbers(&b, number, len);
	test_traces(&b, frame);
	batch_close(&b);
	return test_end();
}
