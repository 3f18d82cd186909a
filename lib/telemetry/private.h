/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * private.h - the sink's state, and what its files share. In reading order:
 * hops.c (the hops of a record, and the hops that a flow keeps), ingest.c
 * (compares a record's values with what was reported before, and counts them),
 * vector.c (the same by AVX-512, for most records), sink.c (events, periodic
 * values, distributions, and the rest of sink.h).
 */
#ifndef TELEMETRY_PRIVATE_H
#define TELEMETRY_PRIVATE_H

#include <string.h>

#include "telemetry/rows.h"
#include "telemetry/flows.h"
#include "telemetry/objects.h"
#include "telemetry/sink.h"

enum {
	LAYOUTS_KEPT = 64,
	LINE = 64,	   /* bytes of a cache line */
	REMOTE_AHEAD = 16, /* remote hops that are prefetched to be written */
};

enum {
	SHUFFLE_BYTES = 64,
	SHUFFLE_ONE = 24, /* in shuffle_meters.from: the number 1; this index is
			   of the second of two vectors, of 8 words or 16 */
};

struct shuffle {
	uint8_t from[SHUFFLE_BYTES]; /* offset in the hop, by byte of a vector
				      */
	uint64_t set;		     /* bits: bytes to gather; the rest are 0 */
} __attribute__((aligned(64)));

/* Makes meters, {latest, n, sum} of 4 words each, of values by metric. */
struct shuffle_meters {
	uint32_t from[16]; /* by word: the metric, or SHUFFLE_ONE */
	uint16_t set;	   /* bits: words to gather; the rest are 0 */
	uint16_t keep;	   /* bits: words to add to; the rest are replaced */
} __attribute__((aligned(64)));

struct simd_layout {
	struct shuffle ids;	/* as struct hop_key begins: node, id[] */
	struct shuffle metrics; /* words, by metric */
	struct shuffle_meters hop, rare; /* struct flow_hop, struct flow_rare */
	uint32_t absent[8];		 /* all ones: ids that it lacks */
	uint64_t bytes;			 /* bits: the bytes of a hop */
	uint16_t words;	 /* bits: words of a hop that must not be all ones */
	uint8_t present; /* bits: metrics */
	uint8_t metrics_n;
	bool usable;
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct simd_layout, absent) % 32 == 0, "not aligned");

void simd_layout_init(struct simd_layout *p, const struct hop_fields *f);

struct ready_layout {
	struct hop_fields fields;
	struct simd_layout simd;
};

/* The layouts of stacks, by hash, and the one that was used last; of reporters'
 * own metadata only the last one. */
struct layout_cache {
	struct ready_layout layout[LAYOUTS_KEPT];
	struct hop_fields own;
	const struct ready_layout *latest; /* of layout[] */
};

/* What a hop reports of two metrics of queues, links and buffers, for another
 * sink that keeps these (int_collector.c). */
struct remote_hop {
	uint32_t record; /* its number in the batch */
	uint32_t packed; /* remote_hop_pack() */
	uint32_t value[2];
};

/* hop_key: its number in the sink that packs it; told: bits, which of the two.
 */
static inline uint32_t remote_hop_pack(uint32_t hop_key, unsigned metric,
				       unsigned told)
{
	return hop_key << 8 | metric << 4 | told;
}

/* Those of a batch, for one owner. */
struct remote_hops {
	struct remote_hop *hop;
	size_t n, room; /* there is always room for one more than n */
};

struct telemetry {
	struct telemetry_options o;
	struct remote_hops *remote; /* by owner; NULL: this sink keeps ports */
	uint32_t record; /* number of the current record, for remote hops */
	struct threshold all[NUMERIC_METRICS], end[END_METRICS];
	unsigned ends_watched; /* bits: of end[] */
	struct node_threshold *node_threshold;
	unsigned node_thresholds;
	uint8_t generation; /* of thresholds: 1 to 255, then 1 again */

	struct flows flows;
	struct objects objects;
	struct paths paths;
	struct dists dists;
	struct losses losses;
	struct key_table snapshots;
	struct telemetry_rows rows;
	struct dist *dist_none; /* counts samples that have no distribution */
	bool vector;		/* use vector.c where it can be used */

	uint64_t now_ns, upkeep_ns; /* packet time; of the next upkeep */
	uint64_t settled_ns; /* when silent reporters were last looked for */
	struct sweep flows_sweep, ports_sweep; /* to push live values */
	struct telemetry_ledger ledger;

	struct layout_cache layouts;
	struct flow_hop scratch_hop; /* of hops that are not kept */
	struct flow_rare scratch_rare;
};

/* A number as a metric's value of 32 bits. */
static inline uint32_t value_of(struct telemetry *t, uint64_t number)
{
	if (number <= UINT32_MAX)
		return (uint32_t)number;
	t->ledger.saturated++;
	return UINT32_MAX;
}

/* hops.c */

/* The hops of a record in the order of the path: first those of the stack,
 * which has its last node first, then the reporter's own. */
struct record_hops {
	const struct int_record *v;
	const struct hop_fields *stack, *own; /* NULL: there is none */
	unsigned n, stacked;		      /* all hops; those of the stack */
	uint64_t reporter; /* the node that reports, or NODE_UNKNOWN */
};

void record_hops_init(struct layout_cache *cache, struct record_hops *rh,
		      const struct int_record *v);

static inline const struct hop_fields *
record_hop_fields(const struct record_hops *rh, unsigned i)
{
	return i < rh->stacked ? rh->stack : rh->own;
}

static inline const uint8_t *record_hop(const struct record_hops *rh,
					unsigned i)
{
	return i < rh->stacked ? int_hop(&rh->v->stack, rh->stacked - 1 - i)
			       : int_hop(&rh->v->own, 0);
}

/* The node of hop i; a reporter's may be in the report's header only. */
uint64_t record_hop_node(const struct record_hops *rh, unsigned i);

/* Finds or adds the hop key of hop i. Returns its number, or 0. */
uint32_t record_hop_key(struct telemetry *t, const struct record_hops *rh,
			unsigned i);

/* Whether this is the hop key of hop i. */
bool record_hop_is_at(const struct record_hops *rh, unsigned i,
		      const struct hop_key *p);

/* Latencies by time stamps, for nodes that report none: of hop i, and from end
 * to end. Clocks wrap: a difference above half of their range is negative, and
 * is counted as skewed. False: there is no latency. */
bool record_hop_latency(struct telemetry *t, const struct record_hops *rh,
			unsigned i, uint64_t *ns);
bool record_path_latency(struct telemetry *t, const struct record_hops *rh,
			 uint64_t *ns);

/* Makes the record's path that of the flow: hop i of the one is hop i of the
 * other, as far as hops are kept, with the same hop key. */
void track_path(struct telemetry *t, struct flow_entry *f,
		const struct record_hops *rh);

/* For a record of a part of the path: finds or adds the flow's hop for the node
 * of hop i. Returns its number; -1: there is no room. */
int track_hop(struct telemetry *t, struct flow_entry *f,
	      const struct record_hops *rh, unsigned i);

/* Finds or adds a path, and its distribution; 0: there is no room. */
uint32_t path_number(struct telemetry *t, struct nodes now);

/* Gives a node its distribution of a metric, when the first value comes. */
void track_dist(struct telemetry *t, struct node *n, enum metric m);

/* ingest.c: values outside a threshold state's range, which may be events. */

/* The latency of a flow's hop. f NULL: the hop is not kept, so no event. */
void hop_check_latency(struct telemetry *t, struct flow_entry *f,
		       struct flow_hop *h, uint32_t v);

/* The hop whose threshold state holds for the flow and h's node: h, or if the
 * node is twice on the path, the one that had the first value. */
struct flow_hop *watching_hop(const struct telemetry *t, struct flow_entry *f,
			      struct flow_hop *h);

/* A value of a queue, a link or a buffer, whose state is returned. It is a
 * stand-in (objects.h) if there is no room, or the node is not known. */
struct port_state *port_check(struct telemetry *t, uint64_t ts_ns,
			      struct hop_key *p, enum metric m, uint32_t v);

static inline void port_add(struct telemetry *t, uint64_t ts_ns,
			    struct hop_key *p, enum metric m, uint32_t v)
{
	struct port_state *o = p->port[m - 1];

	if (threshold_outside(&o->watch, v))
		o = port_check(t, ts_ns, p, m, v);
	o->latest = v;
	o->last_ns = ts_ns;
}

/* False: no memory, which is the sink's error then. */
bool remote_hops_grow(struct telemetry *t, struct remote_hops *l);

/* Leaves the values of metrics m and m + 1 to the owner of the hop's node. told
 * as in remote_hop_pack(). */
static inline void remote_add(struct telemetry *t, const struct hop_key *p,
			      unsigned m, unsigned told, const uint32_t v[2])
{
	struct remote_hops *l = &t->remote[p->node->owner];
	struct remote_hop *h;

	if (__builtin_expect(l->n + 1 >= l->room, 0) && !remote_hops_grow(t, l))
		return;
	h = &l->hop[l->n++];
	__builtin_prefetch(h + REMOTE_AHEAD, 1);
	h->record = t->record;
	h->packed = remote_hop_pack((uint32_t)(p - t->objects.hop_key), m,
				    told);
	memcpy(h->value, v, sizeof(h->value));
}

/* hash: of its key, if it has one. */
void ingest_record(struct telemetry *t, const struct int_record *v,
		   uint64_t hash);

/* n records, with the hashes of their keys. number: what telemetry.record is to
 * be for each, or NULL. */
void ingest_records(struct telemetry *t, const struct int_record *v, size_t n,
		    const uint64_t *hash, const uint32_t *number);

/* What another sink left with remote_add(); p: the hop key in this one. */
static inline void ingest_remote_hop(struct telemetry *t,
				     const struct remote_hop *h,
				     struct hop_key *p, uint64_t ts_ns)
{
	unsigned m = h->packed >> 4 & 15;

	if (h->packed & 1)
		port_add(t, ts_ns, p, (enum metric)m, h->value[0]);
	if (h->packed & 2)
		port_add(t, ts_ns, p, (enum metric)(m + 1), h->value[1]);
}

/* The opaque state snapshot of hop i. */
void ingest_snapshot(struct telemetry *t, const struct int_record *v,
		     unsigned i);

/* Moves all samples of one sink's distributions to the other's. */
void merge_distributions(struct telemetry *to, const struct telemetry *from);

/* As telemetry_add_numbers(). */
void ingest_report_numbers(struct telemetry *t, uint64_t ts_ns,
			   const struct int_from *from, uint32_t n);
/* Counts, and tells as events, what a reporter's numbers have shown. */
void ingest_loss_change(struct telemetry *t, const struct reporter_state *r,
			const struct loss_change *news, uint64_t ts_ns);

/* vector.c */

/* Whether this CPU has the instructions. */
bool vector_is_supported(void);

/*
 * Takes a record without metadata of its reporter; p is the layout of its
 * stack. *latency is the sum of the hops' latencies, if the layout has them.
 * The caller counts the values. False: a hop key is not the flow's, or a word
 * is all ones; nothing was done.
 */
bool vector_ingest(struct telemetry *t, struct flow_entry *f,
		   const struct int_record *v, const struct simd_layout *p,
		   uint64_t *latency);

/* sink.c */

/* Sets thresholds and owner of a new node; it has no distributions yet. */
void node_init(struct telemetry *t, struct node *n);

/* An event at the time of a flow's last record. */
static inline struct telemetry_event
telemetry_event_of_flow(const struct flow_entry *f, enum metric m)
{
	struct telemetry_event event = telemetry_event_none;

	event.ts_ns = f->last_ns;
	event.metric = (int8_t)m;
	event.key = f->key;
	event.key_len = f->key_len;
	return event;
}

/* Says of which queue, link or buffer the event is. */
static inline void telemetry_event_set_port(struct telemetry_event *event,
					    const struct port_state *o)
{
	bool buffer = o->metric == METRIC_BUFFER_OCCUPANCY;

	event->metric = (int8_t)o->metric;
	event->node = o->node->id;
	event->egress = o->egress;
	*(buffer ? &event->buffer : &event->queue) = o->id;
}

/* Counts an event, and makes a row of it if options.kinds has its kind. */
void telemetry_event_put(struct telemetry *t, enum telemetry_event_kind kind,
			 struct telemetry_event *event);

/* For a value outside w's range: puts the events that it is, none or more.
 * event has time and key. Returns the key's new flags. */
unsigned telemetry_event_check(struct telemetry *t, struct threshold_state *w,
			       unsigned flags, const struct threshold *th,
			       uint32_t v, struct telemetry_event *event);

/* Adapts the threshold states of a flow to thresholds that were set since. */
void flow_renew_thresholds(struct telemetry *t, struct flow_entry *f);

#endif
