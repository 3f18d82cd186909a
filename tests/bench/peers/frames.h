/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.h - the reports that all peers get, one after the other as in a
 * capture that is in memory; and the keys that they are asked for.
 *
 * A flow's key and the value of a report are functions of numbers, so that any
 * number of flows needs no memory but what tells which value was the last.
 */
#ifndef TESTS_BENCH_PEERS_FRAMES_H
#define TESTS_BENCH_PEERS_FRAMES_H

#include "packet/pkt.h"
#include "peer.h"

struct frames {
	uint64_t flows;
	size_t max;
	uint8_t *block;	 /* the frames */
	struct pkt *pkt; /* of each */
	uint8_t *room;	 /* the keys to ask for, with their headroom */
	const uint8_t **key;
	uint32_t *asked; /* of which flow each is */
	uint64_t drawn;	 /* reports and keys so far, for the next ones */
};

/* Room for max reports and keys at a time. */
void frames_open(struct frames *f, uint64_t flows, size_t max);
void frames_close(struct frames *f);

/*
 * n reports with new values: of flows from, from + 1...; or of random ones.
 * latest[flow] becomes the value, in those of the first part[i] reports for
 * latest[i].
 */
void frames_fill(struct frames *f, uint64_t from, size_t n,
		 uint32_t *const latest[2]);
void frames_draw(struct frames *f, size_t n, const size_t part[2],
		 uint32_t *const latest[2]);

/* n keys of random flows. */
void frames_ask(struct frames *f, size_t n);

/*
 * The keys and values of n <= PEER_BATCH frames, all looked at as the reference
 * loop of bench_translate.c does. Returns how many are reports.
 */
size_t frames_parse(const struct pkt *pkts, size_t n, const uint8_t **keys,
		    uint32_t *values);

#endif
