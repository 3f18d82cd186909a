/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plan of a fabric against a simulation of it: flows of a fat tree of k =
 * 48 (27,648 hosts), each of which goes to the collector and to the slots that
 * the library's hashes give it, a later one over an earlier one.
 *
 * There are 10^9 keys, of which one in `every' is drawn at random, with tables
 * that are smaller by as much: the load stays. Of 256 collectors' tables only
 * the first few are in memory; keys of the others count for the shares. An
 * argument is another `every' for 256: 1 is a whole collector. Bounds are 5
 * standard errors, and seeds fixed.
 */
#include <math.h>
#include <stdlib.h>

#include "cluster/cluster.h"
#include "hash/crc.h"
#include "hash/family.h"
#include "model/model.h"
#include "test.h"

#define KEYS 1000000000.0

enum {
	HOSTS = 48 * 48 * 48 / 4,
	KEY_LEN = 13,
	STORED_MAX = 4000000, /* keys in the tables */
#ifdef __SANITIZE_ADDRESS__
	EVERY = 5000,
#else
	EVERY = 1000,
#endif
};

/* The flow number i: source, destination, ports, protocol. */
static void flow_of(uint8_t key[KEY_LEN], uint64_t i)
{
	uint32_t from = (uint32_t)(i % HOSTS), to = (uint32_t)(i / HOSTS);
	uint32_t port = 32768 + to / HOSTS;
	const uint32_t ends[2] = {from, (from + 1 + to) % HOSTS};

	for (unsigned e = 0; e < 2; e++) { /* 10.pod.switch.host */
		key[4 * e] = 10;
		key[4 * e + 1] = (uint8_t)(ends[e] / 576);
		key[4 * e + 2] = (uint8_t)(ends[e] / 24 % 24);
		key[4 * e + 3] = (uint8_t)(2 + ends[e] % 24);
	}
	key[8] = (uint8_t)(port >> 8);
	key[9] = (uint8_t)port;
	key[10] = 0;
	key[11] = 80;
	key[12] = 6;
}

/* The key drawn out of group number g of `every' keys. */
static uint64_t draw(uint64_t g, unsigned every)
{
	uint64_t x = (g + 1) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	/* From all over the tree, in no order of the hosts. */
	return (g * every + (x >> 32) % every) * 611953 % 1000000000;
}

/* Whether a share of n trials is that which is expected. */
static void near(const char *what, double hits, double n, double expected)
{
	double error = sqrt(expected * (1 - expected) / n);

	if (!TEST(fabs(hits / n - expected) <= 5 * error + 1e-12))
		fprintf(stderr, "%s: %.6f, expected %.6f, error %.6f of %.0f\n",
			what, hits / n, expected, error, n);
	else
		printf("%-10s %.6f of %10.0f, plan %.6f\n", what, hits / n, n,
		       expected);
}

struct tables {
	uint32_t *last; /* of each slot: the last key written, from 1 on */
	uint64_t slots; /* of a collector */
	unsigned copies;
};

static uint32_t *slot_of(const struct tables *t, unsigned owner, unsigned copy,
			 const uint8_t *key)
{
	return &t->last[owner * t->slots +
			hash_mod(hash_slot(HASH_DTA1, copy, key, KEY_LEN),
				 t->slots)];
}

/* How likely the oldest of all keys are found, and their mean. */
static void ask(const struct tables *t, const uint64_t *stored, unsigned n,
		const struct plan_config *p, double load)
{
	double found = 0, old = 0, oldest = n / 50;

	for (unsigned i = 0; i < n; i++) {
		uint8_t key[KEY_LEN];
		bool is = false;

		flow_of(key, stored[i] >> 8);
		for (unsigned c = 0; c < t->copies; c++)
			is |= *slot_of(t, stored[i] & 255, c, key) == i + 1;
		found += is;
		old += is && i < oldest;
	}
	near("oldest", old, floor(oldest), plan_success(p, load * 0.99));
	near("mean", found, n,
	     plan_at(p->copies, load, p->pass).average_success);
}

static void simulate(unsigned collectors, unsigned copies, double want,
		     unsigned every)
{
	const struct plan_config p = {copies, 0, plan_pass_keywrite(32), false};
	struct cluster_generation now = {.n = collectors},
				  more = {.n = collectors + 1};
	double load = plan_largest_load(&p, want), moved = 0, lost = 0;
	double sampled = floor(KEYS / every);
	struct fleet_load l = {.messages_s = copies * 1e6 * collectors,
			       .slots = KEYS / load,
			       .slot_bytes = 24,
			       .nic_messages_s = copies * 1e6,
			       .memory = INFINITY};
	struct fleet f = model_fleet(&l);
	unsigned held, n = 0;
	struct tables t = {.copies = copies};
	uint64_t *stored = malloc(STORED_MAX * sizeof(*stored));
	double *own = calloc(collectors + 1, sizeof(*own)), most = 0;

	TEST(f.collectors == collectors && f.bound == FLEET_NIC);
	t.slots = (uint64_t)ceil(f.slots / every);
	held = (unsigned)fmin(collectors, 3e6 / (sampled / collectors));
	held = held ? held : 1;
	t.last = calloc(held * t.slots, sizeof(*t.last));
	for (uint64_t g = 0; g < sampled; g++) {
		uint64_t flow = draw(g, every);
		uint8_t key[KEY_LEN];
		unsigned owner;

		flow_of(key, flow);
		owner = cluster_owner(&now, key, KEY_LEN);
		own[owner]++;
		moved += owner != cluster_owner(&more, key, KEY_LEN);
		lost += owner == collectors / 2;
		if (owner >= held || !TEST(n < STORED_MAX))
			continue;
		stored[n++] = flow << 8 | owner;
		for (unsigned c = 0; c < copies; c++)
			*slot_of(&t, owner, c, key) = n;
	}
	printf("%u collectors, %u of them in memory with %u keys, %u copies, "
	       "load %.4f:\n",
	       collectors, held, n, copies, load);
	ask(&t, stored, n, &p, load);
	near("lost", lost, sampled, f.lost);
	near("moved", moved, sampled, f.moved);
	for (unsigned c = 0; c < collectors; c++)
		most = fmax(most, own[c]);
	/* The fullest collector's load is that of the plan. */
	TEST(most < sampled / collectors + 5 * sqrt(sampled / collectors));
	free(own);
	free(stored);
	free(t.last);
}

/* What bounds a fabric, and what mirrors cost and save. */
static void bounds(void)
{
	struct fleet_load l = {.messages_s = 1e9,
			       .slots = 0x1p33,
			       .slot_bytes = 8,
			       .nic_messages_s = 1e8,
			       .memory = 0x1p40};
	struct fleet f = model_fleet(&l);

	TEST(f.collectors == 10 && f.bound == FLEET_NIC && f.lost == 0.1);
	TEST(f.messages_s == 1e8);
	l.mirror = true;
	f = model_fleet(&l);
	TEST(f.collectors == 20 && f.messages_s == 1e8 && f.lost == 0);
	TEST(f.slots == ceil(0x1p34 / 20));
	l.memory = 0x1p30;
	f = model_fleet(&l);
	TEST(f.collectors == 128 && f.bound == FLEET_MEMORY);
	l.memory = 0x1p40;
	l.messages_s = 1;
	f = model_fleet(&l);
	TEST(f.collectors == 4 && f.bound == FLEET_HASH);
	l.slots = 1;
	TEST(model_fleet(&l).collectors == 2); /* one mirrors the other */
	l.mirror = false;
	f = model_fleet(&l);
	TEST(f.collectors == 1 && f.moved == 0.5 && f.lost == 1);
}

int main(int argc, char **argv)
{
	unsigned every = argc > 1 ? (unsigned)atoi(argv[1]) : EVERY;

	bounds();
	simulate(256, 4, 0.99, every);
	simulate(256, 2, 0.9, every);
	simulate(31, 2, 0.9, EVERY);
	simulate(4, 1, 0.9, EVERY);
	return test_end();
}
