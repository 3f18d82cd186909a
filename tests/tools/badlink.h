/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * badlink.h - what the tools that are bad links share: dice, whose seed -s
 * sets, and a place for what is held back behind the next few.
 */
#ifndef TOOLS_BADLINK_H
#define TOOLS_BADLINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rng.h"

enum {
	HELD_MAX = 8,
};

static struct rng rng = {.state = 1};

struct held {
	void *what[HELD_MAX];	 /* NULL: free */
	unsigned wait[HELD_MAX]; /* others to let pass first */
};

/* True with probability p, 0 to 1. */
static inline bool chance(double p)
{
	return rng_unit(&rng) < p;
}

/* Holds it back behind 1 to 6 more; false if there is no room. */
static inline bool hold(struct held *h, void *what)
{
	for (int i = 0; i < HELD_MAX; i++) {
		if (h->what[i])
			continue;
		h->what[i] = what;
		h->wait[i] = 2 + (unsigned)rng_below(&rng, 6);
		return true;
	}
	return false;
}

/* Called when one has passed, or been held. Lets go, by put(to, what), those
 * whose time has come, or all. */
static inline void release(struct held *h, bool all,
			   void (*put)(void *to, void *what), void *to)
{
	for (int i = 0; i < HELD_MAX; i++) {
		void *what = h->what[i];

		if (!what || (--h->wait[i] && !all))
			continue;
		h->what[i] = NULL;
		put(to, what);
	}
}

#endif
