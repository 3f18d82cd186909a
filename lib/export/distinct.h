/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * distinct.h - times that are distinct within a series (private to this room).
 *
 * InfluxDB has one point of a series and time: a second one takes the place of
 * the first. Flow keys are fields here, so that rows of the same tags and time
 * are common: they are moved, by a nanosecond each, behind those that are
 * there. What is known is bounded: the last few times of each series, and
 * series whose hashes are the same share them, at no other cost than a
 * nanosecond.
 */
#ifndef EXPORT_DISTINCT_H
#define EXPORT_DISTINCT_H

#include <stddef.h>
#include <stdint.h>

enum {
	DISTINCT_SERIES = 1024, /* a power of two */
	DISTINCT_RUNS = 16,
};

/* Times that were given, from to end - 1. Zero at first. */
struct distinct {
	struct distinct_series {
		struct distinct_run {
			int64_t from, end;
		} run[DISTINCT_RUNS];
		uint8_t next; /* the run that is forgotten next */
	} series[DISTINCT_SERIES];
};

/* The run that a time is in, or behind, so that it can be made longer. */
static inline struct distinct_run *distinct_run_of(struct distinct_series *s,
						   int64_t t)
{
	for (unsigned i = 0; i < DISTINCT_RUNS; i++)
		if (s->run[i].from < s->run[i].end && t >= s->run[i].from &&
		    t < s->run[i].end)
			return &s->run[i];
	return NULL;
}

/* The time, or the next one that has not been given. */
static inline int64_t distinct_time(struct distinct *d, uint64_t series,
				    int64_t time_ns)
{
	struct distinct_series *s = &d->series[series % DISTINCT_SERIES];
	struct distinct_run *run, *longer = NULL;

	while ((run = distinct_run_of(s, time_ns))) {
		time_ns = run->end;
		longer = run;
	}
	if (!longer) {
		longer = &s->run[s->next++ % DISTINCT_RUNS];
		longer->from = time_ns;
	}
	longer->end = time_ns + 1;
	return time_ns;
}

#endif
