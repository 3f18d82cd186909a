/* SPDX-License-Identifier: BSD-2-Clause */
/* int_source.c - inserts INT into a packet, and strips it (int_md.h). */
#include <errno.h>

#include "base/put.h"
#include "int/int_private.h"
#include "net/be.h"
#include "net/net.h"

void int_sum_bytes(uint32_t *sum, const uint8_t *p, size_t len)
{
	*sum += (uint16_t)~net_checksum(p, len);
}

void int_set16(uint8_t *p, uint16_t v, uint32_t *sum)
{
	*sum += 0xffffu - be16_load(p) + v;
	be16_store(p, v);
}

static void set_dscp(uint8_t *frame, const struct int_place *at, uint8_t dscp)
{
	uint8_t *ip = frame + at->ip;
	uint16_t word = be16_load(ip);

	/* DSCP is the 6 bits above ECN: in IPv6 4 bits further up. */
	if (at->ip_version == 4)
		net_ip4_set16(ip, 0, (uint16_t)((word & ~0xfc) | dscp << 2));
	else
		be16_store(ip, (uint16_t)((word & ~0xfc0) | dscp << 6));
}

/* Whether the checksum at l4 covers a pseudo header, which has a length. */
static bool has_pseudo(const struct int_place *at)
{
	return at->protocol == NET_PROTO_TCP || at->protocol == NET_PROTO_UDP ||
	       at->protocol == NET_PROTO_ICMP6;
}

void int_resize_l4(uint8_t *frame, const struct int_place *at, int by,
		   uint32_t *sum)
{
	uint8_t *len = frame + at->l4 + NET_UDP_AT_LEN;

	if (has_pseudo(at))
		*sum += (uint32_t)(0xffff + by);
	if (at->protocol == NET_PROTO_UDP)
		int_set16(len, (uint16_t)(be16_load(len) + by), sum);
}

uint8_t *int_sum_at(uint8_t *frame, const struct int_place *at,
		    const struct int_profile *p)
{
	uint8_t *l4 = frame + at->l4;

	switch (at->protocol) {
	case NET_PROTO_TCP:
		return p->tcp_sum_left ? NULL : l4 + NET_TCP_AT_SUM;
	case NET_PROTO_UDP: /* 0: there is none (RFC 768), and is none after */
		l4 += NET_UDP_AT_SUM;
		return be16_load(l4) ? l4 : NULL;
	case NET_PROTO_ICMP:
	case NET_PROTO_ICMP6:
		return l4 + NET_ICMP_AT_SUM;
	case NET_PROTO_GRE:
		return be16_load(l4) & NET_GRE_SUM ? l4 + NET_GRE_AT_SUM : NULL;
	}
	return NULL;
}

void int_sum_apply(uint8_t *frame, const struct int_place *at,
		   const struct int_profile *p, uint32_t sum)
{
	uint8_t *field = int_sum_at(frame, at, p);
	uint16_t check;

	if (!field)
		return;
	check = net_checksum_add(be16_load(field), sum);
	if (!check && at->protocol == NET_PROTO_UDP)
		check = 0xffff; /* RFC 768: 0 would be none */
	be16_store(field, check);
}

/* --- inserting ----------------------------------------------------------- */

/* A packet that gets INT. */
struct job {
	const struct int_profile *p;
	const struct int_source *s;
	const uint8_t *frame;
	size_t len;
	struct int_place at;
	struct int_l4 l4;
	unsigned hop_words; /* HopML; 0.5: InsCnt */
	size_t words;	    /* of header, stack and tail */
	uint16_t next;	    /* the port, protocol or type that INT replaces */
	bool tunnel_added;  /* G: plain VXLAN, which becomes VXLAN-GPE */
};

/* HopML, the words of a hop; of 0.5 InsCnt, its instructions. */
static unsigned hop_words(const struct int_profile *p,
			  const struct int_source *s)
{
	struct int_layout layout;

	if (s->version == INT_V0_5)
		return (unsigned)__builtin_popcount(s->bitmap);
	int_layout_make(&layout,
			int_profile_words(p, (enum int_version)s->version),
			INT_BITMAP_BITS, s->bitmap);
	return layout.len / 4u;
}

/* Bytes of the UDP header; 0: there is none, or its length field is wrong. */
static size_t udp_len(const struct job *j)
{
	const uint8_t *udp = j->frame + j->at.l4;
	size_t len;

	if (j->at.protocol != NET_PROTO_UDP || cur_left(&j->l4.c) < NET_UDP_LEN)
		return 0;
	len = be16_load(udp + NET_UDP_AT_LEN);
	return len >= NET_UDP_LEN && len <= j->l4.len ? NET_UDP_LEN : 0;
}

/* Bytes of the header at l4 that INT follows, or 0. INT comes before or behind
 * TCP's options. */
static size_t l4_len(const struct job *j)
{
	const uint8_t *l4 = j->frame + j->at.l4;
	size_t len;

	switch (j->at.protocol) {
	case NET_PROTO_TCP:
		if (cur_left(&j->l4.c) < NET_TCP_LEN)
			return 0;
		len = (l4[NET_TCP_AT_OFFSET] >> 4) * 4u;
		if (len < NET_TCP_LEN || len > j->l4.len)
			return 0;
		return j->p->behind_tcp_options ? len : NET_TCP_LEN;
	case NET_PROTO_UDP:
		return udp_len(j);
	case NET_PROTO_ICMP:
	case NET_PROTO_ICMP6:
		return j->s->by == INT_BY_MARKER ? NET_ICMP_LEN : 0;
	}
	return 0;
}

/* Bytes of the headers of UDP and tunnel, or 0; sets j->next to the inner type.
 */
static size_t tunnel_len(struct job *j)
{
	const uint8_t *h = j->frame + j->at.l4 + NET_UDP_LEN;
	uint16_t port = j->next;

	if (!udp_len(j) || cur_left(&j->l4.c) < NET_UDP_LEN + NET_VXLAN_LEN)
		return 0;
	if (j->s->over == INT_OVER_GENEVE)
		return port == j->p->geneve_port ? NET_UDP_LEN + NET_GENEVE_LEN
						 : 0;
	j->next = h[NET_VXLAN_AT_NEXT];
	if (port == j->p->vxlan_gpe_port && h[0] & NET_VXLAN_HAS_NEXT)
		return NET_UDP_LEN + NET_VXLAN_LEN;
	j->tunnel_added = true;
	j->next = NET_VXLAN_ETH;
	return port == NET_VXLAN_PORT && !int_is_old(j->s->version)
		       ? NET_UDP_LEN + NET_VXLAN_LEN
		       : 0;
}

/* Sets where INT is to begin; false: the packet has no such place. */
static bool find_begin(struct job *j)
{
	struct int_place *at = &j->at;
	size_t len;

	if (j->s->over == INT_OVER_NEW_UDP) {
		j->next = at->protocol;
		at->begin = at->l4;
		return true;
	}
	if (j->s->over == INT_OVER_GRE) {
		j->next = at->ip_version == 4 ? NET_ETHERTYPE_IP4
					      : NET_ETHERTYPE_IP6;
		at->begin = at->ip;
		return at->ethertype_at;
	}
	if (cur_left(&j->l4.c) < NET_UDP_LEN)
		return false;
	j->next = be16_load(j->frame + at->l4 + NET_UDP_AT_DST);
	len = j->s->over == INT_OVER_L4	   ? l4_len(j)
	      : j->s->over == INT_OVER_UDP ? udp_len(j)
					   : tunnel_len(j);
	at->begin = at->l4 + (uint32_t)len;
	return len && len <= cur_left(&j->l4.c);
}

/* Sets the words of INT without the shim; false: there is no room for them.
 * 128: for shim and outer headers. Geneve counts the words of options in 6
 * bits. */
static bool count_words(struct job *j)
{
	const struct int_source *s = j->s;
	const uint8_t *geneve = j->frame + j->at.l4 + NET_UDP_LEN;
	bool tail = s->version == INT_V0_5 && s->over == INT_OVER_L4;
	size_t max = s->over == INT_OVER_GENEVE ? NET_GENEVE_OPTION_MASK
		     : int_is_old(s->version)	? INT_WORDS_MAX - 1
						: INT_WORDS_MAX;

	j->words = (int_header_len(s->version) + s->stack_len) / 4 + tail;
	return j->words <= max &&
	       j->at.ip_len + 128 + j->words * 4 <= UINT16_MAX &&
	       (s->over != INT_OVER_GENEVE ||
		(geneve[0] & NET_GENEVE_WORDS_MASK) + j->words + 1 <=
			NET_GENEVE_WORDS_MASK);
}

/* Puts the headers of a tunnel around the packet: IPv4 and GRE. */
static void put_tunnel(struct put *w, const struct job *j)
{
	size_t len = NET_IP4_LEN + NET_GRE_LEN + INT_SHIM_LEN + j->words * 4 +
		     j->at.ip_len;
	uint8_t *ip = put_room(w, NET_IP4_LEN);

	if (!ip)
		return;
	be16_store(w->start + j->at.ethertype_at, NET_ETHERTYPE_IP4);
	memset(ip, 0, NET_IP4_LEN);
	ip[0] = NET_IP4_PLAIN;
	be16_store(ip + NET_IP4_AT_LEN, (uint16_t)len);
	be16_store(ip + NET_IP4_AT_FRAGMENT, NET_IP4_DF);
	ip[NET_IP4_AT_TTL] = 64;
	ip[NET_IP4_AT_PROTO] = NET_PROTO_GRE;
	memcpy(ip + NET_IP4_AT_SRC, j->s->outer_src, 4);
	memcpy(ip + NET_IP4_AT_DST, j->s->outer_dst, 4);
	be16_store(ip + NET_IP4_AT_SUM, net_checksum(ip, NET_IP4_LEN));
	put_be16(w, 0);
	put_be16(w, j->p->gre_type);
}

/* Puts what INT needs in front of its shim. */
static void put_front(struct put *w, const struct job *j)
{
	if (j->s->over == INT_OVER_GRE) {
		put_tunnel(w, j);
	} else if (j->s->over == INT_OVER_NEW_UDP) {
		put_be16(w, j->s->src_port);
		put_be16(w, j->p->udp_port);
		put_be16(w, (uint16_t)(NET_UDP_LEN + INT_SHIM_LEN +
				       j->words * 4 + j->l4.len));
		put_be16(w, 0); /* no checksum: INT 2.1, section 5.7.2 */
	} else if (j->s->over == INT_OVER_L4 && j->s->by == INT_BY_MARKER) {
		put_be64(w, j->p->marker);
	}
}

static uint8_t dscp_of(const struct job *j)
{
	const uint8_t *ip = j->frame + j->at.ip;

	return j->at.ip_version == 4 ? ip[NET_IP4_AT_TOS] >> 2
				     : be16_load(ip) >> 6 & 0x3f;
}

static void put_shim(struct put *w, const struct job *j)
{
	const struct int_source *s = j->s;
	unsigned first = s->type << 4u;
	uint16_t next = j->next; /* the last 16 bits of 2.x */

	if (s->over == INT_OVER_L4)
		next = s->by == INT_BY_DSCP ? (uint16_t)(dscp_of(j) << 2) : 0;
	else if (s->over == INT_OVER_VXLAN)
		next |= (uint16_t)(j->tunnel_added << 15);
	if (s->over == INT_OVER_GENEVE) {
		put_be16(w, j->p->geneve_class);
		put_u8(w, s->type);
		put_u8(w, (uint8_t)j->words);
	} else if (int_is_old(s->version)) {
		put_be16(w, (uint16_t)(s->type << 8));
		put_u8(w, (uint8_t)(j->words + 1));
		put_u8(w, s->version == INT_V0_5 && s->over == INT_OVER_L4
				  ? 0
				  : (uint8_t)next);
	} else {
		first |= s->over == INT_OVER_UDP       ? INT_SHIM_NPT_UDP << 2u
			 : s->over == INT_OVER_NEW_UDP ? INT_SHIM_NPT_IP << 2u
			 : s->over == INT_OVER_GRE     ? 1u << 3 /* G */
						       : 0u;
		put_u8(w, (uint8_t)first);
		put_u8(w, (uint8_t)j->words);
		put_be16(w, next);
	}
}

/* Puts header, stack and, in 0.5, tail: int_md.h has their layouts. */
static void put_header(struct put *w, const struct job *j)
{
	const struct int_source *s = j->s;
	uint32_t left = s->hops_max - s->hops;

	if (s->version == INT_V0_5)
		put_be32(w, j->hop_words << 16 | (uint32_t)s->hops_max << 8 |
				    s->hops);
	else if (s->type == INT_TYPE_MX)
		put_be32(w, 2u << 28);
	else
		put_be32(w, (s->version == INT_V1_0 ? 1u : 2u) << 28 |
				    j->hop_words << 8 | left);
	put_be16(w, s->bitmap);
	put_zero(w, int_is_old(s->version) ? 2 : 6); /* of no domain */
	put_bytes(w, s->stack, s->stack_len);
	if (s->version != INT_V0_5 || s->over != INT_OVER_L4)
		return;
	put_u8(w, j->at.protocol);
	put_be16(w, j->next);
	put_u8(w, dscp_of(j));
}

static uint8_t vxlan_next(const struct job *j)
{
	static const uint8_t next[INT_ANY] = {
		INT_VXLAN_GPE_0_5,
		INT_VXLAN_GPE_1_0,
		INT_VXLAN_GPE_2_0,
		INT_VXLAN_GPE_2_1,
	};

	return j->p->vxlan_gpe_next ? j->p->vxlan_gpe_next
				    : next[j->s->version];
}

/* Adapts the headers in front of INT, whose length is `by' bytes. */
static void update_headers(uint8_t *out, const struct job *j, size_t by)
{
	const struct int_profile *p = j->p;
	uint8_t *l4 = out + j->at.l4, *h = l4 + NET_UDP_LEN;
	uint32_t sum = 0;

	net_ip_resize(out + j->at.ip, (int)by);
	switch (j->s->over) {
	case INT_OVER_NEW_UDP:
		net_ip_set_protocol(out + j->at.ip, out + j->at.ip_proto_at,
				    NET_PROTO_UDP);
		return;
	case INT_OVER_L4:
		if (j->s->by == INT_BY_DSCP)
			set_dscp(out, &j->at,
				 (uint8_t)((dscp_of(j) & ~p->dscp_mask) |
					   (p->dscp & p->dscp_mask)));
		break;
	case INT_OVER_UDP:
		int_set16(l4 + NET_UDP_AT_DST, p->udp_port, &sum);
		break;
	case INT_OVER_GENEVE:
		int_set16(h, (uint16_t)(be16_load(h) + ((j->words + 1) << 8)),
			  &sum);
		break;
	case INT_OVER_VXLAN:
		int_set16(h, (uint16_t)(be16_load(h) | NET_VXLAN_HAS_NEXT << 8),
			  &sum);
		int_set16(h + 2, (uint16_t)(h[2] << 8 | vxlan_next(j)), &sum);
		int_set16(l4 + NET_UDP_AT_DST, p->vxlan_gpe_port, &sum);
		break;
	}
	int_sum_bytes(&sum, out + j->at.begin, by);
	int_resize_l4(out, &j->at, (int)by, &sum);
	int_sum_apply(out, &j->at, p, sum);
}

int int_insert(uint8_t *out, size_t cap, const struct int_profile *p,
	       const struct int_source *s, const uint8_t *frame, size_t len)
{
	struct job j = {.p = p,
			.s = s,
			.frame = frame,
			.len = len,
			.hop_words = hop_words(p, s)};
	struct put w = put_to(out, cap);
	size_t by;

	if (j.hop_words > INT_HOP_WORDS_MASK ||
	    (int_is_old(s->version) &&
	     (s->over == INT_OVER_UDP || s->over == INT_OVER_NEW_UDP ||
	      s->over == INT_OVER_GRE)))
		return -EINVAL;
	if (int_locate(&j.at, &j.l4, NET_ETHERTYPE_ETH, frame, len) ||
	    !find_begin(&j))
		return -ENOTSUP;
	if (!count_words(&j))
		return -EMSGSIZE;
	put_bytes(&w, frame, j.at.begin);
	put_front(&w, &j);
	put_shim(&w, &j);
	put_header(&w, &j);
	by = put_len(&w) - j.at.begin;
	put_bytes(&w, frame + j.at.begin, len - j.at.begin);
	if (!put_ok(&w))
		return -ENOBUFS;
	if (s->over != INT_OVER_GRE)
		update_headers(out, &j, by);
	return (int)put_len(&w);
}

/* --- stripping ----------------------------------------------------------- */

static void restore_headers(uint8_t *out, const struct int_profile *p,
			    const struct int_place *at, const uint8_t *gone,
			    size_t len)
{
	uint8_t *l4 = out + at->l4, *h = l4 + NET_UDP_LEN;
	uint32_t sum = net_checksum(gone, len); /* subtracts these bytes */

	net_ip_resize(out + at->ip, -(int)len);
	if (at->by == INT_BY_DSCP)
		set_dscp(out, at, at->dscp);
	if (at->by == INT_BY_PORT && at->over != INT_OVER_NEW_UDP)
		int_set16(l4 + NET_UDP_AT_DST, at->next, &sum);
	switch (at->over) {
	case INT_OVER_NEW_UDP:
		net_ip_set_protocol(out + at->ip, out + at->ip_proto_at,
				    (uint8_t)at->next);
		return;
	case INT_OVER_VXLAN:
		int_set16(h + 2, (uint16_t)(h[2] << 8 | at->next), &sum);
		if (!at->tunnel_added)
			break;
		/* Back to plain VXLAN (RFC 7348). */
		int_set16(h + 2, (uint16_t)(h[2] << 8), &sum);
		int_set16(h,
			  (uint16_t)(be16_load(h) & ~(NET_VXLAN_HAS_NEXT << 8)),
			  &sum);
		int_set16(l4 + NET_UDP_AT_DST, NET_VXLAN_PORT, &sum);
		break;
	case INT_OVER_GENEVE:
		int_set16(h, (uint16_t)(be16_load(h) - (len / 4 << 8)), &sum);
		break;
	case INT_OVER_GRE:
		int_set16(l4 + NET_GRE_AT_TYPE, at->next, &sum);
		break;
	}
	int_resize_l4(out, at, -(int)len, &sum);
	int_sum_apply(out, at, p, sum);
}

int int_strip(uint8_t *out, size_t cap, const struct int_profile *p,
	      const struct int_place *at, const uint8_t *frame, size_t len)
{
	size_t gone = at->end - at->begin;

	if (cap < len - gone)
		return -ENOBUFS;
	memcpy(out, frame, at->begin);
	memcpy(out + at->begin, frame + at->end, len - at->end);
	if (at->over != INT_OVER_GRE || !at->tunnel_added)
		restore_headers(out, p, at, frame + at->begin, gone);
	else if (at->begin && at->ethertype_at) /* the tunnel is gone as well */
		be16_store(out + at->ethertype_at, at->next);
	return (int)(len - gone);
}
