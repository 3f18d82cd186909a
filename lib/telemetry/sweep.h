/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sweep.h - to go through all of something once in a period, a few at a time,
 * as packet time goes by.
 */
#ifndef TELEMETRY_SWEEP_H
#define TELEMETRY_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

struct sweep {
	uint64_t period_ns; /* 0: never */
	uint64_t start_ns;
	uint64_t at; /* the next one */
	bool begun;
};

/* From *from to below the result it is due now, of so many. The first call
 * starts the first period. */
static inline uint64_t sweep_due(struct sweep *s, uint64_t now_ns,
				 uint64_t total, uint64_t *from)
{
	uint64_t gone = now_ns - s->start_ns, to;

	*from = s->at;
	if (!s->period_ns)
		return s->at;
	if (!s->begun) {
		s->begun = true;
		s->start_ns = now_ns;
		return s->at;
	}
	if (gone >= s->period_ns) {
		s->start_ns += gone / s->period_ns * s->period_ns;
		s->at = 0;
		return total;
	}
	to = (uint64_t)((unsigned __int128)total * gone / s->period_ns);
	if (to > s->at)
		s->at = to;
	return s->at;
}

#endif
