/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crew.h - threads that work beside the one that starts them. That one is
 * worker 0; the others have numbers from 1 on. Signals go to worker 0 alone,
 * but for those that a worker causes itself: SIGPIPE, SIGBUS.
 */
#ifndef CREW_CREW_H
#define CREW_CREW_H

#include <signal.h>

enum {
	CREW_MAX = 64, /* workers */
	CREW_WAKE = SIGURG,
};

struct crew;

typedef void crew_run(void *ctx, unsigned worker);

/* Starts workers 1 to n - 1, each of which calls run and ends with it. Returns
 * 0 or -errno, with none of them running. */
int crew_start(struct crew **out, unsigned n, crew_run *run, void *ctx);

/* Interrupts the system calls in which workers wait, by CREW_WAKE, for which
 * there is a handler then: for a handler of a signal that ends them. */
void crew_wake(void);

/* Waits until all have ended. NULL is fine. */
void crew_join(struct crew *c);

#endif
