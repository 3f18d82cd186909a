/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * icrc.h - what the iCRC covers (annex A17.3): eight bytes of ones, then the
 * packet from its IP header on, where fields that routers change count as ones.
 */
#ifndef WIRE_ICRC_H
#define WIRE_ICRC_H

#include <stdint.h>
#include <string.h>

#include "wire/be.h"
#include "wire/proto.h"

enum {
	ICRC_ONES = 8,
};

/* Masks a copy of an IPv4 header. */
static inline void icrc_mask_ip4(uint8_t *ip)
{
	ip[NET_IP4_AT_TOS] = 0xff;
	ip[NET_IP4_AT_TTL] = 0xff;
	be16_store(ip + NET_IP4_AT_SUM, 0xffff);
}

/* Masks a copy of UDP header and BTH. */
static inline void icrc_mask_udp(uint8_t *udp)
{
	be16_store(udp + NET_UDP_AT_SUM, 0xffff);
	udp[NET_UDP_LEN + ROCE_BTH_AT_RESERVED] = 0xff;
}

/* Masks a copy of IP header (ip_len bytes), UDP header and BTH. */
static inline void icrc_mask(uint8_t *ip, size_t ip_len)
{
	if (ip[0] >> 4 == 4) {
		icrc_mask_ip4(ip);
	} else {
		be32_store(ip, 0x6fffffff); /* traffic class, flow label */
		ip[NET_IP6_AT_HOPS] = 0xff;
	}
	icrc_mask_udp(ip + ip_len);
}

#endif
