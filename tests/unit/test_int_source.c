/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * INT put into packets: the bytes of the samples, what a source cannot do, what
 * a transit node does where it may add nothing, checksums and complements.
 */
#include "int/int_md.h"

#include <errno.h>

#include "int_packets.h"
#include "int_samples.h"
#include "../tools/int_push.h"

static uint8_t frame[8192], with[8192], out[8192];

static const struct int_sample *sample(const char *name)
{
	for (int i = 0; i < INT_SAMPLES; i++)
		if (!strcmp(int_samples[i].name, name))
			return &int_samples[i];
	fprintf(stderr, "no sample \"%s\"\n", name);
	exit(1);
}

static const uint8_t hops3[] = {
	0, 0, 0, 3,   7, 0, 0, 3, 0, 0, 0, 2,
	7, 0, 0, 100, 0, 0, 0, 1, 5, 0, 0, 10,
};

/* How the samples of two hops, and of three, were made. */
static struct int_source two_hops(enum int_version version, enum int_over over)
{
	return (struct int_source){
		.version = (uint8_t)version,
		.type = INT_TYPE_MD,
		.over = (uint8_t)over,
		.by = INT_BY_DSCP,
		.hops_max = 8,
		.bitmap = 0x9000,
		.stack = hops3 + 8,
		.stack_len = 16,
		.hops = 2,
		.src_port = 0xc001,
	};
}

static struct int_source three_hops(enum int_version version,
				    enum int_over over)
{
	struct int_source s = two_hops(version, over);

	s.stack = hops3;
	s.stack_len = 24;
	s.hops = 3;
	return s;
}

/* The sample without INT becomes the sample. */
static void test_as(const char *name, const struct int_source *s)
{
	const struct int_sample *e = sample(name);
	struct int_profile p = int_sample_profile(e->profile);
	size_t plain_len = unhex(frame, sizeof(frame), e->plain);
	size_t len = unhex(with, sizeof(with), e->frame);
	int n = int_insert(out, sizeof(out), &p, s, frame, plain_len);

	if (!TEST(n == (int)len) || !TEST(!memcmp(out, with, len)))
		fprintf(stderr, "... \"%s\": %d\n", name, n);
	TEST(int_insert(out, len - 1, &p, s, frame, plain_len) == -ENOBUFS);
}

static void test_samples(void)
{
	static const struct {
		const char *name;
		enum int_version version;
		enum int_over over;
	} two[] = {
		{"2.1 over TCP: the example of the specification", INT_V2_1,
		 INT_OVER_L4},
		{"1.0 over TCP: length 7, not 8", INT_V1_0, INT_OVER_L4},
		{"0.5 over TCP: length 8 with its tail", INT_V0_5, INT_OVER_L4},
		{"0.5 over TCP, behind its options", INT_V0_5, INT_OVER_L4},
		{"2.1 over TCP, in front of its options", INT_V2_1,
		 INT_OVER_L4},
		{"2.1 over UDP, whose port it has taken", INT_V2_1,
		 INT_OVER_UDP},
		{"the same without a checksum", INT_V2_1, INT_OVER_UDP},
		{"2.1 with a UDP header of its own, before TCP", INT_V2_1,
		 INT_OVER_NEW_UDP},
		{"the same over IPv6", INT_V2_1, INT_OVER_NEW_UDP},
		{"2.1 over TCP and IPv6: traffic class", INT_V2_1, INT_OVER_L4},
		{"2.1 behind a tag and two labels", INT_V2_1, INT_OVER_L4},
	};
	static const struct {
		const char *name;
		enum int_version version;
		enum int_over over;
	} three[] = {
		{"2.1 over VXLAN-GPE: 3 hops, length 9", INT_V2_1,
		 INT_OVER_VXLAN},
		{"the same, and it was VXLAN before", INT_V2_1, INT_OVER_VXLAN},
		{"1.0 over VXLAN-GPE: 3 hops, length 9", INT_V1_0,
		 INT_OVER_VXLAN},
		{"0.5 over VXLAN-GPE: no tail", INT_V0_5, INT_OVER_VXLAN},
		{"2.1 over Geneve: OptLen 10", INT_V2_1, INT_OVER_GENEVE},
		{"1.0 over Geneve: length 8", INT_V1_0, INT_OVER_GENEVE},
	};
	struct int_source s;

	for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++) {
		s = two_hops(two[i].version, two[i].over);
		test_as(two[i].name, &s);
	}
	for (size_t i = 0; i < sizeof(three) / sizeof(three[0]); i++) {
		s = three_hops(three[i].version, three[i].over);
		test_as(three[i].name, &s);
	}
}

/* Those that need more said. */
static void test_more_samples(void)
{
	struct int_source s = two_hops(INT_V2_1, INT_OVER_UDP);

	s.type = INT_TYPE_MX;
	s.stack_len = s.hops = 0;
	test_as("MX over UDP: length 3", &s);
	s = two_hops(INT_V1_0, INT_OVER_L4);
	s.by = INT_BY_MARKER;
	test_as("1.0 by a probe marker, over UDP", &s);
	s.version = INT_V2_1;
	test_as("2.1 by a probe marker, over ICMP", &s);
}

static int insert(const struct int_source *s, enum packet_kind kind)
{
	static struct packet packet;
	struct rng r = {7};

	packet_make(&packet, &r, kind);
	return int_insert(with, sizeof(with), int_profile_named("any"), s,
			  packet.data, packet.len);
}

static void test_refused(void)
{
	struct int_source s = two_hops(INT_V1_0, INT_OVER_UDP);
	static const uint8_t stack[INT_HOP_MAX];

	TEST(insert(&s, PACKET_UDP) == -EINVAL); /* came with 2.0 */
	s = two_hops(INT_V2_1, INT_OVER_L4);
	TEST(insert(&s, PACKET_ICMP) == -ENOTSUP);
	TEST(insert(&s, PACKET_GRE) == -ENOTSUP);
	s.over = INT_OVER_UDP;
	TEST(insert(&s, PACKET_TCP) == -ENOTSUP);
	s.over = INT_OVER_VXLAN;
	TEST(insert(&s, PACKET_UDP) == -ENOTSUP);
	s.over = INT_OVER_GENEVE;
	TEST(insert(&s, PACKET_VXLAN) == -ENOTSUP);
	/* A length is 255 words, in Geneve 31. */
	s = two_hops(INT_V2_1, INT_OVER_L4);
	s.stack = stack;
	s.stack_len = 252 * 4;
	s.hops_max = 255;
	TEST(insert(&s, PACKET_UDP) > 0);
	s.stack_len = 253 * 4;
	TEST(insert(&s, PACKET_UDP) == -EMSGSIZE);
	s.over = INT_OVER_GENEVE;
	s.stack_len = 28 * 4;
	TEST(insert(&s, PACKET_GENEVE) > 0);
	s.stack_len = 29 * 4;
	TEST(insert(&s, PACKET_GENEVE) == -EMSGSIZE);
}

/* Headers that the sink would not read: INT does not go behind them. */
static void test_malformed(void)
{
	struct int_source s = two_hops(INT_V2_1, INT_OVER_L4);
	struct int_profile p = int_sample_profile("2.1");
	size_t len = unhex(frame, sizeof(frame), ETH "0800" UDP);

	TEST(int_insert(out, sizeof(out), &p, &s, frame, len) > 0);
	frame[39]++; /* a length beyond the packet */
	TEST(int_insert(out, sizeof(out), &p, &s, frame, len) == -ENOTSUP);
	frame[39] = 7;
	TEST(int_insert(out, sizeof(out), &p, &s, frame, len) == -ENOTSUP);
	len = unhex(frame, sizeof(frame), ETH "0800" TCP);
	frame[46] = 0x40; /* less than a header */
	TEST(int_insert(out, sizeof(out), &p, &s, frame, len) == -ENOTSUP);
	frame[46] = 0x80; /* beyond the packet */
	TEST(int_insert(out, sizeof(out), &p, &s, frame, len) == -ENOTSUP);
}

/* A packet cut anywhere: refused, or INT is where it belongs. */
static void test_cut(void)
{
	static const uint8_t overs[] = {INT_OVER_L4, INT_OVER_UDP,
					INT_OVER_NEW_UDP, INT_OVER_VXLAN,
					INT_OVER_GENEVE};
	static const uint8_t kinds[] = {PACKET_TCP, PACKET_UDP, PACKET_TCP,
					PACKET_VXLAN, PACKET_GENEVE};
	struct int_profile p = *int_profile_named("2.1");
	static struct packet packet;
	struct int_place at;
	struct rng r = {3};

	p.behind_tcp_options = true;
	for (size_t i = 0; i < sizeof(overs); i++) {
		struct int_source s = two_hops(INT_V2_1,
					       (enum int_over)overs[i]);

		packet_make(&packet, &r, (enum packet_kind)kinds[i]);
		for (size_t n = 0; n <= packet.len; n++) {
			uint8_t *copy = exact_copy(packet.data, n);
			int len = int_insert(with, sizeof(with), &p, &s, copy,
					     n);

			TEST(len == -ENOTSUP ||
			     (len > (int)n &&
			      int_find(&at, &p, NET_ETHERTYPE_ETH, with,
				       (size_t)len) == INT_OK &&
			      int_strip(out, sizeof(out), &p, &at, with,
					(size_t)len) == (int)n &&
			      !memcmp(out, copy, n)));
			free(copy);
		}
	}
}

/* The sample: 6 hops more may push. */
static size_t load(const char *name, struct int_profile *p)
{
	const struct int_sample *s = sample(name);

	*p = int_sample_profile(s->profile);
	return unhex(frame, sizeof(frame), s->frame);
}

static const uint8_t hop[] = {0, 0, 0, 9, 1, 0, 0, 2};

static bool right(const struct int_profile *p, size_t len)
{
	struct int_place at;

	return int_find(&at, p, NET_ETHERTYPE_ETH, frame, len) == INT_OK &&
	       packet_sums_right(frame, at.ip, at.l4, at.protocol);
}

static uint8_t flags_of(const struct int_profile *p, size_t len, int *hops)
{
	static struct int_decoder d;
	struct int_place at;
	struct int_record v;

	int_decoder_init(&d, p);
	if (!TEST(int_find(&at, p, NET_ETHERTYPE_ETH, frame, len) == INT_OK) ||
	    !TEST(int_decode(&v, &d, &at, frame, len) == INT_OK))
		return 0;
	*hops = v.stack.n;
	return v.flags;
}

/* As many hops as are left, then E; each with its checksum. */
static void test_hops_exceeded(const char *name)
{
	const int left = 6;
	const struct int_transit t = {.md = hop, .md_len = sizeof(hop)};
	struct int_profile p;
	size_t len = load(name, &p);
	int n, hops = 0;

	for (int i = 0; i < left; i++) {
		n = int_push(frame, len, sizeof(frame), &p, &t);
		if (!TEST(n == (int)(len + sizeof(hop))))
			return;
		len = (size_t)n;
		TEST(right(&p, len));
		TEST(flags_of(&p, len, &hops) == 0 && hops == 3 + i);
	}
	TEST(int_push(frame, len, sizeof(frame), &p, &t) == (int)len);
	TEST(flags_of(&p, len, &hops) == INT_HOPS_EXCEEDED);
	TEST(hops == 2 + left && right(&p, len));
}

/* MTU: M, but 0.5 has none. */
static void test_mtu(const char *name, uint8_t flags)
{
	struct int_transit t = {.md = hop, .md_len = sizeof(hop)};
	struct int_profile p;
	size_t len = load(name, &p);
	int hops = 0;

	t.mtu = (uint32_t)(len - 14 + sizeof(hop) - 1);
	TEST(int_push(frame, len, sizeof(frame), &p, &t) == (int)len);
	TEST(flags_of(&p, len, &hops) == flags && hops == 2);
	t.mtu++;
	TEST(int_push(frame, len, sizeof(frame), &p, &t) ==
	     (int)(len + sizeof(hop)));
	TEST(flags_of(&p, len + sizeof(hop), &hops) == flags && hops == 3);
}

static void test_push_refused(void)
{
	struct int_transit t = {.md = hop, .md_len = sizeof(hop)};
	struct int_profile p;
	size_t len = load("2.1 over UDP, whose port it has taken", &p);

	TEST(int_push(frame, len, len + sizeof(hop) - 1, &p, &t) == -ENOBUFS);
	t.md_len = 4;
	TEST(int_push(frame, len, sizeof(frame), &p, &t) == -EINVAL);
	t.md_len = sizeof(hop);
	len = load("MX over UDP: length 3", &p);
	TEST(int_push(frame, len, sizeof(frame), &p, &t) == -EBADMSG);
	frame[36] = 0; /* another port */
	TEST(int_push(frame, len, sizeof(frame), &p, &t) == -EBADMSG);
}

/* Where a format has no room for another hop nothing is counted. */
static void test_full(enum int_over over, enum packet_kind kind, int words)
{
	static const uint8_t stack[INT_HOP_MAX], md[6 * 4];
	struct int_transit t = {.md = md, .md_len = sizeof(md)};
	struct int_source s = {.version = INT_V2_1,
			       .type = INT_TYPE_MD,
			       .over = (uint8_t)over,
			       .bitmap = 0xf800, /* 6 words */
			       .hops_max = 255,
			       .stack = stack};
	int len;

	s.stack_len = (size_t)words * 4;
	len = insert(&s, kind);
	if (!TEST(len > 0))
		return;
	TEST(int_push(with, (size_t)len, sizeof(with), int_profile_named("any"),
		      &t) == len);
	s.stack_len -= 5 * 4;
	len = insert(&s, kind);
	TEST(int_push(with, (size_t)len, sizeof(with), int_profile_named("any"),
		      &t) == len + 24);
}

/* With the complement the checksum stays and is right; without, the word says
 * nothing of it; where there is none it stays none. */
static void test_complement(bool sums)
{
	struct int_source s = two_hops(INT_V2_1, INT_OVER_UDP);
	static const uint8_t md[12] = {0, 0, 0, 9, 1, 0, 0, 2};
	struct int_transit t = {.md = md, .md_len = sizeof(md)};
	const struct int_sample *e = sample(
		sums ? "2.1 over UDP, whose port it has taken"
		     : "the same without a checksum");
	struct int_profile p = int_sample_profile("2.1");
	size_t len = unhex(with, sizeof(with), e->plain);
	uint8_t before[2];
	int n;

	s.bitmap = 0x9001;
	s.stack_len = s.hops = 0;
	n = int_insert(frame, sizeof(frame), &p, &s, with, len);
	for (int i = 0; i < 4; i++) {
		uint8_t *word = frame + 14 + 20 + 8 + 4 + 12 + 8;

		t.complement = i % 2;
		memcpy(before, frame + 40, 2);
		n = int_push(frame, (size_t)n, sizeof(frame), &p, &t);
		TEST(n > 0 && right(&p, (size_t)n));
		TEST((memcmp(frame + 40, before, 2) == 0) ==
		     (t.complement || !sums));
		TEST((be32_load(word) == 0xffffffff) ==
		     !(t.complement && sums));
	}
}

/* Every checksum that a datagram may come with, 0xffff among them (0 would be
 * none): with INT it is never 0, and it comes back. */
static void test_all_sums(void)
{
	const struct int_sample *e = sample(
		"2.1 over UDP, whose port it has taken");
	struct int_source s = two_hops(INT_V2_1, INT_OVER_UDP);
	struct int_profile p = int_sample_profile(e->profile);
	size_t len = unhex(frame, sizeof(frame), e->plain);
	struct int_place at;
	int n, ones = 0;

	for (uint32_t i = 0; i <= 0xffff; i++) {
		uint32_t sum;

		be16_store(frame + 42, (uint16_t)i);
		be16_store(frame + 40, 0);
		sum = 0xffff & ~packet_l4_sum(frame + 14, frame + 34, len - 34,
					      NET_PROTO_UDP);
		be16_store(frame + 40, (uint16_t)(sum ? sum : 0xffff));
		n = int_insert(with, sizeof(with), &p, &s, frame, len);
		if (!be16_load(with + 40) ||
		    !packet_sums_right(with, 14, 34, NET_PROTO_UDP) ||
		    int_find(&at, &p, NET_ETHERTYPE_ETH, with, (size_t)n) ||
		    int_strip(out, sizeof(out), &p, &at, with, (size_t)n) !=
			    (int)len ||
		    memcmp(out, frame, len))
			TEST(false);
		ones += be16_load(with + 40) == 0xffff;
	}
	TEST(ones > 0);
}

/* Nodes that leave TCP's checksum alone: it was right and is again. */
static void test_sum_left(void)
{
	const struct int_sample *e = sample("1.0 over TCP: length 7, not 8");
	struct int_profile p = int_sample_profile("1.0");
	size_t len = unhex(frame, sizeof(frame), e->plain);
	struct int_source s = two_hops(INT_V1_0, INT_OVER_L4);
	struct int_place at;
	int n;

	p.tcp_sum_left = true;
	n = int_insert(with, sizeof(with), &p, &s, frame, len);
	TEST(n > 0 && !memcmp(with + 50, frame + 50, 2));
	TEST(int_find(&at, &p, NET_ETHERTYPE_ETH, with, (size_t)n) == INT_OK);
	TEST(int_strip(out, sizeof(out), &p, &at, with, (size_t)n) == (int)len);
	TEST(!memcmp(out, frame, len));
}

int main(void)
{
	test_samples();
	test_more_samples();
	test_refused();
	test_malformed();
	test_cut();
	test_hops_exceeded("2.1 over UDP, whose port it has taken");
	test_hops_exceeded("1.0 over TCP: length 7, not 8");
	test_hops_exceeded("0.5 over TCP: length 8 with its tail");
	test_mtu("2.1 over UDP, whose port it has taken", INT_MTU_EXCEEDED);
	test_mtu("1.0 over TCP: length 7, not 8", INT_MTU_EXCEEDED);
	test_mtu("0.5 over TCP: length 8 with its tail", 0);
	test_push_refused();
	test_full(INT_OVER_UDP, PACKET_UDP, 250);
	test_full(INT_OVER_GENEVE, PACKET_GENEVE, 25);
	test_complement(true);
	test_complement(false);
	test_all_sums();
	test_sum_left();
	return test_end();
}
