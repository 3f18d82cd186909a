/* SPDX-License-Identifier: BSD-2-Clause */
/* RocksDB as it comes: a batch of writes at a time into its log, not synced; a
 * batch of keys at a time out of it. */
#include <rocksdb/c.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

struct store {
	rocksdb_t *db;
	rocksdb_options_t *options;
	rocksdb_writeoptions_t *write;
	rocksdb_readoptions_t *read;
};

static void must(const char *error)
{
	if (error)
		peer_fail("rocksdb", error);
}

static void *open_store(const struct peer_setup *s)
{
	struct store *m = calloc(1, sizeof(*m));
	char *error = NULL;

	if (!m)
		peer_fail("rocksdb", "out of memory");
	m->options = rocksdb_options_create();
	m->write = rocksdb_writeoptions_create();
	m->read = rocksdb_readoptions_create();
	rocksdb_options_set_create_if_missing(m->options, 1);
	m->db = rocksdb_open(m->options, s->dir, &error);
	must(error);
	return m;
}

static void close_store(void *p)
{
	struct store *m = p;

	rocksdb_close(m->db);
	rocksdb_options_destroy(m->options);
	rocksdb_writeoptions_destroy(m->write);
	rocksdb_readoptions_destroy(m->read);
	free(m);
}

static void update(void *p, const uint8_t *const *keys, const uint32_t *values,
		   size_t n)
{
	rocksdb_writebatch_t *b = rocksdb_writebatch_create();
	struct store *m = p;
	char *error = NULL;

	for (size_t i = 0; i < n; i++)
		rocksdb_writebatch_put(b, (const char *)keys[i], PEER_KEY,
				       (const char *)&values[i], 4);
	rocksdb_write(m->db, m->write, b, &error);
	must(error);
	rocksdb_writebatch_destroy(b);
}

static void lookup(void *p, const uint8_t *const *keys, uint32_t *values,
		   uint8_t *found, size_t n)
{
	static size_t key_len[PEER_BATCH], len[PEER_BATCH];
	static char *value[PEER_BATCH], *error[PEER_BATCH];
	struct store *m = p;

	for (size_t i = 0; i < n; i++)
		key_len[i] = PEER_KEY;
	rocksdb_multi_get(m->db, m->read, n, (const char *const *)keys, key_len,
			  value, len, error);
	for (size_t i = 0; i < n; i++) {
		must(error[i]);
		found[i] = value[i] && len[i] == 4;
		if (found[i])
			memcpy(&values[i], value[i], 4);
		rocksdb_free(value[i]);
	}
}

static uint64_t property(struct store *m, const char *name)
{
	uint64_t n = 0;

	if (rocksdb_property_int(m->db, name, &n))
		peer_fail("rocksdb", name);
	return n;
}

static uint64_t bytes(void *p)
{
	return property(p, "rocksdb.total-sst-files-size") +
	       property(p, "rocksdb.cur-size-all-mem-tables");
}

const struct peer peer_rocksdb = {
	.key_bytes = 120,
	.open = open_store,
	.update = update,
	.lookup = lookup,
	.bytes = bytes,
	.close = close_store,
};
