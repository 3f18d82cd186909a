/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * known.h - private to this room: requests that begin as one did that was found
 * good.
 *
 * Of the common requests of one requester to one queue pair, of one length, all
 * that comes before the PSN is the same, and with it all that a packet is
 * judged by on its own, but for the iCRC. That one is linear: of two frames
 * that begin alike, it differs by as much as the CRCs of what follows do.
 * Common: IPv4 without options, no VLAN tag, no UDP checksum, WRITE Only (RC or
 * UC) or FETCH_ADD.
 */
#ifndef RESPONDER_KNOWN_H
#define RESPONDER_KNOWN_H

#include "packet/pkt.h"
#include "wire/roce.h"

enum {
	KNOWN_HEAD = ROCE_AT_ACK_REQ, /* bytes in front of AckReq and the PSN */
	KNOWN_MAX = 64,
};

struct queue_pair;

struct known {
	uint8_t head[KNOWN_HEAD];
	uint16_t tail; /* bytes from there to the iCRC; 0: nothing is known */
	uint32_t sum;  /* the iCRC without what the tail adds to it */
	struct queue_pair *q;
	struct roce r;
};

/* The last ones, by what tells them from each other. */
struct knowns {
	struct known at[KNOWN_MAX];
	unsigned run;  /* how many there were */
	unsigned vain; /* of the last ones: in which few were known */
};

/*
 * Takes those of n <= ROCE_BATCH packets that are known: out is what
 * roce_decode() makes of them, whose the queue pair, or NULL if the iCRC
 * is wrong. Returns a bit for each; none of a run of which few are known.
 */
uint32_t known_take(struct knowns *k, const struct pkt *pkts, unsigned n,
		    struct roce *out, struct queue_pair **whose);

/* A packet of the same run, for q, with which nothing is wrong; it is kept if
 * it is common. */
void known_learn(struct knowns *k, const struct pkt *pkt, const struct roce *r,
		 struct queue_pair *q);

#endif
