/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * relay.h - batches of work that threads take by turns: worker w of n has
 * batches w, w + n, w + 2n... Each is taken when the one before has been, and
 * goes through steps; who comes to one waits there for the batch before. What
 * is done between them is done at once by all.
 *
 * Worker 0 is the thread that opened it, and alone goes through the functions
 * below but relay_wait() and relay_pass().
 */
#ifndef TEAM_RELAY_H
#define TEAM_RELAY_H

#include "base/fault.h"
#include "team/turn.h"

enum {
	RELAY_STEPS = 3, /* at most */
};

struct relay_options {
	unsigned workers; /* 1 to TEAM_MAX */
	unsigned steps;	  /* behind taking */
	/* In turn, for a worker but 0: takes its next batch; false: there is
	 * none now. Must not wait. */
	bool (*take)(void *ctx, unsigned worker);
	/*
	 * By the worker: what becomes of its batch. It waits for each step and
	 * passes it on, in their order; any false: nothing was taken, all the
	 * same.
	 */
	void (*carry)(void *ctx, unsigned worker, uint64_t batch, bool any);
	void *ctx;
};

struct team;

/* For relay_wait() and relay_pass(); else private. */
struct relay {
	struct relay_options o;
	struct team *threads;
	uint64_t batch; /* worker 0's next one */
	bool over;	/* in turn of take: no more batches */
	struct turn take, step[RELAY_STEPS];
};

/* 0 or -errno. *r is the caller's, aligned to TEAM_LINE. */
int relay_open(struct relay *r, const struct relay_options *o, struct fault *f);

/*
 * Worker 0's next batch was taken. Returns when it has been through all steps
 * and the others have taken theirs: the next may be taken then.
 */
void relay_go(struct relay *r, bool any);

/* Until all that was taken has been through all steps. */
void relay_rest(struct relay *r);

/* Rests, and ends the threads. */
void relay_close(struct relay *r);

static inline void relay_wait(struct relay *r, unsigned step, uint64_t batch)
{
	turn_wait(&r->step[step], (uint32_t)batch);
}

static inline void relay_pass(struct relay *r, unsigned step)
{
	turn_pass(&r->step[step]);
}

/* Batches before this one that have not been through the last step yet. */
static inline unsigned relay_under_way(const struct relay *r, uint64_t batch)
{
	return (uint32_t)batch - turn_now(&r->step[r->o.steps - 1]);
}

/* All steps, with nothing to do. */
void relay_skip(struct relay *r, uint64_t batch);

#endif
