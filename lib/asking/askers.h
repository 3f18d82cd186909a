/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * askers.h - the keys of a file, asked by several cores: what is made of the
 * answers comes in the order of the keys, as one alone would make it.
 *
 * Workers take lines in turn. Each makes keys of them, asks, in places of its
 * own, and has the answers made into rows, all at once; then, in turn, these
 * are shown.
 */
#ifndef ASKING_ASKERS_H
#define ASKING_ASKERS_H

#include <stdatomic.h>

#include "places/ask.h"
#include "reading/keys.h"

enum {
	ASKERS_MAX = 32,
};

struct askers_options {
	unsigned workers; /* 1 to ASKERS_MAX */
	/* On this machine: no cluster, no address. The only places that can be
	 * lost while they are asked (places->gone) are elsewhere. */
	const struct places_options *from;
	struct query_rule rule;
	int kind; /* of the tables; and which, or NULL: targets_pick() */
	const char *table;
	struct keys *keys; /* of a file, and that is open */
	const atomic_int *stop;
	void *ctx;
	/* Before all else: the targets that a worker's keys are for. */
	void (*begin)(void *ctx, unsigned worker, const struct targets *t);
	/* By that worker's thread: the answers to a batch of its keys. */
	void (*answers)(void *ctx, unsigned worker, const struct keys *k,
			const struct reply *reply);
	/* In turn: what was made of the answers so far. live: who asks may wait
	 * for it. drop: it is not wanted. */
	void (*show)(void *ctx, unsigned worker, bool live, bool drop);
};

/* 0 or -errno. */
int askers_run(const struct askers_options *o, struct fault *f);

#endif
