/* SPDX-License-Identifier: BSD-2-Clause */
/* The keys of all shards as one. */
#include "truth/truth.h"

size_t truth_keys(const struct truth_table *tt)
{
	size_t n = 0;

	for (unsigned i = 0; tt->shard && i < tt->shards; i++)
		n += tt->shard[i].keys.n;
	return n;
}

uint32_t truth_copies(const struct truth_table *tt)
{
	uint32_t copies = 0;

	for (unsigned i = 0; tt->shard && i < tt->shards; i++)
		copies |= tt->shard[i].copies;
	return copies;
}

void truth_walk_open(struct truth_walk *w, const struct truth_table *tt)
{
	*w = (struct truth_walk){.tt = tt};
}

static unsigned whose(const struct truth_walk *w)
{
	return w->tt->shards > 1 ? w->tt->order[w->at] : 0;
}

const struct truth_key *truth_walk_next(struct truth_walk *w,
					const uint8_t **key)
{
	unsigned shard = whose(w);
	const struct keymap *keys = &w->tt->shard[shard].keys;
	size_t i = w->next[shard]++;

	w->at++;
	*key = keymap_key(keys, i);
	return keymap_record(keys, i);
}

void truth_walk_skip(struct truth_walk *w, size_t keys)
{
	if (w->tt->shards == 1) {
		w->next[0] += keys;
		w->at += keys;
		return;
	}
	for (; keys; keys--, w->at++)
		w->next[whose(w)]++;
}
