/* SPDX-License-Identifier: BSD-2-Clause */
/* hashed.h - emissions, with the hashes of their keys: some at once. */
#ifndef GATHER_HASHED_H
#define GATHER_HASHED_H

#include "gather/groups.h"

struct hashed {
	const struct emission *which[EMISSIONS];
	const uint8_t *key[EMISSIONS];
	uint32_t chunk[HASH_COPIES][EMISSIONS], hop[HASH_HOPS][EMISSIONS];
};

/* The next of the emissions that are left in g, in the order of what caused
 * them. *at: 0 for the first. Returns how many. */
unsigned emissions_hash(struct hashed *h, enum hash_family family,
			const struct gather *g, unsigned left, unsigned *at);

#endif
