/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crew.h - threads that work beside the one that starts them. That one is
 * worker 0; the others have numbers from 1 on. Signals go to worker 0 alone.
 */
#ifndef CREW_CREW_H
#define CREW_CREW_H

enum {
	CREW_MAX = 64, /* workers */
};

struct crew;

typedef void crew_run(void *ctx, unsigned worker);

/* Starts workers 1 to n - 1, each of which calls run and ends with it. Returns
 * 0 or -errno, with none of them running. */
int crew_start(struct crew **out, unsigned n, crew_run *run, void *ctx);

/* Waits until all have ended. NULL is fine. */
void crew_join(struct crew *c);

#endif
