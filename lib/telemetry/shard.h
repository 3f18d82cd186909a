/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shard.h - a sink whose flows are shared out among shards, each of which a
 * thread may have; the rows and the ledger of all, and of the whole one that
 * they are shards of, are those of one sink.
 *
 * Why they are: what is kept is of three kinds.
 *
 * Of a flow: its entry in the cache, path, latencies, watches. A flow is its
 * row's, a row one shard's, and which flow leaves a row, or when it is a row's
 * turn to expire or to be pushed (flows.h), hangs on that row and the time
 * alone. A shard takes its views in their order, and the time is what all views
 * made it: it is told (now_ns), and when to look after things, too.
 *
 * Of the network: values of queues, links and buffers, which are judged by what
 * was told of them last, whoever's packet did; reporters' numbers; snapshots. A
 * shard notes down what its views tell (telling), and the whole judges all
 * views in their order (telemetry_shard_judge()).
 *
 * What is bounded: places, nodes, paths, memory for distributions, blocks of
 * hops. Who gets the last one hangs on who came first. A shard knows those that
 * it has met; for others it asks the whole, having waited until all that comes
 * before its view has been taken (enter). That happens once for each thing and
 * shard; and for each block of hops, as these come back, and each path that is
 * longer than the room left for paths. What a full table has no room for is
 * counted without waiting: places, nodes and paths stay.
 *
 * Sums, counts and bins are added up in the end.
 *
 * Not so divided: a budget of events, which widens thresholds in the middle of
 * all flows; judge of struct telemetry_options.
 *
 * Threads: a shard is its thread's. telemetry_shard_judge() is another's, of
 * the whole one, for one at a time; all else of sink.h when nobody is at work.
 */
#ifndef TELEMETRY_SHARD_H
#define TELEMETRY_SHARD_H

#include "telemetry/sink.h"

enum {
	TELEMETRY_KEEP_NS = 10000000, /* things are looked after so often */
};

/* Time has come to ts_ns, if it is later; whether it is time to look after
 * things. */
static inline bool telemetry_time(uint64_t *now_ns, uint64_t *keep_ns,
				  uint64_t ts_ns)
{
	if (ts_ns <= *now_ns)
		return false;
	*now_ns = ts_ns;
	if (ts_ns < *keep_ns)
		return false;
	*keep_ns = ts_ns + TELEMETRY_KEEP_NS;
	return true;
}

/* A view to be taken, or, bare, a reporter's number alone: its from, ts_ns. */
struct telemetry_item {
	const struct int_view *view;
	uint64_t now_ns; /* the latest time of all views so far */
	uint64_t hash;	 /* of its flow (flows_hash()), if it has one */
	bool bare;
};

struct telemetry_shard_options {
	unsigned shards; /* of the whole: telemetry_shard_of() */
	/* Waits until all that comes before what the shard takes has been
	 * taken; and then others wait until leave(). */
	void (*enter)(void *ctx);
	void (*leave)(void *ctx);
	void *ctx;
};

/* A shard of whole, with sinks of its own; distributions, bins and snapshots
 * are the whole one's. 0 or -ENOMEM. */
int telemetry_shard_open(struct telemetry **out, struct telemetry *whole,
			 const struct telemetry_sinks *sinks,
			 const struct telemetry_shard_options *o);

/*
 * What views tell is words, view by view: shard_private.h. So many a view has
 * at most.
 */
enum {
	TELEMETRY_SHARD_WORDS = 1 + 8,
	TELEMETRY_SHARD_HOP_WORDS = METRIC_OF_HOP,
};

static inline size_t telemetry_shard_words(const struct int_view *v)
{
	return TELEMETRY_SHARD_WORDS +
	       ((size_t)v->stack.n + v->own.n) * TELEMETRY_SHARD_HOP_WORDS;
}

/* Whose a flow is, of so many shards: rows that stand together are one's. */
unsigned telemetry_shard_of(const struct telemetry *whole, uint64_t hash,
			    unsigned shards);

/* Asks for the memory of views that come: the second soon, the first later;
 * either may be NULL. */
void telemetry_shard_want(const struct telemetry *t,
			  const struct telemetry_item *later,
			  const struct telemetry_item *soon);
/* Takes a view. Returns where the words end of what it tells. */
uint32_t *telemetry_shard_take(struct telemetry *t,
			       const struct telemetry_item *item,
			       uint32_t *telling);
/* It is so late now; look: and time to look after things. */
void telemetry_shard_time(struct telemetry *t, uint64_t now_ns, bool look);
/* The first -errno of its sinks. */
int telemetry_shard_error(const struct telemetry *t);

/* By the whole: what a view told. Returns the end of its words; of a bare one
 * there are none. */
const uint32_t *telemetry_shard_judge(struct telemetry *whole,
				      const struct telemetry_item *item,
				      const uint32_t *telling);

/* A shard's part of distributions to the whole one's. */
void telemetry_shard_fold(struct telemetry *t);
void telemetry_shard_close(struct telemetry *t); /* NULL is fine */

#endif
