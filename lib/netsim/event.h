/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event.h - what happens when, in virtual time: a heap of small events. Those
 * of one instant come in the order in which they were put, so that a run is the
 * same each time.
 */
#ifndef NETSIM_EVENT_H
#define NETSIM_EVENT_H

#include "base/due.h"

/* Zeros to begin with. */
struct events {
	struct due *heap; /* in the order of putting; who: see below */
	uint32_t n, room, order;
	int err; /* sticky: -ENOMEM */
};

/* what: the caller's, a kind and a number. It is the who of what is taken. */
void events_put(struct events *q, uint64_t ns, uint32_t what);

/* The earliest one; false if there is none. */
bool events_take(struct events *q, struct due *out);

void events_fini(struct events *q);

#endif
