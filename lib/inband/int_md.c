/* SPDX-License-Identifier: BSD-2-Clause */
/* int_md.c - what INT in a packet says: int_md.h. */
#include "inband/int_md.h"

#include "inband/int_private.h"
#include "wire/be.h"
#include "wire/key.h"

const char *int_result_name(enum int_result r)
{
	static const char *const names[INT_RESULTS] = {
		[INT_CUT] = "truncated",
		[INT_BAD_PACKET] = "malformed_packet",
		[INT_BAD_TYPE] = "unknown_type",
		[INT_BAD_VERSION] = "unknown_version",
		[INT_BAD_NEXT] = "bad_next_protocol",
		[INT_BAD_LENGTH] = "bad_length",
		[INT_BAD_HOP] = "bad_hop_length",
		[INT_BAD_STACK] = "bad_stack",
	};

	return (unsigned)r < INT_RESULTS ? names[r] : NULL;
}

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

/* Metadata that only the source adds, as the profile knows of its domain. */
static uint32_t source_len(const struct int_profile *p,
			   const struct int_view *v)
{
	uint32_t words = 0;

	if (v->domain != p->domain)
		return 0;
	for (unsigned bit = 0; bit < 16; bit++)
		if (v->domain_bits >> (15 - bit) & 1)
			words += p->source_words[bit];
	return words * 4;
}

/*
 * Divides the stack into hops of hop_len bytes. What only the source has added
 * is at its end; where the profile does not say how much, all that is less than
 * a hop.
 */
static inline enum int_result divide(struct int_view *v,
				     const struct int_profile *p,
				     const uint8_t *stack, uint32_t len,
				     uint32_t hop_len)
{
	uint32_t source = 0;

	if (!hop_len || hop_len < v->stack.plan->len)
		return INT_BAD_HOP;
	if (v->domain_bits) {
		source = source_len(p, v);
		if (source > len)
			return INT_BAD_STACK;
		source += (len - source) % hop_len;
	}
	len -= source;
	if (len % hop_len)
		return INT_BAD_STACK;
	v->stack.data = stack;
	v->stack.len = (uint16_t)hop_len;
	v->stack.n = (uint8_t)(len / hop_len);
	v->source = stack + len;
	v->source_len = (uint16_t)source;
	return INT_OK;
}

static uint8_t flag(uint32_t word, unsigned bit, enum int_flag f)
{
	return word >> bit & 1 ? (uint8_t)f : 0;
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

	v->flags |= flag(word, 25, INT_DISCARD) |
		    flag(word, 24, INT_HOPS_EXCEEDED) |
		    (word >> 21 & 7 || be16_load(h + INT_AT_DOMAIN)
			     ? INT_RESERVED
			     : 0);
	/* Words of a profile may be longer than 4 bytes. Instructions that are
	 * not counted make a hop shorter than they ask for. */
	r = divide(v, p, h + INT_HEADER1_LEN, at->stack_len,
		   plan->len + (count - asked) * 4);
	if (!r && v->stack.n != (word & 0xff))
		return INT_BAD_STACK;
	return r;
}

/* Ver 4, Rep 2, C, E, M, R 10, HopML 5, RemainingHopCnt 8. */
static inline enum int_result md_1_0(struct int_view *v,
				     const struct int_profile *p,
				     const uint8_t *h, uint32_t stack_len)
{
	uint32_t word = be32_load(h);

	v->flags |= flag(word, 25, INT_DISCARD) |
		    flag(word, 24, INT_HOPS_EXCEEDED) |
		    flag(word, 23, INT_MTU_EXCEEDED) |
		    (word >> 13 & 0x3ff || be16_load(h + INT_AT_DOMAIN)
			     ? INT_RESERVED
			     : 0);
	return divide(v, p, h + INT_HEADER1_LEN, stack_len,
		      (word >> 8 & INT_HOP_WORDS_MASK) * 4);
}

/* Of 2.x; domain 0 has no instructions of its own. */
static void domain_of(struct int_view *v, const uint8_t *h)
{
	v->domain = be16_load(h + INT_AT_DOMAIN);
	v->domain_bits = be16_load(h + INT_AT_DOMAIN_BITS);
	if (!v->domain && v->domain_bits)
		v->flags |= INT_RESERVED;
}

/* Ver 4, D, E, M, R 12, HopML 5, RemainingHopCnt 8. */
static inline enum int_result md_2(struct int_view *v,
				   const struct int_profile *p,
				   const uint8_t *h, uint32_t stack_len)
{
	uint32_t word = be32_load(h);

	domain_of(v, h);
	v->flags |= flag(word, 27, INT_DISCARD) |
		    flag(word, 26, INT_HOPS_EXCEEDED) |
		    flag(word, 25, INT_MTU_EXCEEDED) |
		    (word >> 13 & 0xfff ? INT_RESERVED : 0);
	return divide(v, p, h + INT_HEADER2_LEN, stack_len,
		      (word >> 8 & INT_HOP_WORDS_MASK) * 4);
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
	domain_of(v, h);
	v->flags |= flag(word, 27, INT_DISCARD);
	if (hop_len && hop_len >= v->stack.plan->len && !(word & 0x01ffe0ff))
		v->flags |= flag(word, 26, INT_HOPS_EXCEEDED) |
			    flag(word, 25, INT_MTU_EXCEEDED);
	else if (word & 0x07ffffff)
		v->flags |= INT_RESERVED;
	v->source = h + INT_HEADER2_LEN;
	v->source_len = (uint16_t)at->stack_len;
	return INT_OK;
}

/* In pieces that registers hold: a large structure at once is a loop. */
static void clear(struct int_view *v)
{
	v->ts_ns = 0;
	v->format = INT_MD;
	v->flags = v->key_len = v->drop_reason = 0;
	v->ip_len = 0;
	v->from = (struct int_from){.report = false};
	v->own = (struct int_hops){.plan = NULL};
	v->stack = (struct int_hops){.plan = NULL};
	v->domain = v->domain_bits = v->source_len = 0;
	v->source = NULL;
}

enum int_result int_decode(struct int_view *out, struct int_decoder *d,
			   const struct int_place *at, const uint8_t *frame,
			   size_t len)
{
	const uint8_t *h = frame + at->header;
	const struct int_plan *plan = int_plans_get(
		&d->plans[at->version], be16_load(h + INT_AT_BITMAP));

	clear(out);
	out->flags = at->reserved || plan->reserved ? INT_RESERVED : 0;
	out->stack.plan = plan;
	flow_of(out, at, frame, len);
	if (at->type == INT_TYPE_MX)
		return mx(out, at, h);
	if (at->version == INT_V0_5)
		return md_0_5(out, d->profile, at, h);
	if (at->version == INT_V1_0)
		return md_1_0(out, d->profile, h, at->stack_len);
	return md_2(out, d->profile, h, at->stack_len);
}

/* Not inlined, so that the short way keeps no registers for it. */
static __attribute__((noinline)) enum int_result
read_any(struct int_view *out, struct int_decoder *d, uint16_t type,
	 const uint8_t *frame, size_t len)
{
	struct int_place at;
	enum int_result r = int_find(&at, d->profile, type, frame, len);

	return r ? r : int_decode(out, d, &at, frame, len);
}

/* The usual packet, its parts found. */
struct plain {
	const uint8_t *ip, *l4, *shim;
	size_t len; /* captured of it, from its IP header on */
	uint32_t told;
	uint32_t rest; /* bytes behind the shim */
	uint8_t protocol, version;
};

/* IPv4 without tags, options or fragments. */
static inline bool plain_ip(struct plain *s, uint16_t type,
			    const uint8_t *frame, size_t len)
{
	if (type == NET_ETHERTYPE_ETH) {
		if (len < NET_ETH_LEN ||
		    be16_load(frame + NET_ETH_AT_TYPE) != NET_ETHERTYPE_IP4)
			return false;
		frame += NET_ETH_LEN;
		len -= NET_ETH_LEN;
	} else if (type != NET_ETHERTYPE_IP4) {
		return false;
	}
	if (len < NET_IP4_LEN + NET_TCP_LEN || frame[0] != NET_IP4_PLAIN ||
	    be16_load(frame + NET_IP4_AT_FRAGMENT) & NET_IP4_FRAGMENT)
		return false;
	s->ip = frame;
	s->l4 = frame + NET_IP4_LEN;
	s->told = be16_load(frame + NET_IP4_AT_LEN);
	s->len = len < s->told ? len : s->told;
	s->protocol = frame[NET_IP4_AT_PROTO];
	return s->len >= NET_IP4_LEN + NET_TCP_LEN;
}

/* Whether UDP to this port is not INT by its DSCP alone. */
static inline bool has_port(const struct int_profile *p, uint16_t port)
{
	return port == p->udp_port || port == p->vxlan_gpe_port ||
	       port == p->geneve_port;
}

/* INT known by its DSCP, behind the header of UDP or TCP's first 20 bytes. */
static inline bool plain_l4(struct plain *s, const struct int_profile *p)
{
	size_t len;

	if ((s->ip[NET_IP4_AT_TOS] >> 2 ^ p->dscp) & p->dscp_mask)
		return false;
	if (s->protocol == NET_PROTO_UDP) {
		len = be16_load(s->l4 + NET_UDP_AT_LEN);
		s->shim = s->l4 + NET_UDP_LEN;
		return len + NET_IP4_LEN == s->told &&
		       !has_port(p, be16_load(s->l4 + NET_UDP_AT_DST));
	}
	len = (s->l4[NET_TCP_AT_OFFSET] >> 4) * 4u;
	s->shim = s->l4 + NET_TCP_LEN;
	return s->protocol == NET_PROTO_TCP && len >= NET_TCP_LEN &&
	       len + NET_IP4_LEN <= s->told;
}

/* The version of a header and the bytes behind its shim, which has nothing but
 * its type, its length and the DSCP. */
static inline uint8_t plain_shim(const uint8_t *p, uint32_t *len)
{
	uint32_t word = be32_load(p);

	if ((word & ~0x00ff00fcu) == (uint32_t)INT_TYPE_MD << 28) {
		*len = (word >> 16 & 0xff) * 4;
		return 2;
	}
	*len = (word >> 8 & 0xff) * 4 - INT_SHIM_LEN; /* 0: far too long */
	return (word & ~0x0000fffcu) == (uint32_t)INT_TYPE_MD << 24 ? 1 : 0;
}

/* INT-MD 1.0 or 2.x, all of it captured. */
static inline bool plain_int(struct plain *s, const struct int_decoder *d)
{
	size_t left = s->len - (size_t)(s->shim - s->ip);
	uint8_t ver;

	if (left < INT_SHIM_LEN + INT_HEADER2_LEN)
		return false;
	ver = plain_shim(s->shim, &s->rest);
	s->version = ver == 1			       ? INT_V1_0
		     : d->profile->version == INT_V2_0 ? INT_V2_0
						       : INT_V2_1;
	return d->plain >> ver & 1 && s->shim[INT_SHIM_LEN] >> 4 == ver &&
	       s->rest >= int_header_len(s->version) &&
	       s->rest <= left - INT_SHIM_LEN;
}

static inline void plain_flow(struct int_view *v, const struct plain *s)
{
	_Static_assert(NET_IP4_AT_SRC + 2 * KEY_IP4_LEN == NET_IP4_LEN,
		       "ports follow the addresses");
	memcpy(v->key, s->l4 - 2 * KEY_IP4_LEN, 2 * KEY_IP4_LEN + 4);
	v->key[2 * KEY_IP4_LEN + 4] = s->protocol;
	v->key_len = KEY_FLOW4_LEN;
	v->ip_len = s->told - INT_SHIM_LEN - s->rest;
}

enum int_result int_read(struct int_view *out, struct int_decoder *d,
			 uint16_t type, const uint8_t *frame, size_t len)
{
	const struct int_plan *plan;
	const uint8_t *h;
	struct plain s;

	if (!d->plain || !plain_ip(&s, type, frame, len) ||
	    !plain_l4(&s, d->profile) || !plain_int(&s, d))
		return read_any(out, d, type, frame, len);
	h = s.shim + INT_SHIM_LEN;
	plan = int_plans_get(&d->plans[s.version],
			     be16_load(h + INT_AT_BITMAP));
	clear(out);
	out->flags = plan->reserved ? INT_RESERVED : 0;
	out->stack.plan = plan;
	plain_flow(out, &s);
	if (s.version == INT_V1_0)
		return md_1_0(out, d->profile, h, s.rest - INT_HEADER1_LEN);
	return md_2(out, d->profile, h, s.rest - INT_HEADER2_LEN);
}
