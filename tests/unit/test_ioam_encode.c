/* SPDX-License-Identifier: BSD-2-Clause */
/* IOAM put into packets, filled by nodes and taken out again. */
#include <errno.h>

#include "base/rng.h"
#include "ioam_rig.h"
#include "../tools/ioam_push.h"

#define PLAIN ETH6 "60000000000c1140" ADDRESSES UDP
/* what a packet may have of its own; behind the frame's end, padding */
static const char *const packets[] = {
	PLAIN,
	PLAIN "0000000000",
	ETH6 "6000000000003b40" ADDRESSES,
	ETH6 "6000000000140040" ADDRESSES "1100 0502 0000 0100" UDP,
	ETH6 "6000000000140040" ADDRESSES "1100 0104 0000 0000" UDP,
	ETH6 "60000000001c0040" ADDRESSES
	     "1101 01040000 0000 0100 0100 00000000" UDP,
	ETH6 "60000000001c0040" ADDRESSES
	     "3c00 0502 0000 0100 1100 0104 0000 0000" UDP,
	ETH6 "60000000001c2b40" ADDRESSES
	     "2c00 0400 00000000 1100 0001 00000007" UDP,
	"020000000002 020000000001 81000064 86dd 60000000000c1140" ADDRESSES
		UDP,
};

enum {
	PACKETS = sizeof(packets) / sizeof(packets[0]),
};

static const uint64_t value[INT_FIELDS] = {
	[INT_NODE] = 3,
	[INT_HOP_LIMIT] = 62,
	[INT_INGRESS] = 21,
	[INT_EGRESS] = 22,
	[INT_TIME_SECONDS] = 0x6789abcd,
	[INT_TIME_FRACTION] = 429611000,
	[INT_OCCUPANCY] = 292,
	[INT_NAMESPACE_DATA] = 0xdeadbee2,
};

/* The sample that Linux made, word by word, but for what we cannot say
 * differently wide and short. */
static void test_linux(void)
{
	const struct ioam_request ask = {
		.type = IOAM_PREALLOCATED,
		.namespace = 123,
		.bitmap = 0xfff000,
		.words = 45,
	};
	struct ioam_node node = {
		.has = ~(1u << INT_LATENCY | 1u << INT_BUFFER_OCCUPANCY)};
	uint8_t plain[128], buf[512], want[512];
	size_t len = unhex(plain, sizeof(plain), PLAIN);
	size_t want_len = unhex(want, sizeof(want), LINUX);
	int n = ioam_insert(buf, sizeof(buf), plain, len, &ask);
	struct ioam_reader r;
	struct ioam t;

	TEST(n == (int)want_len);
	memcpy(node.value, value, sizeof(value));
	ioam_begin(&r, &d, buf, (size_t)n);
	TEST(ioam_next(&r, &t) == IOAM_OK && t.record.stack.n == 0);
	TEST(t.remaining == 45);
	/* up to the nodes, but the words that remain: 45, not yet 15 */
	want[14 + 40 + 4 + 4 + 3] = 45;
	TEST(!memcmp(buf, want, 14 + 40 + 16));
	TEST(ioam_push(buf, (size_t)n, sizeof(buf), &t, &node) == n);
	ioam_begin(&r, &d, buf, (size_t)n);
	TEST(ioam_next(&r, &t) == IOAM_OK && t.record.stack.n == 1);
	TEST(t.remaining == 30 && node_is(&t, 0, INT_NODE, 3));
	TEST(node_is(&t, 0, INT_OCCUPANCY, 292) &&
	     !node_has(&t, 0, INT_LATENCY));
	/* the last node: the short fields, as the kernel's */
	unhex(want, sizeof(want),
	      "3e000003 00150016 6789abcd 00068e2b ffffffff deadbee2 00000124"
	      "ffffffff 3e00000000000003 0000001500000016 00000000deadbee2"
	      "ffffffff");
	TEST(!memcmp(buf + n - 12 - 4 - 60, want, 60));
}

/* Whatever is asked and however often, the packet comes back. */
static void random_ask(struct ioam_request *ask, struct rng *rng)
{
	*ask = (struct ioam_request){
		.type = (uint8_t)rng_below(rng, 2),
		.namespace = (uint16_t)rng_u64(rng),
		.bitmap = rng_u64(rng) & 0xfff002,
		.words = (uint8_t)rng_below(rng, IOAM_NODES_MAX + 1),
	};
}

/* Fills a trace until it overflows; every node reads as it was said. Returns
 * the frame's length. */
static size_t fill(uint8_t *frame, size_t len, size_t cap, unsigned option,
		   struct rng *rng)
{
	static const uint8_t bytes[1020] = {0xaa};
	uint64_t said[64], v;
	unsigned nodes = 0;

	for (;;) {
		struct ioam_node node = {
			.has = rng_u64(rng) & UINT32_MAX,
			.snapshot = {0xabcdef, bytes, rng_below(rng, 6) * 4},
		};
		struct ioam_reader r;
		struct ioam t;
		int n;

		ioam_begin(&r, &d, frame, len);
		for (unsigned i = 0; i <= option; i++)
			TEST(ioam_next(&r, &t) == IOAM_OK);
		if (t.flags & IOAM_OVERFLOW ||
		    (!t.record.stack.len && !t.opaque))
			return len;
		TEST(t.record.stack.n == nodes);
		for (unsigned i = 0; i < nodes; i++)
			if (int_get(t.record.stack.layout,
				    int_hop(&t.record.stack, i), INT_NODE, &v))
				TEST(v == said[nodes - 1 - i]);
		for (unsigned i = 0; i < INT_FIELDS; i++)
			node.value[i] = rng_u64(rng) & 0xffff;
		said[nodes] = node.value[INT_NODE];
		n = ioam_push(frame, len, cap, &t, &node);
		if (!TEST(n >= (int)len))
			return len;
		ioam_begin(&r, &d, frame, (size_t)n);
		for (unsigned i = 0; i <= option; i++)
			TEST(ioam_next(&r, &t) == IOAM_OK);
		nodes = t.record.stack.n;
		len = (size_t)n;
	}
}

static void test_round(void)
{
	struct rng rng = {7};

	for (unsigned round = 0; round < 4000; round++) {
		uint8_t plain[256], a[4096], b[4096], *from = a, *to = b, *swap;
		size_t want = unhex(plain, sizeof(plain),
				    packets[round % PACKETS]);
		unsigned options = 1 + (unsigned)rng_below(&rng, 4);
		struct ioam_request ask;
		size_t len = want;
		int n;

		memcpy(a, plain, len);
		for (unsigned i = 0; i < options; i++) {
			random_ask(&ask, &rng);
			n = ioam_insert(to, sizeof(a), from, len, &ask);
			if (!TEST(n > (int)len && (n - len) % 8 == 0))
				return;
			len = (size_t)n;
			swap = from, from = to, to = swap;
			/* those behind the first make room among others */
			len = fill(from, len, sizeof(a),
				   (unsigned)rng_below(&rng, i + 1), &rng);
		}
		n = ioam_strip(to, sizeof(a), from, len);
		TEST(n == (int)want && !memcmp(to, plain, want));
		n = ioam_strip(from, sizeof(a), plain, want);
		TEST(n == (int)want && !memcmp(from, plain, want));
	}
}

/* Options that others stand behind leave those where they were modulo 8, with
 * no more padding than that takes. */
static void test_strip_between(void)
{
	uint8_t in[256], out[256], want[256];
	size_t n, len;

	n = unhex(in, sizeof(in),
		  ETH6 "6000000000340040" ADDRESSES
		       "1104 0100 310a0000 00010800 80000000"
		       "0106 00000000 0000 c2040000 ffff 3104 0000 ffff 0102 "
		       "0000" UDP);
	len = unhex(want, sizeof(want),
		    ETH6 "60000000001c0040" ADDRESSES
			 "1101 0104 00000000 c2040000 ffff 0100" UDP);
	TEST(ioam_strip(out, sizeof(out), in, n) == (int)len);
	TEST(!memcmp(out, want, len));
}

/* And so they do when a trace before them grows. */
static void test_grow_between(void)
{
	struct ioam_node node = {.has = 1u << INT_NODE | 1u << INT_HOP_LIMIT};
	uint8_t frame[256], want[256];
	struct ioam_reader r;
	struct ioam t;
	size_t n, len;

	n = unhex(frame, sizeof(frame),
		  ETH6 "6000000000240040" ADDRESSES
		       "1102 0100 310a0001 00010801 80000000"
		       "c2040000 ffff 0100" UDP);
	len = unhex(want, sizeof(want),
		    ETH6 "60000000002c0040" ADDRESSES
			 "1103 0100 310e0001 00010800 80000000 3e000003"
			 "0102 0000 c2040000 ffff 0100" UDP);
	node.value[INT_NODE] = 3;
	node.value[INT_HOP_LIMIT] = 62;
	ioam_begin(&r, &d, frame, n);
	TEST(ioam_next(&r, &t) == IOAM_OK);
	TEST(ioam_push(frame, n, len - 1, &t, &node) == -ENOBUFS);
	TEST(ioam_push(frame, n, sizeof(frame), &t, &node) == (int)len);
	TEST(!memcmp(frame, want, len));
}

static void test_refused(void)
{
	struct ioam_request ask = {.bitmap = 0x800000, .words = 4};
	static uint8_t big[70000], out[70000];
	uint8_t in[256];
	size_t len = unhex(in, sizeof(in), PLAIN);
	int n;

	n = ioam_insert(out, sizeof(out), in, len, &ask);
	TEST(n == (int)len + 32);
	for (int cap = 0; cap < n; cap++) {
		TEST(ioam_strip(big, (size_t)cap, out, (size_t)n) == -ENOBUFS);
		TEST(ioam_insert(big, (size_t)cap, in, len, &ask) == -ENOBUFS);
	}
	ask.words = 62;
	TEST(ioam_insert(out, sizeof(out), in, len, &ask) == -EINVAL);
	ask.words = 4;
	ask.bitmap = 0x1000000;
	TEST(ioam_insert(out, sizeof(out), in, len, &ask) == -EINVAL);
	ask.bitmap = 0x800000;
	ask.type = IOAM_EDGE;
	TEST(ioam_insert(out, sizeof(out), in, len, &ask) == -EINVAL);
	ask.type = 0;
	for (size_t cut = 0; cut < 54; cut++)
		TEST(ioam_insert(out, sizeof(out), in, cut, &ask) == -EBADMSG);
	in[13] = 0; /* IPv4 */
	in[12] = 8;
	TEST(ioam_insert(out, sizeof(out), in, len, &ask) == -ENOTSUP);
	TEST(ioam_strip(out, sizeof(out), in, len) == -ENOTSUP);
	/* longer than IPv6 can say */
	unhex(big, sizeof(big), ETH6 "60000000fff81140" ADDRESSES);
	TEST(ioam_insert(out, sizeof(out), big, 54 + 0xfff8, &ask) ==
	     -EMSGSIZE);
	/* than a header can: 2048 bytes */
	unhex(big, sizeof(big), ETH6 "6000000008000040" ADDRESSES "3bff");
	TEST(ioam_insert(out, sizeof(out), big, 54 + 2048, &ask) == -EMSGSIZE);
	/* a header that is not all there, or beyond its packet */
	TEST(ioam_insert(out, sizeof(out), big, 54 + 2047, &ask) == -EBADMSG);
	big[18] = 7;
	big[19] = 0xff;
	TEST(ioam_insert(out, sizeof(out), big, 54 + 2048, &ask) == -EBADMSG);
	big[18] = big[19] = 0; /* a jumbogram */
	TEST(ioam_insert(out, sizeof(out), big, 54 + 2048, &ask) == -ENOTSUP);
}

/* A node that finds no room says so, and nothing else. */
static void test_overflow(void)
{
	struct ioam_request ask = {.bitmap = 0xc00000, .words = 3};
	struct ioam_node node = {.has = UINT32_MAX};
	uint8_t in[256], buf[256], was[256];
	size_t len = unhex(in, sizeof(in), PLAIN);
	struct ioam_reader r;
	struct ioam t;
	int n = ioam_insert(buf, sizeof(buf), in, len, &ask);

	for (unsigned i = 0; i < 2; i++) {
		ioam_begin(&r, &d, buf, (size_t)n);
		TEST(ioam_next(&r, &t) == IOAM_OK);
		TEST(t.record.stack.n == i && !(t.flags & IOAM_OVERFLOW));
		memcpy(was, buf, (size_t)n);
		TEST(ioam_push(buf, (size_t)n, sizeof(buf), &t, &node) == n);
	}
	was[14 + 40 + 4 + 6] |= 4; /* the uppermost flag */
	TEST(!memcmp(was, buf, (size_t)n));
	node.snapshot.len = 3;
	ask.bitmap |= IOAM_OPAQUE;
	n = ioam_insert(buf, sizeof(buf), in, len, &ask);
	ioam_begin(&r, &d, buf, (size_t)n);
	TEST(ioam_next(&r, &t) == IOAM_OK);
	TEST(ioam_push(buf, (size_t)n, sizeof(buf), &t, &node) == -EINVAL);
}

int main(void)
{
	set_up();
	test_linux();
	test_round();
	test_strip_between();
	test_grow_between();
	test_refused();
	test_overflow();
	return test_end();
}
