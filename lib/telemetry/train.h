/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * train.h - views of one flow, one behind the other, none of which is news: all
 * hops are where they were, no value is outside its watch's range, no number of
 * a report is missing. What they tell is added up and goes once to where it is
 * kept, not once for each view. It leaves what taking one after the other does;
 * private to the sink.
 *
 * A report of 6 hops with 18 metrics takes 880 instructions after its
 * decoding, in a train 580.
 */
#ifndef TELEMETRY_TRAIN_H
#define TELEMETRY_TRAIN_H

#include "telemetry/private.h"

enum {
	TRAIN_LEAST = 3, /* views that are worth its beginning and end */
};

/* How many of the views are a train, 0 to n: these were taken, the next one is
 * to be taken otherwise. It is so late as the first of them says. Shards
 * (shard.h) note down what each of them tells. */
size_t train_take(struct telemetry *t, const struct int_view *v, size_t n,
		  uint64_t hash);

#endif
