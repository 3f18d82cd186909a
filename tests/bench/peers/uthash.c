/* SPDX-License-Identifier: BSD-2-Clause */
/* uthash: a header of macros; pairs are the caller's, linked by them. */
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "peer.h"

struct pair {
	uint8_t key[PEER_KEY];
	uint32_t value;
	UT_hash_handle hh;
};

struct table {
	struct pair *head;
};

static void *open_table(const struct peer_setup *s)
{
	(void)s;
	return calloc(1, sizeof(struct table));
}

static void close_table(void *p)
{
	struct table *t = p;
	struct pair *pair, *next;

	HASH_ITER(hh, t->head, pair, next)
	{
		HASH_DEL(t->head, pair);
		free(pair);
	}
	free(t);
}

static void add(struct table *t, const uint8_t *key, uint32_t value)
{
	struct pair *pair = malloc(sizeof(*pair));

	if (!pair)
		peer_fail("uthash", "out of memory");
	memcpy(pair->key, key, PEER_KEY);
	pair->value = value;
	HASH_ADD(hh, t->head, key, PEER_KEY, pair);
}

static void update(void *p, const uint8_t *const *keys, const uint32_t *values,
		   size_t n)
{
	struct table *t = p;
	struct pair *pair;

	for (size_t i = 0; i < n; i++) {
		HASH_FIND(hh, t->head, keys[i], PEER_KEY, pair);
		if (pair)
			pair->value = values[i];
		else
			add(t, keys[i], values[i]);
	}
}

static void lookup(void *p, const uint8_t *const *keys, uint32_t *values,
		   uint8_t *found, size_t n)
{
	struct table *t = p;
	struct pair *pair;

	for (size_t i = 0; i < n; i++) {
		HASH_FIND(hh, t->head, keys[i], PEER_KEY, pair);
		found[i] = pair != NULL;
		if (pair)
			values[i] = pair->value;
	}
}

const struct peer peer_uthash = {
	.key_bytes = 150,
	.open = open_table,
	.update = update,
	.lookup = lookup,
	.close = close_table,
};
