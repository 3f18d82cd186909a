/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abreast.h - workers of a relay that carry out operations of several batches
 * at once, and leave what one alone would: what no batch touches which is
 * before theirs and not through yet, they carry out at once; the rest in turn.
 * What wakes the collector is left to the turn (footprint.h).
 *
 * The relay has two steps for it, the last ones: mark, settle.
 */
#ifndef OP_ABREAST_H
#define OP_ABREAST_H

#include "team/relay.h"
#include "op/footprint.h"

struct abreast;

/* r outlives it. most: operations of a batch. 0 or -ENOMEM. */
int abreast_open(struct abreast **out, struct relay *r, unsigned workers,
		 size_t most, struct fault *f);
void abreast_close(struct abreast *a); /* NULL is fine */

/* The operations of a worker's batch, to its own road. whole: footprint.h. */
struct abreast_work {
	unsigned worker;
	uint64_t batch;
	struct road *road;
	const struct op *op;
	unsigned n; /* up to most */
	uint64_t whole, ts_ns;
	bool told; /* footprint.h */
	int error; /* of the road, so far; then nothing is carried out */
};

/*
 * Carries them out; returns how many have waited. The turn to settle has come
 * then: the caller passes it on. error is the road's first.
 */
unsigned abreast_exec(struct abreast *a, struct abreast_work *w);

/* A batch without any, which goes through both steps. */
void abreast_skip(struct abreast *a, uint64_t batch);

/* Waits for the turn to settle before any mark is made: for operations which
 * there is no room for, as all later batches wait for this one's mark. */
void abreast_wait(struct abreast *a, uint64_t batch);

#endif
