/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_packets.h - random packets for INT's tests: Ethernet, VLAN tags, IPv4 or
 * IPv6, TCP, UDP, ICMP, tunnels. Checksums are right, by a sum of this file's
 * own.
 */
#ifndef TESTS_UNIT_INT_PACKETS_H
#define TESTS_UNIT_INT_PACKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/put.h"
#include "base/rng.h"
#include "net/be.h"
#include "net/proto.h"

/* What is behind the IP header. */
enum packet_kind {
	PACKET_TCP,
	PACKET_UDP,
	PACKET_ICMP,
	PACKET_VXLAN, /* plain: RFC 7348 */
	PACKET_VXLAN_GPE,
	PACKET_GENEVE,
	PACKET_GRE,
	PACKET_KINDS,
};

struct packet {
	uint8_t data[4096];
	size_t len;
	size_t ip, l4; /* offsets */
	uint8_t version, protocol;
	uint32_t ip_len;
	uint8_t dscp;
	uint16_t src_port, dst_port;
	size_t inner; /* the IP header that the flow is of */
};

static inline uint32_t packet_sum(const uint8_t *p, size_t len, uint32_t sum)
{
	for (size_t i = 0; i < len; i++)
		sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* The sum of a packet's L4, its pseudo header with it: 0xffff if its checksum
 * is right. */
static inline uint32_t packet_l4_sum(const uint8_t *ip, const uint8_t *l4,
				     size_t len, uint8_t protocol)
{
	uint32_t sum = 0;

	if (protocol != NET_PROTO_ICMP && protocol != NET_PROTO_GRE)
		sum = (uint32_t)len + protocol +
		      (ip[0] >> 4 == 4 ? packet_sum(ip + 12, 8, 0)
				       : packet_sum(ip + 8, 32, 0));
	return packet_sum(l4, len, sum);
}

static inline void put_random(struct put *w, struct rng *r, size_t len)
{
	while (len--)
		put_u8(w, (uint8_t)rng_u64(r));
}

static inline void put_ethernet(struct put *w, struct rng *r, uint16_t type,
				bool tags)
{
	put_random(w, r, 12);
	for (uint64_t n = tags ? rng_below(r, 3) : 0; n; n--) {
		put_be16(w, n == 2 ? NET_ETHERTYPE_QINQ : NET_ETHERTYPE_VLAN);
		put_random(w, r, 2);
	}
	put_be16(w, type);
}

/* An IP header; its lengths come later. */
static inline void put_ip(struct put *w, struct rng *r, uint8_t version,
			  uint8_t protocol)
{
	uint8_t options = (uint8_t)rng_below(r, 3), *p = w->p;
	bool extension = !rng_below(r, 4);

	put_random(w, r, version == 4 ? 20 + options * 4u : 40);
	if (version == 4) {
		p[0] = (uint8_t)(0x45 + options);
		memset(p + 20, 1, options * 4u); /* no operation */
		be16_store(p + 6, 0x4000);
		p[9] = protocol;
		return;
	}
	p[0] = (uint8_t)(0x60 | (p[0] & 15));
	p[6] = extension ? NET_IP6_DESTINATION : protocol;
	if (!extension)
		return;
	put_u8(w, protocol);
	put_u8(w, 0);
	put_be16(w, 0x0104); /* padding */
	put_zero(w, 4);
}

/* Lengths and checksums of a packet that ends where the writer is. */
static inline void finish_ip(struct put *w, uint8_t *ip, uint8_t *l4,
			     uint8_t protocol, bool sums)
{
	size_t len = (size_t)(w->p - l4), at = 16;
	uint32_t sum;

	if (ip[0] >> 4 == 4) {
		be16_store(ip + 2, (uint16_t)(w->p - ip));
		be16_store(ip + 10, 0);
		be16_store(ip + 10,
			   (uint16_t)~packet_sum(ip, (size_t)(l4 - ip), 0));
	} else {
		be16_store(ip + 4, (uint16_t)(w->p - ip - 40));
	}
	if (protocol == NET_PROTO_UDP) {
		at = 6;
		be16_store(l4 + 4, (uint16_t)len);
	} else if (protocol == NET_PROTO_ICMP || protocol == NET_PROTO_ICMP6) {
		at = 2;
	} else if (protocol == NET_PROTO_GRE) {
		at = 4;
		if (!(l4[0] & 0x80))
			return;
	}
	be16_store(l4 + at, 0);
	sum = (uint16_t)~packet_l4_sum(ip, l4, len, protocol);
	if (protocol == NET_PROTO_UDP)
		sum = !sums ? 0 : sum ? sum : 0xffff;
	be16_store(l4 + at, (uint16_t)sum);
}

static inline uint8_t put_l4(struct put *w, struct rng *r, uint8_t version,
			     enum packet_kind kind, uint8_t **l4)
{
	uint8_t options = (uint8_t)rng_below(r, 4);

	*l4 = w->p;
	switch (kind) {
	case PACKET_TCP:
		put_random(w, r, 20 + options * 4u);
		(*l4)[12] = (uint8_t)(0x50 + (options << 4));
		return NET_PROTO_TCP;
	case PACKET_ICMP:
		put_random(w, r, 8);
		(*l4)[0] = version == 4 ? 8 : 128; /* echo */
		return version == 4 ? NET_PROTO_ICMP : NET_PROTO_ICMP6;
	case PACKET_GRE:
		/* none; a key; checksum, key and sequence number */
		put_be16(w, options % 3 == 2 ? 0xb000 : options % 3 << 13);
		put_be16(w, NET_ETHERTYPE_ETH);
		put_zero(w, options % 3 == 2 ? 4 : 0);
		put_random(w, r, options % 3 * 4u);
		return NET_PROTO_GRE;
	default:
		put_random(w, r, 8);
		return NET_PROTO_UDP;
	}
}

/* The header of a tunnel over UDP. */
static inline void put_tunnel_header(struct put *w, struct rng *r,
				     enum packet_kind kind, uint8_t *l4)
{
	if (kind == PACKET_VXLAN || kind == PACKET_VXLAN_GPE) {
		be16_store(l4 + 2, kind == PACKET_VXLAN ? NET_VXLAN_PORT
							: NET_VXLAN_GPE_PORT);
		put_be32(w, kind == PACKET_VXLAN ? 0x08000000 : 0x0c000003);
		put_random(w, r, 4);
	} else if (kind == PACKET_GENEVE) {
		be16_store(l4 + 2, NET_GENEVE_PORT);
		put_be32(w, 0x02006558); /* two words of options */
		put_random(w, r, 4);
		put_be32(w, 0x01020301);
		put_random(w, r, 4);
	}
}

static inline bool is_tunnel(enum packet_kind kind)
{
	return kind >= PACKET_VXLAN;
}

static inline uint8_t protocol_of(enum packet_kind kind, uint8_t version)
{
	return kind == PACKET_TCP    ? NET_PROTO_TCP
	       : kind == PACKET_GRE  ? NET_PROTO_GRE
	       : kind != PACKET_ICMP ? NET_PROTO_UDP
	       : version == 4	     ? NET_PROTO_ICMP
				     : NET_PROTO_ICMP6;
}

static inline void put_packet(struct put *w, struct rng *r,
			      enum packet_kind kind, struct packet *out);

/* A packet of that kind, in *out its places. */
static inline void put_inside(struct put *w, struct rng *r,
			      enum packet_kind kind, struct packet *out)
{
	struct packet inner;

	if (!is_tunnel(kind)) {
		put_random(w, r, rng_below(r, 300));
		out->inner = out->ip;
		return;
	}
	put_packet(w, r, (enum packet_kind)rng_below(r, PACKET_VXLAN), &inner);
	out->inner = inner.ip;
}

static inline void put_packet(struct put *w, struct rng *r,
			      enum packet_kind kind, struct packet *out)
{
	uint8_t version = rng_below(r, 2) ? 6 : 4, *ip, *l4;

	put_ethernet(w, r, version == 4 ? NET_ETHERTYPE_IP4 : NET_ETHERTYPE_IP6,
		     true);
	ip = w->p;
	out->protocol = protocol_of(kind, version);
	put_ip(w, r, version, out->protocol);
	put_l4(w, r, version, kind, &l4);
	out->ip = (size_t)(ip - w->start);
	out->l4 = (size_t)(l4 - w->start);
	out->version = version;
	/* Not by chance a port that says something. */
	if (out->protocol == NET_PROTO_TCP || out->protocol == NET_PROTO_UDP)
		l4[2] = 0x80;
	put_tunnel_header(w, r, kind, l4);
	put_inside(w, r, kind, out);
	out->dscp = version == 4 ? ip[1] >> 2 : be16_load(ip) >> 6 & 0x3f;
	out->ip_len = (uint32_t)(w->p - ip);
	finish_ip(w, ip, l4, out->protocol, rng_below(r, 4));
	out->src_port = be16_load(l4);
	out->dst_port = be16_load(l4 + 2);
}

/* A frame of that kind, and maybe padding behind it. */
static inline void packet_make(struct packet *out, struct rng *r,
			       enum packet_kind kind)
{
	struct put w = put_to(out->data, sizeof(out->data));

	put_packet(&w, r, kind, out);
	if (!rng_below(r, 4))
		put_random(&w, r, rng_below(r, 40));
	out->len = put_len(&w);
}

/* Whether the checksums of a frame are right: IPv4's, and that of TCP, UDP,
 * ICMP. */
static inline bool packet_sums_right(const uint8_t *frame, size_t ip_at,
				     size_t l4_at, uint8_t protocol)
{
	const uint8_t *ip = frame + ip_at, *l4 = frame + l4_at;
	size_t end = ip_at + (ip[0] >> 4 == 4 ? be16_load(ip + 2)
					      : be16_load(ip + 4) + 40u);

	if (ip[0] >> 4 == 4 && packet_sum(ip, (ip[0] & 15) * 4u, 0) != 0xffff)
		return false;
	if (protocol == NET_PROTO_GRE && !(l4[0] & 0x80))
		return true;
	if (protocol == NET_PROTO_UDP && be16_load(l4 + 4) != end - l4_at)
		return false;
	if (protocol == NET_PROTO_UDP && !be16_load(l4 + 6))
		return true;
	return packet_l4_sum(ip, l4, end - l4_at, protocol) == 0xffff;
}

#endif
