/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet.h - one packet of the traffic that a network carries and its switches
 * tell of: the same whether it is of a capture or of the model (synth.h), so
 * that what is computed from one is computed from the other.
 *
 * Decoded: all in host order but the key, whose bytes are as on the wire
 * (wire/key.h). Owns what it holds.
 */
#ifndef TRAFFIC_PACKET_H
#define TRAFFIC_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packet/pkt.h"
#include "wire/key.h"

struct traffic_packet {
	uint64_t ts_ns;	      /* since the epoch */
	uint8_t key[KEY_MAX]; /* flow4 or flow6 */
	uint8_t key_len;
	bool v6;
	bool fragment; /* not the first one: no ports */
	uint8_t protocol, ttl, tcp_flags;
	uint16_t src_port, dst_port;
	uint16_t ip_id;	       /* of IPv4 */
	uint32_t ip_len;       /* bytes of the IP header and its payload */
	uint32_t seq, payload; /* TCP: sequence number, bytes of data */
	uint64_t id; /* a hash of what stays the same along the path */
};

/* The addresses in network order, as bytes of the key. */
static inline const uint8_t *traffic_src(const struct traffic_packet *p)
{
	return p->key;
}

static inline const uint8_t *traffic_dst(const struct traffic_packet *p)
{
	return p->key + (p->v6 ? 16 : 4);
}

static inline size_t traffic_addr_len(const struct traffic_packet *p)
{
	return p->v6 ? 16 : 4;
}

/*
 * Of a frame; a capture may have cut it after the headers. -ENOTSUP: neither
 * IPv4 nor IPv6; -EBADMSG: malformed or cut. Then *out is as it was.
 */
int traffic_decode(struct traffic_packet *out, const struct pkt *pkt);

#endif
