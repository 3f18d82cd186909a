/* SPDX-License-Identifier: BSD-2-Clause */
/* SQLite: one table by its key, a transaction for each batch, no waiting for
 * the disk. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "peer.h"

struct store {
	sqlite3 *db;
	sqlite3_stmt *put, *get;
};

static void must(struct store *m, int rc)
{
	if (rc != SQLITE_OK)
		peer_fail("sqlite",
			  m->db ? sqlite3_errmsg(m->db) : sqlite3_errstr(rc));
}

static void run(struct store *m, const char *text)
{
	must(m, sqlite3_exec(m->db, text, NULL, NULL, NULL));
}

static void *open_store(const struct peer_setup *s)
{
	struct store *m = calloc(1, sizeof(*m));
	char path[4096];

	if (!m)
		peer_fail("sqlite", "out of memory");
	snprintf(path, sizeof(path), "%s/peers.db", s->dir);
	must(m, sqlite3_open(path, &m->db));
	run(m, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
	       "CREATE TABLE flows (key BLOB PRIMARY KEY, value INTEGER)"
	       " WITHOUT ROWID");
	must(m, sqlite3_prepare_v2(m->db,
				   "INSERT OR REPLACE INTO flows VALUES (?, ?)",
				   -1, &m->put, NULL));
	must(m,
	     sqlite3_prepare_v2(m->db, "SELECT value FROM flows WHERE key = ?",
				-1, &m->get, NULL));
	return m;
}

static void close_store(void *p)
{
	struct store *m = p;

	sqlite3_finalize(m->put);
	sqlite3_finalize(m->get);
	sqlite3_close(m->db);
	free(m);
}

static void bind_key(struct store *m, sqlite3_stmt *s, const uint8_t *key)
{
	must(m, sqlite3_bind_blob(s, 1, key, PEER_KEY, SQLITE_STATIC));
}

static void update(void *p, const uint8_t *const *keys, const uint32_t *values,
		   size_t n)
{
	struct store *m = p;

	run(m, "BEGIN");
	for (size_t i = 0; i < n; i++) {
		bind_key(m, m->put, keys[i]);
		must(m, sqlite3_bind_int64(m->put, 2, values[i]));
		if (sqlite3_step(m->put) != SQLITE_DONE)
			peer_fail("sqlite", sqlite3_errmsg(m->db));
		must(m, sqlite3_reset(m->put));
	}
	run(m, "COMMIT");
}

static void lookup(void *p, const uint8_t *const *keys, uint32_t *values,
		   uint8_t *found, size_t n)
{
	struct store *m = p;

	run(m, "BEGIN");
	for (size_t i = 0; i < n; i++) {
		bind_key(m, m->get, keys[i]);
		found[i] = sqlite3_step(m->get) == SQLITE_ROW;
		if (found[i])
			values[i] = (uint32_t)sqlite3_column_int64(m->get, 0);
		must(m, sqlite3_reset(m->get));
	}
	run(m, "COMMIT");
}

static uint64_t pragma(struct store *m, const char *text)
{
	sqlite3_stmt *s;
	uint64_t n;

	must(m, sqlite3_prepare_v2(m->db, text, -1, &s, NULL));
	if (sqlite3_step(s) != SQLITE_ROW)
		peer_fail("sqlite", sqlite3_errmsg(m->db));
	n = (uint64_t)sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return n;
}

static uint64_t bytes(void *p)
{
	return pragma(p, "PRAGMA page_count") * pragma(p, "PRAGMA page_size");
}

const struct peer peer_sqlite = {
	.key_bytes = 80,
	.open = open_store,
	.update = update,
	.lookup = lookup,
	.bytes = bytes,
	.close = close_store,
};
