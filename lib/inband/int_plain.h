/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_plain.h - int_read() (int_md.h) for those who read many: the usual packet
 * at once, all of it here so that it can be inlined; and what it has in common
 * with int_decode(). Private to this room.
 *
 * The usual packet is IPv4 without options or IPv6 without extensions, in
 * Ethernet without tags or alone, whole; in it TCP, or UDP to no port that has
 * a meaning; behind that, by its DSCP, INT-MD 1.0 or 2.x. What else there is,
 * int_find() tells.
 */
#ifndef INBAND_INT_PLAIN_H
#define INBAND_INT_PLAIN_H

#include "inband/int_md.h"
#include "inband/int_private.h"
#include "wire/be.h"
#include "wire/key.h"
#include "wire/net.h"

/* int_find() and int_decode(). */
enum int_result int_read_any(struct int_view *out, struct int_decoder *d,
			     uint16_t type, const uint8_t *frame, size_t len);

/*
 * Bytes of a stack that only the source has added: as the profile knows of its
 * domain, and what is less than a hop. Of another domain all of it, unless each
 * bit may have a word in every hop: nobody knows where the hops end.
 */
uint32_t int_source_len(const struct int_profile *p, const struct int_view *v,
			uint32_t len, uint32_t hop_len);

/* In pieces that registers hold: a large structure at once is a loop. */
static inline void int_clear(struct int_view *v)
{
	v->ts_ns = 0;
	v->format = INT_MD;
	v->flags = v->key_len = 0;
	v->ip_len = 0;
	v->from = (struct int_from){.report = false};
	v->own = (struct int_hops){.plan = NULL};
	v->stack = (struct int_hops){.plan = NULL};
	v->domain = v->domain_bits = v->source_len = 0;
	v->source = NULL;
}

/* Divides the stack into hops of hop_len bytes. What only the source has added
 * is at its end; a stack may be that alone. */
static inline enum int_result int_divide(struct int_view *v,
					 const struct int_profile *p,
					 const uint8_t *stack, uint32_t len,
					 uint32_t hop_len)
{
	uint32_t source = 0;

	if (hop_len < v->stack.plan->len || (!hop_len && !v->domain_bits))
		return INT_BAD_HOP;
	if (v->domain_bits) {
		source = int_source_len(p, v, len, hop_len);
		if (source > len)
			return INT_BAD_STACK;
	}
	len -= source;
	if (hop_len ? len % hop_len : len)
		return INT_BAD_STACK;
	v->stack.data = stack;
	v->stack.len = (uint16_t)hop_len;
	v->stack.n = (uint8_t)(hop_len ? len / hop_len : 0);
	v->source = stack + len;
	v->source_len = (uint16_t)source;
	return INT_OK;
}

static inline uint8_t int_flag_of(uint32_t word, unsigned bit, enum int_flag f)
{
	return word >> bit & 1 ? (uint8_t)f : 0;
}

/* Ver 4, Rep 2, C, E, M, R 10, HopML 5, RemainingHopCnt 8. */
static inline enum int_result int_md_1_0(struct int_view *v,
					 const struct int_profile *p,
					 const uint8_t *h, uint32_t stack_len)
{
	uint32_t word = be32_load(h);

	if (word >> 13 & 0x1fff || be16_load(h + INT_AT_DOMAIN)) /* seldom */
		v->flags |= int_flag_of(word, 25, INT_DISCARD) |
			    int_flag_of(word, 24, INT_HOPS_EXCEEDED) |
			    int_flag_of(word, 23, INT_MTU_EXCEEDED) |
			    (word >> 13 & 0x3ff || be16_load(h + INT_AT_DOMAIN)
				     ? INT_RESERVED
				     : 0);
	return int_divide(v, p, h + INT_HEADER1_LEN, stack_len,
			  (word >> 8 & INT_HOP_WORDS_MASK) * 4);
}

/* Of 2.x; domain 0 has no instructions of its own. */
static inline void int_domain_of(struct int_view *v, const uint8_t *h)
{
	v->domain = be16_load(h + INT_AT_DOMAIN);
	v->domain_bits = be16_load(h + INT_AT_DOMAIN_BITS);
	if (!v->domain && v->domain_bits)
		v->flags |= INT_RESERVED;
}

/* Ver 4, D, E, M, R 12, HopML 5, RemainingHopCnt 8. */
static inline enum int_result int_md_2(struct int_view *v,
				       const struct int_profile *p,
				       const uint8_t *h, uint32_t stack_len)
{
	uint32_t word = be32_load(h);

	int_domain_of(v, h);
	if (word >> 13 & 0x7fff) /* seldom */
		v->flags |= int_flag_of(word, 27, INT_DISCARD) |
			    int_flag_of(word, 26, INT_HOPS_EXCEEDED) |
			    int_flag_of(word, 25, INT_MTU_EXCEEDED) |
			    (word >> 13 & 0xfff ? INT_RESERVED : 0);
	return int_divide(v, p, h + INT_HEADER2_LEN, stack_len,
			  (word >> 8 & INT_HOP_WORDS_MASK) * 4);
}

/* The usual packet, its parts found. */
struct int_plain {
	const uint8_t *ip, *l4, *shim;
	size_t len;    /* captured of it, from its IP header on */
	uint32_t told; /* the same by that header */
	uint32_t rest; /* bytes behind the shim */
	uint8_t dscp, protocol, version;
	uint8_t address; /* bytes of one; both stand before l4 */
};

static inline bool int_plain_ip4(struct int_plain *s, const uint8_t *ip,
				 size_t len)
{
	if (len < NET_IP4_LEN + NET_TCP_LEN || ip[0] != NET_IP4_PLAIN ||
	    be16_load(ip + NET_IP4_AT_FRAGMENT) & NET_IP4_FRAGMENT)
		return false;
	s->ip = ip;
	s->l4 = ip + NET_IP4_LEN;
	s->told = be16_load(ip + NET_IP4_AT_LEN);
	s->dscp = ip[NET_IP4_AT_TOS] >> 2;
	s->protocol = ip[NET_IP4_AT_PROTO];
	s->address = KEY_IP4_LEN;
	return true;
}

/* What it calls its protocol may be an extension: neither TCP nor UDP. */
static inline bool int_plain_ip6(struct int_plain *s, const uint8_t *ip,
				 size_t len)
{
	if (len < NET_IP6_LEN + NET_TCP_LEN || ip[0] >> 4 != 6)
		return false;
	s->ip = ip;
	s->l4 = ip + NET_IP6_LEN;
	s->told = be16_load(ip + NET_IP6_AT_LEN) + NET_IP6_LEN;
	s->dscp = be16_load(ip) >> 6 & 0x3f;
	s->protocol = ip[NET_IP6_AT_NEXT];
	s->address = KEY_IP6_LEN;
	return true;
}

static inline bool int_plain_ip(struct int_plain *s, uint16_t type,
				const uint8_t *frame, size_t len)
{
	if (type == NET_ETHERTYPE_ETH) {
		if (len < NET_ETH_LEN)
			return false;
		type = be16_load(frame + NET_ETH_AT_TYPE);
		frame += NET_ETH_LEN;
		len -= NET_ETH_LEN;
	}
	if (!(type == NET_ETHERTYPE_IP4 && int_plain_ip4(s, frame, len)) &&
	    !(type == NET_ETHERTYPE_IP6 && int_plain_ip6(s, frame, len)))
		return false;
	s->len = len < s->told ? len : s->told;
	return s->len >= (size_t)(s->l4 - s->ip) + NET_TCP_LEN;
}

/* INT known by its DSCP, behind the header of UDP or TCP's first 20 bytes. */
static inline bool int_plain_l4(struct int_plain *s,
				const struct int_profile *p)
{
	uint32_t told = s->told - (uint32_t)(s->l4 - s->ip), len;
	uint16_t port = be16_load(s->l4 + NET_UDP_AT_DST);

	if ((s->dscp ^ p->dscp) & p->dscp_mask)
		return false;
	if (s->protocol == NET_PROTO_UDP) {
		s->shim = s->l4 + NET_UDP_LEN;
		return be16_load(s->l4 + NET_UDP_AT_LEN) == told &&
		       port != p->udp_port && port != p->vxlan_gpe_port &&
		       port != p->geneve_port;
	}
	len = (s->l4[NET_TCP_AT_OFFSET] >> 4) * 4u;
	s->shim = s->l4 + NET_TCP_LEN;
	return s->protocol == NET_PROTO_TCP && len >= NET_TCP_LEN &&
	       len <= told;
}

/* The version of a header and the bytes behind its shim, which has nothing but
 * its type, its length and the DSCP. */
static inline uint8_t int_plain_shim(const uint8_t *p, uint32_t *len)
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
static inline bool int_plain_int(struct int_plain *s,
				 const struct int_decoder *d)
{
	size_t left = s->len - (size_t)(s->shim - s->ip);
	uint8_t ver;

	if (left < INT_SHIM_LEN + INT_HEADER2_LEN)
		return false;
	ver = int_plain_shim(s->shim, &s->rest);
	s->version = ver == 1			       ? INT_V1_0
		     : d->profile->version == INT_V2_0 ? INT_V2_0
						       : INT_V2_1;
	return d->plain >> ver & 1 && s->shim[INT_SHIM_LEN] >> 4 == ver &&
	       s->rest >= int_header_len(s->version) &&
	       s->rest <= left - INT_SHIM_LEN;
}

static inline void int_plain_flow(struct int_view *v, const struct int_plain *s)
{
	size_t len = 2u * s->address + 4; /* ports follow the addresses */

	if (s->address == KEY_IP4_LEN)
		memcpy(v->key, s->l4 - 2 * KEY_IP4_LEN, 2 * KEY_IP4_LEN + 4);
	else
		memcpy(v->key, s->l4 - 2 * KEY_IP6_LEN, 2 * KEY_IP6_LEN + 4);
	v->key[len] = s->protocol;
	v->key_len = (uint8_t)(len + 1);
	v->ip_len = s->told - INT_SHIM_LEN - s->rest;
}

_Static_assert(NET_IP4_AT_SRC + 2 * KEY_IP4_LEN == NET_IP4_LEN &&
		       NET_IP6_AT_SRC + 2 * KEY_IP6_LEN == NET_IP6_LEN,
	       "ports follow the addresses");

/* int_read(), inlined. */
static inline __attribute__((always_inline)) enum int_result
int_read_here(struct int_view *out, struct int_decoder *d, uint16_t type,
	      const uint8_t *frame, size_t len)
{
	const struct int_plan *plan;
	struct int_plain s;
	const uint8_t *h;

	if (!d->plain || !int_plain_ip(&s, type, frame, len) ||
	    !int_plain_l4(&s, d->profile) || !int_plain_int(&s, d))
		return int_read_any(out, d, type, frame, len);
	h = s.shim + INT_SHIM_LEN;
	plan = int_plans_get(&d->plans[s.version],
			     be16_load(h + INT_AT_BITMAP));
	int_clear(out);
	out->flags = plan->reserved ? INT_RESERVED : 0;
	out->stack.plan = plan;
	int_plain_flow(out, &s);
	if (s.version == INT_V1_0)
		return int_md_1_0(out, d->profile, h, s.rest - INT_HEADER1_LEN);
	return int_md_2(out, d->profile, h, s.rest - INT_HEADER2_LEN);
}

#endif
