/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * collectors.h - the collectors of a cluster as sources of answers: source i is
 * collector i of the cluster file.
 *
 * A key belongs to its owner, generation by generation, the newest first. Where
 * an owner cannot be reached, its mirror's epochs take their stead, if there is
 * one; else the key is incomplete.
 */
#ifndef PLACES_COLLECTORS_H
#define PLACES_COLLECTORS_H

#include <stdatomic.h>

#include "fleet/cluster.h"
#include "store/memory.h"

enum {
	SOURCES_MAX = CLUSTER_MAX,
};

struct source {
	const char *name; /* of the row: "region", or the snapshot's path */
	const char *path; /* of messages */
	struct memory *memory;	 /* NULL: lost */
	bool live;		 /* a region: its epochs change */
	bool fresh;		 /* far, and renewed for the keys in hand */
	uint64_t oldest, newest; /* when it was listed */
};

struct collectors;

struct collectors_options {
	const char *cluster;	/* its file */
	const atomic_int *stop; /* ends waiting when true */
	/* What people are to know, though all goes on. */
	void (*warn)(const char *fmt, ...)
		__attribute__((format(printf, 1, 2)));
};

/*
 * Opens what o->cluster names, into s[0 .. *n). -EHOSTUNREACH: none can be
 * reached. o outlives it.
 */
int collectors_open(struct collectors **out, struct source *s, unsigned *n,
		    const struct collectors_options *o, struct fault *f);
void collectors_close(struct collectors *c); /* NULL is fine */

/* Calls with the epochs that the key's owners have, newest first. */
typedef void collectors_epochs(void *ctx, unsigned source, uint64_t from,
			       uint64_t until);
void collectors_of_key(struct collectors *c, const uint8_t *key, size_t len,
		       collectors_epochs *each, void *ctx);

/* Keys with the same owners everywhere have the same places. */
uint32_t collectors_hash(const struct collectors *c, const uint8_t *key,
			 size_t len);
bool collectors_alike(const struct collectors *c, uint32_t a, uint32_t b);

/* A source that was reached no longer is; says so, once. */
void collectors_lose(struct collectors *c, unsigned source, const char *why);

/* How many are lost. */
unsigned collectors_lost(const struct collectors *c);

/* Whether one was left out, for it is lost, since collectors_of_key(). */
bool collectors_incomplete(const struct collectors *c);

/*
 * For what looks on for long: -EREMOTE if a collector is on another machine; f
 * tells what cannot be done, and what to run there.
 */
int collectors_here(const struct collectors *c, const char *what,
		    const char *command, struct fault *f);

/* Whether a question stayed without an answer for that reason, ever. */
void collectors_failed_set(struct collectors *c);
bool collectors_failed(const struct collectors *c);

#endif
