/* SPDX-License-Identifier: BSD-2-Clause */
/* The flow cache against rows of lists that are searched from end to end. */
#include "telemetry/flows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "test.h"

enum {
	ROWS = 7,
	BUCKETS = 5,
	TURNS = 100000,
	KEYS = 90,
};

/* A row of the model: the flow used last first. */
struct model {
	struct {
		uint32_t key;
		uint64_t packets;
	} flow[ROWS][BUCKETS];
	unsigned n[ROWS];
	uint64_t left;
	/* Who has to leave next. */
	uint32_t leaver;
	uint64_t leaver_packets;
};

static size_t make_key(uint8_t *key, uint32_t n)
{
	size_t len = n % 3 ? KEY_FLOW4_LEN : KEY_FLOW6_LEN;

	memset(key, (int)(n >> 4), KEY_FLOW6_LEN);
	memcpy(key, &n, sizeof(n));
	return len;
}

static uint32_t key_number(const struct flow_entry *f)
{
	uint32_t n;

	memcpy(&n, f->key, sizeof(n));
	return n;
}

static void on_leave(void *ctx, struct flow_entry *f, enum flow_leave why)
{
	struct model *m = ctx;

	TEST(why == FLOW_EVICTED);
	TEST(key_number(f) == m->leaver);
	TEST(f->packets == m->leaver_packets);
	m->left++;
}

/* What the model does for a packet; false: the flow is new. */
static bool model_take(struct model *m, unsigned row, uint32_t key)
{
	unsigned i = 0;
	bool found;
	uint64_t packets = 0;

	while (i < m->n[row] && m->flow[row][i].key != key)
		i++;
	found = i < m->n[row];
	if (found) {
		packets = m->flow[row][i].packets;
	} else if (m->n[row] == BUCKETS) {
		i--;
		m->leaver = m->flow[row][i].key;
		m->leaver_packets = m->flow[row][i].packets;
	} else {
		m->n[row]++;
	}
	memmove(&m->flow[row][1], &m->flow[row][0], i * sizeof(m->flow[0][0]));
	m->flow[row][0].key = key;
	m->flow[row][0].packets = packets + 1;
	return found;
}

static void test_lru(void)
{
	struct flows_options o = {.rows = ROWS, .buckets = BUCKETS, .hops = 2};
	static struct model m;
	struct rng r = {3};
	struct flows fl;
	uint64_t live = 0;

	TEST(!flows_init(&fl, &o));
	fl.leave = on_leave;
	fl.ctx = &m;
	for (unsigned i = 0; i < TURNS; i++) {
		uint32_t key = (uint32_t)rng_below(&r, 1 + rng_below(&r, KEYS));
		uint8_t bytes[KEY_FLOW6_LEN];
		size_t len = make_key(bytes, key);
		uint64_t hash = flows_hash(bytes, len);
		unsigned row = (unsigned)((hash >> 32) * ROWS >> 32);
		bool found = model_take(&m, row, key);
		struct flow_entry *f = flows_get(&fl, hash, bytes, len);

		TEST(found == (f->packets > 0));
		TEST(key_number(f) == key && f->key_len == len);
		f->packets++;
		TEST(f->packets == m.flow[row][0].packets);
		TEST(flows_guess(&fl, hash) == f);
	}
	for (unsigned row = 0; row < ROWS; row++)
		live += m.n[row];
	TEST(m.left > 1000 && fl.ledger.evicted == m.left);
	TEST(fl.ledger.live == live);
	TEST(ledger_balanced(&flows_ledger, &fl.ledger));
	flows_fini(&fl);
}

static unsigned expired, flushed;

static void on_end(void *ctx, struct flow_entry *f, enum flow_leave why)
{
	(void)ctx;
	TEST(why != FLOW_EVICTED);
	TEST(f->key_len > 0);
	*(why == FLOW_EXPIRED ? &expired : &flushed) += 1;
}

static struct flow_entry *touch(struct flows *fl, uint32_t key, uint64_t ns)
{
	uint8_t bytes[KEY_FLOW6_LEN];
	size_t len = make_key(bytes, key);
	struct flow_entry *f = flows_get(fl, flows_hash(bytes, len), bytes,
					 len);

	f->packets++;
	f->last_ns = ns;
	return f;
}

/* Silent flows leave between once and one and a half times idle_ns; the others
 * stay; not all in one step. */
static void test_age(void)
{
	struct flows_options o = {
		.rows = 1024, .buckets = 8, .hops = 1, .idle_ns = 1000};
	unsigned steps = 0;
	struct flows fl;

	TEST(!flows_init(&fl, &o));
	fl.leave = on_end;
	for (uint32_t i = 0; i < 1000; i++)
		touch(&fl, i, 0);
	for (uint64_t now = 0; now <= 1600; now += 10) {
		unsigned before = expired;

		for (uint32_t i = 0; i < 100; i++)
			touch(&fl, i, now);
		flows_age(&fl, now);
		TEST(now >= 1000 || !expired);
		steps += expired > before;
	}
	TEST(expired == 900 && steps > 20);
	TEST(fl.ledger.created == 1000 && fl.ledger.expired == 900);
	TEST(fl.ledger.live == 100);
	TEST(ledger_balanced(&flows_ledger, &fl.ledger));
	/* Their entries are used again, and found. */
	for (uint32_t i = 0; i < 1000; i++)
		touch(&fl, i, 2000);
	TEST(fl.used == 1000 && fl.ledger.created == 1900);
	for (uint32_t i = 0; i < 1000; i++)
		TEST(touch(&fl, i, 2000)->packets > 1);
	flows_flush(&fl);
	TEST(flushed == 1000);
	TEST(ledger_balanced(&flows_ledger, &fl.ledger));
	flows_fini(&fl);
}

/* Hops beyond those of an entry, in blocks that come back. */
static void check_hops(void)
{
	struct flows_options o = {
		.rows = 4, .buckets = 4, .hops = 3, .blocks = 4};
	struct flow_entry *a, *b;
	struct flows fl;

	TEST(!flows_init(&fl, &o));
	fl.leave = on_end;
	a = touch(&fl, 1, 0);
	b = touch(&fl, 2, 0);
	for (unsigned i = 0; i < 3 + 2 * FLOW_BLOCK; i++) {
		TEST(flow_add_hop(&fl, a) && flow_add_hop(&fl, b));
		flow_hop(&fl, a, i)->hop_key = i;
		flow_hop(&fl, b, i)->hop_key = 1000 + i;
		flow_rare(&fl, a, i)->meter[1].latest = 7 * i;
	}
	TEST(!flow_add_hop(&fl, a) && fl.ledger.no_block == 1);
	TEST(a->kept == 3 + 2 * FLOW_BLOCK);
	flow_swap_hops(&fl, a, 1, 12);
	for (unsigned i = 0; i < a->kept; i++) {
		unsigned k = i == 1 ? 12 : i == 12 ? 1 : i;

		TEST(flow_hop(&fl, a, i)->hop_key == k);
		TEST(flow_hop(&fl, b, i)->hop_key == 1000 + i);
		TEST(flow_rare(&fl, a, i)->meter[1].latest == 7 * k);
	}
	flows_flush(&fl);
	a = touch(&fl, 3, 0);
	for (unsigned i = 0; i < 3 + 4 * FLOW_BLOCK; i++) {
		TEST(flow_add_hop(&fl, a));
		TEST(flow_hop(&fl, a, i)->hop_key == 0);
		TEST(flow_rare(&fl, a, i)->meter[1].latest == 0);
	}
	TEST(!flow_add_hop(&fl, a));
	flows_fini(&fl);
}

static void test_refused(void)
{
	struct flows_options o = {.rows = 0, .buckets = 4};
	struct flows fl;

	TEST(flows_init(&fl, &o) == -EINVAL);
	o = (struct flows_options){.rows = 1, .buckets = FLOW_BUCKETS_MAX + 1};
	TEST(flows_init(&fl, &o) == -EINVAL);
	o = (struct flows_options){.rows = 1U << 31, .buckets = 2};
	TEST(flows_init(&fl, &o) == -EINVAL);
}

int main(void)
{
	test_lru();
	test_age();
	check_hops();
	test_refused();
	return test_end();
}
