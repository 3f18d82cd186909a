/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * team.h - the threads beside the one that starts them, which is worker 0; the
 * others have numbers from 1 on.
 */
#ifndef THREADS_TEAM_H
#define THREADS_TEAM_H

#include "threads/threads.h"

struct team;

typedef void team_run(void *ctx, unsigned worker);

/* Starts workers 1 to n - 1, each of which calls run and ends with it. Returns
 * 0 or -errno, with none of them running. */
int team_start(struct team **out, unsigned n, team_run *run, void *ctx);

/* Waits until all have ended. NULL is fine. */
void team_join(struct team *c);

#endif
