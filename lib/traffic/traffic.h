/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * traffic.h - the packets that a network carries, one after the other: out of a
 * capture, in its time, or of the model (synth.h), in virtual time.
 *
 * Threads: none; a stream belongs to one caller.
 */
#ifndef TRAFFIC_TRAFFIC_H
#define TRAFFIC_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "traffic/packet.h"
#include "traffic/synth.h"

/* Flows and packets of a run, at most: days of work. */
#define TRAFFIC_COUNT_MAX UINT64_C(1000000000000)

/* packets = given to the caller + left out by what he asked for + not_ip +
 * malformed. */
struct traffic_counters {
	uint64_t packets;
	uint64_t not_ip;    /* neither IPv4 nor IPv6 */
	uint64_t malformed; /* bad or cut headers */
	/* notes */
	uint64_t evicted; /* flows that TRAFFIC_FLOWS has forgotten */
};

/* Which packets. The last two are made, of a model, without any memory of
 * flows, as fast as can be. */
enum traffic_of {
	TRAFFIC_PACKETS, /* all */
	TRAFFIC_FLOWS,	 /* the first one of each flow */
	TRAFFIC_NUMBERS, /* none: a flow's number as id, ts_ns; model only */
};

struct traffic_options {
	const char *capture; /* pcap or pcapng, "-": stdin; NULL: the model */
	struct traffic_model model;
	enum traffic_of of;
	uint64_t max_flows; /* of a capture: TRAFFIC_FLOWS remembers as many */
	struct traffic_counters *ctr; /* the caller's */
	/*
	 * Each may be NULL. wanted: a packet that is not is left out, and its
	 * flow has not begun with it. again: all flows of the model have ended;
	 * whether they come round once more (NULL: no). before_wait: a capture
	 * in a pipe has nothing more at hand.
	 */
	bool (*wanted)(void *ctx, const struct traffic_packet *p);
	bool (*again)(void *ctx);
	void (*before_wait)(void *ctx);
	void *ctx;
};

struct traffic;

/* The options are copied. Returns 0 or -errno; f tells the reason, the path not
 * included. */
int traffic_open(struct traffic **out, const struct traffic_options *o,
		 struct fault *f);
void traffic_close(struct traffic *t); /* NULL is fine */

/*
 * 1: *p set; 0: the end; -EINTR: none as yet, a signal came or it is time to
 * look at a clock; or another -errno, as of src_rx(), with f set.
 */
int traffic_next(struct traffic *t, struct traffic_packet *p, struct fault *f);

/* The frame of the packet that traffic_next() gave last, as long as that: of a
 * capture; NULL of the model. */
const struct pkt *traffic_pkt(const struct traffic *t);

/* How far it is: bytes of a capture (size 0: unknown, a pipe), flows of the
 * model that have begun, in this round. */
uint64_t traffic_done(const struct traffic *t);
uint64_t traffic_size(const struct traffic *t);

#endif
