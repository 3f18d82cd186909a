/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event.h - what happens when, in virtual time: a heap of small events. Those
 * of one instant come in the order in which they were put, so that a run is the
 * same each time.
 */
#ifndef NETSIM_EVENT_H
#define NETSIM_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct event {
	uint64_t ns;
	uint32_t order; /* of putting; wraps */
	uint32_t what;	/* the caller's: a kind and a number */
};

/* Zeros to begin with. */
struct events {
	struct event *heap;
	uint32_t n, room, order;
	int err; /* sticky: -ENOMEM */
};

void events_put(struct events *q, uint64_t ns, uint32_t what);

/* The earliest one; false if there is none. */
bool events_take(struct events *q, struct event *out);

void events_fini(struct events *q);

#endif
