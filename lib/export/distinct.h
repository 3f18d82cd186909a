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

/* The time, or the next one that has not been given. */
int64_t distinct_time(struct distinct *d, uint64_t series, int64_t time_ns);

#endif
