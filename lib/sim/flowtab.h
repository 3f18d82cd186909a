/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flowtab.h - what is remembered of each flow, or of each host, in a table of
 * limited size: when it is full, the least recently used one goes.
 *
 * Memory:  taken by flowtab_open(), touched only as the table fills: 56 bytes
 *          and data_len for each flow, 4 to 8 for where it is found.
 * Threads: none; a table belongs to one caller.
 */
#ifndef SIM_FLOWTAB_H
#define SIM_FLOWTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/key.h"

enum {
	FLOWTAB_MAX = 1 << 26, /* flows of a table */
	FLOWTAB_KEY_MAX = KEY_FLOW6_LEN,
};

struct flow {
	uint32_t chain, newer, older; /* the table's own, as hash */
	uint32_t hash;
	uint8_t key_len;
	uint8_t key[FLOWTAB_KEY_MAX];
};

/* What the caller keeps of a flow: data_len bytes, aligned to 8, zeros when the
 * flow is new. */
static inline void *flow_data(struct flow *f)
{
	return f + 1;
}

struct flowtab_options {
	uint64_t max;	 /* flows, 1 to FLOWTAB_MAX */
	size_t data_len; /* of a flow */
	uint64_t seed;	 /* where flows are found, nothing else */
	/* A flow leaves: pushed out, or by flowtab_drain(). It still holds its
	 * data; the table must not be asked from here. May be NULL. */
	void (*on_evict)(void *ctx, struct flow *f);
	void *ctx;
	uint64_t *evicted; /* counts those pushed out; may be NULL */
};

struct flowtab;

/* Returns 0, -EINVAL (max) or -ENOMEM. */
int flowtab_open(struct flowtab **out, const struct flowtab_options *o);
void flowtab_close(struct flowtab *t); /* NULL is fine; no flow leaves */

/*
 * The flow of a key of at most FLOWTAB_KEY_MAX bytes; *fresh when it is new.
 * It is the most recently used one now, and stays where it is until it
 * leaves.
 */
struct flow *flowtab_get(struct flowtab *t, const uint8_t *key, size_t len,
			 bool *fresh);

/* All flows leave, the least recently used one first. */
void flowtab_drain(struct flowtab *t);

#endif
