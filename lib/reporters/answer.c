/* SPDX-License-Identifier: BSD-2-Clause */
#include "reporters/answer.h"

#include <string.h>

#include "wire/dta.h"

enum {
	TTL = 64,
};

/* The headers; the payload stands behind them already. */
static void udp6_encode(uint8_t *buf, const struct net_udp *u,
			const uint8_t *eth, size_t len)
{
	struct net_udp6 h = {
		.src_port = DTA_PORT,
		.dst_port = DTA_NACK_PORT,
		.ttl = TTL,
	};

	memcpy(h.eth_dst, eth + NET_ETH_AT_SRC, 6);
	memcpy(h.eth_src, eth, 6);
	memcpy(h.src, u->dst, 16);
	memcpy(h.dst, u->src, 16);
	net_udp6_encode(buf, ANSWER_MAX, &h, buf + NET_UDP6_LEN, len);
}

static void udp4_encode(uint8_t *buf, const struct net_udp *u,
			const uint8_t *eth, size_t len)
{
	struct net_udp4 h = {
		.src_port = DTA_PORT,
		.dst_port = DTA_NACK_PORT,
		.ttl = TTL,
	};

	memcpy(h.eth_dst, eth + NET_ETH_AT_SRC, 6);
	memcpy(h.eth_src, eth, 6);
	memcpy(h.src, u->dst, 4);
	memcpy(h.dst, u->src, 4);
	net_udp4_encode(buf, ANSWER_MAX, &h, len);
}

size_t answer_len(const struct net_udp *u, size_t len)
{
	return NET_ETH_LEN + NET_UDP_LEN + len +
	       (u->version == 6 ? NET_IP6_LEN : NET_IP4_LEN);
}

void answer_encode(uint8_t *buf, const struct net_udp *u, const uint8_t *eth,
		   size_t len)
{
	if (u->version == 6)
		udp6_encode(buf, u, eth, len);
	else
		udp4_encode(buf, u, eth, len);
}
