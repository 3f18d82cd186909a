/* SPDX-License-Identifier: BSD-2-Clause */
#include "gather/hashed.h"

unsigned emissions_hash(struct hashed *h, enum hash_family family,
			const struct gather *g, unsigned left, unsigned *at)
{
	unsigned n = left < EMISSIONS ? left : EMISSIONS, copies = 0;
	uint32_t *chunk[HASH_COPIES], *hop[HASH_HOPS];

	if (g->grouped && !*at)
		groups_order(g->groups, g);
	for (unsigned c = 0; c < HASH_COPIES; c++)
		chunk[c] = h->chunk[c];
	for (unsigned i = 0; i < HASH_HOPS; i++)
		hop[i] = h->hop[i];
	for (unsigned k = 0; k < n; k++) {
		h->which[k] = g->grouped ? groups_next(g->groups, g, at)
					 : &g->emission[(*at)++];
		h->key[k] = h->which[k]->key;
		if (copies < h->which[k]->copies)
			copies = h->which[k]->copies;
	}
	hash_chunks(family, copies, g->hops, h->key, g->key_len, n, chunk, hop);
	return n;
}
