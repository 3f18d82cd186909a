/* SPDX-License-Identifier: BSD-2-Clause */
/* GLib's GHashTable, of pairs that the caller allocates, as it wants them. */
#include <glib.h>
#include <string.h>

#include "hash/bytes.h"
#include "peer.h"

struct pair {
	uint8_t key[PEER_KEY];
	uint32_t value;
};

static guint hash(gconstpointer pair)
{
	return (guint)hash_bytes(0, pair, PEER_KEY);
}

static gboolean equal(gconstpointer a, gconstpointer b)
{
	return !memcmp(a, b, PEER_KEY);
}

static void *open_table(const struct peer_setup *s)
{
	(void)s;
	return g_hash_table_new_full(hash, equal, g_free, NULL);
}

static void close_table(void *p)
{
	g_hash_table_destroy(p);
}

/* The key is the pair's first member: a table of pairs is a set of them. */
static void update(void *p, const uint8_t *const *keys, const uint32_t *values,
		   size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct pair *pair = g_hash_table_lookup(p, keys[i]);

		if (!pair) {
			pair = g_new(struct pair, 1);
			memcpy(pair->key, keys[i], PEER_KEY);
			g_hash_table_add(p, pair);
		}
		pair->value = values[i];
	}
}

static void lookup(void *p, const uint8_t *const *keys, uint32_t *values,
		   uint8_t *found, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct pair *pair = g_hash_table_lookup(p, keys[i]);

		found[i] = pair != NULL;
		if (pair)
			values[i] = pair->value;
	}
}

const struct peer peer_glib = {
	.key_bytes = 120,
	.open = open_table,
	.update = update,
	.lookup = lookup,
	.close = close_table,
};
