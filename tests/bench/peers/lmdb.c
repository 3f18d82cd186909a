/* SPDX-License-Identifier: BSD-2-Clause */
/* LMDB: a transaction for each batch, which waits for no disk. */
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

enum {
	MAP_KEY =
		400, /* bytes of address space a key, the first MAP_MIN free */
	MAP_MIN = 1 << 30,
};

struct store {
	MDB_env *env;
	MDB_dbi dbi;
};

static void must(int rc)
{
	if (rc)
		peer_fail("lmdb", mdb_strerror(rc));
}

static void *open_store(const struct peer_setup *s)
{
	struct store *m = calloc(1, sizeof(*m));
	MDB_txn *txn;

	if (!m)
		peer_fail("lmdb", "out of memory");
	must(mdb_env_create(&m->env));
	must(mdb_env_set_mapsize(m->env, MAP_MIN + s->flows * MAP_KEY));
	must(mdb_env_open(m->env, s->dir, MDB_NOSYNC, 0600));
	must(mdb_txn_begin(m->env, NULL, 0, &txn));
	must(mdb_dbi_open(txn, NULL, 0, &m->dbi));
	must(mdb_txn_commit(txn));
	return m;
}

static void close_store(void *p)
{
	struct store *m = p;

	mdb_env_close(m->env);
	free(m);
}

static void update(void *p, const uint8_t *const *keys, const uint32_t *values,
		   size_t n)
{
	struct store *m = p;
	MDB_txn *txn;

	must(mdb_txn_begin(m->env, NULL, 0, &txn));
	for (size_t i = 0; i < n; i++) {
		MDB_val key = {PEER_KEY, (void *)(uintptr_t)keys[i]};
		MDB_val value = {4, (void *)(uintptr_t)&values[i]};

		must(mdb_put(txn, m->dbi, &key, &value, 0));
	}
	must(mdb_txn_commit(txn));
}

static void lookup(void *p, const uint8_t *const *keys, uint32_t *values,
		   uint8_t *found, size_t n)
{
	struct store *m = p;
	MDB_txn *txn;

	must(mdb_txn_begin(m->env, NULL, MDB_RDONLY, &txn));
	for (size_t i = 0; i < n; i++) {
		MDB_val key = {PEER_KEY, (void *)(uintptr_t)keys[i]}, value;
		int rc = mdb_get(txn, m->dbi, &key, &value);

		found[i] = !rc;
		if (!rc)
			memcpy(&values[i], value.mv_data, 4);
		else if (rc != MDB_NOTFOUND)
			must(rc);
	}
	mdb_txn_abort(txn);
}

/* The pages of the file that were ever used. */
static uint64_t bytes(void *p)
{
	struct store *m = p;
	MDB_envinfo info;
	MDB_stat stat;

	must(mdb_env_info(m->env, &info));
	must(mdb_env_stat(m->env, &stat));
	return (info.me_last_pgno + 1) * (uint64_t)stat.ms_psize;
}

const struct peer peer_lmdb = {
	.key_bytes = 160,
	.open = open_store,
	.update = update,
	.lookup = lookup,
	.bytes = bytes,
	.close = close_store,
};
