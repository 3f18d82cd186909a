/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/net.h"

#include <errno.h>

#include "base/put.h"

/* Sum of 16-bit words in memory order, not folded. RFC 1071 section 2. */
static uint64_t sum_words(const uint8_t *p, size_t len)
{
	uint64_t sum = 0;
	uint32_t w;
	uint16_t h = 0;

	for (; len >= 4; p += 4, len -= 4) {
		memcpy(&w, p, 4);
		sum += w;
	}
	if (len >= 2) {
		memcpy(&h, p, 2);
		sum += h;
		p += 2;
		len -= 2;
	}
	if (len) { /* as if a zero byte followed */
		h = 0;
		memcpy(&h, p, 1);
		sum += h;
	}
	return sum;
}

static uint16_t sum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

uint16_t net_checksum(const void *data, size_t len)
{
	return be16toh((uint16_t)~sum_fold(sum_words(data, len)));
}

uint16_t net_checksum_add(uint16_t check, uint32_t sum)
{
	sum += (uint16_t)~check;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

void net_ip4_set16(uint8_t *ip, unsigned at, uint16_t v)
{
	uint32_t sum = 0xffffu - be16_load(ip + at) + v;

	be16_store(ip + at, v);
	be16_store(ip + NET_IP4_AT_SUM,
		   net_checksum_add(be16_load(ip + NET_IP4_AT_SUM), sum));
}

void net_ip_set_protocol(uint8_t *ip, uint8_t *ip6_next, uint8_t protocol)
{
	if (ip[0] >> 4 == 4)
		net_ip4_set16(ip, NET_IP4_AT_TTL,
			      (uint16_t)(ip[NET_IP4_AT_TTL] << 8 | protocol));
	else
		*ip6_next = protocol;
}

void net_ip_resize(uint8_t *ip, int by)
{
	uint8_t *len = ip + NET_IP6_AT_LEN;

	if (ip[0] >> 4 == 4)
		net_ip4_set16(ip, NET_IP4_AT_LEN,
			      (uint16_t)(be16_load(ip + NET_IP4_AT_LEN) + by));
	else
		be16_store(len, (uint16_t)(be16_load(len) + by));
}

/* Whether len bytes that hold their own checksum add up. */
static bool is_sum_right(uint64_t sum)
{
	return sum_fold(sum) == 0xffff;
}

int net_eth_skip(struct cur *c, const uint8_t **at)
{
	const uint8_t *p = cur_take(c, NET_ETH_LEN);
	uint16_t type;

	if (!p)
		return -EBADMSG;
	*at = p + NET_ETH_AT_TYPE;
	type = be16_load(*at);
	for (int i = 0;
	     type == NET_ETHERTYPE_VLAN || type == NET_ETHERTYPE_QINQ; i++) {
		if (i == NET_VLAN_MAX)
			return -ENOTSUP;
		if (!(p = cur_take(c, NET_VLAN_LEN)))
			return -EBADMSG;
		*at = p + NET_VLAN_AT_TYPE;
		type = be16_load(*at);
	}
	return type;
}

static int ip4_decode(struct net_ip *ip, struct cur *c)
{
	size_t captured = cur_left(c);
	const uint8_t *p = cur_take(c, NET_IP4_LEN);
	unsigned hlen, frag;

	if (!p || p[0] >> 4 != 4)
		return -EBADMSG;
	hlen = (p[0] & 15) * 4u;
	frag = be16_load(p + NET_IP4_AT_FRAGMENT);
	ip->version = 4;
	ip->protocol = p[NET_IP4_AT_PROTO];
	ip->ttl = p[NET_IP4_AT_TTL];
	ip->fragment = frag & NET_IP4_FRAGMENT;
	ip->later = frag & NET_IP4_OFFSET;
	ip->routed = false;
	ip->id = be16_load(p + NET_IP4_AT_ID);
	ip->len = be16_load(p + NET_IP4_AT_LEN);
	ip->hdr = p;
	ip->next = p + NET_IP4_AT_PROTO;
	ip->src = p + NET_IP4_AT_SRC;
	ip->dst = p + NET_IP4_AT_DST;
	if (hlen < NET_IP4_LEN || hlen > captured || ip->len < hlen)
		return -EBADMSG;
	ip->l4_len = ip->len - hlen;
	if (captured > ip->len)
		captured = ip->len;
	ip->l4 = cur_of(p + hlen, captured - hlen);
	return 0;
}

/* Steps over one IPv6 extension header. */
static int ip6_extension(struct net_ip *ip, struct cur *c)
{
	const uint8_t *p = cur_take(c, 8);
	unsigned frag;

	if (!p)
		return -EBADMSG;
	if (ip->protocol == NET_IP6_FRAGMENT) {
		frag = be16_load(p + 2);
		/* offset 0 and no more to come: whole, RFC 6946 */
		ip->fragment = frag & 0xfff9;
		ip->later = frag & 0xfff8;
	} else {
		if (ip->protocol == NET_IP6_ROUTING && p[3]) /* segments left */
			ip->routed = true;
		if (!cur_take(c, p[1] * 8u))
			return -EBADMSG;
	}
	ip->next = p;
	ip->protocol = p[0];
	return 0;
}

static bool ip6_is_extension(uint8_t next)
{
	return next == NET_IP6_HOP_BY_HOP || next == NET_IP6_ROUTING ||
	       next == NET_IP6_FRAGMENT || next == NET_IP6_DESTINATION;
}

static int ip6_decode(struct net_ip *ip, struct cur *c)
{
	const uint8_t *p = cur_take(c, NET_IP6_LEN), *l4;
	struct cur body;
	size_t payload;
	int rc;

	if (!p || p[0] >> 4 != 6)
		return -EBADMSG;
	payload = be16_load(p + NET_IP6_AT_LEN);
	*ip = (struct net_ip){
		.version = 6,
		.protocol = p[NET_IP6_AT_NEXT],
		.ttl = p[NET_IP6_AT_HOPS],
		.len = (uint32_t)payload + NET_IP6_LEN,
		.hdr = p,
		.next = p + NET_IP6_AT_NEXT,
		.src = p + NET_IP6_AT_SRC,
		.dst = p + NET_IP6_AT_DST,
	};
	l4 = c->p;
	body = cur_of(l4, payload < cur_left(c) ? payload : cur_left(c));
	/* Each header is 8 bytes or more of the payload, so this ends. */
	while (!ip->later && ip6_is_extension(ip->protocol))
		if ((rc = ip6_extension(ip, &body)))
			return rc;
	ip->l4 = body;
	ip->l4_len = (uint32_t)(payload - (size_t)(body.p - l4));
	return 0;
}

int net_ip_decode(struct net_ip *out, uint16_t type, struct cur *c)
{
	if (type == NET_ETHERTYPE_IP4)
		return ip4_decode(out, c);
	if (type == NET_ETHERTYPE_IP6)
		return ip6_decode(out, c);
	return -ENOTSUP;
}

static int ip_decode(struct net_ip *ip, const uint8_t *frame, size_t len)
{
	struct cur c = cur_of(frame, len);
	const uint8_t *at;
	int type = net_eth_skip(&c, &at);

	return type < 0 ? type : net_ip_decode(ip, (uint16_t)type, &c);
}

/* The pseudo header (RFC 768, RFC 8200 section 8.1), of both addresses, for
 * len bytes of UDP. */
static uint64_t sum_pseudo(const uint8_t *src, uint8_t version, size_t len)
{
	return sum_words(src, version == 4 ? 8 : 32) + htobe16(NET_PROTO_UDP) +
	       htobe16((uint16_t)len);
}

/* 0: right, or none; 1: partial; -EBADE: wrong. */
static int udp_sum(const uint8_t *src, uint8_t version, const uint8_t *udp,
		   size_t len)
{
	uint64_t pseudo;
	uint16_t sum;

	memcpy(&sum, udp + NET_UDP_AT_SUM, sizeof(sum));
	if (!sum)
		return 0;
	pseudo = sum_pseudo(src, version, len);
	if (sum == sum_fold(pseudo))
		return 1;
	return is_sum_right(pseudo + sum_words(udp, len)) ? 0 : -EBADE;
}

bool net_udp_sum_right(const uint8_t *src, uint8_t version, const uint8_t *udp,
		       size_t len)
{
	return udp_sum(src, version, udp, len) >= 0;
}

static int udp_decode(struct net_udp *out, struct net_ip *ip)
{
	const uint8_t *p = cur_take(&ip->l4, NET_UDP_LEN);
	size_t len;
	int sum;

	if (!p)
		return -EBADMSG;
	len = be16_load(p + NET_UDP_AT_LEN);
	if (len < NET_UDP_LEN || len > ip->l4_len)
		return -EBADMSG;
	if ((sum = udp_sum(ip->src, ip->version, p, len)) < 0)
		return sum;
	*out = (struct net_udp){
		.version = ip->version,
		.ip = ip->hdr,
		.src = ip->src,
		.dst = ip->dst,
		.src_port = be16_load(p),
		.dst_port = be16_load(p + NET_UDP_AT_DST),
		.payload = p + NET_UDP_LEN,
		.len = len - NET_UDP_LEN,
		.partial = sum,
	};
	return 0;
}

/* Not inlined, so that net_udp4_plain() has the registers to itself. */
static __attribute__((noinline)) int
udp_decode_any(struct net_udp *out, const uint8_t *frame, size_t len)
{
	struct net_ip ip;
	int rc = ip_decode(&ip, frame, len);

	if (rc)
		return rc;
	if (ip.fragment || ip.routed || ip.protocol != NET_PROTO_UDP)
		return -ENOTSUP;
	if (ip.l4_len > cur_left(&ip.l4)) /* cut by the capture */
		return -EBADMSG;
	if (ip.version == 4 &&
	    !is_sum_right(sum_words(ip.hdr, (ip.hdr[0] & 15) * 4u)))
		return -EBADE;
	return udp_decode(out, &ip);
}

int net_udp_decode(struct net_udp *out, const uint8_t *frame, size_t len)
{
	if (net_udp4_plain(out, frame, len))
		return 0;
	return udp_decode_any(out, frame, len);
}

int net_packet_decode(struct net_packet *out, const uint8_t *frame, size_t len)
{
	struct net_packet pkt;
	const uint8_t *p = NULL;
	struct net_ip ip;
	unsigned hlen;
	int rc = ip_decode(&ip, frame, len);

	if (rc)
		return rc;
	pkt = (struct net_packet){
		.version = ip.version,
		.protocol = ip.protocol,
		.ttl = ip.ttl,
		.fragment = ip.later,
		.src = ip.src,
		.dst = ip.dst,
		.ip_id = ip.id,
		.ip_len = ip.len,
	};
	if (!ip.later &&
	    (ip.protocol == NET_PROTO_TCP || ip.protocol == NET_PROTO_UDP)) {
		if (!(p = cur_take(&ip.l4, ip.protocol == NET_PROTO_TCP
						   ? NET_TCP_LEN
						   : NET_UDP_LEN)))
			return -EBADMSG;
		pkt.src_port = be16_load(p);
		pkt.dst_port = be16_load(p + NET_UDP_AT_DST);
	}
	if (!ip.later && ip.protocol == NET_PROTO_TCP) {
		hlen = (p[NET_TCP_AT_OFFSET] >> 4) * 4u;
		if (hlen < NET_TCP_LEN || hlen > ip.l4_len)
			return -EBADMSG;
		pkt.tcp_seq = be32_load(p + NET_TCP_AT_SEQ);
		pkt.tcp_flags = p[NET_TCP_AT_FLAGS];
		pkt.tcp_payload = ip.l4_len - hlen;
	}
	*out = pkt;
	return 0;
}

int net_udp4_encode(uint8_t *buf, size_t cap, const struct net_udp4 *h,
		    size_t payload_len)
{
	struct put w = put_to(buf, cap);
	uint8_t *ip;

	if (payload_len > UINT16_MAX - NET_IP4_LEN - NET_UDP_LEN)
		return -ENOBUFS;
	put_bytes(&w, h->eth_dst, 6);
	put_bytes(&w, h->eth_src, 6);
	put_be16(&w, NET_ETHERTYPE_IP4);
	ip = put_room(&w, NET_IP4_LEN);
	put_be16(&w, h->src_port);
	put_be16(&w, h->dst_port);
	put_be16(&w, (uint16_t)(payload_len + NET_UDP_LEN));
	put_be16(&w, 0); /* no checksum */
	if (!put_ok(&w))
		return -ENOBUFS;
	ip[0] = NET_IP4_PLAIN;
	ip[NET_IP4_AT_TOS] = h->tos;
	be16_store(ip + NET_IP4_AT_LEN,
		   (uint16_t)(payload_len + NET_UDP_LEN + NET_IP4_LEN));
	be16_store(ip + NET_IP4_AT_ID, h->ip_id);
	be16_store(ip + NET_IP4_AT_FRAGMENT, NET_IP4_DF);
	ip[NET_IP4_AT_TTL] = h->ttl;
	ip[NET_IP4_AT_PROTO] = NET_PROTO_UDP;
	be16_store(ip + NET_IP4_AT_SUM, 0);
	memcpy(ip + NET_IP4_AT_SRC, h->src, 4);
	memcpy(ip + NET_IP4_AT_DST, h->dst, 4);
	be16_store(ip + NET_IP4_AT_SUM, net_checksum(ip, NET_IP4_LEN));
	return (int)put_len(&w);
}

int net_udp6_encode(uint8_t *buf, size_t cap, const struct net_udp6 *h,
		    const void *payload, size_t payload_len)
{
	uint16_t udp_len = (uint16_t)(NET_UDP_LEN + payload_len), sum;
	struct put w = put_to(buf, cap);
	uint8_t *udp;

	if (payload_len > UINT16_MAX - NET_UDP_LEN)
		return -ENOBUFS;
	put_bytes(&w, h->eth_dst, 6);
	put_bytes(&w, h->eth_src, 6);
	put_be16(&w, NET_ETHERTYPE_IP6);
	put_be32(&w, 0x60000000 | (uint32_t)h->tos << 20);
	put_be16(&w, udp_len);
	put_u8(&w, NET_PROTO_UDP);
	put_u8(&w, h->ttl);
	put_bytes(&w, h->src, 16);
	put_bytes(&w, h->dst, 16);
	udp = w.p;
	put_be16(&w, h->src_port);
	put_be16(&w, h->dst_port);
	put_be16(&w, udp_len);
	put_be16(&w, 0);
	if (!put_ok(&w))
		return -ENOBUFS;
	if (payload) {
		sum = (uint16_t)~sum_fold(sum_pseudo(udp - 32, 6, udp_len) +
					  sum_words(udp, NET_UDP_LEN) +
					  sum_words(payload, payload_len));
		sum = sum ? sum : 0xffff; /* 0 would be none */
		memcpy(udp + NET_UDP_AT_SUM, &sum, 2);
	}
	return (int)put_len(&w);
}
