/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workload.c - the workloads: rows of the DTA paper's Table 2 (and of its
 * section 6.1, for the three Marple queries). workloads[], at the end, lists
 * their keys, sizes and functions.
 */
#include "sim/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "hash/bytes.h"
#include "net/be.h"

enum {
	SAMPLE_ONE_IN = 16,	 /* trajectory: packets */
	CACHE = 1024,		 /* entries of a counting switch's cache */
	CONGESTED_BYTES = 16384, /* int-congestion: queue depth of an event */
};

#define WINDOW_NS UINT64_C(1000000000) /* marple-lossy: of a loss rate */

static unsigned edge_switch(const struct workload_run *run, const uint8_t *addr,
			    bool v6)
{
	return topo_edge(&run->topology, addr, v6 ? 16 : 4);
}

/* --- reports by primitive ------------------------------------------------ */

static void emit_report(struct workload_run *run, enum dta_opcode opcode,
			bool v6, const void *key, size_t key_len,
			const void *data, size_t len, unsigned reporter,
			uint64_t ts_ns)
{
	struct dta_report r = {.opcode = opcode,
			       .key = key,
			       .key_len = (uint16_t)key_len,
			       .data = data,
			       .data_len = (uint16_t)len};

	run->emit(run->ctx, &r, v6, reporter, ts_ns);
}

static void report_entry(struct workload_run *run, bool v6, uint32_t list,
			 const void *entry, size_t len, unsigned reporter,
			 uint64_t ts_ns)
{
	uint32_t list_be = htobe32(list);

	emit_report(run, DTA_APPEND, v6, &list_be, sizeof(list_be), entry, len,
		    reporter, ts_ns);
}

static void report_addend(struct workload_run *run, bool v6, const void *key,
			  size_t key_len, uint64_t addend, unsigned reporter,
			  uint64_t ts_ns)
{
	uint64_t addend_be = htobe64(addend);

	emit_report(run, DTA_KEYINC, v6, key, key_len, &addend_be,
		    sizeof(addend_be), reporter, ts_ns);
}

static void report_postcard(struct workload_run *run, bool v6, const void *key,
			    size_t key_len, unsigned hop, unsigned path_len,
			    uint32_t value, unsigned reporter, uint64_t ts_ns)
{
	uint32_t value_be = htobe32(value);
	struct dta_report r = {
		.opcode = DTA_POSTCARD,
		.hop = (uint8_t)hop,
		.path_len = run->o.no_path_len ? 0 : (uint8_t)path_len,
		.key = key,
		.key_len = (uint16_t)key_len,
		.data = (uint8_t *)&value_be,
		.data_len = 4,
	};

	run->emit(run->ctx, &r, v6, reporter, ts_ns);
}

/* --- uniform ------------------------------------------------------------- */

/* Random keys, to check the theory and for benchmarks: any kind of report, any
 * type of key. Value: the number of the key, from 0, in the first four bytes,
 * then zeros. A counter is increased by 1 + that number. */

enum {
	UNIFORM_HOPS = 5,
	UNIFORM_VALUES = 262144,  /* postcards: values 1 .. this */
	UNIFORM_VALUE_MAX = 1020, /* bytes */
};

/*
 * Key i. Keys of 4 bytes are all different, for the mix is a bijection of 32
 * bits (Mueller's hash); longer ones are very likely different. The seed goes
 * in twice: before the mix alone, it would only change the order of the keys.
 */
static void make_key(const struct workload_run *run, uint64_t i, uint8_t *key)
{
	uint64_t state = run->o.stream.base ^ rng_mix(i),
		 extra = run->o.stream.extra;
	unsigned len = run->o.key_len;
	uint64_t word;

	if (len == 4) {
		uint32_t x = (uint32_t)i ^ (uint32_t)rng_mix(run->o.seed);

		x = (x >> 16 ^ x) * 0x45d9f3b;
		x = (x ^ (uint32_t)extra) * ((uint32_t)(extra >> 32) | 1);
		x = (x >> 16 ^ x) * 0x45d9f3b;
		be32_store(key, x >> 16 ^ x);
		return;
	}
	for (unsigned at = 0; at < len; at += 8) {
		word = htole64(rng_mix(state += 0x9e3779b97f4a7c15));
		memcpy(key + at, &word, 8); /* key has 7 bytes more than len */
	}
}

static void uniform(struct workload_run *run, const struct traffic_packet *p)
{
	/* The rest of the value stays zeros. */
	uint8_t key[KEY_MAX + 8], *value = run->state;
	size_t len = run->o.value_len;
	uint64_t i = p->id;

	make_key(run, i, key);
	be32_store(value, (uint32_t)i);
	switch (run->o.kind) {
	case DTA_KEYWRITE:
		emit_report(run, DTA_KEYWRITE, false, key, run->o.key_len,
			    value, len, 1, p->ts_ns);
		break;
	case DTA_APPEND:
		report_entry(run, false, (uint32_t)(i % run->o.lists), value,
			     len, 1, p->ts_ns);
		break;
	case DTA_KEYINC:
		report_addend(run, false, key, run->o.key_len, i + 1, 1,
			      p->ts_ns);
		break;
	case DTA_POSTCARD:
		for (unsigned hop = 0; hop < UNIFORM_HOPS; hop++)
			report_postcard(
				run, false, key, run->o.key_len, hop,
				UNIFORM_HOPS,
				1 + (uint32_t)((i + hop) % UNIFORM_VALUES), 1,
				p->ts_ns);
		break;
	}
}

/* --- paths --------------------------------------------------------------- */

/* Value: five switch ids, 0 past the path's end. Reporter: the INT sink. */
static void int_path(struct workload_run *run, const struct traffic_packet *p)
{
	uint8_t value[4 * TOPO_HOPS_MAX] = {0};
	struct topo_path path;

	topo_path(&run->topology, &path, p->key, p->key_len);
	for (unsigned i = 0; i < path.len; i++)
		be32_store(value + 4 * i, path.hop[i].id);
	emit_report(run, DTA_KEYWRITE, p->v6, p->key, p->key_len, value,
		    sizeof(value), path.hop[path.len - 1].id, p->ts_ns);
}

/* Postcards: with --interleave N, N+1 flows at a time send theirs hop by hop,
 * so that N other postcards lie between two of one flow. */
struct postcard_flow {
	struct traffic_packet p;
	struct topo_path path;
};

static void int_postcard_end(struct workload_run *run)
{
	const struct postcard_flow *flow = run->state;

	for (unsigned hop = 0; hop < TOPO_HOPS_MAX; hop++) {
		for (uint64_t i = 0; i < run->interleaved; i++) {
			const struct postcard_flow *c = &flow[i];
			uint32_t id = c->path.hop[hop].id;

			if (hop < c->path.len)
				report_postcard(run, c->p.v6, c->p.key,
						c->p.key_len, hop, c->path.len,
						id, id, c->p.ts_ns);
		}
	}
	run->interleaved = 0;
}

static void int_postcard(struct workload_run *run,
			 const struct traffic_packet *p)
{
	struct postcard_flow *c = (struct postcard_flow *)run->state +
				  run->interleaved++;

	c->p = *p;
	topo_path(&run->topology, &c->path, p->key, p->key_len);
	if (run->interleaved > run->o.interleave)
		int_postcard_end(run);
}

/* Key: switch id and flow. Value: ingress port (2), egress port (2), time of
 * the flow's first packet in microseconds mod 2^32 (4). */
static void packetscope_path(struct workload_run *run,
			     const struct traffic_packet *p)
{
	uint8_t key[4 + KEY_MAX], value[8];
	struct topo_path path;

	topo_path(&run->topology, &path, p->key, p->key_len);
	memcpy(key + 4, p->key, p->key_len);
	be32_store(value + 4, (uint32_t)(p->ts_ns / 1000));
	for (unsigned i = 0; i < path.len; i++) {
		be32_store(key, path.hop[i].id);
		be16_store(value, path.hop[i].in);
		be16_store(value + 2, path.hop[i].out);
		emit_report(run, DTA_KEYWRITE, p->v6, key, 4u + p->key_len,
			    value, sizeof(value), path.hop[i].id, p->ts_ns);
	}
}

/*
 * PINT: each packet carries one byte, a hash of its id and of the id of one
 * switch of its path. Its own id says which switch, so that the collector,
 * which knows packet ids, narrows the path down report by report. "using
 * redundancies for data compression through n = f(pktID)" (Table 2): the number
 * of copies is 1 + f(id) mod 4.
 */
static void pint(struct workload_run *run, const struct traffic_packet *p)
{
	uint64_t f = rng_mix(p->id);
	struct topo_path path;
	uint8_t digest;
	struct dta_report r = {.opcode = DTA_KEYWRITE,
			       .copies = (uint8_t)(1 + f % DTA_MAX_COPIES),
			       .key = p->key,
			       .key_len = p->key_len,
			       .data = &digest,
			       .data_len = 1};

	topo_path(&run->topology, &path, p->key, p->key_len);
	digest = (uint8_t)rng_mix(p->id ^ path.hop[(f >> 32) % path.len].id);
	run->emit(run->ctx, &r, p->v6, path.hop[path.len - 1].id, p->ts_ns);
}

/* Trajectory Sampling: all switches sample the same packets, by a hash of what
 * does not change along the path. Key: 32 bits of that hash. Value (a label):
 * the switch's id in the upper 16 bits, and 16 other bits of the hash. */
static void trajectory(struct workload_run *run, const struct traffic_packet *p)
{
	uint64_t hash = rng_mix(p->id);
	struct topo_path path;
	uint8_t key[4];

	if (hash % SAMPLE_ONE_IN)
		return;
	hash = rng_mix(hash);
	be32_store(key, (uint32_t)(hash >> 32));
	topo_path(&run->topology, &path, p->key, p->key_len);
	for (unsigned i = 0; i < path.len; i++) {
		uint32_t id = path.hop[i].id;

		report_postcard(run, false, key, sizeof(key), i, path.len,
				id << 16 | (hash & 0xffff), id, p->ts_ns);
	}
}

/* --- counters that outgrow a switch -------------------------------------- */

/* Marple's per-host packet counters and TurboFlow's microflows. The switch
 * counts in a direct-mapped cache. When a new key replaces an entry, the
 * entry's count is reported. */
struct cache_entry {
	uint8_t key[KEY_FLOW6_LEN];
	uint8_t key_len;
	bool v6;
	uint16_t reporter;
	uint32_t count;
};

enum {
	CACHE_BYTES = CACHE * sizeof(struct cache_entry),
};

/* Reports the count of a cache entry. With Key-Increment the collector adds it
 * up. With Key-Write it cannot, so the report holds the host's total so far,
 * which the switch's CPU keeps: here, in the flow table. */
static void report_count(struct workload_run *run, const struct cache_entry *e,
			 uint64_t ts_ns)
{
	uint32_t *total, total_be;
	bool fresh;

	if (run->w->kind == DTA_KEYINC) {
		report_addend(run, e->v6, e->key, e->key_len, e->count,
			      e->reporter, ts_ns);
		return;
	}
	total = flow_data(flowtab_get(run->flows, e->key, e->key_len, &fresh));
	*total += e->count;
	total_be = htobe32(*total);
	emit_report(run, DTA_KEYWRITE, e->v6, e->key, e->key_len, &total_be,
		    sizeof(total_be), e->reporter, ts_ns);
}

/* Counts a packet for a key. The reporter is its first switch. */
static void count_key(struct workload_run *run, const struct traffic_packet *p,
		      const uint8_t *key, size_t len)
{
	uint64_t hash = hash_bytes(0xcac4e, key, len);
	struct cache_entry *cache = run->state, *e = &cache[hash % CACHE];

	run->now_ns = p->ts_ns;
	if (e->key_len != len || memcmp(e->key, key, len) != 0) {
		if (e->count)
			report_count(run, e, p->ts_ns);
		*e = (struct cache_entry){.key_len = (uint8_t)len,
					  .v6 = p->v6,
					  .reporter = (uint16_t)edge_switch(
						  run, traffic_src(p), p->v6)};
		memcpy(e->key, key, len);
	}
	e->count++;
}

static void count_host(struct workload_run *run, const struct traffic_packet *p)
{
	count_key(run, p, traffic_src(p), traffic_addr_len(p));
}

static void count_flow(struct workload_run *run, const struct traffic_packet *p)
{
	count_key(run, p, p->key, p->key_len);
}

static void counters_end(struct workload_run *run)
{
	struct cache_entry *cache = run->state;

	for (uint64_t i = 0; i < CACHE; i++) {
		if (cache[i].count)
			report_count(run, &cache[i], run->now_ns);
		cache[i].count = 0;
	}
}

/* --- events of single packets -------------------------------------------- */

/* The queue in front of one link that all packets pass. It grows by each
 * packet's length and drains at the link's rate between packets. */
struct queue {
	uint64_t bits;
	uint64_t last_ns;
	uint64_t rest; /* billionths of a bit that are drained, too */
};

/* Entry: the queue's depth in bytes before a packet, if it is congested. */
static void int_congestion(struct workload_run *run,
			   const struct traffic_packet *p)
{
	struct queue *q = run->state;
	unsigned __int128 drained;
	uint32_t depth_be;
	uint64_t depth;

	if (p->ts_ns > q->last_ns) {
		drained = (unsigned __int128)(p->ts_ns - q->last_ns) *
				  run->o.link_rate +
			  q->rest;
		q->rest = (uint64_t)(drained % 1000000000);
		drained /= 1000000000;
		q->bits = drained < q->bits ? q->bits - (uint64_t)drained : 0;
		q->last_ns = p->ts_ns;
	}
	depth = q->bits / 8;
	q->bits += 8ull * p->ip_len;
	if (depth < CONGESTED_BYTES)
		return;
	depth_be = htobe32(depth > UINT32_MAX ? UINT32_MAX : (uint32_t)depth);
	report_entry(run, false, 0, &depth_be, sizeof(depth_be),
		     edge_switch(run, traffic_dst(p), p->v6), p->ts_ns);
}

/* Sonata's queries. The tuples of query i go to list i. */
static bool query_matches(unsigned query, const struct traffic_packet *p)
{
	bool tcp = p->protocol == NET_PROTO_TCP;

	switch (query) {
	case 0: /* new TCP connections */
		return tcp && (p->tcp_flags & (NET_TCP_SYN | NET_TCP_ACK)) ==
				      NET_TCP_SYN;
	case 1: /* DNS */
		return p->src_port == 53 || p->dst_port == 53;
	case 2: /* SSH, Telnet */
		return tcp && (p->dst_port == 22 || p->dst_port == 23);
	case 3: /* TCP connections that end */
		return tcp && p->tcp_flags & (NET_TCP_FIN | NET_TCP_RST);
	}
	return false;
}

/* Entry: flow (13 or 37), length of the IP packet (2), TCP flags (1). */
static void sonata_raw(struct workload_run *run, const struct traffic_packet *p)
{
	unsigned edge = edge_switch(run, traffic_dst(p), p->v6);
	uint8_t entry[KEY_FLOW6_LEN + 3];

	memcpy(entry, p->key, p->key_len);
	be16_store(entry + p->key_len, p->ip_len & 0xffff);
	entry[p->key_len + 2] = p->tcp_flags;
	for (unsigned query = 0; query < 4; query++)
		if (query_matches(query, p))
			report_entry(run, p->v6, query, entry, p->key_len + 3u,
				     edge, p->ts_ns);
}

/*
 * Each switch of the path sends a summary. Its grouper (a list) is a hash of
 * the flow, so that all summaries of a packet come to the same one. Entry: flow
 * (13 or 37), switch id (4), time in microseconds mod 2^32 (4), IP id (2), IP
 * length (2), TTL (1), TCP flags (1), hop (1).
 */
static void dshark(struct workload_run *run, const struct traffic_packet *p)
{
	uint64_t hash = hash_bytes(0xd54a, p->key, p->key_len);
	uint8_t entry[KEY_FLOW6_LEN + 15], *e = entry + p->key_len;
	struct topo_path path;

	topo_path(&run->topology, &path, p->key, p->key_len);
	memcpy(entry, p->key, p->key_len);
	be32_store(e + 4, (uint32_t)(p->ts_ns / 1000));
	be16_store(e + 8, p->ip_id);
	be16_store(e + 10, p->ip_len & 0xffff);
	e[13] = p->tcp_flags;
	for (unsigned i = 0; i < path.len; i++) {
		be32_store(e, path.hop[i].id);
		e[12] = (uint8_t)(p->ttl > i ? p->ttl - i : 0);
		e[14] = (uint8_t)i;
		report_entry(run, p->v6, (uint32_t)(hash % run->o.lists), entry,
			     p->key_len + 15u, path.hop[i].id, p->ts_ns);
	}
}

/* --- flows: a retransmission tells of a loss ----------------------------- */

enum {
	FLOWLET_LISTS = 16,
	LOSSY_MIN = 5, /* segments of a window; of fewer, no loss rate */
};

/* Lossy flows: list i holds flows with a loss rate of at least this, in %. */
static const unsigned lossy_percent[] = {1, 2, 5, 10, 20, 50};

/* In the flow table: of a TCP flow, of a flow's current flowlet. */
struct tracked {
	struct tcp_flow tcp;
	uint64_t start_ns;	/* of marple-lossy's window */
	uint32_t packets, lost; /* in the window; or lost: timeouts so far */
};

struct flowlet {
	uint64_t last_ns;
	uint32_t packets;
};

static enum tcp_verdict track_flow(struct workload_run *run,
				   const struct traffic_packet *p,
				   struct flow **out)
{
	bool fresh;
	struct flow *f = flowtab_get(run->flows, p->key, p->key_len, &fresh);
	struct tracked *t = flow_data(f);
	enum tcp_verdict verdict = tcp_track(&t->tcp, p);

	run->now_ns = p->ts_ns;
	if (fresh)
		t->start_ns = p->ts_ns;
	if (verdict >= TCP_RETRANSMITTED)
		++*run->retransmissions;
	*out = f;
	return verdict;
}

/* Reports a flow into a list. */
static void append_flow(struct workload_run *run, unsigned list,
			const struct flow *f)
{
	bool v6 = f->key_len == KEY_FLOW6_LEN;

	report_entry(run, v6, list, f->key, f->key_len,
		     edge_switch(run, f->key, v6), run->now_ns);
}

/* List: floor(log2(packets of the flowlet)), at most 15. Entry: the flow. */
static void report_flowlet(void *ctx, struct flow *f)
{
	const struct flowlet *l = flow_data(f);
	unsigned list = 31 - (unsigned)__builtin_clz(l->packets | 1);

	append_flow(ctx, list < FLOWLET_LISTS ? list : FLOWLET_LISTS - 1, f);
}

static void marple_flowlets(struct workload_run *run,
			    const struct traffic_packet *p)
{
	bool fresh;
	struct flow *f = flowtab_get(run->flows, p->key, p->key_len, &fresh);
	struct flowlet *l = flow_data(f);

	run->now_ns = p->ts_ns;
	if (!fresh && p->ts_ns > l->last_ns &&
	    p->ts_ns - l->last_ns > SYNTH_GAP_NS) {
		report_flowlet(run, f);
		l->packets = 0;
	}
	l->packets++;
	l->last_ns = p->ts_ns;
}

/* Value: timeouts of the flow so far. */
static void marple_timeouts(struct workload_run *run,
			    const struct traffic_packet *p)
{
	struct tracked *t;
	uint32_t count_be;
	struct flow *f;

	if (track_flow(run, p, &f) != TCP_TIMED_OUT)
		return;
	t = flow_data(f);
	count_be = htobe32(++t->lost);
	emit_report(run, DTA_KEYWRITE, p->v6, f->key, f->key_len, &count_be,
		    sizeof(count_be), edge_switch(run, f->key, p->v6),
		    p->ts_ns);
}

/* When a window of a flow is over: reports the flow if it is lossy. */
static void report_lossy(void *ctx, struct flow *f)
{
	unsigned list = sizeof(lossy_percent) / sizeof(lossy_percent[0]);
	const struct tracked *t = flow_data(f);

	if (t->packets < LOSSY_MIN)
		return;
	while (list && (uint64_t)t->lost * 100 <
			       (uint64_t)t->packets * lossy_percent[list - 1])
		list--;
	if (list)
		append_flow(ctx, list - 1, f);
}

static void marple_lossy(struct workload_run *run,
			 const struct traffic_packet *p)
{
	struct flow *f;
	enum tcp_verdict verdict = track_flow(run, p, &f);
	struct tracked *t = flow_data(f);

	if (p->ts_ns > t->start_ns && p->ts_ns - t->start_ns > WINDOW_NS) {
		report_lossy(run, f);
		t->start_ns = p->ts_ns;
		t->packets = 0;
		t->lost = 0;
	}
	if (!p->payload)
		return;
	t->packets++;
	t->lost += verdict >= TCP_RETRANSMITTED;
}

/* Entry: flow (13 or 37), how the loss was repaired (1): 1 fast
 * retransmission, 2 timeout; sequence number of the lost segment (4). */
static void netseer_loss(struct workload_run *run,
			 const struct traffic_packet *p)
{
	uint8_t entry[KEY_FLOW6_LEN + 5];
	struct topo_path path;
	struct flow *f;
	enum tcp_verdict verdict = track_flow(run, p, &f);

	if (verdict < TCP_RETRANSMITTED)
		return;
	topo_path(&run->topology, &path, p->key, p->key_len);
	memcpy(entry, p->key, p->key_len);
	entry[p->key_len] = verdict == TCP_TIMED_OUT ? 2 : 1;
	be32_store(entry + p->key_len + 1, p->seq);
	/* Which switch dropped it is not known: any one of the path. */
	report_entry(run, p->v6, 0, entry, p->key_len + 5u,
		     path.hop[rng_mix(p->seq) % path.len].id, p->ts_ns);
}

/* --- all of them -------------------------------------------------------- */

/* clang-format off */
const struct workload workloads[] = {
	{ "int-path", DTA_KEYWRITE, NEEDS_FLOW, true,
	  { KEY_FLOW4, KEY_FLOW6 }, { 20, 20 }, "INT-MD path tracing",
	  int_path },
	{ "int-postcard", DTA_POSTCARD, NEEDS_FLOW, true,
	  { KEY_FLOW4, KEY_FLOW6 }, { 4, 4 }, "INT-XD/MX path measurement",
	  int_postcard, int_postcard_end,
	  .state_len = sizeof(struct postcard_flow) },
	{ "int-congestion", DTA_APPEND, NEEDS_HOST, false,
	  { KEY_U32, KEY_U32 }, { 4, 4 }, "INT congestion events",
	  int_congestion, .state_len = sizeof(struct queue) },
	{ "marple-hosts", DTA_KEYWRITE, NEEDS_HOST, false,
	  { KEY_SRC4, KEY_SRC6 }, { 4, 4 }, "Marple host counters, non-merging",
	  count_host, counters_end, .state_len = CACHE_BYTES,
	  .flow_len = sizeof(uint32_t) },
	{ "marple-hosts-sum", DTA_KEYINC, NEEDS_HOST, false,
	  { KEY_SRC4, KEY_SRC6 }, { 8, 8 }, "Marple host counters, by addition",
	  count_host, counters_end, .state_len = CACHE_BYTES },
	{ "marple-flowlets", DTA_APPEND, NEEDS_FLOW, false,
	  { KEY_U32, KEY_U32 }, { 13, 37 }, "Marple flowlet sizes",
	  marple_flowlets, .flow_len = sizeof(struct flowlet),
	  .on_evict = report_flowlet },
	{ "marple-timeouts", DTA_KEYWRITE, NEEDS_TCP, false,
	  { KEY_FLOW4, KEY_FLOW6 }, { 4, 4 }, "Marple TCP timeouts",
	  marple_timeouts, .flow_len = sizeof(struct tracked) },
	{ "marple-lossy", DTA_APPEND, NEEDS_TCP, false,
	  { KEY_U32, KEY_U32 }, { 13, 37 }, "Marple lossy connections",
	  marple_lossy, .flow_len = sizeof(struct tracked),
	  .on_evict = report_lossy },
	{ "netseer-loss", DTA_APPEND, NEEDS_TCP, false,
	  { KEY_U32, KEY_U32 }, { 18, 42 }, "NetSeer loss events",
	  netseer_loss, .flow_len = sizeof(struct tracked) },
	{ "packetscope-path", DTA_KEYWRITE, NEEDS_FLOW, true,
	  { KEY_HOP4, KEY_HOP6 }, { 8, 8 }, "PacketScope flow troubleshooting",
	  packetscope_path },
	{ "pint", DTA_KEYWRITE, NEEDS_FLOW, false,
	  { KEY_FLOW4, KEY_FLOW6 }, { 1, 1 }, "PINT per-flow queries", pint },
	{ "sonata-raw", DTA_APPEND, NEEDS_FLOW, false,
	  { KEY_U32, KEY_U32 }, { 16, 40 }, "Sonata raw data transfer",
	  sonata_raw },
	{ "trajectory", DTA_POSTCARD, NEEDS_FLOW, false,
	  { KEY_U32, KEY_U32 }, { 4, 4 },
	  "Trajectory Sampling path frequencies", trajectory },
	{ "dshark", DTA_APPEND, NEEDS_FLOW, false,
	  { KEY_U32, KEY_U32 }, { 28, 52 }, "dShark parser-group transfer",
	  dshark },
	{ "turboflow", DTA_KEYINC, NEEDS_FLOW, false,
	  { KEY_FLOW4, KEY_FLOW6 }, { 8, 8 }, "TurboFlow per-flow counters",
	  count_flow, counters_end, .state_len = CACHE_BYTES },
	{ "uniform", DTA_KEYWRITE, NEEDS_NOTHING, true,
	  { KEY_FLOW4, KEY_FLOW4 }, { 4, 4 }, "random keys, for the theory",
	  uniform, .state_len = UNIFORM_VALUE_MAX },
};
/* clang-format on */

const unsigned n_workloads = sizeof(workloads) / sizeof(workloads[0]);

const struct workload *workload_find(const char *name)
{
	for (unsigned i = 0; i < n_workloads; i++)
		if (!strcmp(workloads[i].name, name))
			return &workloads[i];
	return NULL;
}

int workload_start(struct workload_run *run)
{
	const struct workload *w = run->w;
	const struct flowtab_options flows = {
		.max = WORKLOAD_FLOWS,
		.data_len = w->flow_len,
		.seed = run->o.seed,
		.on_evict = w->on_evict,
		.ctx = run,
		.evicted = &run->traffic->evicted,
	};

	if (w->state_len &&
	    !(run->state = calloc(run->o.interleave + 1, w->state_len)))
		return -ENOMEM;
	return w->flow_len ? flowtab_open(&run->flows, &flows) : 0;
}

void workload_end(struct workload_run *run)
{
	if (run->w->end)
		run->w->end(run);
	if (run->w->on_evict)
		flowtab_drain(run->flows);
}

void workload_fini(struct workload_run *run)
{
	flowtab_close(run->flows);
	free(run->state);
	run->flows = NULL;
	run->state = NULL;
}
