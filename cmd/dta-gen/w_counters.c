/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * w_counters.c - counters that outgrow a switch: Marple's per-host packet
 * counters and TurboFlow's microflows. The switch counts in a
 * direct-mapped cache; what a newcomer pushes out is reported.
 */
#include <errno.h>
#include <stdlib.h>

#include "gen.h"

static int cache_open(struct gen *g)
{
	g->cache.n = g->o.cache;
	g->cache.e = calloc(g->cache.n, sizeof(*g->cache.e));
	return g->cache.e ? 0 : -ENOMEM;
}

/*
 * Counts one packet for a key. Returns true when another key had to go: *out is
 * what was counted for it.
 */
static bool cache_count(struct gen *g, const uint8_t *key, size_t len, bool v6,
			unsigned reporter, struct cache_entry *out)
{
	uint64_t hash = hash_bytes(0xcac4e, key, len);
	struct cache_entry *e = &g->cache.e[hash % g->cache.n];
	bool same = e->key_len == len && !memcmp(e->key, key, len);
	bool pushed = e->count && !same;

	if (pushed)
		*out = *e;
	if (!same) {
		memcpy(e->key, key, len);
		e->key_len = (uint8_t)len;
		e->v6 = v6;
		e->reporter = (uint16_t)reporter;
		e->count = 0;
	}
	e->count++;
	return pushed;
}

/*
 * Non-merging: the collector cannot add, so the report holds the host's total
 * so far, which the switch's CPU keeps (in the flow table).
 */
static void report_total(struct gen *g, const struct cache_entry *e,
			 uint64_t ts_ns)
{
	uint32_t total_be;
	struct flow *host;
	bool fresh;

	host = flowtab_get(g->flows, e->key, e->key_len, &fresh);
	host->packets += e->count;
	total_be = htobe32(host->packets);
	emit_keywrite(g, e->v6, e->key, e->key_len, &total_be, sizeof(total_be),
		      e->reporter, ts_ns);
}

static void report_sum(struct gen *g, const struct cache_entry *e,
		       uint64_t ts_ns)
{
	emit_keyinc(g, e->v6, e->key, e->key_len, e->count, e->reporter, ts_ns);
}

static void count_host(struct gen *g, const struct gen_packet *p,
		       void (*report)(struct gen *, const struct cache_entry *,
				      uint64_t))
{
	const uint8_t *src = packet_src(p);
	size_t len = packet_addr_len(p);
	struct cache_entry old;

	g->now_ns = p->ts_ns;
	if (cache_count(g, src, len, p->v6, tree_edge(&g->tree, src, len),
			&old))
		report(g, &old, p->ts_ns);
}

static void drain(struct gen *g,
		  void (*report)(struct gen *, const struct cache_entry *,
				 uint64_t))
{
	for (uint64_t i = 0; i < g->cache.n; i++) {
		if (g->cache.e[i].count)
			report(g, &g->cache.e[i], g->now_ns);
		g->cache.e[i].count = 0;
	}
}

int counters_start(struct gen *g)
{
	return cache_open(g);
}

int marple_hosts_start(struct gen *g)
{
	int rc = cache_open(g);

	if (rc < 0)
		return rc;
	rc = flowtab_open(&g->flows, g->o.max_flows, g->o.seed);
	if (rc == 0)
		flowtab_on_evict(g->flows, NULL, g);
	return rc;
}

void marple_hosts(struct gen *g, const struct gen_packet *p)
{
	count_host(g, p, report_total);
}

void marple_hosts_end(struct gen *g)
{
	drain(g, report_total);
}

void marple_hosts_sum(struct gen *g, const struct gen_packet *p)
{
	count_host(g, p, report_sum);
}

void turboflow(struct gen *g, const struct gen_packet *p)
{
	struct cache_entry old;

	g->now_ns = p->ts_ns;
	if (cache_count(g, p->key, p->key_len, p->v6,
			tree_edge(&g->tree, packet_src(p), packet_addr_len(p)),
			&old))
		report_sum(g, &old, p->ts_ns);
}

void counters_end(struct gen *g)
{
	drain(g, report_sum);
}
