/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * INT's round: into any packet it is put, hops push onto it, what they pushed
 * is read, and it is taken out again: the packet is as it was, bit for bit, and
 * on the way every checksum is right.
 */
#include "int/int_md.h"
#include "int/int_md.h"
#include "int_packets.h"
#include "test.h"
#include "net/key.h"
#include "../tools/int_push.h"

enum {
	ROUNDS = 40000,
	HOPS = 6,
};

static const uint8_t overs[] = {
	INT_OVER_L4,	  INT_OVER_L4,	  INT_OVER_UDP,
	INT_OVER_NEW_UDP, INT_OVER_VXLAN, INT_OVER_VXLAN,
	INT_OVER_GENEVE,  INT_OVER_GRE,	  INT_OVER_GRE,
};

/* A packet and what is done to it. */
struct round {
	struct rng r;
	struct packet packet;
	struct int_profile profile;
	struct int_source source;
	uint8_t frame[8192];
	int len;
	uint8_t md[HOPS][INT_HOP_MAX];
	size_t hop_len;
	int hops;
};

/* Kinds of packets that INT goes over like that. */
static enum packet_kind kind_for(struct round *t)
{
	const struct int_source *s = &t->source;

	switch (s->over) {
	case INT_OVER_L4:
		return (enum packet_kind)rng_below(
			&t->r, s->by == INT_BY_MARKER ? 3 : 2);
	case INT_OVER_UDP:
		return PACKET_UDP;
	case INT_OVER_NEW_UDP:
		return (enum packet_kind)rng_below(&t->r, PACKET_KINDS);
	case INT_OVER_VXLAN:
		return s->version >= INT_V2_0 && rng_below(&t->r, 2)
			       ? PACKET_VXLAN
			       : PACKET_VXLAN_GPE;
	case INT_OVER_GENEVE:
		return PACKET_GENEVE;
	}
	return (enum packet_kind)rng_below(&t->r, PACKET_KINDS);
}

/* Bits that the version has, 15 (the complement) among them. */
static uint16_t random_bitmap(struct round *t)
{
	static const uint16_t known[] = {0xff00, 0xff01, 0xff81, 0xff81};
	uint16_t bits = (uint16_t)rng_u64(&t->r);

	bits &= known[t->source.version];
	if (t->source.over == INT_OVER_GENEVE)
		bits &= 0x9001; /* 31 words in all */
	return bits ? bits : 0x8000;
}

static void choose_profile(struct round *t)
{
	static const char *const names[] = {"0.5", "1.0", "2.0", "2.1"};
	bool any = t->source.over != INT_OVER_VXLAN && !rng_below(&t->r, 4);

	t->profile = *int_profile_named(any ? "any" : names[t->source.version]);
	if (t->source.over == INT_OVER_L4 && t->source.by == INT_BY_MARKER)
		t->profile.marker = 0x0123456789abcdef;
	t->profile.behind_tcp_options = rng_below(&t->r, 2);
	if (!rng_below(&t->r, 3))
		t->profile.dscp_mask = 0x20, t->profile.dscp = 0x20;
}

static void choose_source(struct round *t)
{
	struct int_source *s = &t->source;
	bool old;

	*s = (struct int_source){
		.version = (uint8_t)rng_below(&t->r, INT_ANY),
		.type = INT_TYPE_MD,
		.over = overs[rng_below(&t->r, sizeof(overs))],
		.by = rng_below(&t->r, 2) ? INT_BY_DSCP : INT_BY_MARKER,
		.hops_max = HOPS,
		.src_port = (uint16_t)rng_u64(&t->r),
	};
	old = s->version < INT_V2_0;
	if (old && (s->over == INT_OVER_UDP || s->over == INT_OVER_NEW_UDP ||
		    s->over == INT_OVER_GRE))
		s->over = INT_OVER_L4;
	choose_profile(t);
	s->bitmap = random_bitmap(t);
}

static void choose_mx(struct round *t)
{
	if (t->source.version < INT_V2_0 || rng_below(&t->r, 5))
		return;
	t->source.type = INT_TYPE_MX;
}

static bool sums_right(const struct round *t, const struct int_place *at)
{
	(void)t;
	return packet_sums_right(t->frame, at->ip, at->l4, at->protocol);
}

static void push_hops(struct round *t)
{
	int hops = (int)rng_below(&t->r, HOPS + 1);
	struct int_place at;

	for (; t->hops < hops; t->hops++) {
		struct int_transit node = {
			.md = t->md[t->hops],
			.md_len = t->hop_len,
			.complement = rng_below(&t->r, 2),
		};
		struct put w = put_to(t->md[t->hops], t->hop_len);
		int len;

		put_random(&w, &t->r, t->hop_len);
		len = int_push(t->frame, (size_t)t->len, sizeof(t->frame),
			       &t->profile, &node);
		if (!TEST(len == t->len + (int)t->hop_len))
			return;
		t->len = len;
		if (TEST(int_find(&at, &t->profile, NET_ETHERTYPE_ETH, t->frame,
				  (size_t)len) == INT_OK))
			TEST(sums_right(t, &at));
	}
}

/* The flow as the packet's own bytes have it. */
static void test_flow(const struct round *t, const struct int_record *v)
{
	const uint8_t *ip = t->packet.data + t->packet.inner;
	size_t len = t->packet.len - t->packet.inner;
	uint8_t key[KEY_MAX], frame[NET_ETH_LEN + sizeof(t->packet.data)] = {0};
	struct net_packet pkt;

	be16_store(frame + NET_ETH_AT_TYPE,
		   ip[0] >> 4 == 4 ? NET_ETHERTYPE_IP4 : NET_ETHERTYPE_IP6);
	memcpy(frame + NET_ETH_LEN, ip, len);
	if (!TEST(net_packet_decode(&pkt, frame, NET_ETH_LEN + len) == 0))
		return;
	if (t->packet.inner != t->packet.ip &&
	    t->source.over != INT_OVER_VXLAN &&
	    t->source.over != INT_OVER_GENEVE)
		TEST(!net_packet_decode(&pkt, t->packet.data, t->packet.len));
	len = key_of_packet(key, &pkt);
	TEST(v->key_len == len);
	TEST(!memcmp(v->key, key, len));
	TEST(v->ip_len == pkt.ip_len);
}

static void test_hops(const struct round *t, const struct int_record *v)
{
	size_t whole = t->hop_len;

	if (t->source.version != INT_V0_5 && t->source.bitmap & INT_COMPLEMENT)
		whole -= INT_COMPLEMENT_LEN;
	if (!TEST(v->stack.n == t->hops) || !t->hops)
		return;
	TEST(v->stack.len == t->hop_len);
	for (int i = 0; i < t->hops; i++)
		TEST(!memcmp(int_hop(&v->stack, (unsigned)i),
			     t->md[t->hops - 1 - i], whole));
}

static void test_view(struct round *t, const struct int_record *v)
{
	test_flow(t, v);
	test_hops(t, v);
	TEST(v->format == (t->source.type == INT_TYPE_MX ? INT_MX : INT_MD));
	TEST(!v->flags && !v->domain && !v->source_len);
}

/* The frame, and what begins with its IP header, both ways. */
static void test_read(struct round *t, const struct int_place *at)
{
	static struct int_decoder d;
	size_t len = (size_t)t->len;
	struct int_record v;
	uint16_t type;

	int_decoder_init(&d, &t->profile);
	if (TEST(int_decode(&v, &d, at, t->frame, len) == INT_OK))
		test_view(t, &v);
	memset(&v, 0xff, sizeof(v));
	if (TEST(int_read(&v, &d, NET_ETHERTYPE_ETH, t->frame, len) == INT_OK))
		test_view(t, &v);
	type = at->ip_version == 4 ? NET_ETHERTYPE_IP4 : NET_ETHERTYPE_IP6;
	memset(&v, 0xff, sizeof(v));
	if (TEST(int_read(&v, &d, type, t->frame + at->ip, len - at->ip) ==
		 INT_OK))
		test_view(t, &v);
}

static bool test_back(struct round *t, const struct int_place *at)
{
	static uint8_t out[8192];
	int len = int_strip(out, sizeof(out), &t->profile, at, t->frame,
			    (size_t)t->len);

	return TEST(len == (int)t->packet.len) &
	       TEST(!memcmp(out, t->packet.data, t->packet.len));
}

static bool round_trip(struct round *t)
{
	struct int_place at;
	struct int_layout layout;

	choose_source(t);
	choose_mx(t);
	packet_make(&t->packet, &t->r, kind_for(t));
	/* A bit that says INT is not there before. */
	if (t->profile.dscp_mask == 0x20 && t->packet.dscp & 0x20 &&
	    t->source.by != INT_BY_DSCP)
		return true;
	t->len = int_insert(t->frame, sizeof(t->frame), &t->profile, &t->source,
			    t->packet.data, t->packet.len);
	if (!TEST(t->len > (int)t->packet.len))
		return false;
	int_layout_make(&layout,
			int_profile_words(&t->profile,
					  (enum int_version)t->source.version),
			16, t->source.bitmap);
	t->hop_len = layout.len;
	t->hops = 0;
	if (t->source.type == INT_TYPE_MD && t->source.over != INT_OVER_GENEVE)
		push_hops(t);
	if (!TEST(int_find(&at, &t->profile, NET_ETHERTYPE_ETH, t->frame,
			   (size_t)t->len) == INT_OK))
		return false;
	TEST(at.over == t->source.over);
	TEST(sums_right(t, &at));
	test_read(t, &at);
	return test_back(t, &at);
}

int main(void)
{
	static struct round t;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		t.r.state = i;
		if (!round_trip(&t)) {
			fprintf(stderr, "round %d: version %d over %d by %d\n",
				(int)i, t.source.version, t.source.over,
				t.source.by);
			break;
		}
	}
	return test_end();
}
