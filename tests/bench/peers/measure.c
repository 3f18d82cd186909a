/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../bench.h"
#include "frames.h"

enum {
	STORE_PART = 16,
	CHUNK_MAX = 1 << 20, /* frames at a time */
};

/* A peer at work. */
struct seat {
	const struct entry *e;
	struct result *r;
	void *state;
	uint64_t heap;
	uint64_t asked, found;
	double updates[ROUNDS_MAX], lookups[ROUNDS_MAX];
};

/* Peers that there is memory for at the same time. */
struct table {
	const struct plan_of_run *plan;
	struct frames frames;
	struct seat seat[PEERS_MAX];
	unsigned n;
	uint32_t *latest[2]; /* of each flow; of what stores get */
	uint32_t *values;
	uint8_t *found;
};

static char refusal[sizeof(((struct result *)0)->why)];

void peer_why(const char *who, const char *what)
{
	snprintf(refusal, sizeof(refusal), "%s: %s", who, what);
}

/* Bytes that are there for the asking. */
static uint64_t memory_left(void)
{
	FILE *in = fopen("/proc/meminfo", "r");
	unsigned long long kb = 0;
	char line[128];

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "MemAvailable: %llu", &kb) == 1)
			break;
	if (in)
		fclose(in);
	return (uint64_t)kb << 10;
}

static uint64_t heap_now(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static uint64_t wants(const struct plan_of_run *p, const struct entry *e)
{
	return e->peer->key_bytes ? p->flows * e->peer->key_bytes : p->memory;
}

/* The numbers of flows, and what the last value of each was. */
static uint64_t wants_all(const struct plan_of_run *p)
{
	return p->flows * 2 * sizeof(uint32_t) + (256ull << 20);
}

/* Why it is not measured at all; false: it may be. */
static int refuse(const struct plan_of_run *p, const struct entry *e,
		  struct result *r)
{
	uint64_t left = memory_left() / 10 * 9;

	if (!e->peer)
		snprintf(r->why, sizeof(r->why), "%s is not installed",
			 e->package);
	else if (e->store && p->flows > p->store_flows)
		snprintf(r->why, sizeof(r->why),
			 "would take long: --store-flows %ju",
			 (uintmax_t)p->flows);
	else if (wants(p, e) + wants_all(p) > left)
		snprintf(r->why, sizeof(r->why),
			 "wants about %.1f GiB, %.1f are left",
			 (double)(wants(p, e) + wants_all(p)) * 0x1p-30,
			 (double)left * 0x1p-30);
	return r->why[0] != 0;
}

static void sit(struct table *t, const struct entry *e, struct result *r)
{
	struct seat *s = &t->seat[t->n];
	struct peer_setup setup = {.flows = t->plan->flows,
				   .memory = t->plan->memory};
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s/%s-%ju", t->plan->dir, e->name,
		 (uintmax_t)t->plan->flows);
	for (char *c = dir + strlen(t->plan->dir) + 1; *c; c++)
		if (*c == ' ' || *c == ':' || *c == '/')
			*c = '-';
	if (e->store && mkdir(dir, 0700) < 0)
		peer_fail("cannot make a directory", dir);
	setup.dir = dir;
	*s = (struct seat){.e = e, .r = r};
	s->heap -= heap_now();
	s->state = e->peer->open(&setup);
	s->heap += heap_now();
	if (s->state)
		t->n++;
	else
		snprintf(r->why, sizeof(r->why), "%s", refusal);
}

static size_t part_of(const struct entry *e, size_t n)
{
	size_t part = n / STORE_PART;

	return !e->store ? n : part ? part : 1;
}

/* Tables: our thread's own time, whoever else wants the core. Stores have
 * threads, disks and servers that we wait for. */
static double now(const struct seat *s)
{
	struct timespec t;

	clock_gettime(s->e->store ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID,
		      &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* n of the frames to a peer. Returns seconds. */
static double update(struct table *t, struct seat *s, size_t n)
{
	static const uint8_t *keys[PEER_BATCH];
	static uint32_t values[PEER_BATCH];
	const struct peer *p = s->e->peer;
	double start = now(s);

	for (size_t at = 0; at < n; at += PEER_BATCH) {
		const struct pkt *pkts = t->frames.pkt + at;
		size_t m = n - at < PEER_BATCH ? n - at : PEER_BATCH;

		if (p->take) {
			p->take(s->state, pkts, m);
			continue;
		}
		m = frames_parse(pkts, m, keys, values);
		p->update(s->state, keys, values, m);
	}
	return now(s) - start;
}

static double lookup(struct table *t, struct seat *s, size_t n)
{
	double start = now(s);

	for (size_t at = 0; at < n; at += PEER_BATCH)
		s->e->peer->lookup(s->state, t->frames.key + at, t->values + at,
				   t->found + at,
				   n - at < PEER_BATCH ? n - at : PEER_BATCH);
	return now(s) - start;
}

/* An answer is right if it is the last value that this peer got. */
static void judge(struct table *t, struct seat *s, size_t n)
{
	const uint32_t *latest = t->latest[s->e->store];

	s->asked += n;
	for (size_t i = 0; i < n; i++) {
		if (!t->found[i])
			continue;
		s->found++;
		s->r->wrong += t->values[i] != latest[t->frames.asked[i]];
	}
}

/* Every flow once. */
static void fill(struct table *t)
{
	for (uint64_t from = 0; from < t->plan->flows;) {
		uint64_t left = t->plan->flows - from;
		size_t n = left < t->frames.max ? left : t->frames.max;

		frames_fill(&t->frames, from, n, t->latest);
		for (unsigned i = 0; i < t->n; i++) {
			t->seat[i].heap -= heap_now();
			update(t, &t->seat[i], n);
			t->seat[i].heap += heap_now();
		}
		from += n;
	}
}

/* The first is another one each time. */
static void run_round(struct table *t, unsigned number)
{
	size_t n = t->plan->reports;
	size_t part[] = {n, part_of(&(struct entry){.store = 1}, n)};

	frames_draw(&t->frames, n, part, t->latest);
	frames_ask(&t->frames, n);
	for (unsigned i = 0; i < t->n; i++) {
		struct seat *s = &t->seat[(i + number) % t->n];
		size_t mine = part_of(s->e, n);

		s->updates[number] = (double)mine / update(t, s, mine) / 1e6;
		s->lookups[number] = (double)mine / lookup(t, s, mine) / 1e6;
		judge(t, s, mine);
	}
}

static struct rates rates_of(double *v, unsigned n)
{
	double median = bench_median(v, (int)n);

	return (struct rates){median, (v[3 * n / 4] - v[n / 4]) / median};
}

static void rise(struct table *t, struct seat *s)
{
	const struct peer *p = s->e->peer;
	struct result *r = s->r;
	uint64_t bytes = p->bytes ? p->bytes(s->state) : s->heap;

	r->measured = 1;
	r->updates = rates_of(s->updates, t->plan->rounds);
	r->lookups = rates_of(s->lookups, t->plan->rounds);
	r->key_bytes = (double)bytes / (double)t->plan->flows;
	r->found = (double)s->found / (double)s->asked;
	if (p->pages)
		snprintf(r->pages, sizeof(r->pages), "%s", p->pages(s->state));
	p->close(s->state);
}

static void *must(void *p)
{
	if (!p)
		peer_fail("measure", "out of memory");
	return p;
}

static void run_table(struct table *t)
{
	const struct plan_of_run *p = t->plan;
	uint64_t fills = p->flows < CHUNK_MAX ? p->flows : CHUNK_MAX;

	if (!t->n)
		return;
	frames_open(&t->frames, p->flows,
		    fills > p->reports ? fills : p->reports);
	for (unsigned k = 0; k < 2; k++)
		t->latest[k] = must(calloc(p->flows, sizeof(uint32_t)));
	t->values = must(calloc(p->reports, sizeof(*t->values)));
	t->found = must(calloc(p->reports, 1));
	fill(t);
	for (unsigned i = 0; i < p->rounds; i++)
		run_round(t, i);
	for (unsigned i = 0; i < t->n; i++)
		rise(t, &t->seat[i]);
	for (unsigned k = 0; k < 2; k++)
		free(t->latest[k]);
	free(t->values);
	free(t->found);
	frames_close(&t->frames);
}

/* As many at a time as there is memory for. */
void measure(const struct plan_of_run *p, const struct entry *e, unsigned n,
	     struct result *r)
{
	static struct table t;
	unsigned i = 0;

	while (i < n) {
		uint64_t left = memory_left() / 10 * 9, taken = wants_all(p);

		t = (struct table){.plan = p};
		for (; i < n; i++) {
			r[i] = (struct result){0};
			if (refuse(p, &e[i], &r[i]))
				continue;
			taken += wants(p, &e[i]);
			if (t.n && taken > left)
				break;
			sit(&t, &e[i], &r[i]);
		}
		run_table(&t);
	}
}
