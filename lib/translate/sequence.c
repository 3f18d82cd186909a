/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sequence.c - the sequence numbers of tracked reports (dta.md 1.1).
 *
 * A reporter, known by its source address, numbers all its tracked reports with
 * one counter, whatever tables they are for. The table of the report in hand
 * says what is done about a number that is not the next one:
 *
 *	off     nothing; only the next number in order is noted
 *	count   a gap is counted, the report is carried out; what comes late
 *	        or again is carried out and not a gap
 *	strict  the report is dropped and answered with a NACK that tells the
 *	        last number in order; the reporter goes on from there
 *
 * The first number of a reporter is taken as it is. There is room for
 * REPORTERS; one more takes the place of the one of its set that was silent
 * longest.
 */
#include "translate/private.h"

#include <errno.h>
#include <stdlib.h>

#include "base/put.h"
#include "base/rng.h"

enum {
	REPORTERS = 65536,
	WAYS = 4, /* reporters of a set */
	NACK_TTL = 64,
	NACK_MAX = 128, /* bytes of a NACK's frame, at most */
};

struct reporter {
	uint8_t address[16];
	uint64_t heard;	 /* when: the count of checks; 0: nobody */
	uint16_t last;	 /* last number in order */
	uint8_t version; /* of IP */
	bool gap;	 /* a gap is open */
};

struct reporters {
	uint64_t checks;
	struct reporter set[REPORTERS / WAYS][WAYS];
};

static struct reporter *
reporter_find(struct reporters *rs, const uint8_t address[16], uint8_t version)
{
	uint64_t a, b;
	struct reporter *set, *oldest;

	memcpy(&a, address, 8);
	memcpy(&b, address + 8, 8);
	set = rs->set[rng_mix(a ^ rng_mix(b + version)) % (REPORTERS / WAYS)];
	oldest = set;
	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].heard && set[i].version == version &&
		    !memcmp(set[i].address, address, 16))
			return &set[i];
		if (set[i].heard < oldest->heard)
			oldest = &set[i];
	}
	*oldest = (struct reporter){.version = version};
	memcpy(oldest->address, address, 16);
	return oldest;
}

/* Ethernet, IPv6, UDP headers; the payload stands behind them already. */
static int udp6_encode(uint8_t *buf, const struct net_udp *u,
		       const uint8_t *eth, size_t len)
{
	uint8_t pseudo[40 + NET_UDP_LEN + DTA_HEADER_LEN] = {0};
	uint8_t *payload = buf + NET_ETH_LEN + NET_IP6_LEN + NET_UDP_LEN;
	struct put w = put_to(buf, NACK_MAX),
		   s = put_to(pseudo, sizeof(pseudo));
	uint16_t udp_len = (uint16_t)(NET_UDP_LEN + len), sum;

	put_bytes(&s, u->dst, 16); /* RFC 8200 section 8.1 */
	put_bytes(&s, u->src, 16);
	put_be32(&s, udp_len);
	put_be32(&s, NET_PROTO_UDP);
	put_be16(&s, DTA_PORT);
	put_be16(&s, DTA_NACK_PORT);
	put_be32(&s, (uint32_t)udp_len << 16);
	put_bytes(&s, payload, len);
	sum = net_checksum(pseudo, put_len(&s));
	put_bytes(&w, eth + 6, 6);
	put_bytes(&w, eth, 6);
	put_be16(&w, 0x86dd);
	put_be32(&w, 0x60000000);
	put_be16(&w, udp_len);
	put_u8(&w, NET_PROTO_UDP);
	put_u8(&w, NACK_TTL);
	put_bytes(&w, u->dst, 16);
	put_bytes(&w, u->src, 16);
	put_be16(&w, DTA_PORT);
	put_be16(&w, DTA_NACK_PORT);
	put_be16(&w, udp_len);
	put_be16(&w, sum ? sum : 0xffff);
	return (int)put_len(&w);
}

static int udp4_encode(uint8_t *buf, const struct net_udp *u,
		       const uint8_t *eth, size_t len)
{
	struct net_udp4 h = {
		.src_port = DTA_PORT,
		.dst_port = DTA_NACK_PORT,
		.ttl = NACK_TTL,
	};

	memcpy(h.eth_dst, eth + 6, 6);
	memcpy(h.eth_src, eth, 6);
	memcpy(h.src, u->dst, 4);
	memcpy(h.dst, u->src, 4);
	return net_udp4_encode(buf, NACK_MAX, &h, len);
}

/* DTA/0 has no table field, and its numbers have 8 bits. */
static bool is_dta0(const struct net_udp *u)
{
	return u->payload[0] >> 4 == 0;
}

/* Tells a reporter where to go on. */
static void nack(struct translator *t, const struct net_udp *u,
		 const struct dta_report *r, const struct pkt *p, uint16_t last)
{
	struct dta_report answer = {
		.opcode = DTA_NACK,
		.hop = DTA_NACK_GAP,
		.table = r->table,
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
}

/* How far seq is ahead of last, numbers wrapping at 8 or 16 bits. */
static int ahead(const struct net_udp *u, const struct dta_report *r,
		 uint16_t last)
{
	if (is_dta0(u))
		return (int8_t)(r->sequence - last);
	return (int16_t)(r->sequence - last);
}

bool sequence_check(struct translator *t, const struct lane *l,
		    const struct net_udp *u, const struct dta_report *r,
		    const struct pkt *p)
{
	uint8_t mode = l ? l->t.sequence : TABLE_SEQ_OFF, address[16] = {0};
	struct reporter *who;
	bool first;
	int step;

	memcpy(address, u->src, u->version == 6 ? 16 : 4);
	who = reporter_find(t->reporters, address, u->version);
	first = !who->heard;
	who->heard = ++t->reporters->checks;
	step = first ? 1 : ahead(u, r, who->last);
	if (step == 1) {
		who->last = r->sequence;
		who->gap = false;
		return true;
	}
	if (mode == TABLE_SEQ_OFF)
		return true;
	if (step > 0 && !who->gap)
		t->ctr.gaps++;
	if (mode == TABLE_SEQ_COUNT) {
		/* A gap that a strict table opened is that one's to close. */
		if (step > 0 && !who->gap)
			who->last = r->sequence;
		return true;
	}
	who->gap = step > 0 || who->gap;
	nack(t, u, r, p, who->last);
	return false;
}

int sequence_open(struct translator *t, struct fault *f)
{
	t->reporters = calloc(1, sizeof(*t->reporters));
	if (!t->reporters)
		return fault_set(f, -ENOMEM, "no memory for the reporters");
	return 0;
}

void sequence_close(struct translator *t)
{
	free(t->reporters);
	t->reporters = NULL;
}
