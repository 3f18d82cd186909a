/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * batch.h - what a batch of frames says, all of it, one thing after the other:
 * it is decoded by itself, whatever came before, and used later.
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
	BATCH_SHARDS = 32, /* at most */
};

struct batch {
	/* To be read behind batch_look(). */
	struct telemetry_item *item;
	size_t n;
	/* Numbers of items by shard, which are views: shard s has those from
	 * which[first[s]] to which[first[s + 1]]. */
	uint32_t *which, first[BATCH_SHARDS + 1];
	struct batch_look *look; /* batch_time() */
	size_t looks;
	int error; /* nothing is to be used, n is 0 */
	/* Private. */
	size_t room;
	const struct telemetry *whole;
	unsigned shards;
	uint8_t *shard; /* of each item; BATCH_SHARDS: none's */
	const struct expr *filter;
	struct filter_ledger filtered;
	struct intake *in;
	struct snk *frames;
	struct plans plans;
	struct int_view *room_views; /* where the intake makes them */
	struct arena views;
	struct arena beside; /* what lasts no longer than them, and numbers */
};

/* 0 or -ENOMEM. */
int batch_open(struct batch *b, const struct batch_options *o);
void batch_close(struct batch *b); /* of zeros is fine */

/* What these frames say; all of it points into them. Forgets what was before.
 */
void batch_look(struct batch *b, const struct pkt *pkts, size_t n);

/* There are no frames. */
void batch_none(struct batch *b);

/* What came before was at *now_ns, and things are looked after from *keep_ns
 * on: both move on; item[].now_ns are of all that came, and look[] is set. */
void batch_time(struct batch *b, uint64_t *now_ns, uint64_t *keep_ns);

/* Those that go on, in their order. 0 or -errno. */
int batch_pass(struct batch *b, struct snk *out);

#endif
