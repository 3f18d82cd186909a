/* SPDX-License-Identifier: BSD-2-Clause */
/* nack.c - the frames that tell a reporter where its sequence stands. */
#include "translate/private.h"

#include <errno.h>

enum {
	NACK_TTL = 64,
	NACK_MAX = 128, /* bytes of a NACK's frame, at most */
};

/* The headers; the payload stands behind them already. */
static int udp6_encode(uint8_t *buf, const struct net_udp *u,
		       const uint8_t *eth, size_t len)
{
	struct net_udp6 h = {
		.src_port = DTA_PORT,
		.dst_port = DTA_NACK_PORT,
		.ttl = NACK_TTL,
	};

	memcpy(h.eth_dst, eth + NET_ETH_AT_SRC, 6);
	memcpy(h.eth_src, eth, 6);
	memcpy(h.src, u->dst, 16);
	memcpy(h.dst, u->src, 16);
	return net_udp6_encode(buf, NACK_MAX, &h, buf + NET_UDP6_LEN, len);
}

static int udp4_encode(uint8_t *buf, const struct net_udp *u,
		       const uint8_t *eth, size_t len)
{
	struct net_udp4 h = {
		.src_port = DTA_PORT,
		.dst_port = DTA_NACK_PORT,
		.ttl = NACK_TTL,
	};

	memcpy(h.eth_dst, eth + NET_ETH_AT_SRC, 6);
	memcpy(h.eth_src, eth, 6);
	memcpy(h.src, u->dst, 4);
	memcpy(h.dst, u->src, 4);
	return net_udp4_encode(buf, NACK_MAX, &h, len);
}

void nack_send(struct translator *t, const struct net_udp *u, uint16_t table,
	       const struct pkt *p, uint16_t last, enum dta_nack_reason reason)
{
	struct dta_report answer = {
		.opcode = DTA_NACK,
		.hop = (uint8_t)reason,
		.table = table,
		.sequence = last,
	};
	size_t hlen = NET_ETH_LEN + NET_UDP_LEN +
		      (u->version == 6 ? NET_IP6_LEN : NET_IP4_LEN);
	uint8_t *buf;
	int len;

	if (!t->nacks)
		return;
	buf = snk_room(t->nacks, NACK_MAX);
	if (!buf) {
		if (!t->error)
			t->error = errno ? -errno : -EIO;
		return;
	}
	len = dta_encode(buf + hlen, NACK_MAX - hlen,
			 is_dta0(u) ? t->format : DTA_FORMAT_1, &answer);
	if (len < 0)
		return;
	if (u->version == 6)
		udp6_encode(buf, u, p->data, (size_t)len);
	else
		udp4_encode(buf, u, p->data, (size_t)len);
	snk_done(t->nacks, hlen + (size_t)len, p->ts_ns);
	t->ctr.nacks_sent++;
}
