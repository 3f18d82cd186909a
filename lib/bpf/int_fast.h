/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_fast.h - the INT sink's comparisons in the kernel, before the host's
 * stack: a program on an interface that takes packets with INT-MD and telemetry
 * reports, and tells only what is an event (int_fast.bpf.c). It goes when it is
 * closed, also by the death of its process.
 *
 * It takes INT-MD 0.5 to 2.1 over TCP and UDP, and reports of one such packet
 * that add no metadata of their own, over IPv4 and IPv6; 255 hops. All else
 * that is or may be telemetry comes up as it is (FAST_WHOLE). It does not check
 * UDP checksums. On several processors the packets of one queue or link may be
 * judged at the same time, and either be told first.
 *
 * Functions that can fail return 0 or -errno.
 */
#ifndef BPF_INT_FAST_H
#define BPF_INT_FAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/ledger.h"
#include "bpf/int_fast_map.h"
#include "wire/int_profile.h"

struct int_fast;

struct int_fast_options {
	const struct int_profile *profile;
	size_t ring; /* bytes, a power of two of pages; 0: 8 MB */
};

extern const struct ledger int_fast_ledger; /* of struct fast_counters */

/* Loads it. */
int int_fast_open(struct int_fast **out, const struct int_fast_options *o,
		  struct fault *f);
/* To an interface: in its driver, else, generic, before the host's stack. Into
 * hardware the kernel takes no program with such maps (BPF offload: arrays and
 * hash tables). */
int int_fast_attach(struct int_fast *x, int ifindex, const char *name,
		    struct fault *f);
/* What is in the ring then is all that comes. */
void int_fast_detach(struct int_fast *x);
const char *int_fast_mode(const struct int_fast *x); /* "XDP native"... */
int int_fast_prog(const struct int_fast *x); /* the program's descriptor */

struct int_fast_threshold {
	uint64_t node;
	uint8_t metric; /* below FAST_OF_HOP */
	struct fast_threshold threshold;
};

/* What is an event from now on, all at once; nothing is forgotten. all: of
 * FAST_NUMBERS metrics. node[n]: instead, of single nodes. */
int int_fast_set(struct int_fast *x, const struct fast_threshold *all,
		 const struct int_fast_threshold *node, unsigned n);
/* Each key is told with its next packet, as FAST_VALUE if it is no event. */
void int_fast_push(struct int_fast *x);

/* A descriptor that polls readable when there are records. */
int int_fast_fd(const struct int_fast *x);
/*
 * Hands out the records that there are, until record() returns below 0, which
 * the record given then has no part in. They last for the call. Returns their
 * number, or what record() did.
 */
int int_fast_poll(struct int_fast *x,
		  int (*record)(void *ctx, const struct fast_record *r,
				size_t len),
		  void *ctx);

/* Numbers of reports that came last, one after the other: when the program is
 * detached, and all records have been handed out. */
void int_fast_runs(struct int_fast *x,
		   void (*run)(void *ctx, const struct fast_run *r), void *ctx);

/*
 * What was read in user space, of frames that came up whole, is judged with the
 * same references: a flow's path, and values behind it. They are gathered;
 * int_fast_judge() has them judged, and what is an event comes as a record as
 * others do. flow NULL: of a queue, a link or a buffer.
 */
int int_fast_say_path(struct int_fast *x, const struct fast_flow_key *flow,
		      const uint32_t *node, unsigned n);
int int_fast_say(struct int_fast *x, const struct fast_flow_key *flow,
		 const struct fast_saying *value);
int int_fast_judge(struct int_fast *x);

/* A flow; node: its hops in the order of the path. */
struct int_fast_flow {
	struct fast_flow_key key;
	struct fast_flow flow;
	unsigned n;
	uint32_t node[FAST_HOPS];
};

/* Each flow that has been silent since that time (CLOCK_MONOTONIC), or, with
 * UINT64_MAX, all; the program knows it no more then. */
void int_fast_flows(struct int_fast *x, uint64_t silent_since_ns,
		    void (*flow)(void *ctx, const struct int_fast_flow *f),
		    void *ctx);

/* Of all processors. */
void int_fast_counters(const struct int_fast *x, struct fast_counters *out);

void int_fast_close(struct int_fast *x); /* NULL is fine */

#endif
