/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * R_Keys by epoch, against a driver that gives keys back as soon as it can: the
 * calls of libibverbs are this file's.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "verbs/verbs_target_private.h"
#include "store_sample.h"
#include "test.h"

enum {
	EPOCHS = 30,
};

/* Keys are handed out lowest first; those that were given back come again. */
static bool taken[4096];
static unsigned held, most, fail_at;

static struct ibv_mr *give(void *addr, size_t length)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));
	uint32_t key = 1;

	if (!mr || (fail_at && held + 1 >= fail_at)) {
		free(mr);
		errno = ENOMEM;
		return NULL;
	}
	while (taken[key])
		key++;
	taken[key] = true;
	most = ++held > most ? held : most;
	mr->rkey = mr->lkey = key;
	mr->addr = addr;
	mr->length = length;
	return mr;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int a)
{
	(void)pd;
	(void)a;
	return give(addr, length);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int a)
{
	(void)pd;
	(void)iova;
	(void)a;
	return give(addr, length);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	taken[mr->rkey] = false;
	held--;
	free(mr);
	return 0;
}

/* As a target does it: the new epoch's, then the old ones are revoked. */
static void test_keys(struct verbs_target *v)
{
	unsigned n = region_tables(v->region), same = 0;
	uint32_t last[EPOCHS + 1][TABLE_MAX];
	struct verbs_memory now, next;

	TEST(verbs_memory_make(&now, v, 1, NULL) == 0);
	TEST(now.n == n && now.epoch == 1);
	for (unsigned e = 1; e <= EPOCHS; e++) {
		for (unsigned i = 0; i < n; i++) {
			const struct table *t = region_table(v->region, i);

			last[e][i] = now.mr[i]->rkey;
			TEST(now.mr[i]->length == t->length);
			TEST(now.mr[i]->addr == region_read(v->region, t, e));
			for (unsigned k = 1; k < VERBS_RKEYS && k < e; k++)
				same += last[e][i] == last[e - k][i];
		}
		TEST(verbs_memory_make(&next, v, e + 1, NULL) == 0);
		verbs_memory_drop(&now);
		TEST(held == n);
		now = next;
	}
	TEST(same == 0);
	TEST(most <= 2 * n + VERBS_RKEYS);
	verbs_memory_drop(&now);
	TEST(held == 0 && now.n == 0);
}

/* A limit that is met half way leaves nothing. */
static void test_limit(struct verbs_target *v)
{
	struct verbs_memory m;
	struct fault f;

	for (fail_at = 1; fail_at <= region_tables(v->region); fail_at++) {
		TEST(verbs_memory_make(&m, v, 1, &f) == -ENOMEM);
		TEST(held == 0 && m.n == 0);
	}
	fail_at = 0;
}

int main(void)
{
	const char *name = sample_create(2);
	struct verbs_target *v = calloc(1, sizeof(*v));

	v->region = sample_open(name, true);
	v->attr.max_mr_size = UINT64_MAX;
	v->attr.atomic_cap = IBV_ATOMIC_HCA;
	test_keys(v);
	test_limit(v);
	region_close(v->region);
	region_remove(name, NULL);
	free(v);
	return test_end();
}
