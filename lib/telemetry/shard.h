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
 * was told of them last, whoever's packet did; reporters' numbers; snapshots.
 * The whole judges them in the order of all views. A shard notes down what its
 * views tell (telling), for itself; and at the end of a round of views, all of
 * which shards have taken by then, it gives away what has to be judged of it,
 * which mostly is nothing: measure/copies.h.
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

#include "measure/copies.h"
#include "telemetry/sink.h"

enum {
	TELEMETRY_KEEP_NS = 10000000, /* things are looked after so often */
	TELEMETRY_SHARDS_MAX = 32,
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

struct telemetry_shard_options {
	unsigned shards; /* of the whole: telemetry_shard_of() */
	/* Waits until all that comes before what the shard takes has been
	 * taken; and then others wait until leave(). */
	void (*enter)(void *ctx);
	void (*leave)(void *ctx);
	void *ctx;
};

/* A shard of whole, with sinks of its own; distributions, bins and snapshots
 * are the whole one's, which outlives it, and has TELEMETRY_SHARDS_MAX at most.
 * 0 or -ENOMEM. */
int telemetry_shard_open(struct telemetry **out, struct telemetry *whole,
			 const struct telemetry_sinks *sinks,
			 const struct telemetry_shard_options *o);

/* What views tell is words, view by view (copies_sift()). So many a view has at
 * most: up to 8 words behind them may be written. */
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

/* Asks for the memory of a flow: where it is, for views that come later; and of
 * it, of one that comes soon. */
void telemetry_shard_find(const struct telemetry *t, uint64_t hash);
void telemetry_shard_want(const struct telemetry *t, const struct int_view *v,
			  uint64_t hash);

/* When it is a view's turn. */
struct telemetry_turn {
	uint64_t number; /* of all views of all shards, from 1 */
	uint64_t now_ns; /* the latest time of all so far */
	uint64_t hash;	 /* of its flow, if it has one */
};

/* A round begins, with the view of that number. */
void telemetry_shard_begin(struct telemetry *t, uint64_t number);
/* Takes a view, or as many of n as are a train (train.h): all are of the first
 * one's flow. *telling: where words of what they tell go, and then where they
 * end. Returns how many it took. */
size_t telemetry_shard_take(struct telemetry *t, const struct int_view *v,
			    const struct telemetry_turn *turn, size_t n,
			    uint32_t **telling);
/* It is so late now; look: and time to look after things. */
void telemetry_shard_time(struct telemetry *t, uint64_t now_ns, bool look);
/* The first -errno of its sinks. */
int telemetry_shard_error(const struct telemetry *t);

/*
 * At the end of a round, by each shard for itself while the whole rests and has
 * judged the rounds before: compare(), then look() with each time in the round
 * when the whole will look after things, then is_asked(): whether there is
 * something to be judged.
 */
void telemetry_shard_compare(struct telemetry *t);
void telemetry_shard_look(struct telemetry *t, uint64_t now_ns);
bool telemetry_shard_is_asked(struct telemetry *t);
/* Then: what of a view's words is to be judged, to *out, which has room for as
 * many as there are words. Returns the end of the words. */
const uint32_t *telemetry_shard_sift(struct telemetry *t,
				     const uint32_t *telling, uint32_t item,
				     struct said **out);

/* By the whole, before what was said in a round; then all of that, in order. */
void telemetry_shard_merge(struct telemetry *whole);
void telemetry_shard_judge(struct telemetry *whole, uint64_t ts_ns,
			   const struct said *said);
/* At rest, all views up to that number have been judged: the whole knows what
 * is the latest of each object; and a shard sees all watches. */
void telemetry_shard_gather(struct telemetry *whole, uint64_t number);
void telemetry_shard_renew(struct telemetry *t);

/* So many numbers of a reporter, one after the other. */
struct telemetry_run {
	struct int_from from;
	uint32_t n;
};

/* By the whole, in order. False: some number is news, and none was taken
 * (telemetry_numbers()). */
bool telemetry_shard_numbers(struct telemetry *whole,
			     const struct telemetry_run *run, size_t runs);

/* By the whole, in order: a view's snapshots. */
void telemetry_shard_snapshots(struct telemetry *whole,
			       const struct int_view *v);

/* A shard's part of distributions to the whole one's. */
void telemetry_shard_fold(struct telemetry *t);
void telemetry_shard_close(struct telemetry *t); /* NULL is fine */

#endif
