/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * team.h - threads that work beside the one that starts them: a team, in the
 * word of OpenMP's specification (1.2.2). That one is worker 0; the others have
 * numbers from 1 on. Signals go to worker 0 alone, but for those that a worker
 * causes itself: SIGPIPE, SIGBUS.
 */
#ifndef TEAM_TEAM_H
#define TEAM_TEAM_H

#include <signal.h>

enum {
	TEAM_MAX = 64, /* workers */
	TEAM_WAKE = SIGURG,
};

struct team;

typedef void team_run(void *ctx, unsigned worker);

/* Starts workers 1 to n - 1, each of which calls run and ends with it. Returns
 * 0 or -errno, with none of them running. */
int team_start(struct team **out, unsigned n, team_run *run, void *ctx);

/* Interrupts the system calls in which workers wait, by TEAM_WAKE, for which
 * there is a handler then: for a handler of a signal that ends them. */
void team_wake(void);

/* Waits until all have ended. NULL is fine. */
void team_join(struct team *c);

#endif
