/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counters.c - counters that outgrow a switch: Marple's per-host packet
 * counters and TurboFlow's microflows. The switch counts in a
 * direct-mapped cache; what a newcomer pushes out is reported.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workload/private.h"
#include "hash/bytes.h"

/* A direct-mapped cache of counters: what a switch has room for. */
struct cache_entry {
	uint8_t key[KEY_FLOW6_LEN];
	uint8_t key_len;
	bool v6;
	uint16_t reporter;
	uint32_t count;
};

/*
 * Counts one packet for a key. Returns true when another key had to go: *out is
 * what was counted for it.
 */
static bool cache_count(struct workload_run *g, const uint8_t *key, size_t len,
			bool v6, unsigned reporter, struct cache_entry *out)
{
	uint64_t hash = hash_bytes(0xcac4e, key, len);
	struct cache_entry *cache = g->state, *e = &cache[hash % g->o.cache];
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
static void report_total(struct workload_run *g, const struct cache_entry *e,
			 uint64_t ts_ns)
{
	uint32_t *total, total_be;
	bool fresh;

	total = flow_data(flowtab_get(g->flows, e->key, e->key_len, &fresh));
	*total += e->count;
	total_be = htobe32(*total);
	work_keywrite(g, e->v6, e->key, e->key_len, &total_be, sizeof(total_be),
		      e->reporter, ts_ns);
}

static void report_sum(struct workload_run *g, const struct cache_entry *e,
		       uint64_t ts_ns)
{
	work_keyinc(g, e->v6, e->key, e->key_len, e->count, e->reporter, ts_ns);
}

static void count_host(struct workload_run *g, const struct traffic_packet *p,
		       void (*report)(struct workload_run *,
				      const struct cache_entry *, uint64_t))
{
	const uint8_t *src = traffic_src(p);
	size_t len = traffic_addr_len(p);
	struct cache_entry old;

	g->now_ns = p->ts_ns;
	if (cache_count(g, src, len, p->v6, topo_edge(&g->topology, src, len),
			&old))
		report(g, &old, p->ts_ns);
}

static void drain(struct workload_run *g,
		  void (*report)(struct workload_run *,
				 const struct cache_entry *, uint64_t))
{
	struct cache_entry *cache = g->state;

	for (uint64_t i = 0; i < g->o.cache; i++) {
		if (cache[i].count)
			report(g, &cache[i], g->now_ns);
		cache[i].count = 0;
	}
}

int work_counters_start(struct workload_run *g)
{
	g->state = calloc(g->o.cache, sizeof(struct cache_entry));
	return g->state ? 0 : -ENOMEM;
}

int work_marple_hosts_start(struct workload_run *g)
{
	struct flowtab_options o = {
		.max = g->o.max_flows,
		.data_len = sizeof(uint32_t), /* the total */
		.seed = g->o.seed,
		.evicted = &g->traffic->evicted,
	};
	int rc = work_counters_start(g);

	return rc < 0 ? rc : flowtab_open(&g->flows, &o);
}

void work_marple_hosts(struct workload_run *g, const struct traffic_packet *p)
{
	count_host(g, p, report_total);
}

void work_marple_hosts_end(struct workload_run *g)
{
	drain(g, report_total);
}

void work_marple_hosts_sum(struct workload_run *g,
			   const struct traffic_packet *p)
{
	count_host(g, p, report_sum);
}

void work_turboflow(struct workload_run *g, const struct traffic_packet *p)
{
	struct cache_entry old;

	g->now_ns = p->ts_ns;
	if (cache_count(g, p->key, p->key_len, p->v6,
			topo_edge(&g->topology, traffic_src(p),
				  traffic_addr_len(p)),
			&old))
		report_sum(g, &old, p->ts_ns);
}

void work_counters_end(struct workload_run *g)
{
	drain(g, report_sum);
}
