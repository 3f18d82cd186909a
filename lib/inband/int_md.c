/* SPDX-License-Identifier: BSD-2-Clause */
/* int_md.c - what INT in a packet says: int_md.h. */
#include "inband/int_md.h"

#include "inband/int_plain.h"
#include "inband/int_private.h"
#include "wire/be.h"
#include "wire/key.h"

/* Header versions that int_read() reads at once, a bit each. */
static uint8_t plain_versions(const struct int_profile *p)
{
	if (p->any_ver || p->marker || !p->dscp_mask || p->behind_tcp_options)
		return 0;
	switch (p->version) {
	case INT_V0_5:
		return 0;
	case INT_V1_0:
		return 1 << 1;
	case INT_ANY:
		return 1 << 1 | 1 << 2;
	}
	return 1 << 2;
}

void int_decoder_init(struct int_decoder *d, const struct int_profile *p)
{
	d->profile = p;
	for (int v = 0; v < INT_ANY; v++)
		int_plans_init(&d->plans[v],
			       int_profile_words(p, (enum int_version)v),
			       INT_BITMAP_BITS);
	d->plain = plain_versions(p);
}

/* Where the packet in a tunnel begins, and as what; 0: nobody knows. */
static uint16_t inner_of(const struct int_place *at, const uint8_t *frame,
			 size_t *begin)
{
	const uint8_t *geneve = frame + at->l4 + NET_UDP_LEN;

	*begin = at->end;
	switch (at->over) {
	case INT_OVER_GENEVE:
		*begin = at->l4 + NET_UDP_LEN + NET_GENEVE_LEN +
			 (geneve[0] & NET_GENEVE_WORDS_MASK) * 4u;
		return at->next;
	case INT_OVER_VXLAN:
		return at->next == NET_VXLAN_ETH   ? NET_ETHERTYPE_ETH
		       : at->next == NET_VXLAN_IP4 ? NET_ETHERTYPE_IP4
		       : at->next == NET_VXLAN_IP6 ? NET_ETHERTYPE_IP6
						   : 0;
	case INT_OVER_NEW_UDP:
		return at->next == NET_PROTO_IP4   ? NET_ETHERTYPE_IP4
		       : at->next == NET_PROTO_IP6 ? NET_ETHERTYPE_IP6
						   : 0;
	}
	return at->next;
}

/* The flow of the packet in a tunnel. */
static void flow_inside(struct int_view *v, const struct int_place *at,
			const uint8_t *frame, size_t len)
{
	const uint8_t *type_at;
	size_t begin;
	uint16_t type = inner_of(at, frame, &begin);
	struct cur c;

	if (begin > len)
		return;
	c = cur_of(frame + begin, len - begin);
	if (int_link_skip(&c, type, &type_at) > 0)
		int_view_ip(v, c.p, cur_left(&c));
}

/* Protocols whose first 4 bytes are ports. */
static bool has_ports(uint8_t protocol)
{
	return protocol == NET_PROTO_TCP || protocol == NET_PROTO_UDP;
}

/* The flow of a packet whose own IP header is the one in front. l4: where its
 * TCP or UDP header is. */
static void flow_outside(struct int_view *v, const struct int_place *at,
			 const uint8_t *frame, size_t l4, uint8_t protocol)
{
	const uint8_t *ip = frame + at->ip;
	uint8_t *rest;

	if (at->ip_version == 4) {
		memcpy(v->key, ip + NET_IP4_AT_SRC, 2 * KEY_IP4_LEN);
		rest = v->key + 2 * KEY_IP4_LEN;
		v->key_len = KEY_FLOW4_LEN;
	} else {
		memcpy(v->key, ip + NET_IP6_AT_SRC, 2 * KEY_IP6_LEN);
		rest = v->key + 2 * KEY_IP6_LEN;
		v->key_len = KEY_FLOW6_LEN;
	}
	if (has_ports(protocol))
		memcpy(rest, frame + l4, 4);
	else
		memset(rest, 0, 4);
	if (at->over != INT_OVER_NEW_UDP && at->by == INT_BY_PORT)
		be16_store(rest + 2, at->next);
	rest[4] = protocol;
	v->ip_len = at->ip_len - (at->end - at->begin);
}

static void flow_of(struct int_view *v, const struct int_place *at,
		    const uint8_t *frame, size_t len)
{
	uint8_t next = (uint8_t)at->next;

	if (at->over <= INT_OVER_UDP)
		flow_outside(v, at, frame, at->l4, at->protocol);
	else if (at->over != INT_OVER_NEW_UDP || next == NET_PROTO_IP4 ||
		 next == NET_PROTO_IP6)
		flow_inside(v, at, frame, len);
	else if (!has_ports(next) || at->end + 4 <= len)
		flow_outside(v, at, frame, at->end, next);
}

uint32_t int_source_len(const struct int_profile *p, const struct int_view *v,
			uint32_t len, uint32_t hop_len)
{
	unsigned bits = (unsigned)__builtin_popcount(v->domain_bits);
	uint32_t words = 0;

	if (v->domain != p->domain)
		return hop_len < v->stack.plan->len + bits * 4 || len % hop_len
			       ? len
			       : 0;
	for (unsigned bit = 0; bit < 16; bit++)
		if (v->domain_bits >> (15 - bit) & 1)
			words += p->source_words[bit];
	if (!hop_len || words * 4 > len)
		return words * 4;
	return words * 4 + (len - words * 4) % hop_len;
}

/* Ver 4, Rep 2, C, E, R 3, InsCnt 5, MaxHopCnt 8, TotalHopCnt 8. */
static enum int_result md_0_5(struct int_view *v, const struct int_profile *p,
			      const struct int_place *at, const uint8_t *h)
{
	const struct int_plan *plan = v->stack.plan;
	uint32_t word = be32_load(h);
	unsigned asked = (unsigned)__builtin_popcount(plan->bitmap);
	unsigned count = word >> 16 & INT_HOP_WORDS_MASK;
	enum int_result r;

	v->flags |= int_flag_of(word, 25, INT_DISCARD) |
		    int_flag_of(word, 24, INT_HOPS_EXCEEDED) |
		    (word >> 21 & 7 || be16_load(h + INT_AT_DOMAIN)
			     ? INT_RESERVED
			     : 0);
	/* Words of a profile may be longer than 4 bytes. Instructions that are
	 * not counted make a hop shorter than they ask for. */
	r = int_divide(v, p, h + INT_HEADER1_LEN, at->stack_len,
		       plan->len + (count - asked) * 4);
	if (!r && v->stack.n != (word & 0xff))
		return INT_BAD_STACK;
	return r;
}

/*
 * Ver 4, D, R 27. The 2.1 of May 2020 had E, M and HopML as MD has them, and
 * the rest reserved (trap S10): known by a HopML that the instructions ask for.
 */
static enum int_result mx(struct int_view *v, const struct int_place *at,
			  const uint8_t *h)
{
	uint32_t word = be32_load(h);
	unsigned hop_len = (word >> 8 & INT_HOP_WORDS_MASK) * 4;

	v->format = INT_MX;
	int_domain_of(v, h);
	v->flags |= int_flag_of(word, 27, INT_DISCARD);
	if (hop_len && hop_len >= v->stack.plan->len && !(word & 0x01ffe0ff))
		v->flags |= int_flag_of(word, 26, INT_HOPS_EXCEEDED) |
			    int_flag_of(word, 25, INT_MTU_EXCEEDED);
	else if (word & 0x07ffffff)
		v->flags |= INT_RESERVED;
	v->source = h + INT_HEADER2_LEN;
	v->source_len = (uint16_t)at->stack_len;
	return INT_OK;
}

enum int_result int_decode(struct int_view *out, struct int_decoder *d,
			   const struct int_place *at, const uint8_t *frame,
			   size_t len)
{
	const uint8_t *h = frame + at->header;
	const struct int_plan *plan = int_plans_get(
		&d->plans[at->version], be16_load(h + INT_AT_BITMAP));

	int_clear(out);
	out->flags = at->reserved || plan->reserved ? INT_RESERVED : 0;
	out->stack.plan = plan;
	flow_of(out, at, frame, len);
	if (at->type == INT_TYPE_MX)
		return mx(out, at, h);
	if (at->version == INT_V0_5)
		return md_0_5(out, d->profile, at, h);
	if (at->version == INT_V1_0)
		return int_md_1_0(out, d->profile, h, at->stack_len);
	return int_md_2(out, d->profile, h, at->stack_len);
}

enum int_result int_read_any(struct int_view *out, struct int_decoder *d,
			     uint16_t type, const uint8_t *frame, size_t len)
{
	struct int_place at;
	enum int_result r = int_find(&at, d->profile, type, frame, len);

	return r ? r : int_decode(out, d, &at, frame, len);
}

enum int_result int_read(struct int_view *out, struct int_decoder *d,
			 uint16_t type, const uint8_t *frame, size_t len)
{
	return int_read_here(out, d, type, frame, len);
}
