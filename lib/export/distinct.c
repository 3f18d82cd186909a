/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/distinct.h"

#include <stddef.h>

/* The run that a time is in, or behind, so that it can be made longer. */
static struct distinct_run *run_of(struct distinct_series *s, int64_t t)
{
	for (unsigned i = 0; i < DISTINCT_RUNS; i++)
		if (s->run[i].from < s->run[i].end && t >= s->run[i].from &&
		    t < s->run[i].end)
			return &s->run[i];
	return NULL;
}

int64_t distinct_time(struct distinct *d, uint64_t series, int64_t time_ns)
{
	struct distinct_series *s = &d->series[series % DISTINCT_SERIES];
	struct distinct_run *run, *longer = NULL;

	while ((run = run_of(s, time_ns))) {
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
