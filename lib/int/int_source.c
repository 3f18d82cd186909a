/* SPDX-License-Identifier: BSD-2-Clause */
/* int_source.c - INT put into a packet, and taken out of one: int_md.h. */
#include <errno.h>

#include "base/put.h"
#include "int/int_private.h"
#include "net/be.h"
#include "net/net.h"

void int_sum_bytes(uint32_t *sum, const uint8_t *p, size_t len)
{
	*sum += (uint16_t)~net_checksum(p, len);
}

static void sum_less(uint32_t *sum, const uint8_t *p, size_t len)
{
	*sum += net_checksum(p, len);
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

/* ICMP of IPv4 and GRE have no pseudo header with a length. */
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
	case NET_PROTO_UDP: /* 0: none, and none it stays */
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
	uint8_t *at_sum = int_sum_at(frame, at, p);
	uint16_t check;

	if (!at_sum)
		return;
	check = net_checksum_add(be16_load(at_sum), sum);
	if (!check && at->protocol == NET_PROTO_UDP)
		check = 0xffff; /* RFC 768: 0 would be none */
	be16_store(at_sum, check);
}

/* --- put in -------------------------------------------------------------- */

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
	uint16_t next;	    /* the packet's own port, protocol, type */
	bool added;	    /* G */
};

static bool is_mx(const struct int_source *s)
{
	return s->type == INT_TYPE_MX;
}

/* Whether the version has such a thing. */
static bool can_say(const struct int_source *s)
{
	bool old = int_is_old(s->version);

	if (s->version >= INT_ANY || s->over >= INT_OVERS || s->stack_len % 4 ||
	    s->hops > s->hops_max || (s->type != INT_TYPE_MD && !is_mx(s)))
		return false;
	if (s->over == INT_OVER_L4 && s->by == INT_BY_PORT)
		return s->version == INT_V0_5;
	return !old || (!is_mx(s) && !s->domain && !s->domain_bits &&
			!s->domain_flags && s->over != INT_OVER_UDP &&
			s->over != INT_OVER_NEW_UDP && s->over != INT_OVER_GRE);
}

/* Words of a hop as the header has them; 0.5 counts instructions. */
static unsigned hop_words(const struct job *j)
{
	const struct int_source *s = j->s;
	struct int_layout layout;

	int_layout_make(&layout,
			int_profile_words(j->p, (enum int_version)s->version),
			INT_BITMAP_BITS, s->bitmap);
	if (s->version != INT_V0_5)
		return s->hop_words ? s->hop_words : layout.len / 4u;
	return (unsigned)__builtin_popcount(s->bitmap) +
	       (s->hop_words ? s->hop_words - layout.len / 4u : 0);
}

/* TCP's header, to its options or behind them; 0: it cannot be. */
static size_t tcp_len(const struct job *j)
{
	const uint8_t *tcp = j->frame + j->at.l4;
	size_t len;

	if (cur_left(&j->l4.c) < NET_TCP_LEN)
		return 0;
	len = (tcp[NET_TCP_AT_OFFSET] >> 4) * 4u;
	if (len < NET_TCP_LEN || len > j->l4.told)
		return 0;
	return j->p->behind_tcp_options ? len : NET_TCP_LEN;
}

/* UDP's; 0: there is none, or its length cannot be. */
static size_t udp_len(const struct job *j)
{
	const uint8_t *udp = j->frame + j->at.l4;
	size_t len;

	if (j->at.protocol != NET_PROTO_UDP || cur_left(&j->l4.c) < NET_UDP_LEN)
		return 0;
	len = be16_load(udp + NET_UDP_AT_LEN);
	return len >= NET_UDP_LEN && len <= j->l4.told ? NET_UDP_LEN : 0;
}

/* Bytes of the header at l4 that INT comes behind; 0: not behind that. */
static size_t l4_len(const struct job *j)
{
	switch (j->at.protocol) {
	case NET_PROTO_TCP:
		return tcp_len(j);
	case NET_PROTO_UDP:
		return udp_len(j);
	case NET_PROTO_ICMP:
	case NET_PROTO_ICMP6:
		return j->s->by == INT_BY_MARKER ? NET_ICMP_LEN : 0;
	}
	return 0;
}

/* GRE's, by its flags. */
static size_t gre_len(const struct job *j)
{
	const uint8_t *gre = j->frame + j->at.l4;
	size_t len = NET_GRE_LEN;
	unsigned flags;

	if (j->at.protocol != NET_PROTO_GRE || cur_left(&j->l4.c) < len)
		return 0;
	flags = be16_load(gre);
	for (unsigned bit = NET_GRE_SUM; bit >= NET_GRE_SEQUENCE; bit >>= 1)
		len += flags & bit ? 4 : 0;
	return flags & NET_GRE_OTHER ? 0 : len;
}

/* UDP's and a tunnel's; the tunnel says what is in it. */
static size_t tunnel_len(struct job *j)
{
	const uint8_t *h = j->frame + j->at.l4 + NET_UDP_LEN;
	uint16_t port = j->next;

	if (cur_left(&j->l4.c) < NET_UDP_LEN + NET_VXLAN_LEN)
		return 0;
	if (j->s->over == INT_OVER_GENEVE)
		return port == j->p->geneve_port ? NET_UDP_LEN + NET_GENEVE_LEN
						 : 0;
	j->next = h[NET_VXLAN_AT_NEXT];
	if (port == j->p->vxlan_gpe_port && h[0] & NET_VXLAN_HAS_NEXT)
		return NET_UDP_LEN + NET_VXLAN_LEN;
	j->added = true;
	j->next = NET_VXLAN_ETH;
	return port == NET_VXLAN_PORT && !int_is_old(j->s->version)
		       ? NET_UDP_LEN + NET_VXLAN_LEN
		       : 0;
}

/* What INT stands behind at l4: bytes; 0: it cannot. */
static size_t behind(struct job *j)
{
	const uint8_t *l4 = j->frame + j->at.l4;

	if (cur_left(&j->l4.c) < NET_GRE_LEN)
		return 0;
	j->next = be16_load(l4 + NET_UDP_AT_DST); /* GRE's type is there, too */
	switch (j->s->over) {
	case INT_OVER_L4:
		return l4_len(j);
	case INT_OVER_UDP:
		return udp_len(j);
	case INT_OVER_GRE:
		return gre_len(j);
	}
	return udp_len(j) ? tunnel_len(j) : 0;
}

/* Where INT is to begin. */
static bool find_place(struct job *j)
{
	const struct int_source *s = j->s;
	struct int_place *at = &j->at;
	size_t len;

	if (s->over == INT_OVER_NEW_UDP) {
		j->next = at->protocol;
		at->begin = at->l4;
		return true;
	}
	if (s->over == INT_OVER_GRE && s->tunnel) {
		j->added = true;
		j->next = s->around_frame	? NET_ETHERTYPE_ETH
			  : at->ip_version == 4 ? NET_ETHERTYPE_IP4
						: NET_ETHERTYPE_IP6;
		at->begin = s->around_frame ? 0 : at->ip;
		return s->around_frame || at->type_at;
	}
	len = behind(j);
	at->begin = at->l4 + (uint32_t)len;
	return len && len <= cur_left(&j->l4.c);
}

/* Bytes from the shim to the end; false: the format has no room for them. */
static bool measure(struct job *j)
{
	const struct int_source *s = j->s;
	bool tail = s->version == INT_V0_5 && s->over == INT_OVER_L4;
	size_t max = s->over == INT_OVER_GENEVE ? NET_GENEVE_OPTION_MASK
		     : int_is_old(s->version)	? INT_WORDS_MAX - 1
						: INT_WORDS_MAX;

	j->words = (int_header_len(s->version) + s->stack_len) / 4 + tail;
	return j->words <= max &&
	       j->at.ip_len + 128 + j->words * 4 <= UINT16_MAX;
}

/* An outer IP header without options, for len bytes behind it. */
static void put_outer_ip(struct put *w, const struct int_source *s, size_t len)
{
	uint8_t *ip;

	if (s->outer_version == 6) {
		put_be32(w, 0x60000000);
		put_be16(w, (uint16_t)len);
		put_u8(w, NET_PROTO_GRE);
		put_u8(w, 64);
		put_bytes(w, s->outer_src, 16);
		put_bytes(w, s->outer_dst, 16);
		return;
	}
	if (!(ip = put_room(w, NET_IP4_LEN)))
		return;
	memset(ip, 0, NET_IP4_LEN);
	ip[0] = NET_IP4_PLAIN;
	be16_store(ip + NET_IP4_AT_LEN, (uint16_t)(len + NET_IP4_LEN));
	be16_store(ip + NET_IP4_AT_FRAGMENT, NET_IP4_DF);
	ip[NET_IP4_AT_TTL] = 64;
	ip[NET_IP4_AT_PROTO] = NET_PROTO_GRE;
	memcpy(ip + NET_IP4_AT_SRC, s->outer_src, 4);
	memcpy(ip + NET_IP4_AT_DST, s->outer_dst, 4);
	be16_store(ip + NET_IP4_AT_SUM, net_checksum(ip, NET_IP4_LEN));
}

/* Ethernet, IP, GRE. */
static void put_tunnel(struct put *w, const struct job *j)
{
	const struct int_source *s = j->s;
	size_t inside = s->around_frame ? j->len : j->at.ip_len;
	uint16_t type = s->outer_version == 6 ? NET_ETHERTYPE_IP6
					      : NET_ETHERTYPE_IP4;

	if (s->around_frame) {
		put_bytes(w, j->frame, NET_ETH_AT_TYPE);
		put_be16(w, type);
	} else if (put_ok(w)) {
		be16_store(w->start + j->at.type_at, type);
	}
	put_outer_ip(w, s, NET_GRE_LEN + INT_SHIM_LEN + j->words * 4 + inside);
	put_be16(w, 0);
	put_be16(w, j->p->gre_type);
}

static void put_new_udp(struct put *w, const struct job *j)
{
	put_be16(w, j->s->src_port);
	put_be16(w, j->p->udp_port);
	put_be16(w, (uint16_t)(NET_UDP_LEN + INT_SHIM_LEN + j->words * 4 +
			       j->l4.told));
	put_be16(w, 0); /* none: section 5.7.2 */
}

/* What stands in front of the shim. */
static void put_front(struct put *w, const struct job *j)
{
	if (j->s->over == INT_OVER_GRE && j->added)
		put_tunnel(w, j);
	else if (j->s->over == INT_OVER_NEW_UDP)
		put_new_udp(w, j);
	else if (j->s->over == INT_OVER_L4 && j->s->by == INT_BY_MARKER)
		put_be64(w, j->p->marker);
}

static uint8_t dscp_of(const struct job *j)
{
	const uint8_t *ip = j->frame + j->at.ip;

	return j->at.ip_version == 4 ? ip[NET_IP4_AT_TOS] >> 2
				     : be16_load(ip) >> 6 & 0x3f;
}

/* The last 16 bits of a shim of 2.x. */
static uint16_t shim_next(const struct job *j)
{
	switch (j->s->over) {
	case INT_OVER_L4:
		return j->s->by == INT_BY_DSCP ? (uint16_t)(dscp_of(j) << 2)
					       : 0;
	case INT_OVER_VXLAN:
		return (uint16_t)(j->added << 15 | j->next);
	}
	return j->next;
}

static void put_shim(struct put *w, const struct job *j)
{
	const struct int_source *s = j->s;
	unsigned first = s->type << 4u;

	if (s->over == INT_OVER_GENEVE) {
		put_be16(w, j->p->geneve_class);
		put_u8(w, s->type);
		put_u8(w, (uint8_t)j->words);
	} else if (int_is_old(s->version)) {
		put_be16(w, (uint16_t)(s->type << 8));
		put_u8(w, (uint8_t)(j->words + 1));
		put_u8(w, s->version == INT_V0_5 && s->over == INT_OVER_L4
				  ? 0
				  : (uint8_t)shim_next(j));
	} else {
		first |= s->over == INT_OVER_UDP       ? INT_SHIM_NPT_UDP << 2u
			 : s->over == INT_OVER_NEW_UDP ? INT_SHIM_NPT_IP << 2u
			 : s->over == INT_OVER_GRE     ? (unsigned)j->added << 3
						       : 0u;
		put_u8(w, (uint8_t)first);
		put_u8(w, (uint8_t)j->words);
		put_be16(w, shim_next(j));
	}
}

/* The header's first word: int_md.h. */
static uint32_t first_word(const struct job *j)
{
	const struct int_source *s = j->s;
	uint32_t left = s->hops_max - s->hops;

	if (s->version == INT_V0_5)
		return (uint32_t)s->discard << 25 | j->hop_words << 16 |
		       (uint32_t)s->hops_max << 8 | s->hops;
	if (s->version == INT_V1_0)
		return 1u << 28 | (uint32_t)s->discard << 25 |
		       j->hop_words << 8 | left;
	if (is_mx(s))
		return 2u << 28 | (uint32_t)s->discard << 27 |
		       (s->early ? j->hop_words << 8 : 0);
	return 2u << 28 | (uint32_t)s->discard << 27 | j->hop_words << 8 | left;
}

static void put_header(struct put *w, const struct job *j)
{
	const struct int_source *s = j->s;

	put_be32(w, first_word(j));
	put_be16(w, s->bitmap);
	put_be16(w, s->domain);
	if (!int_is_old(s->version)) {
		put_be16(w, s->domain_bits);
		put_be16(w, s->domain_flags);
	}
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

/* What the tunnel's own header says of INT. */
static void mark_tunnel(uint8_t *out, const struct job *j, uint32_t *sum)
{
	uint8_t *l4 = out + j->at.l4, *h = l4 + NET_UDP_LEN;

	switch (j->s->over) {
	case INT_OVER_GENEVE:
		int_set16(h, (uint16_t)(be16_load(h) + ((j->words + 1) << 8)),
			  sum);
		break;
	case INT_OVER_VXLAN:
		int_set16(h, (uint16_t)(be16_load(h) | NET_VXLAN_HAS_NEXT << 8),
			  sum);
		int_set16(h + 2, (uint16_t)(h[2] << 8 | vxlan_next(j)), sum);
		int_set16(l4 + NET_UDP_AT_DST, j->p->vxlan_gpe_port, sum);
		break;
	case INT_OVER_GRE:
		int_set16(l4 + NET_GRE_AT_TYPE, j->p->gre_type, sum);
		break;
	}
}

/* The headers in front of INT, of a packet that is by bytes longer now. */
static void mark(uint8_t *out, const struct job *j, size_t by)
{
	const struct int_source *s = j->s;
	const struct int_profile *p = j->p;
	uint32_t sum = 0;

	net_ip_resize(out + j->at.ip, (int)by);
	if (s->over == INT_OVER_NEW_UDP) {
		net_ip_set_protocol(out + j->at.ip, out + j->at.proto_at,
				    NET_PROTO_UDP);
		return;
	}
	if (s->over == INT_OVER_L4 && s->by == INT_BY_DSCP)
		set_dscp(out, &j->at,
			 (uint8_t)((dscp_of(j) & ~p->dscp_mask) |
				   (p->dscp & p->dscp_mask)));
	if (s->over == INT_OVER_UDP ||
	    (s->over == INT_OVER_L4 && s->by == INT_BY_PORT))
		int_set16(out + j->at.l4 + NET_UDP_AT_DST, p->udp_port, &sum);
	mark_tunnel(out, j, &sum);
	int_sum_bytes(&sum, out + j->at.begin, by);
	int_resize_l4(out, &j->at, (int)by, &sum);
	int_sum_apply(out, &j->at, p, sum);
}

/* Geneve counts the words of all options in 6 bits. */
static bool has_room(const struct job *j)
{
	const uint8_t *geneve = j->frame + j->at.l4 + NET_UDP_LEN;

	return j->s->over != INT_OVER_GENEVE ||
	       (geneve[0] & NET_GENEVE_WORDS_MASK) + j->words + 1 <=
		       NET_GENEVE_WORDS_MASK;
}

int int_insert(uint8_t *out, size_t cap, const struct int_profile *p,
	       const struct int_source *s, const uint8_t *frame, size_t len)
{
	struct job j = {.p = p, .s = s, .frame = frame, .len = len};
	struct put w = put_to(out, cap);
	size_t by;

	if (!can_say(s))
		return -EINVAL;
	j.hop_words = hop_words(&j);
	if (j.hop_words > INT_HOP_WORDS_MASK)
		return -EINVAL;
	if (int_locate(&j.at, &j.l4, NET_ETHERTYPE_ETH, frame, len) ||
	    !find_place(&j))
		return -ENOTSUP;
	if (!measure(&j) || !has_room(&j))
		return -EMSGSIZE;
	put_bytes(&w, frame, j.at.begin);
	put_front(&w, &j);
	put_shim(&w, &j);
	put_header(&w, &j);
	by = put_len(&w) - j.at.begin;
	put_bytes(&w, frame + j.at.begin, len - j.at.begin);
	if (!put_ok(&w))
		return -ENOBUFS;
	if (s->over != INT_OVER_GRE || !j.added)
		mark(out, &j, by);
	return (int)put_len(&w);
}

/* --- taken out ----------------------------------------------------------- */

/* What the tunnel's own header says of INT. */
static void restore_tunnel(uint8_t *out, const struct int_place *at, size_t len,
			   uint32_t *sum)
{
	uint8_t *h = out + at->l4 + NET_UDP_LEN; /* VXLAN's, Geneve's */
	uint16_t words = (uint16_t)(len / 4);

	switch (at->over) {
	case INT_OVER_VXLAN:
		int_set16(h + 2, (uint16_t)(h[2] << 8 | at->next), sum);
		if (!at->added)
			return;
		/* It was VXLAN as RFC 7348 has it. */
		int_set16(h + 2, (uint16_t)(h[2] << 8), sum);
		int_set16(h,
			  (uint16_t)(be16_load(h) & ~(NET_VXLAN_HAS_NEXT << 8)),
			  sum);
		int_set16(out + at->l4 + NET_UDP_AT_DST, NET_VXLAN_PORT, sum);
		return;
	case INT_OVER_GENEVE:
		int_set16(h, (uint16_t)(be16_load(h) - (words << 8)), sum);
		return;
	case INT_OVER_GRE:
		int_set16(out + at->l4 + NET_GRE_AT_TYPE, at->next, sum);
		return;
	}
}

static void restore(uint8_t *out, const struct int_profile *p,
		    const struct int_place *at, const uint8_t *gone, size_t len)
{
	uint32_t sum = 0;

	net_ip_resize(out + at->ip, -(int)len);
	if (at->over == INT_OVER_NEW_UDP) {
		net_ip_set_protocol(out + at->ip, out + at->proto_at,
				    (uint8_t)at->next);
		return;
	}
	if (at->by == INT_BY_DSCP)
		set_dscp(out, at, at->dscp);
	if (at->by == INT_BY_PORT)
		int_set16(out + at->l4 + NET_UDP_AT_DST, at->next, &sum);
	sum_less(&sum, gone, len);
	restore_tunnel(out, at, len, &sum);
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
	if (at->over != INT_OVER_GRE || !at->added)
		restore(out, p, at, frame + at->begin, gone);
	else if (at->begin && at->type_at) /* the tunnel is gone as well */
		be16_store(out + at->type_at, at->next);
	return (int)(len - gone);
}
