/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * net.h - Ethernet (with up to two VLAN tags), IPv4, IPv6, UDP, TCP.
 *
 * Sources: IEEE 802.3, 802.1Q; RFC 791, 8200, 768, 9293.
 * Lengths come from the IP and UDP headers, never from the frame: short frames
 * carry Ethernet padding. Decoded values are in host order; pointers point into
 * the frame. Nothing is written to *out on failure.
 */
#ifndef NET_NET_H
#define NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cur.h"
#include "net/be.h"
#include "net/proto.h"

/* A UDP datagram in a frame. */
struct net_udp {
	uint8_t version;	  /* 4 or 6 */
	const uint8_t *ip;	  /* the IP header */
	const uint8_t *src, *dst; /* 4 or 16 bytes, as on the wire */
	uint16_t src_port, dst_port;
	const uint8_t *payload;
	size_t len; /* of the payload, by the UDP header */
	/* The checksum covers the pseudo header alone: a socket of this host
	 * left the rest to a network card, but virtual ones do not do it. */
	bool partial;
};

/*
 * Finds the UDP datagram of an Ethernet frame of len bytes.
 * -ENOTSUP: not IP, not UDP, or a fragment; -EBADMSG: malformed or cut short;
 * -EBADE: a wrong IPv4 header or UDP checksum (a UDP checksum of 0 is none,
 * and a partial one is right).
 */
int net_udp_decode(struct net_udp *out, const uint8_t *frame, size_t len);

/* Whether the checksum of an IPv4 header without options, which is not all
 * zeros, is right: RFC 1071. */
static inline bool net_ip4_sum_right(const uint8_t ip[NET_IP4_LEN])
{
	uint64_t a, b;
	uint32_t c;

	memcpy(&a, ip, sizeof(a));
	memcpy(&b, ip + sizeof(a), sizeof(b));
	memcpy(&c, ip + sizeof(a) + sizeof(b), sizeof(c));
	/* A one's complement sum is the remainder by 2^16 - 1. */
	return ((a >> 32) + (uint32_t)a + (b >> 32) + (uint32_t)b + c) %
		       0xffff ==
	       0;
}

/* The same for the common case at once, here so that it can be inlined: no VLAN
 * tag, IPv4 without options or fragments, no UDP checksum, and nothing wrong.
 * False: net_udp_decode() tells why. */
static inline bool net_udp4_plain(struct net_udp *out, const uint8_t *frame,
				  size_t len)
{
	const uint8_t *ip = frame + NET_ETH_LEN, *udp = ip + NET_IP4_LEN;
	size_t ip_len, udp_len;

	if (len < NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN ||
	    be16_load(frame + NET_ETH_AT_TYPE) != NET_ETHERTYPE_IP4 ||
	    ip[0] != NET_IP4_PLAIN || ip[NET_IP4_AT_PROTO] != NET_PROTO_UDP ||
	    be16_load(ip + NET_IP4_AT_FRAGMENT) & NET_IP4_FRAGMENT ||
	    be16_load(udp + NET_UDP_AT_SUM) || !net_ip4_sum_right(ip))
		return false;
	ip_len = be16_load(ip + NET_IP4_AT_LEN);
	udp_len = be16_load(udp + NET_UDP_AT_LEN);
	if (ip_len > len - NET_ETH_LEN || udp_len < NET_UDP_LEN ||
	    udp_len + NET_IP4_LEN > ip_len)
		return false;
	*out = (struct net_udp){
		.version = 4,
		.ip = ip,
		.src = ip + NET_IP4_AT_SRC,
		.dst = ip + NET_IP4_AT_DST,
		.src_port = be16_load(udp),
		.dst_port = be16_load(udp + NET_UDP_AT_DST),
		.payload = udp + NET_UDP_LEN,
		.len = udp_len - NET_UDP_LEN,
	};
	return true;
}

/* What a flow monitor wants of a packet, TCP or not. */
struct net_packet {
	uint8_t version, protocol, ttl;
	bool fragment;		     /* not the first fragment: no ports */
	const uint8_t *src, *dst;    /* 4 or 16 bytes */
	uint16_t src_port, dst_port; /* 0 where there are none */
	uint16_t ip_id;		     /* IPv4 identification; 0 for IPv6 */
	uint32_t ip_len;	     /* IP header and payload, bytes */
	uint8_t tcp_flags;
	uint32_t tcp_seq;
	uint32_t tcp_payload; /* bytes of TCP data, by the IP length */
};

/* As net_udp_decode(), for any IP packet; ports only of TCP and UDP. A capture
 * may cut the packet behind the headers that are read. */
int net_packet_decode(struct net_packet *out, const uint8_t *frame, size_t len);

/* An IP header and what follows it. */
struct net_ip {
	uint8_t version, protocol, ttl;
	bool fragment; /* a part of a datagram */
	bool later;    /* a fragment, but not the first */
	bool routed;   /* IPv6: on the way to another destination */
	uint16_t id;
	uint32_t len; /* header and payload, by the header */
	const uint8_t *hdr, *src, *dst;
	const uint8_t *next; /* the byte that says the protocol */
	struct cur l4;	     /* what was captured of the payload */
	uint32_t l4_len;     /* the payload, by the header */
};

/* Steps over an Ethernet header and VLAN tags; returns the Ethernet type of
 * what follows (*at: where the type stands), or as net_udp_decode(). */
int net_eth_skip(struct cur *c, const uint8_t **at);

/* The IP header at c, of that Ethernet type; returns as net_udp_decode(). */
int net_ip_decode(struct net_ip *out, uint16_t type, struct cur *c);

/* One's complement sum (RFC 1071) of len bytes, complemented, host order. */
uint16_t net_checksum(const void *data, size_t len);

/* Whether the checksum of a UDP datagram of len bytes is right, none or
 * partial. src: the source address, behind it the destination. */
bool net_udp_sum_right(const uint8_t *src, uint8_t version, const uint8_t *udp,
		       size_t len);

/* A checksum after sum was added to the words that it covers: RFC 1624. */
uint16_t net_checksum_add(uint16_t check, uint32_t sum);

/* Change an IP header in place, and keep the checksum of IPv4 right: a 16-bit
 * word of IPv4; the protocol (of IPv6: the byte at ip6_next); the length, by so
 * many bytes more. */
void net_ip4_set16(uint8_t *ip, unsigned at, uint16_t v);
void net_ip_set_protocol(uint8_t *ip, uint8_t *ip6_next, uint8_t protocol);
void net_ip_resize(uint8_t *ip, int by);

/* What net_udp4_encode() puts in front of a payload. */
struct net_udp4 {
	uint8_t eth_dst[6], eth_src[6];
	uint8_t src[4], dst[4];
	uint16_t src_port, dst_port;
	uint16_t ip_id;
	uint8_t tos, ttl;
};

/* Writes Ethernet, IPv4 (DF set, right checksum) and UDP (checksum 0) headers
 * for a payload of payload_len bytes that follows them. Returns the header
 * length (42), or -ENOBUFS. */
int net_udp4_encode(uint8_t *buf, size_t cap, const struct net_udp4 *h,
		    size_t payload_len);

/* What net_udp6_encode() puts in front of a payload. */
struct net_udp6 {
	uint8_t eth_dst[6], eth_src[6];
	uint8_t src[16], dst[16];
	uint16_t src_port, dst_port;
	uint8_t tos, ttl;
};

enum {
	NET_UDP6_LEN = NET_ETH_LEN + NET_IP6_LEN + NET_UDP_LEN,
};

/* The same for IPv6: 62 bytes, or -ENOBUFS. The UDP checksum is that of the
 * payload; NULL: 0, which is for tunnels alone (RFC 6936). */
int net_udp6_encode(uint8_t *buf, size_t cap, const struct net_udp6 *h,
		    const void *payload, size_t payload_len);

#endif
