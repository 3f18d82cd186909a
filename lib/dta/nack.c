/* SPDX-License-Identifier: BSD-2-Clause */
/* nack.c - NACK frames: they give a reporter the last number in order. */
#include "dta/private.h"

#include <errno.h>

enum {
	ANSWER_MAX = 128, /* bytes of such a frame, at most */
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

static size_t frame_len(const struct net_udp *u, size_t len)
{
	return NET_ETH_LEN + NET_UDP_LEN + len +
	       (u->version == 6 ? NET_IP6_LEN : NET_IP4_LEN);
}

/* To the sender of u, which is in p. Returns the frames sent, 1 or 0, or
 * -errno. */
static int answer_send(struct snk *to, const struct net_udp *u,
		       const struct pkt *p, enum dta_format format,
		       const struct dta_report *answer)
{
	size_t hlen = frame_len(u, 0);
	uint8_t *buf = snk_room(to, ANSWER_MAX);
	int len;

	if (!buf)
		return errno ? -errno : -EIO;
	len = dta_encode(buf + hlen, ANSWER_MAX - hlen, format, answer);
	if (len < 0)
		return 0;
	if (u->version == 6)
		udp6_encode(buf, u, p->data, (size_t)len);
	else
		udp4_encode(buf, u, p->data, (size_t)len);
	snk_done(to, frame_len(u, (size_t)len), p->ts_ns);
	return 1;
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
	int rc;

	if (!t->nacks)
		return;
	if (t->nacks_lock)
		pthread_mutex_lock(t->nacks_lock);
	rc = answer_send(t->nacks, u, p, is_dta0(u) ? t->format : DTA_FORMAT_1,
			 &answer);
	if (t->nacks_lock)
		pthread_mutex_unlock(t->nacks_lock);
	if (rc > 0)
		t->ctr.nacks_sent++;
	else if (rc < 0 && !t->error)
		t->error = rc;
}
