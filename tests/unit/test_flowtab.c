/* SPDX-License-Identifier: BSD-2-Clause */
/* The flow table against a list that is searched from end to end. */
#include "sim/traffic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "test.h"

enum {
	MAX = 37,
	TURNS = 200000,
};

struct entry {
	uint8_t key[FLOWTAB_KEY_MAX];
	size_t len;
	uint64_t data[3];
};

/* The oldest first. */
struct list {
	struct entry e[MAX];
	unsigned n;
	uint64_t left;
};

static void take_out(struct list *l, unsigned i)
{
	memmove(&l->e[i], &l->e[i + 1], (--l->n - i) * sizeof(l->e[0]));
}

/* Who leaves is the list's oldest, with all that was kept of it. */
static void on_evict(void *ctx, struct flow *f)
{
	struct list *l = ctx;

	if (!TEST(l->n > 0))
		return;
	TEST(f->key_len == l->e[0].len);
	TEST(!memcmp(f->key, l->e[0].key, l->e[0].len));
	TEST(!memcmp(flow_data(f), l->e[0].data, sizeof(l->e[0].data)));
	take_out(l, 0);
	l->left++;
}

/* Few enough to meet again; one may begin as another does. */
static size_t make_key(uint8_t *key, uint64_t n)
{
	static const size_t len[] = {4, 13, 16, FLOWTAB_KEY_MAX};

	memset(key, (int)(n / 4), FLOWTAB_KEY_MAX);
	return len[n % 4];
}

static struct entry *find(struct list *l, const uint8_t *key, size_t len)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->e[i].len == len && !memcmp(l->e[i].key, key, len))
			return &l->e[i];
	return NULL;
}

static void turn(struct flowtab *t, struct list *l, struct rng *r,
		 unsigned keys)
{
	struct entry e = {.len = make_key(e.key, rng_below(r, keys))};
	struct entry *old = find(l, e.key, e.len);
	uint64_t *data;
	struct flow *f;
	bool fresh;

	if (old) {
		e = *old;
		take_out(l, (unsigned)(old - l->e));
	}
	f = flowtab_get(t, e.key, e.len, &fresh);
	data = flow_data(f);
	TEST(fresh == !old);
	TEST((uintptr_t)data % 8 == 0);
	TEST(f->key_len == e.len && !memcmp(f->key, e.key, e.len));
	TEST(!memcmp(data, e.data, sizeof(e.data)));
	for (int i = 0; i < 3; i++)
		e.data[i] = data[i] = rng_u64(r);
	if (TEST(l->n < MAX))
		l->e[l->n++] = e;
}

static void against_list(unsigned keys, uint64_t seed)
{
	struct rng r = {.state = keys};
	struct list l = {.n = 0};
	uint64_t evicted = 0;
	struct flowtab_options o = {
		.max = MAX,
		.data_len = sizeof(l.e[0].data),
		.seed = seed,
		.on_evict = on_evict,
		.ctx = &l,
		.evicted = &evicted,
	};
	struct flowtab *t;

	if (!TEST(flowtab_open(&t, &o) == 0))
		return;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < TURNS; i++)
			turn(t, &l, &r, keys);
		TEST(evicted == l.left);
		TEST((evicted > 0) == (keys > MAX));
		flowtab_drain(t);
		TEST(l.n == 0); /* all left, in their order */
		TEST(l.left > evicted);
		l.left = evicted; /* those drained are not counted */
	}
	flowtab_close(t);
}

/* No data, no one to be told, one place. */
static void smallest(void)
{
	struct flowtab_options o = {.max = 1};
	struct flowtab *t;
	bool fresh;

	if (!TEST(flowtab_open(&t, &o) == 0))
		return;
	flowtab_get(t, (const uint8_t *)"a", 1, &fresh);
	TEST(fresh);
	flowtab_get(t, (const uint8_t *)"a", 1, &fresh);
	TEST(!fresh);
	flowtab_get(t, (const uint8_t *)"b", 1, &fresh);
	TEST(fresh);
	flowtab_get(t, (const uint8_t *)"a", 1, &fresh);
	TEST(fresh);
	flowtab_drain(t);
	flowtab_drain(t);
	flowtab_close(t);
	flowtab_close(NULL);
}

static void refused(void)
{
	struct flowtab_options o = {.max = 0};
	struct flowtab *t;

	TEST(flowtab_open(&t, &o) == -EINVAL);
	o.max = (uint64_t)FLOWTAB_MAX + 1;
	TEST(flowtab_open(&t, &o) == -EINVAL);
}

int main(void)
{
	against_list(MAX / 2, 1);
	against_list(MAX, 2);
	against_list(MAX + 1, 3);
	against_list(10 * MAX, 4);
	smallest();
	refused();
	return test_end();
}
