/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * batch.h - what a batch of frames says, all of it, one thing after the other:
 * it is decoded by itself, whatever came before, and used later. Of flows that
 * are shared out it is one cache line for each view: all others that a view
 * takes would go from core to core, too.
 *
 * Memory: as much as the batch needs that says most, kept for the next.
 */
#ifndef COLLECT_BATCH_H
#define COLLECT_BATCH_H

#include "collect/arena.h"
#include "collect/plans.h"
#include "filter/filter.h"
#include "inband/intake.h"
#include "telemetry/shard.h"
#include "wire/proto.h"

/* A view, or a reporter's number alone. */
struct batch_item {
	const struct int_view *view; /* NULL: its share says it, or it is none
				      */
	uint64_t ts_ns, now_ns; /* its time, and the latest of all so far */
};

enum batch_flag {
	BATCH_KEPT = 1 << 0, /* the view is there, not here */
	BATCH_LATE = 1 << 1, /* items before it were later: item[].now_ns */
};

/*
 * A view of a shard, as its owner finds it, who may be on another core: what of
 * it the sink asks for, in one cache line, and apart from those of other
 * shards. Of longer ones (BATCH_KEPT) the views are kept: IPv6, metadata of the
 * reporter's own, and hops that are not equally long.
 */
struct batch_share {
	uint64_t ts_ns;
	uint64_t hash; /* of its flow, if it has one */
	union {
		const struct int_plan *plan; /* of its stack */
		const struct int_view *view;
	};
	const uint8_t *data; /* the stack: hops of so many bytes */
	uint32_t item;
	uint32_t ip_len;
	uint16_t len;
	uint8_t hops;
	uint8_t flags; /* of the view */
	uint8_t kept;  /* enum batch_flag */
	uint8_t key_len;
	uint8_t key[KEY_FLOW4_LEN];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct batch_share) == 64, "a line");

/* The number of an item's report, if it is to be looked at. */
struct batch_number {
	uint32_t item, sequence;
	uint32_t run; /* its reporter's */
};

/* Time has come to now_ns with an item, and things are to be looked after. */
struct batch_look {
	uint32_t item;
	uint64_t now_ns;
};

struct batch_options {
	const struct int_profile *profile; /* must last */
	const struct expr *filter;	   /* NULL: none */
	bool forward;			   /* frames go on: batch_pass() */
	const struct telemetry *whole;	   /* whose flows are shared out */
	unsigned shards;		   /* 0: they are not */
};

enum {
	BATCH_RUN_SLOTS = 256,
};

struct batch {
	/* To be read behind batch_look(). */
	struct batch_item *item;
	size_t n;
	struct batch_number *number; /* in the order of items */
	size_t numbers;
	struct telemetry_run *run; /* of them all, in the order of the first */
	size_t runs;
	bool runs_broken; /* numbers are missing in one, or not in order; or
			     a reporter has two */
	bool snapshots;	  /* there are items with them */
	struct batch_shares {
		struct batch_share *share;
		size_t n, room;
	} part[TELEMETRY_SHARDS_MAX]; /* by shard, each in the order of items */
	uint64_t from_ns;	      /* what came before: batch_time() */
	struct batch_look *look;      /* batch_time() */
	size_t looks;
	int error; /* nothing is to be used, n is 0 */
	/* Private. */
	size_t room;
	const struct telemetry *whole;
	unsigned shards;
	const struct expr *filter;
	struct filter_ledger filtered;
	struct intake *in;
	struct snk *frames;
	struct plans plans;
	struct int_view *room_views;	    /* where the intake makes them */
	uint32_t run_slot[BATCH_RUN_SLOTS]; /* by reporter: its run + 1 */
	struct arena views;
	struct arena beside; /* what their plans and offsets need */
};

/* 0 or -ENOMEM. */
int batch_open(struct batch *b, const struct batch_options *o);
void batch_close(struct batch *b); /* of zeros is fine */

/* What these frames say; all of it points into them. Forgets what was before.
 */
void batch_look(struct batch *b, const struct pkt *pkts, size_t n);

/* What a share says; other fields are zeros. */
void batch_view(const struct batch_share *share, struct int_view *out);

/* There are no frames. */
void batch_none(struct batch *b);

/* What came before was at *now_ns, and things are looked after from *keep_ns
 * on: both move on; item[].now_ns are of all that came, and look[] is set. */
void batch_time(struct batch *b, uint64_t *now_ns, uint64_t *keep_ns);

/* Those that go on, in their order. 0 or -errno. */
int batch_pass(struct batch *b, struct snk *out);

#endif
