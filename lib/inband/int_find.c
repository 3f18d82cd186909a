/* SPDX-License-Identifier: BSD-2-Clause */
/* int_find.c - where in a frame INT is: int_md.h. */
#include <errno.h>

#include "inband/int_private.h"
#include "wire/be.h"
#include "wire/net.h"

/* A packet that is looked through. */
struct search {
	const struct int_profile *p;
	const uint8_t *frame;
	struct int_place *at;
	struct int_l4 l4; /* the cursor goes on behind it */
	size_t end;	  /* of the packet by its headers, from the frame on */
};

static uint32_t offset(const struct search *s, const uint8_t *p)
{
	return (uint32_t)(p - s->frame);
}

/* The packet ends at that place already. */
static void cut_at(struct search *s, size_t end)
{
	s->end = end;
	if (end < offset(s, s->l4.c.end))
		s->l4.c.end = s->frame + end;
}

/* Why there is no more at the cursor: the capture was cut, or as told. */
static enum int_result missing(const struct search *s, enum int_result told)
{
	return offset(s, s->l4.c.end) < s->end ? INT_CUT : told;
}

/* Labels down to the last; then the first four bits tell (RFC 4928). */
static int mpls_skip(struct cur *c)
{
	const uint8_t *p;

	for (int i = 0; i < NET_MPLS_MAX; i++) {
		if (!(p = cur_take(c, NET_MPLS_LEN)) || !cur_left(c))
			return 0;
		if (p[NET_MPLS_AT_BOTTOM] & 1)
			return *c->p >> 4 == 4	 ? NET_ETHERTYPE_IP4
			       : *c->p >> 4 == 6 ? NET_ETHERTYPE_IP6
						 : 0;
	}
	return 0;
}

int int_link_skip(struct cur *c, uint16_t type, const uint8_t **at)
{
	int next = type;

	*at = NULL;
	if (type == NET_ETHERTYPE_ETH)
		next = net_eth_skip(c, at);
	if (next == NET_ETHERTYPE_MPLS || next == NET_ETHERTYPE_MPLS_UP) {
		*at = NULL;
		next = mpls_skip(c);
	}
	return next;
}

/* Which version a header has, if the profile takes it. 2.0 and 2.1 look the
 * same. */
static bool version_of(const struct int_profile *p, unsigned ver, uint8_t *out)
{
	if (p->version == INT_ANY) {
		*out = ver < 2 ? (uint8_t)ver : INT_V2_1;
		return ver <= 2;
	}
	*out = p->version;
	return p->any_ver || ver == (int_is_old(p->version) ? p->version : 2u);
}

/* Header and stack are len bytes at the cursor, with the tail of 0.5 where it
 * has one. */
static enum int_result body(struct search *s, bool old, size_t len, bool tail)
{
	struct int_place *at = s->at;
	const uint8_t *p = s->l4.c.p;
	size_t least;

	at->header = offset(s, p);
	at->end = at->header + (uint32_t)len;
	if (len < INT_HEADER1_LEN || at->end > s->end)
		return INT_BAD_LENGTH;
	if (len > cur_left(&s->l4.c))
		return INT_CUT;
	if (!version_of(s->p, p[0] >> 4, &at->version) ||
	    old != int_is_old(at->version))
		return INT_BAD_VERSION;
	at->tail = tail && at->version == INT_V0_5 ? INT_TAIL_LEN : 0;
	least = int_header_len(at->version) + at->tail;
	if (len < least)
		return INT_BAD_LENGTH;
	at->stack = at->header + int_header_len(at->version);
	at->stack_len = (uint32_t)(len - least);
	return INT_OK;
}

/* Of all that a shim of 0.5 should count, by the header at the cursor: InsCnt,
 * TotalHopCnt. */
static size_t words_0_5(const struct search *s)
{
	const uint8_t *h = s->l4.c.p;

	if (cur_left(&s->l4.c) < INT_HEADER1_LEN)
		return 0;
	return (INT_SHIM_LEN + INT_HEADER1_LEN + INT_TAIL_LEN) / 4 +
	       (size_t)(h[1] & INT_HOP_WORDS_MASK) * h[3];
}

/*
 * The shim at the cursor, and what it is the shim of. Its first byte tells the
 * forms apart (trap S14): 2.x has the type in the high half.
 */
static enum int_result shim(struct search *s, bool tail)
{
	const uint8_t *p = cur_take(&s->l4.c, INT_SHIM_LEN);
	struct int_place *at = s->at;
	size_t words;
	bool old;

	if (!p)
		return missing(s, INT_BAD_LENGTH);
	old = s->p->version == INT_ANY ? !(p[0] >> 4)
				       : int_is_old(s->p->version);
	at->type = old ? p[0] : p[0] >> 4;
	at->shim = offset(s, p);
	if (at->type != INT_TYPE_MD && (old || at->type != INT_TYPE_MX))
		return INT_BAD_TYPE;
	words = old ? p[INT_SHIM1_AT_WORDS] : p[INT_SHIM_AT_WORDS];
	if (!words && s->p->version == INT_V0_5 && s->p->report_length_wrong)
		words = words_0_5(s);
	if (old && !words--) /* it counts itself */
		return INT_BAD_LENGTH;
	return body(s, old, words * 4, tail);
}

/* Behind a header of TCP, UDP or ICMP. */
static enum int_result behind_l4(struct search *s, enum int_by by)
{
	struct int_place *at = s->at;
	const uint8_t *p;
	enum int_result r;

	at->over = INT_OVER_L4;
	at->by = (uint8_t)by;
	at->begin = offset(s, s->l4.c.p);
	if (by == INT_BY_MARKER)
		s->l4.c.p += INT_MARKER_LEN;
	if ((r = shim(s, true)))
		return r;
	p = s->frame + at->shim;
	if (at->version == INT_V0_5) {
		at->reserved = p[1] | p[INT_SHIM_AT_LAST];
		p = s->frame + at->end - INT_TAIL_LEN;
		at->next = be16_load(p + INT_TAIL_AT_PORT);
		at->dscp = p[INT_TAIL_AT_DSCP] & 0x3f;
		return INT_OK;
	}
	at->dscp = p[INT_SHIM_AT_LAST] >> 2;
	if (at->version == INT_V1_0)
		at->reserved = p[1] | (p[INT_SHIM_AT_LAST] & 3);
	return INT_OK;
}

/* Which 2.x says: whether another header follows, section 5.7.2. */
static unsigned npt_of(const struct search *s)
{
	return s->frame[s->at->shim] >> 2 & 3;
}

static enum int_result by_mark(struct search *s, enum int_by by)
{
	enum int_result r = behind_l4(s, by);
	const uint8_t *p = s->frame + s->at->shim;

	if (r || int_is_old(s->at->version))
		return r;
	s->at->reserved = p[0] & 3 || p[INT_SHIM_AT_NEXT] ||
			  p[INT_SHIM_AT_LAST] & 3;
	return npt_of(s) ? INT_BAD_NEXT : INT_OK;
}

/* Behind INT's port; in 0.5 that may be TCP's. */
static enum int_result by_port(struct search *s)
{
	enum int_result r = behind_l4(s, INT_BY_PORT);
	struct int_place *at = s->at;
	const uint8_t *p = s->frame + at->shim;

	if (r || at->version == INT_V0_5)
		return r;
	if (at->version == INT_V1_0 || at->protocol != NET_PROTO_UDP)
		return INT_BAD_NEXT;
	at->next = be16_load(p + INT_SHIM_AT_NEXT);
	at->reserved = p[0] & 3;
	if (npt_of(s) == INT_SHIM_NPT_UDP) {
		at->over = INT_OVER_UDP;
		return INT_OK;
	}
	at->over = INT_OVER_NEW_UDP;
	at->begin = at->l4;
	at->reserved |= at->next >> 8;
	at->next &= 0xff;
	return npt_of(s) == INT_SHIM_NPT_IP ? INT_OK : INT_BAD_NEXT;
}

static bool is_vxlan_next(const struct int_profile *p, uint8_t next)
{
	if (p->version != INT_ANY)
		return next && next == p->vxlan_gpe_next;
	return next == INT_VXLAN_GPE_0_5 || next == INT_VXLAN_GPE_1_0 ||
	       next == INT_VXLAN_GPE_2_0 || next == INT_VXLAN_GPE_2_1;
}

static enum int_result in_vxlan(struct search *s)
{
	const uint8_t *p = cur_take(&s->l4.c, NET_VXLAN_LEN);
	struct int_place *at = s->at;
	enum int_result r;

	if (!p || !(p[0] & NET_VXLAN_HAS_NEXT) ||
	    !is_vxlan_next(s->p, p[NET_VXLAN_AT_NEXT]))
		return INT_NONE;
	at->over = INT_OVER_VXLAN;
	at->begin = offset(s, s->l4.c.p);
	if ((r = shim(s, false)))
		return r;
	p = s->frame + at->shim;
	at->next = p[INT_SHIM_AT_LAST];
	if (int_is_old(at->version)) {
		at->reserved = p[1];
		return INT_OK;
	}
	at->added = p[INT_SHIM_AT_NEXT] & 0x80;
	at->reserved = p[0] & 0xf || p[INT_SHIM_AT_NEXT] & 0x7f;
	return INT_OK;
}

/* The option at p, with len bytes of data at the cursor. */
static enum int_result geneve_option(struct search *s, const uint8_t *p,
				     size_t len)
{
	struct int_place *at = s->at;
	bool old;

	at->over = INT_OVER_GENEVE;
	at->type = p[NET_GENEVE_OPTION_AT_TYPE];
	at->begin = at->shim = offset(s, p);
	at->reserved = p[NET_GENEVE_OPTION_AT_WORDS] & ~NET_GENEVE_OPTION_MASK;
	if (!len || !cur_left(&s->l4.c))
		return len ? missing(s, INT_BAD_LENGTH) : INT_BAD_LENGTH;
	old = s->p->version == INT_ANY ? *s->l4.c.p >> 4 < 2
				       : int_is_old(s->p->version);
	if (at->type != INT_TYPE_MD && (old || at->type != INT_TYPE_MX))
		return INT_BAD_TYPE;
	return body(s, old, len, false);
}

static bool is_geneve_class(const struct int_profile *p, uint16_t class)
{
	return class == p->geneve_class ||
	       (p->version == INT_ANY && class == INT_GENEVE_CLASS_EXAMPLE);
}

static enum int_result in_geneve(struct search *s)
{
	const uint8_t *p = cur_take(&s->l4.c, NET_GENEVE_LEN);
	size_t end, len;

	if (!p || p[0] >> 6)
		return INT_NONE;
	s->at->next = be16_load(p + NET_GENEVE_AT_TYPE);
	end = offset(s, s->l4.c.p) + (p[0] & NET_GENEVE_WORDS_MASK) * 4u;
	if (end > s->end)
		return INT_BAD_PACKET;
	cut_at(s, end);
	/* Each option is 4 bytes or more, and a failed read ends it. */
	while ((p = cur_take(&s->l4.c, NET_GENEVE_OPTION_LEN))) {
		len = (p[NET_GENEVE_OPTION_AT_WORDS] & NET_GENEVE_OPTION_MASK) *
		      4u;
		if (is_geneve_class(s->p, be16_load(p)))
			return geneve_option(s, p, len);
		cur_take(&s->l4.c, len);
	}
	return missing(s, INT_NONE);
}

static enum int_result in_gre(struct search *s)
{
	const uint8_t *p = cur_take(&s->l4.c, NET_GRE_LEN);
	struct int_place *at = s->at;
	enum int_result r;
	unsigned flags;

	if (!p || !s->p->gre_type ||
	    be16_load(p + NET_GRE_AT_TYPE) != s->p->gre_type)
		return INT_NONE;
	flags = be16_load(p);
	if (flags & NET_GRE_OTHER)
		return INT_BAD_PACKET;
	for (unsigned bit = NET_GRE_SUM; bit >= NET_GRE_SEQUENCE; bit >>= 1)
		if (flags & bit)
			cur_take(&s->l4.c, 4);
	at->over = INT_OVER_GRE;
	at->begin = offset(s, s->l4.c.p);
	if ((r = shim(s, false)))
		return r;
	if (int_is_old(at->version)) /* GRE came with 2.0 */
		return INT_BAD_VERSION;
	p = s->frame + at->shim;
	at->next = be16_load(p + INT_SHIM_AT_NEXT);
	at->added = p[0] & 8;
	at->reserved = p[0] & 7;
	if (at->added)
		at->begin = at->next == NET_ETHERTYPE_ETH ? 0 : at->ip;
	return INT_OK;
}

static bool has_marker(const struct search *s)
{
	return s->p->marker && cur_left(&s->l4.c) >= INT_MARKER_LEN &&
	       be64_load(s->l4.c.p) == s->p->marker;
}

/* What is behind a header of TCP or UDP is INT if DSCP or marker say so. */
static enum int_result marked(struct search *s)
{
	const struct int_profile *p = s->p;
	const uint8_t *ip = s->frame + s->at->ip;
	unsigned tos = s->at->ip_version == 4 ? ip[NET_IP4_AT_TOS]
					      : be16_load(ip) >> 4;

	if (has_marker(s))
		return by_mark(s, INT_BY_MARKER);
	if (p->dscp_mask ==
	    INT_DSCP_ANY) /* what does not look like it is none */
		return by_mark(s, INT_BY_DSCP) ? INT_NONE : INT_OK;
	if (p->dscp_mask && !((tos >> 2 ^ p->dscp) & p->dscp_mask))
		return by_mark(s, INT_BY_DSCP);
	return INT_NONE;
}

static enum int_result in_udp(struct search *s)
{
	const uint8_t *p = cur_take(&s->l4.c, NET_UDP_LEN);
	enum int_result r = INT_NONE;
	unsigned port, len;
	struct search was;

	if (!p)
		return missing(s, INT_BAD_PACKET);
	port = be16_load(p + NET_UDP_AT_DST);
	len = be16_load(p + NET_UDP_AT_LEN);
	if (len < NET_UDP_LEN || len > s->l4.told)
		return INT_BAD_PACKET;
	cut_at(s, s->at->l4 + len);
	if (port && port == s->p->udp_port)
		return by_port(s);
	if (port &&
	    (port == s->p->vxlan_gpe_port || port == s->p->geneve_port)) {
		was = *s;
		r = port == s->p->vxlan_gpe_port ? in_vxlan(s) : in_geneve(s);
		if (r != INT_NONE)
			return r;
		*s = was;
	}
	return marked(s);
}

/* INT 0.5 behind n bytes of TCP options, where 1.0 and 2.x have it before them:
 * what it says of itself, and that TCP was the packet's own protocol. */
static bool is_behind_options(const struct search *s, size_t n)
{
	const uint8_t *p = s->l4.c.p + n;
	size_t left = cur_left(&s->l4.c), len;

	if (!n || left < n + INT_SHIM_LEN + INT_HEADER1_LEN)
		return false;
	len = p[INT_SHIM1_AT_WORDS] * 4u;
	return p[0] == INT_TYPE_MD && !p[1] && !p[INT_SHIM_AT_LAST] &&
	       !(p[INT_SHIM_LEN] >> 4) && len <= left - n &&
	       len >= INT_SHIM_LEN + INT_HEADER1_LEN + INT_TAIL_LEN &&
	       p[len - INT_TAIL_LEN] == NET_PROTO_TCP;
}

static enum int_result in_tcp(struct search *s)
{
	const uint8_t *p = cur_take(&s->l4.c, NET_TCP_LEN);
	size_t len;

	if (!p)
		return missing(s, INT_BAD_PACKET);
	len = (p[NET_TCP_AT_OFFSET] >> 4) * 4u;
	if (len < NET_TCP_LEN || len > s->l4.told)
		return INT_BAD_PACKET;
	if (s->p->behind_tcp_options ||
	    (s->p->version == INT_ANY && !has_marker(s) &&
	     is_behind_options(s, len - NET_TCP_LEN)))
		cur_take(&s->l4.c, len - NET_TCP_LEN);
	if (s->p->udp_port && be16_load(p + NET_UDP_AT_DST) == s->p->udp_port &&
	    (s->p->version == INT_V0_5))
		return by_port(s);
	return marked(s);
}

/* Probes may be ICMP; nothing but a marker can say so. */
static enum int_result in_icmp(struct search *s)
{
	if (!cur_take(&s->l4.c, NET_ICMP_LEN) || !has_marker(s))
		return INT_NONE;
	return by_mark(s, INT_BY_MARKER);
}

static enum int_result in_ip(struct search *s)
{
	switch (s->at->protocol) {
	case NET_PROTO_TCP:
		return in_tcp(s);
	case NET_PROTO_UDP:
		return in_udp(s);
	case NET_PROTO_ICMP:
	case NET_PROTO_ICMP6:
		return in_icmp(s);
	case NET_PROTO_GRE:
		return in_gre(s);
	}
	return INT_NONE;
}

static enum int_result locate(struct int_place *out, struct int_l4 *l4,
			      uint16_t type, const uint8_t *frame, size_t len)
{
	struct cur c = cur_of(frame, len);
	const uint8_t *type_at;
	int next = int_link_skip(&c, type, &type_at);
	struct net_ip ip;
	int rc;

	if (next < 0)
		return next == -ENOTSUP ? INT_NONE : INT_BAD_PACKET;
	rc = net_ip_decode(&ip, (uint16_t)next, &c);
	if (rc)
		return rc == -ENOTSUP ? INT_NONE : INT_BAD_PACKET;
	if (ip.fragment) /* INT's nodes make none: section 5.3 */
		return INT_NONE;
	*out = (struct int_place){
		.by = INT_BY_TUNNEL,
		.ip_version = ip.version,
		.protocol = ip.protocol,
		.type_at = type_at ? (uint32_t)(type_at - frame) : 0,
		.ip = (uint32_t)(ip.hdr - frame),
		.proto_at = (uint32_t)(ip.next - frame),
		.l4 = (uint32_t)(ip.l4.p - frame),
		.ip_len = ip.len,
	};
	*l4 = (struct int_l4){ip.l4, ip.l4_len};
	return INT_OK;
}

/* The common case at once: no tags, IPv4 without options or fragments. */
static bool locate_plain(struct int_place *out, struct int_l4 *l4,
			 const uint8_t *frame, size_t len)
{
	const uint8_t *ip = frame + NET_ETH_LEN;
	size_t told, captured = len - NET_ETH_LEN;

	if (len < NET_ETH_LEN + NET_IP4_LEN ||
	    be16_load(frame + NET_ETH_AT_TYPE) != NET_ETHERTYPE_IP4 ||
	    ip[0] != NET_IP4_PLAIN ||
	    be16_load(ip + NET_IP4_AT_FRAGMENT) & NET_IP4_FRAGMENT)
		return false;
	told = be16_load(ip + NET_IP4_AT_LEN);
	if (told < NET_IP4_LEN)
		return false;
	*out = (struct int_place){
		.by = INT_BY_TUNNEL,
		.ip_version = 4,
		.protocol = ip[NET_IP4_AT_PROTO],
		.type_at = NET_ETH_AT_TYPE,
		.ip = NET_ETH_LEN,
		.proto_at = NET_ETH_LEN + NET_IP4_AT_PROTO,
		.l4 = NET_ETH_LEN + NET_IP4_LEN,
		.ip_len = (uint32_t)told,
	};
	l4->told = (uint32_t)told - NET_IP4_LEN;
	/* Field by field: a copy of the whole waits for its parts. */
	l4->c.p = ip + NET_IP4_LEN;
	l4->c.end = ip + (told < captured ? told : captured);
	l4->c.bad = false;
	return true;
}

enum int_result int_locate(struct int_place *out, struct int_l4 *l4,
			   uint16_t type, const uint8_t *frame, size_t len)
{
	if (type == NET_ETHERTYPE_ETH && locate_plain(out, l4, frame, len))
		return INT_OK;
	return locate(out, l4, type, frame, len);
}

enum int_result int_find(struct int_place *out, const struct int_profile *p,
			 uint16_t type, const uint8_t *frame, size_t len)
{
	struct search s;
	enum int_result r = int_locate(out, &s.l4, type, frame, len);

	if (r)
		return r;
	s.p = p;
	s.frame = frame;
	s.at = out;
	s.end = out->l4 + s.l4.told;
	return in_ip(&s);
}
