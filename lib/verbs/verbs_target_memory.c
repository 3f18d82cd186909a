/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_target_memory.c - tables as memory regions of a device: one for each
 * table and epoch, so that the bounds are the table's and an epoch's R_Keys end
 * with it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "verbs/verbs_target_private.h"

bool verbs_has_atomics(const struct verbs_target *v)
{
	return v->attr.atomic_cap != IBV_ATOMIC_NONE;
}

/*
 * Atomics for what needs them: counters, and slots of Key-Write for DART's
 * COMPARE_SWAP. A UC queue pair has none (IBTA 9.3.1).
 */
int verbs_access(const struct verbs_target *v, const struct table *t)
{
	int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

	if (verbs_has_atomics(v) && t->qp == TABLE_QP_RC &&
	    (t->kind == TABLE_KEYINC || t->kind == TABLE_KEYWRITE))
		rights |= IBV_ACCESS_REMOTE_ATOMIC;
	return rights;
}

/* Too much memory locked is by far the likeliest reason. */
static int cannot_register(int err, const struct verbs_target *v,
			   const char *what, uint64_t length, struct fault *f)
{
	double mib = (double)length / 0x1p20;
	struct rlimit limit = {0, 0};
	char now[32] = "unlimited";

	if (length > v->attr.max_mr_size)
		return fault_set(f, -E2BIG,
				 "%s: %s: %.1f MiB, and the device "
				 "registers %.1f MiB at most",
				 v->name, what, mib,
				 (double)v->attr.max_mr_size / 0x1p20);
	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur != RLIM_INFINITY)
		snprintf(now, sizeof(now), "%llu KiB",
			 (unsigned long long)limit.rlim_cur >> 10);
	if ((err == -ENOMEM || err == -EAGAIN || err == -EPERM) &&
	    limit.rlim_cur != RLIM_INFINITY)
		return fault_set(
			f, err,
			"%s: %s: cannot lock %.1f MiB: the limit (ulimit "
			"-l) is %s: raise it with ulimit -l unlimited as root, "
			"memlock in /etc/security/limits.d, or "
			"LimitMEMLOCK=infinity in a systemd unit; or grant "
			"CAP_IPC_LOCK",
			v->name, what, mib, now);
	return fault_set(f, err, "%s: %s: cannot register %.1f MiB: %s",
			 v->name, what, mib, strerror(-err));
}

static bool was_given(const struct verbs_rkeys *s, unsigned table,
		      uint32_t rkey)
{
	unsigned n = s->next[table];

	n = n < VERBS_RKEYS ? n : VERBS_RKEYS;
	for (unsigned i = 0; i < n; i++)
		if (s->rkey[table][i] == rkey)
			return true;
	return false;
}

static void remember(struct verbs_rkeys *s, unsigned table, uint32_t rkey)
{
	s->rkey[table][s->next[table]++ % VERBS_RKEYS] = rkey;
}

/*
 * Drivers may give an R_Key again that was given back (mlx5 has a cache of
 * them), and an epoch's set has the address of the one that was there before: a
 * ticket of that one must not fit. So the new key is another than the last
 * ones; those that are not are held until there is one.
 */
static struct ibv_mr *register_table(struct verbs_target *v, unsigned table,
				     void *at)
{
	const struct table *t = region_table(v->region, table);
	struct ibv_mr *held[VERBS_RKEYS + 1];
	unsigned n = 0;
	int err;

	do {
		errno = 0;
		held[n] = ibv_reg_mr(v->pd, at, t->length, verbs_access(v, t));
		if (!held[n])
			break;
	} while (was_given(&v->given, table, held[n]->rkey) &&
		 ++n <= VERBS_RKEYS);
	err = errno;
	n = n <= VERBS_RKEYS ? n : VERBS_RKEYS;
	if (held[n])
		remember(&v->given, table, held[n]->rkey);
	for (unsigned i = 0; i < n; i++)
		ibv_dereg_mr(held[i]);
	errno = err;
	return held[n];
}

int verbs_memory_make(struct verbs_memory *m, struct verbs_target *v,
		      uint64_t epoch, struct fault *f)
{
	*m = (struct verbs_memory){.epoch = epoch};
	for (; m->n < region_tables(v->region); m->n++) {
		const struct table *t = region_table(v->region, m->n);
		void *at = (void *)region_read(v->region, t, epoch);

		m->mr[m->n] = register_table(v, m->n, at);
		if (!m->mr[m->n]) {
			int rc = errno ? -errno : -EIO;
			char what[TABLE_NAME_MAX + 8];

			verbs_memory_drop(m);
			snprintf(what, sizeof(what), "table %s", t->name);
			return cannot_register(rc, v, what, t->length, f);
		}
	}
	return 0;
}

void verbs_memory_drop(struct verbs_memory *m)
{
	while (m->n)
		ibv_dereg_mr(m->mr[--m->n]);
	m->epoch = 0;
}

int verbs_memory_share(struct verbs_target *v, struct fault *f)
{
	uint64_t length = region_size(v->region);

	errno = 0;
	v->readable = ibv_reg_mr(v->pd, (void *)region_file(v->region), length,
				 IBV_ACCESS_REMOTE_READ);
	if (v->readable)
		return 0;
	return cannot_register(errno ? -errno : -EIO, v,
			       "--readable: the region once more", length, f);
}

void verbs_memory_unshare(struct verbs_target *v)
{
	if (v->readable)
		ibv_dereg_mr(v->readable);
	v->readable = NULL;
}
