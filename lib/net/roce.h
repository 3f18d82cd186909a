/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce.h - RoCEv2 packets: one RDMA operation each, or an answer to one.
 *
 * Ethernet / IPv4 or IPv6 / UDP 4791 / BTH 12 / RETH 16 or AtomicETH 28 or
 * AETH 4 (+ AtomicAckETH 8) / ImmDt 4 / payload / pad / iCRC 4.
 * Sources: InfiniBand Architecture 1.4 section 9, annex A17 (RoCEv2).
 * Values in host order; payload points into the frame.
 */
#ifndef NET_ROCE_H
#define NET_ROCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/be.h"
#include "net/proto.h"

enum {
	ROCE_BATCH = 32, /* frames that are decoded together */
	ROCE_FRAME_MAX = NET_ETH_LEN + NET_IP6_LEN + NET_UDP_LEN +
			 ROCE_BTH_LEN + ROCE_ATOMIC_LEN + ROCE_IMM_LEN +
			 ROCE_PAYLOAD_MAX + 3 + ROCE_ICRC_LEN,
};

struct roce {
	/* addressing */
	uint8_t eth_dst[6], eth_src[6];
	uint8_t version;	  /* 4 or 6 */
	uint8_t src[16], dst[16]; /* 4 or 16 bytes used */
	uint16_t src_port;
	uint16_t ip_id; /* IPv4 */
	uint8_t tos, ttl;
	/* BTH */
	uint8_t opcode; /* enum roce_opcode */
	uint8_t pad;	/* PadCount 0..3; roce_encode() computes it */
	uint8_t tver;
	bool solicited, migreq, ack_req;
	uint16_t pkey;
	uint32_t dest_qp, psn; /* 24 bits */
	/* RETH, AtomicETH */
	uint64_t va;
	uint32_t rkey;
	uint32_t dma_len;
	uint64_t swap_add, compare;
	/* AETH, AtomicAckETH */
	uint8_t syndrome;
	uint32_t msn;	   /* 24 bits */
	uint64_t original; /* what was in memory before the atomic */
	uint32_t imm;	   /* immediate data */
	const uint8_t *payload;
	size_t len; /* of the payload, pad not counted */
	bool icrc_ok;
};

/* "rc_write_only"..., NULL if unknown. */
const char *roce_opcode_name(uint8_t opcode);

/*
 * Decodes a frame of len bytes and checks its iCRC (out->icrc_ok; a wrong one
 * is the caller's to refuse). Returns 0; -ENOTSUP: not UDP to port 4791, or an
 * opcode not in enum roce_opcode; -EBADMSG: malformed or cut short; -EBADE: a
 * wrong IPv4 header or UDP checksum. Bytes behind the IP length are ignored.
 * Left to the caller: pad, tver, pkey, and whether dma_len is len.
 */
int roce_decode(struct roce *out, const uint8_t *frame, size_t len);

/* Writes a whole frame: headers, payload, pad, iCRC; UDP checksum 0, DF set.
 * Returns its length, -ENOBUFS, or -EINVAL: an unknown opcode, a payload where
 * the opcode takes none or above 4096 bytes, a field above its bits. */
int roce_encode(uint8_t *buf, size_t cap, const struct roce *r);

/* The UDP source port of a queue pair's packets: for ECMP, as a NIC's. */
static inline uint16_t roce_src_port(uint32_t qpn)
{
	return (uint16_t)(0xc000 | (qpn & 0x3fff));
}

/* Where things are in a frame without VLAN tags and IPv4 options. */
enum roce_offset {
	ROCE_AT_IP = NET_ETH_LEN,
	ROCE_AT_UDP = ROCE_AT_IP + NET_IP4_LEN,
	ROCE_AT_BTH = ROCE_AT_UDP + NET_UDP_LEN,
	ROCE_AT_ACK_REQ = ROCE_AT_BTH + ROCE_BTH_AT_ACK_REQ,
	ROCE_AT_RETH = ROCE_AT_BTH + ROCE_BTH_LEN,	/* or AtomicETH, AETH */
	ROCE_AT_PAYLOAD = ROCE_AT_RETH + ROCE_RETH_LEN, /* of a WRITE */
};

/* What the iCRC covers (annex A17.3): eight bytes of ones, then the packet from
 * its IP header on, where fields that routers change count as ones. */
enum {
	ICRC_ONES = 8,
};

/* Masks a copy of IP header (ip_len bytes), UDP header and BTH. */
static inline void icrc_mask(uint8_t *ip, size_t ip_len)
{
	uint8_t *udp = ip + ip_len;

	if (ip[0] >> 4 == 4) {
		ip[NET_IP4_AT_TOS] = 0xff;
		ip[NET_IP4_AT_TTL] = 0xff;
		be16_store(ip + NET_IP4_AT_SUM, 0xffff);
	} else {
		be32_store(ip, 0x6fffffff); /* traffic class, flow label */
		ip[NET_IP6_AT_HOPS] = 0xff;
	}
	be16_store(udp + NET_UDP_AT_SUM, 0xffff);
	udp[NET_UDP_LEN + ROCE_BTH_AT_RESERVED] = 0xff;
}

/* iCRC of a packet: ip points at the IP header, len counts from there to just
 * before the iCRC, and takes in the BTH at least (else 0). Stored least
 * significant byte first. */
uint32_t roce_icrc(const uint8_t *ip, size_t len);

#endif
