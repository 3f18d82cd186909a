/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_md.c - INT in a packet: where it is, what it says, and both at once for
 * the usual packet: int_md.h.
 */
#include <errno.h>

#include "int/int_private.h"
#include "net/be.h"
#include "net/net.h"

/* --- where it is --------------------------------------------------------- */

/* A packet in which INT is looked for. */
struct search {
	const struct int_profile *p;
	const uint8_t *frame;
	struct int_place *at;
	struct int_l4 l4; /* its cursor steps over headers as they are read */
	size_t end;	  /* offset of the packet's end, by its headers */
};

static uint32_t offset(const struct search *s, const uint8_t *p)
{
	return (uint32_t)(p - s->frame);
}

/* An inner header says that the packet ends there. */
static void cut_at(struct search *s, size_t end)
{
	s->end = end;
	if (end < offset(s, s->l4.c.end))
		s->l4.c.end = s->frame + end;
}

/* Why there is no more at the cursor: the capture was cut, or else r. */
static enum int_result cut_or(const struct search *s, enum int_result r)
{
	return offset(s, s->l4.c.end) < s->end ? INT_CUT : r;
}

/* Steps over MPLS labels. Returns the Ethernet type of what follows, which its
 * first four bits tell (RFC 4928); 0: neither IPv4 nor IPv6. */
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

/* From a packet of that Ethernet type, steps over Ethernet header, VLAN tags
 * and MPLS labels. Returns the type of what follows, below 1 if it is unknown.
 * *at: the field with that type; NULL: there is none, as behind labels. */
static int skip_link(struct cur *c, uint16_t type, const uint8_t **at)
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

/* INT header and stack, len bytes at the cursor; tail: and that of 0.5. */
static enum int_result find_header(struct search *s, bool old, size_t len,
				   bool tail)
{
	struct int_place *at = s->at;
	const uint8_t *p = s->l4.c.p;
	uint8_t version = s->p->version;
	unsigned ver;
	size_t least;

	at->header = offset(s, p);
	at->end = at->header + (uint32_t)len;
	if (len < INT_HEADER1_LEN || at->end > s->end)
		return INT_BAD_LENGTH;
	if (len > cur_left(&s->l4.c))
		return INT_CUT;
	ver = p[0] >> 4; /* 2.0 and 2.1 look the same */
	at->version = version != INT_ANY ? version
		      : ver < 2		 ? (uint8_t)ver
					 : INT_V2_1;
	if ((version == INT_ANY
		     ? ver > 2
		     : !s->p->any_ver &&
			       ver != (int_is_old(version) ? version : 2u)) ||
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

/* The Length that a shim of 0.5 should have, by InsCnt and TotalHopCnt of the
 * INT header at the cursor. */
static size_t shim_words_0_5(const struct search *s)
{
	const uint8_t *h = s->l4.c.p;

	if (cur_left(&s->l4.c) < INT_HEADER1_LEN)
		return 0;
	return (INT_SHIM_LEN + INT_HEADER1_LEN + INT_TAIL_LEN) / 4 +
	       (size_t)(h[1] & INT_HOP_WORDS_MASK) * h[3];
}

/* The shim at the cursor, and INT behind it. Its first byte tells versions
 * apart: 2.x has the type in the high half. */
static enum int_result find_shim(struct search *s, bool tail)
{
	const uint8_t *p = cur_take(&s->l4.c, INT_SHIM_LEN);
	struct int_place *at = s->at;
	size_t words;
	bool old;

	if (!p)
		return cut_or(s, INT_BAD_LENGTH);
	old = s->p->version == INT_ANY ? !(p[0] >> 4)
				       : int_is_old(s->p->version);
	at->type = old ? p[0] : p[0] >> 4;
	at->shim = offset(s, p);
	if (at->type != INT_TYPE_MD && (old || at->type != INT_TYPE_MX))
		return INT_BAD_TYPE;
	words = old ? p[INT_SHIM1_AT_WORDS] : p[INT_SHIM_AT_WORDS];
	if (!words && s->p->version == INT_V0_5 && s->p->report_length_wrong)
		words = shim_words_0_5(s);
	if (old && !words--) /* it counts itself */
		return INT_BAD_LENGTH;
	return find_header(s, old, words * 4, tail);
}

/* INT behind a header of TCP, UDP or ICMP. */
static enum int_result find_behind_l4(struct search *s, enum int_by by)
{
	struct int_place *at = s->at;
	const uint8_t *p;
	enum int_result r;

	at->over = INT_OVER_L4;
	at->by = (uint8_t)by;
	at->begin = offset(s, s->l4.c.p);
	if (by == INT_BY_MARKER)
		s->l4.c.p += INT_MARKER_LEN;
	if ((r = find_shim(s, true)))
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

/* NPT of 2.x: whether another header follows (INT 2.1, section 5.7.2). */
static unsigned npt_of(const struct search *s)
{
	return s->frame[s->at->shim] >> 2 & 3;
}

/* INT known by DSCP or marker. */
static enum int_result find_marked(struct search *s, enum int_by by)
{
	enum int_result r = find_behind_l4(s, by);
	const uint8_t *p = s->frame + s->at->shim;

	if (r || int_is_old(s->at->version))
		return r;
	s->at->reserved = p[0] & 3 || p[INT_SHIM_AT_NEXT] ||
			  p[INT_SHIM_AT_LAST] & 3;
	return npt_of(s) ? INT_BAD_NEXT : INT_OK;
}

/* INT behind its own port, which in 0.5 may be TCP's. */
static enum int_result find_by_port(struct search *s)
{
	enum int_result r = find_behind_l4(s, INT_BY_PORT);
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

static enum int_result find_in_vxlan(struct search *s)
{
	const uint8_t *p = cur_take(&s->l4.c, NET_VXLAN_LEN);
	struct int_place *at = s->at;
	enum int_result r;
	uint8_t next;

	if (!p || !(p[0] & NET_VXLAN_HAS_NEXT))
		return INT_NONE;
	next = p[NET_VXLAN_AT_NEXT];
	if (s->p->version != INT_ANY
		    ? !next || next != s->p->vxlan_gpe_next
		    : next != INT_VXLAN_GPE_0_5 && next != INT_VXLAN_GPE_1_0 &&
			      next != INT_VXLAN_GPE_2_0 &&
			      next != INT_VXLAN_GPE_2_1)
		return INT_NONE;
	at->over = INT_OVER_VXLAN;
	at->begin = offset(s, s->l4.c.p);
	if ((r = find_shim(s, false)))
		return r;
	p = s->frame + at->shim;
	at->next = p[INT_SHIM_AT_LAST];
	if (int_is_old(at->version)) {
		at->reserved = p[1];
		return INT_OK;
	}
	at->tunnel_added = p[INT_SHIM_AT_NEXT] & 0x80;
	at->reserved = p[0] & 0xf || p[INT_SHIM_AT_NEXT] & 0x7f;
	return INT_OK;
}

/* The option at p, with len bytes of data at the cursor. */
static enum int_result find_in_option(struct search *s, const uint8_t *p,
				      size_t len)
{
	struct int_place *at = s->at;
	bool old;

	at->over = INT_OVER_GENEVE;
	at->type = p[NET_GENEVE_OPTION_AT_TYPE];
	at->begin = at->shim = offset(s, p);
	at->reserved = p[NET_GENEVE_OPTION_AT_WORDS] & ~NET_GENEVE_OPTION_MASK;
	if (!len || !cur_left(&s->l4.c))
		return len ? cut_or(s, INT_BAD_LENGTH) : INT_BAD_LENGTH;
	old = s->p->version == INT_ANY ? *s->l4.c.p >> 4 < 2
				       : int_is_old(s->p->version);
	if (at->type != INT_TYPE_MD && (old || at->type != INT_TYPE_MX))
		return INT_BAD_TYPE;
	return find_header(s, old, len, false);
}

static enum int_result find_in_geneve(struct search *s)
{
	const uint8_t *p = cur_take(&s->l4.c, NET_GENEVE_LEN);
	size_t end, len;
	uint16_t class;

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
		class = be16_load(p);
		if (class == s->p->geneve_class ||
		    (s->p->version == INT_ANY &&
		     class == INT_GENEVE_CLASS_EXAMPLE))
			return find_in_option(s, p, len);
		cur_take(&s->l4.c, len);
	}
	return cut_or(s, INT_NONE);
}

static enum int_result find_in_gre(struct search *s)
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
	if ((r = find_shim(s, false)))
		return r;
	if (int_is_old(at->version)) /* GRE came with 2.0 */
		return INT_BAD_VERSION;
	p = s->frame + at->shim;
	at->next = be16_load(p + INT_SHIM_AT_NEXT);
	at->tunnel_added = p[0] & 8;
	at->reserved = p[0] & 7;
	if (at->tunnel_added)
		at->begin = at->next == NET_ETHERTYPE_ETH ? 0 : at->ip;
	return INT_OK;
}

static bool has_marker(const struct search *s)
{
	return s->p->marker && cur_left(&s->l4.c) >= INT_MARKER_LEN &&
	       be64_load(s->l4.c.p) == s->p->marker;
}

/* Behind a header of TCP or UDP there is INT if DSCP or marker say so. */
static enum int_result find_if_marked(struct search *s)
{
	const struct int_profile *p = s->p;
	const uint8_t *ip = s->frame + s->at->ip;
	unsigned tos = s->at->ip_version == 4 ? ip[NET_IP4_AT_TOS]
					      : be16_load(ip) >> 4;

	if (has_marker(s))
		return find_marked(s, INT_BY_MARKER);
	if (p->dscp_mask == INT_DSCP_ANY) /* what is no valid INT is none */
		return find_marked(s, INT_BY_DSCP) ? INT_NONE : INT_OK;
	if (p->dscp_mask && !((tos >> 2 ^ p->dscp) & p->dscp_mask))
		return find_marked(s, INT_BY_DSCP);
	return INT_NONE;
}

static enum int_result find_in_udp(struct search *s)
{
	const uint8_t *p = cur_take(&s->l4.c, NET_UDP_LEN);
	enum int_result r = INT_NONE;
	unsigned port, len;
	struct search was;

	if (!p)
		return cut_or(s, INT_BAD_PACKET);
	port = be16_load(p + NET_UDP_AT_DST);
	len = be16_load(p + NET_UDP_AT_LEN);
	if (len < NET_UDP_LEN || len > s->l4.len)
		return INT_BAD_PACKET;
	cut_at(s, s->at->l4 + len);
	if (port && port == s->p->udp_port)
		return find_by_port(s);
	if (port &&
	    (port == s->p->vxlan_gpe_port || port == s->p->geneve_port)) {
		was = *s;
		r = port == s->p->vxlan_gpe_port ? find_in_vxlan(s)
						 : find_in_geneve(s);
		if (r != INT_NONE)
			return r;
		*s = was;
	}
	return find_if_marked(s);
}

/* Whether INT 0.5 is behind n bytes of TCP options; 1.0 and 2.x have it before
 * them. Its shim and header look so, and its tail names TCP. */
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

static enum int_result find_in_tcp(struct search *s)
{
	const uint8_t *p = cur_take(&s->l4.c, NET_TCP_LEN);
	size_t len;

	if (!p)
		return cut_or(s, INT_BAD_PACKET);
	len = (p[NET_TCP_AT_OFFSET] >> 4) * 4u;
	if (len < NET_TCP_LEN || len > s->l4.len)
		return INT_BAD_PACKET;
	if (s->p->behind_tcp_options ||
	    (s->p->version == INT_ANY && !has_marker(s) &&
	     is_behind_options(s, len - NET_TCP_LEN)))
		cur_take(&s->l4.c, len - NET_TCP_LEN);
	if (s->p->udp_port && be16_load(p + NET_UDP_AT_DST) == s->p->udp_port &&
	    (s->p->version == INT_V0_5))
		return find_by_port(s);
	return find_if_marked(s);
}

enum int_result int_locate(struct int_place *out, struct int_l4 *l4,
			   uint16_t type, const uint8_t *frame, size_t len)
{
	struct cur c = cur_of(frame, len);
	const uint8_t *type_at;
	int next = skip_link(&c, type, &type_at);
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
		.ethertype_at = type_at ? (uint32_t)(type_at - frame) : 0,
		.ip = (uint32_t)(ip.hdr - frame),
		.ip_proto_at = (uint32_t)(ip.next - frame),
		.l4 = (uint32_t)(ip.l4.p - frame),
		.ip_len = ip.len,
	};
	*l4 = (struct int_l4){ip.l4, ip.l4_len};
	return INT_OK;
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
	s.end = out->l4 + s.l4.len;
	switch (out->protocol) {
	case NET_PROTO_TCP:
		return find_in_tcp(&s);
	case NET_PROTO_UDP:
		return find_in_udp(&s);
	case NET_PROTO_ICMP: /* a probe: only a marker tells */
	case NET_PROTO_ICMP6:
		return cur_take(&s.l4.c, NET_ICMP_LEN) && has_marker(&s)
			       ? find_marked(&s, INT_BY_MARKER)
			       : INT_NONE;
	case NET_PROTO_GRE:
		return find_in_gre(&s);
	}
	return INT_NONE;
}

/* --- what it says -------------------------------------------------------- */

void int_decoder_init(struct int_decoder *d, const struct int_profile *p)
{
	d->profile = p;
	for (int v = 0; v < INT_ANY; v++)
		int_layouts_init(&d->layouts[v],
				 int_profile_words(p, (enum int_version)v),
				 INT_BITMAP_BITS);
	d->plain_versions = p->version == INT_V1_0  ? 1 << 1
			    : p->version == INT_ANY ? 1 << 1 | 1 << 2
						    : 1 << 2;
	if (p->any_ver || p->marker || !p->dscp_mask || p->behind_tcp_options ||
	    p->version == INT_V0_5)
		d->plain_versions = 0;
}

/* The Ethernet type of the packet in a tunnel, 0: unknown. *begin: where it
 * begins. */
static uint16_t inner_type(const struct int_place *at, const uint8_t *frame,
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

/* Protocols whose first 4 bytes are ports. */
static bool has_ports(uint8_t protocol)
{
	return protocol == NET_PROTO_TCP || protocol == NET_PROTO_UDP;
}

/* The flow of a packet whose own IP header is in front of INT. l4: where its
 * TCP or UDP header is. */
static void set_outer_flow(struct int_record *rec, const struct int_place *at,
			   const uint8_t *frame, size_t l4, uint8_t protocol)
{
	const uint8_t *ip = frame + at->ip;
	uint8_t *rest;

	if (at->ip_version == 4) {
		memcpy(rec->key, ip + NET_IP4_AT_SRC, 2 * KEY_IP4_LEN);
		rest = rec->key + 2 * KEY_IP4_LEN;
		rec->key_len = KEY_FLOW4_LEN;
	} else {
		memcpy(rec->key, ip + NET_IP6_AT_SRC, 2 * KEY_IP6_LEN);
		rest = rec->key + 2 * KEY_IP6_LEN;
		rec->key_len = KEY_FLOW6_LEN;
	}
	if (has_ports(protocol))
		memcpy(rest, frame + l4, 4);
	else
		memset(rest, 0, 4);
	if (at->over != INT_OVER_NEW_UDP && at->by == INT_BY_PORT)
		be16_store(rest + 2, at->next);
	rest[4] = protocol;
	rec->ip_len = at->ip_len - (at->end - at->begin);
}

static void set_flow(struct int_record *rec, const struct int_place *at,
		     const uint8_t *frame, size_t len)
{
	uint8_t next = (uint8_t)at->next;
	const uint8_t *type_at;
	size_t begin;
	uint16_t type;
	struct cur c;

	if (at->over <= INT_OVER_UDP) {
		set_outer_flow(rec, at, frame, at->l4, at->protocol);
		return;
	}
	if (at->over == INT_OVER_NEW_UDP && next != NET_PROTO_IP4 &&
	    next != NET_PROTO_IP6) {
		if (!has_ports(next) || at->end + 4 <= len)
			set_outer_flow(rec, at, frame, at->end, next);
		return;
	}
	type = inner_type(at, frame, &begin);
	if (begin > len)
		return;
	c = cur_of(frame + begin, len - begin);
	if (skip_link(&c, type, &type_at) > 0)
		int_record_set_ip(rec, c.p, cur_left(&c));
}

/* Bytes at a stack's end that only the source has added. In the profile's
 * domain: source_words, and what is left over from whole hops. In another: none
 * if hops have a word for each DS instruction, and are whole; else all. */
static uint32_t source_len(const struct int_profile *p,
			   const struct int_record *rec, uint32_t len,
			   uint32_t hop_len)
{
	unsigned bits = (unsigned)__builtin_popcount(rec->domain_bits);
	uint32_t words = 0;

	if (rec->domain != p->domain)
		return hop_len < rec->stack.layout->len + bits * 4 ||
				       len % hop_len
			       ? len
			       : 0;
	for (unsigned bit = 0; bit < 16; bit++)
		if (rec->domain_bits >> (15 - bit) & 1)
			words += p->source_words[bit];
	if (!hop_len || words * 4 > len)
		return words * 4;
	return words * 4 + (len - words * 4) % hop_len;
}

/* Divides the stack into hops of hop_len bytes. What only the source has added
 * is at its end; a stack may be that alone. */
static inline enum int_result divide_stack(struct int_record *rec,
					   const struct int_profile *p,
					   const uint8_t *stack, uint32_t len,
					   uint32_t hop_len)
{
	uint32_t source = 0;

	if (hop_len < rec->stack.layout->len || (!hop_len && !rec->domain_bits))
		return INT_BAD_HOP;
	if (rec->domain_bits) {
		source = source_len(p, rec, len, hop_len);
		if (source > len)
			return INT_BAD_STACK;
	}
	len -= source;
	if (hop_len ? len % hop_len : len)
		return INT_BAD_STACK;
	rec->stack.data = stack;
	rec->stack.len = (uint16_t)hop_len;
	rec->stack.n = (uint8_t)(hop_len ? len / hop_len : 0);
	rec->source = stack + len;
	rec->source_len = (uint16_t)source;
	return INT_OK;
}

static inline uint8_t flag_of(uint32_t word, unsigned bit, enum int_flag f)
{
	return word >> bit & 1 ? (uint8_t)f : 0;
}

/* Ver 4, Rep 2, C, E, M, R 10, HopML 5, RemainingHopCnt 8. */
static inline enum int_result md_1_0(struct int_record *rec,
				     const struct int_profile *p,
				     const uint8_t *h, uint32_t stack_len)
{
	uint32_t word = be32_load(h), reserved = be16_load(h + INT_AT_DOMAIN);

	if (word >> 13 & 0x1fff || reserved) /* seldom */
		rec->flags |= flag_of(word, 25, INT_DISCARD) |
			      flag_of(word, 24, INT_HOPS_EXCEEDED) |
			      flag_of(word, 23, INT_MTU_EXCEEDED) |
			      (word >> 13 & 0x3ff || reserved ? INT_RESERVED
							      : 0);
	return divide_stack(rec, p, h + INT_HEADER1_LEN, stack_len,
			    (word >> 8 & INT_HOP_WORDS_MASK) * 4);
}

/* Of 2.x; domain 0 has no instructions of its own. */
static inline void set_domain(struct int_record *rec, const uint8_t *h)
{
	rec->domain = be16_load(h + INT_AT_DOMAIN);
	rec->domain_bits = be16_load(h + INT_AT_DOMAIN_BITS);
	if (!rec->domain && rec->domain_bits)
		rec->flags |= INT_RESERVED;
}

/* Ver 4, D, E, M, R 12, HopML 5, RemainingHopCnt 8. */
static inline enum int_result md_2(struct int_record *rec,
				   const struct int_profile *p,
				   const uint8_t *h, uint32_t stack_len)
{
	uint32_t word = be32_load(h);

	set_domain(rec, h);
	if (word >> 13 & 0x7fff) /* seldom */
		rec->flags |= flag_of(word, 27, INT_DISCARD) |
			      flag_of(word, 26, INT_HOPS_EXCEEDED) |
			      flag_of(word, 25, INT_MTU_EXCEEDED) |
			      (word >> 13 & 0xfff ? INT_RESERVED : 0);
	return divide_stack(rec, p, h + INT_HEADER2_LEN, stack_len,
			    (word >> 8 & INT_HOP_WORDS_MASK) * 4);
}

/* Ver 4, Rep 2, C, E, R 3, InsCnt 5, MaxHopCnt 8, TotalHopCnt 8. */
static enum int_result md_0_5(struct int_record *rec,
			      const struct int_profile *p,
			      const struct int_place *at, const uint8_t *h)
{
	const struct int_layout *layout = rec->stack.layout;
	uint32_t word = be32_load(h), reserved = be16_load(h + INT_AT_DOMAIN);
	unsigned asked = (unsigned)__builtin_popcount(layout->bitmap);
	unsigned count = word >> 16 & INT_HOP_WORDS_MASK;
	enum int_result r;

	rec->flags |= flag_of(word, 25, INT_DISCARD) |
		      flag_of(word, 24, INT_HOPS_EXCEEDED) |
		      (word >> 21 & 7 || reserved ? INT_RESERVED : 0);
	/* Words of a profile may be longer than 4 bytes. Instructions that are
	 * not counted make a hop shorter than they ask for. */
	r = divide_stack(rec, p, h + INT_HEADER1_LEN, at->stack_len,
			 layout->len + (count - asked) * 4);
	if (!r && rec->stack.n != (word & 0xff))
		return INT_BAD_STACK;
	return r;
}

/* Ver 4, D, R 27. The text of May 2020 had E, M and HopML as MD has them, and
 * the rest reserved: known by a HopML that is enough for the instructions. */
static enum int_result mx(struct int_record *rec, const struct int_place *at,
			  const uint8_t *h)
{
	uint32_t word = be32_load(h);
	unsigned hop_len = (word >> 8 & INT_HOP_WORDS_MASK) * 4;

	rec->format = INT_MX;
	set_domain(rec, h);
	rec->flags |= flag_of(word, 27, INT_DISCARD);
	if (hop_len && hop_len >= rec->stack.layout->len &&
	    !(word & 0x01ffe0ff))
		rec->flags |= flag_of(word, 26, INT_HOPS_EXCEEDED) |
			      flag_of(word, 25, INT_MTU_EXCEEDED);
	else if (word & 0x07ffffff)
		rec->flags |= INT_RESERVED;
	rec->source = h + INT_HEADER2_LEN;
	rec->source_len = (uint16_t)at->stack_len;
	return INT_OK;
}

enum int_result int_decode(struct int_record *out, struct int_decoder *d,
			   const struct int_place *at, const uint8_t *frame,
			   size_t len)
{
	const uint8_t *h = frame + at->header;
	const struct int_layout *layout = int_layouts_get(
		&d->layouts[at->version], be16_load(h + INT_AT_BITMAP));

	int_clear(out, INT_MD);
	out->flags = at->reserved || layout->reserved ? INT_RESERVED : 0;
	out->stack.layout = layout;
	set_flow(out, at, frame, len);
	if (at->type == INT_TYPE_MX)
		return mx(out, at, h);
	if (at->version == INT_V0_5)
		return md_0_5(out, d->profile, at, h);
	if (at->version == INT_V1_0)
		return md_1_0(out, d->profile, h, at->stack_len);
	return md_2(out, d->profile, h, at->stack_len);
}

/* --- the usual packet ---------------------------------------------------- */

/*
 * Faster by 10 to 25 % of all that int-collect does with such packets
 * (bench_int). The usual packet is IPv4 without options or IPv6 without
 * extensions, in Ethernet without tags or alone, whole; in it TCP, or UDP to no
 * port that has a meaning; behind that, by its DSCP, INT-MD 1.0 or 2.x. What
 * else there is, int_find() tells.
 */
struct plain {
	const uint8_t *ip, *l4, *shim;
	size_t captured; /* bytes, from the IP header on */
	uint32_t ip_len; /* the same by that header */
	uint32_t rest;	 /* bytes of INT behind the shim */
	uint8_t dscp, protocol, version;
	uint8_t address; /* bytes of an address; both are just before l4 */
};

static inline bool plain_ip4(struct plain *s, const uint8_t *ip, size_t len)
{
	if (len < NET_IP4_LEN + NET_TCP_LEN || ip[0] != NET_IP4_PLAIN ||
	    be16_load(ip + NET_IP4_AT_FRAGMENT) & NET_IP4_FRAGMENT)
		return false;
	s->ip = ip;
	s->l4 = ip + NET_IP4_LEN;
	s->ip_len = be16_load(ip + NET_IP4_AT_LEN);
	s->dscp = ip[NET_IP4_AT_TOS] >> 2;
	s->protocol = ip[NET_IP4_AT_PROTO];
	s->address = KEY_IP4_LEN;
	return true;
}

/* The protocol may be an extension header, which plain_l4() refuses. */
static inline bool plain_ip6(struct plain *s, const uint8_t *ip, size_t len)
{
	if (len < NET_IP6_LEN + NET_TCP_LEN || ip[0] >> 4 != 6)
		return false;
	s->ip = ip;
	s->l4 = ip + NET_IP6_LEN;
	s->ip_len = be16_load(ip + NET_IP6_AT_LEN) + NET_IP6_LEN;
	s->dscp = be16_load(ip) >> 6 & 0x3f;
	s->protocol = ip[NET_IP6_AT_NEXT];
	s->address = KEY_IP6_LEN;
	return true;
}

static inline bool plain_ip(struct plain *s, uint16_t type,
			    const uint8_t *frame, size_t len)
{
	if (type == NET_ETHERTYPE_ETH) {
		if (len < NET_ETH_LEN)
			return false;
		type = be16_load(frame + NET_ETH_AT_TYPE);
		frame += NET_ETH_LEN;
		len -= NET_ETH_LEN;
	}
	if (!(type == NET_ETHERTYPE_IP4 && plain_ip4(s, frame, len)) &&
	    !(type == NET_ETHERTYPE_IP6 && plain_ip6(s, frame, len)))
		return false;
	s->captured = len < s->ip_len ? len : s->ip_len;
	return s->captured >= (size_t)(s->l4 - s->ip) + NET_TCP_LEN;
}

/* INT known by its DSCP, behind the header of UDP or TCP's first 20 bytes. */
static inline bool plain_l4(struct plain *s, const struct int_profile *p)
{
	uint32_t l4_len = s->ip_len - (uint32_t)(s->l4 - s->ip), len;
	uint16_t port = be16_load(s->l4 + NET_UDP_AT_DST);

	if ((s->dscp ^ p->dscp) & p->dscp_mask)
		return false;
	if (s->protocol == NET_PROTO_UDP) {
		s->shim = s->l4 + NET_UDP_LEN;
		return be16_load(s->l4 + NET_UDP_AT_LEN) == l4_len &&
		       port != p->udp_port && port != p->vxlan_gpe_port &&
		       port != p->geneve_port;
	}
	len = (s->l4[NET_TCP_AT_OFFSET] >> 4) * 4u;
	s->shim = s->l4 + NET_TCP_LEN;
	return s->protocol == NET_PROTO_TCP && len >= NET_TCP_LEN &&
	       len <= l4_len;
}

/* The header's version by a shim that has nothing but type MD, length and DSCP;
 * 0: another one. *len: bytes behind it. */
static inline uint8_t plain_shim(const uint8_t *p, uint32_t *len)
{
	uint32_t word = be32_load(p);

	if ((word & ~0x00ff00fcu) == (uint32_t)INT_TYPE_MD << 28) {
		*len = (word >> 16 & 0xff) * 4;
		return 2;
	}
	*len = (word >> 8 & 0xff) * 4 - INT_SHIM_LEN; /* 0 becomes too long */
	return (word & ~0x0000fffcu) == (uint32_t)INT_TYPE_MD << 24 ? 1 : 0;
}

/* INT-MD 1.0 or 2.x, all of it captured. */
static inline bool plain_int(struct plain *s, const struct int_decoder *d)
{
	size_t left = s->captured - (size_t)(s->shim - s->ip);
	uint8_t ver;

	if (left < INT_SHIM_LEN + INT_HEADER2_LEN)
		return false;
	ver = plain_shim(s->shim, &s->rest);
	s->version = ver == 1			       ? INT_V1_0
		     : d->profile->version == INT_V2_0 ? INT_V2_0
						       : INT_V2_1;
	return d->plain_versions >> ver & 1 &&
	       s->shim[INT_SHIM_LEN] >> 4 == ver &&
	       s->rest >= int_header_len(s->version) &&
	       s->rest <= left - INT_SHIM_LEN;
}

static inline void plain_flow(struct int_record *rec, const struct plain *s)
{
	size_t len = 2u * s->address + 4; /* ports follow the addresses */

	if (s->address == KEY_IP4_LEN)
		memcpy(rec->key, s->l4 - 2 * KEY_IP4_LEN, 2 * KEY_IP4_LEN + 4);
	else
		memcpy(rec->key, s->l4 - 2 * KEY_IP6_LEN, 2 * KEY_IP6_LEN + 4);
	rec->key[len] = s->protocol;
	rec->key_len = (uint8_t)(len + 1);
	rec->ip_len = s->ip_len - INT_SHIM_LEN - s->rest;
}

_Static_assert(NET_IP4_AT_SRC + 2 * KEY_IP4_LEN == NET_IP4_LEN &&
		       NET_IP6_AT_SRC + 2 * KEY_IP6_LEN == NET_IP6_LEN,
	       "ports follow the addresses");

/* Not inlined, so that the usual packet's code has the registers. */
static __attribute__((noinline)) enum int_result
read_any(struct int_record *out, struct int_decoder *d, uint16_t type,
	 const uint8_t *frame, size_t len)
{
	struct int_place at;
	enum int_result r = int_find(&at, d->profile, type, frame, len);

	return r ? r : int_decode(out, d, &at, frame, len);
}

enum int_result int_read(struct int_record *out, struct int_decoder *d,
			 uint16_t type, const uint8_t *frame, size_t len)
{
	const struct int_layout *layout;
	struct plain s;
	const uint8_t *h;

	if (!d->plain_versions || !plain_ip(&s, type, frame, len) ||
	    !plain_l4(&s, d->profile) || !plain_int(&s, d))
		return read_any(out, d, type, frame, len);
	h = s.shim + INT_SHIM_LEN;
	layout = int_layouts_get(&d->layouts[s.version],
				 be16_load(h + INT_AT_BITMAP));
	int_clear(out, INT_MD);
	out->flags = layout->reserved ? INT_RESERVED : 0;
	out->stack.layout = layout;
	plain_flow(out, &s);
	if (s.version == INT_V1_0)
		return md_1_0(out, d->profile, h, s.rest - INT_HEADER1_LEN);
	return md_2(out, d->profile, h, s.rest - INT_HEADER2_LEN);
}
