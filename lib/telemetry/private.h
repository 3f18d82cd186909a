/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * private.h - the sink's state, and what its files share. In reading order:
 * hops.c (the hops of a record, and the hops that a flow keeps), ingest.c (a
 * record's values are compared with what was reported before, and counted),
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
	LAYOUTS_KEPT = 64, /* layouts that are kept made ready */
	LINE = 64,	   /* bytes */
	REMOTE_AHEAD = 16, /* lines that were another core's are asked for */
};

enum {
	SHUFFLE_ZERO = 0x80, /* in a list: this byte is 0 */
	SHUFFLE_BYTES = 64,
	SHUFFLE_ONE = 24, /* not of the values, but of words that are 1: the
			  second of two vectors, be they of 8 words or of 16 */
};

struct shuffle {
	uint8_t from[SHUFFLE_BYTES]; /* byte of the hop, below 64 */
	uint64_t set;		     /* bits: of the bytes that are not 0 */
} __attribute__((aligned(64)));

/* What values by metric are to meters, {latest, n, sum} of 4 words each. */
struct shuffle_meters {
	uint32_t from[16]; /* by word: the metric, or SHUFFLE_ONE */
	uint16_t set;	   /* bits: words that are a value, the rest are 0 */
	uint16_t keep;	   /* those that are added to: all but the latest */
} __attribute__((aligned(64)));

struct simd_layout {
	struct shuffle ids;	/* as struct hop_key begins: node, id[] */
	struct shuffle metrics; /* words, by metric */
	struct shuffle_meters hop, wide; /* struct flow_hop, struct flow_wide */
	uint32_t absent[8];		 /* of ids: ones where there is none */
	uint64_t bytes;			 /* bits: the bytes of a hop */
	uint16_t words;	 /* bits: those that must not be all ones */
	uint8_t present; /* bits: metrics */
	uint8_t metrics_n;
	bool usable;
} __attribute__((aligned(64)));

/* Vectors are loaded where they are. */
_Static_assert(offsetof(struct simd_layout, absent) % 32 == 0, "not aligned");

void simd_layout_make(struct simd_layout *p, const struct fields *f);

/* A layout made ready. */
struct ready_layout {
	struct fields fields;
	struct simd_layout simd;
};

/* Those of stacks that were met, and the one that was met last; of a reporter's
 * own metadata the last one. */
struct layout_cache {
	struct ready_layout layout[LAYOUTS_KEPT];
	struct fields own;
	const struct ready_layout *latest; /* of layout[] */
};

/* Two metrics of queues, links and buffers that a hop tells, where these are
 * kept by others than flows (int_collector.c). */
struct remote_hop {
	uint32_t record; /* its number in the batch */
	uint32_t what;	 /* remote_hop_what() */
	uint32_t value[2];
};

/* Its place, of the flows' sink; the first of the metrics; which are told. */
static inline uint32_t remote_hop_what(uint32_t place, unsigned metric,
				       unsigned told)
{
	return place << 8 | metric << 4 | told;
}

/* Of a batch, for one who keeps them. */
struct remote_hops {
	struct remote_hop *hop;
	size_t n, room; /* room: for one more than n, always */
};

struct telemetry {
	struct telemetry_options o;
	struct remote_hops *far; /* by who keeps them; NULL: they are here */
	uint32_t record;	 /* number of the record in hand */
	struct threshold all[METRIC_NUMBERS], end[METRIC_ENDS];
	unsigned ends; /* of end[], those that are watched: 1 << each */
	struct node_threshold *node_threshold;
	unsigned node_thresholds;
	uint32_t generation; /* of thresholds; 0 is none */

	struct flows flows;
	struct objects objects;
	struct paths paths;
	struct dists dists;
	struct losses losses;
	struct key_table states;
	struct telemetry_rows rows;
	struct dist *none; /* for what has no distribution: counts only */
	bool vector;	   /* vector.c takes most records */

	uint64_t now_ns, keep_ns; /* it is; when to look after things next */
	uint64_t settled_ns;	  /* when silent reporters were looked for */
	struct sweep push_flows, push_objects;
	struct telemetry_ledger ledger;

	struct layout_cache layouts;
	struct flow_hop scratch_hop; /* of hops that are not kept */
	struct flow_wide scratch_wide;
};

/* A number as a metric's value. */
static inline uint32_t value_of(struct telemetry *t, uint64_t number)
{
	if (number <= UINT32_MAX)
		return (uint32_t)number;
	t->ledger.saturated++;
	return UINT32_MAX;
}

/* hops.c */

/*
 * The hops of a record in the order of the path: first those of the stack,
 * which has its last node first, then the reporter's own.
 */
struct record_hops {
	const struct int_record *v;
	const struct fields *stack, *own; /* NULL: there is none */
	unsigned n, stacked;		  /* hops, and those of the stack */
	uint64_t reporter;		  /* NODE_UNKNOWN: not told */
};

void record_hops_make(struct layout_cache *ps, struct record_hops *vh,
		      const struct int_record *v);

static inline const struct fields *
record_hop_fields(const struct record_hops *vh, unsigned i)
{
	return i < vh->stacked ? vh->stack : vh->own;
}

static inline const uint8_t *record_hop(const struct record_hops *vh,
					unsigned i)
{
	return i < vh->stacked ? int_hop(&vh->v->stack, vh->stacked - 1 - i)
			       : int_hop(&vh->v->own, 0);
}

/* The node of hop i; a reporter may be told by its report only. */
uint64_t record_hop_node(const struct record_hops *vh, unsigned i);

/* Where hop i was: its place's number, or 0. */
uint32_t record_hop_key(struct telemetry *t, const struct record_hops *vh,
			unsigned i);

/* Whether hop i was at a place. */
bool record_hop_is_at(const struct record_hops *vh, unsigned i,
		      const struct hop_key *p);

/*
 * Latencies by time stamps, for nodes that do not tell them: of hop i, and from
 * end to end. Clocks wrap: differences are modulo their bits, and above half of
 * that below 0, which is counted. False: there is none.
 */
bool record_hop_latency(struct telemetry *t, const struct record_hops *vh,
			unsigned i, uint64_t *ns);
bool record_path_latency(struct telemetry *t, const struct record_hops *vh,
			 uint64_t *ns);

/* The whole path of a packet: hop i of the record is the flow's hop i then, if
 * that is kept, and where it was is its place. */
void track_path(struct telemetry *t, struct flow_entry *f,
		const struct record_hops *vh);

/* Of a part of a path: the number of the flow's hop of the node of hop i; it is
 * -1 if there is no room. */
int track_hop(struct telemetry *t, struct flow_entry *f,
	      const struct record_hops *vh, unsigned i);

/* The number of a path, with its distribution if it is new; 0: no room. */
uint32_t track_path_of(struct telemetry *t, struct nodes now);

/* Its distributions begin with a node's first values. */
void track_dist(struct telemetry *t, struct node *n, enum metric m);

/* ingest.c: values that may be events. Slow: looked for only outside a watch's
 * range. */

/* Of a flow's hop at a place. f NULL: the hop is kept nowhere, no event. */
void value_latency(struct telemetry *t, struct flow_entry *f,
		   struct flow_hop *h, uint32_t v);

/* The hop that knows what was told of a hop's flow and node: of a node that is
 * twice on the path, and so has values that are outside each time, the one that
 * told first. */
struct flow_hop *value_key(const struct telemetry *t, struct flow_entry *f,
			   struct flow_hop *h);

/* Of a queue, a link or a buffer, which is returned; objects.h: `unplaced` if
 * there is no room for it, `nothing` if its node is not known. */
struct port_state *value_object(struct telemetry *t, uint64_t ts_ns,
				struct hop_key *p, enum metric m, uint32_t v);

static inline void value_add(struct telemetry *t, uint64_t ts_ns,
			     struct hop_key *p, enum metric m, uint32_t v)
{
	struct port_state *o = p->object[m - 1];

	if (threshold_outside(&o->watch, v))
		o = value_object(t, ts_ns, p, m, v);
	o->latest = v;
	o->last_ns = ts_ns;
}

/* No memory: the sink's error. */
bool value_remote_room(struct telemetry *t, struct remote_hops *l);

/* The same of two metrics, if they are told, by who keeps them. */
static inline void value_add_remote(struct telemetry *t,
				    const struct hop_key *p, unsigned m,
				    unsigned told, const uint32_t v[2])
{
	struct remote_hops *l = &t->far[p->node->owner];
	struct remote_hop *h;

	if (__builtin_expect(l->n + 1 >= l->room, 0) &&
	    !value_remote_room(t, l))
		return;
	h = &l->hop[l->n++];
	__builtin_prefetch(h + REMOTE_AHEAD, 1);
	h->record = t->record;
	h->what = remote_hop_what((uint32_t)(p - t->objects.place), m, told);
	memcpy(h->value, v, sizeof(h->value));
}

/* hash: of its key, if it has one. */
void ingest_record(struct telemetry *t, const struct int_record *v,
		   uint64_t hash);

/* Some of them, with their hashes; and their numbers (struct telemetry), or
 * NULL. */
void ingest_records(struct telemetry *t, const struct int_record *v, size_t n,
		    const uint64_t *hash, const uint32_t *number);

/* What hops of another sink told of a queue, a link or a buffer at a place. */
static inline void ingest_remote_hop(struct telemetry *t,
				     const struct remote_hop *h,
				     struct hop_key *p, uint64_t ts_ns)
{
	unsigned m = h->what >> 4 & 15;

	if (h->what & 1)
		value_add(t, ts_ns, p, (enum metric)m, h->value[0]);
	if (h->what & 2)
		value_add(t, ts_ns, p, (enum metric)(m + 1), h->value[1]);
}

/* An opaque snapshot, of hop i. */
void ingest_snapshot(struct telemetry *t, const struct int_record *v,
		     unsigned i);

/* Distributions of one are added to the other's. */
void merge_distributions(struct telemetry *to, const struct telemetry *from);

/* telemetry_add_numbers(); and what a reporter's numbers have shown. */
void ingest_report_numbers(struct telemetry *t, uint64_t ts_ns,
			   const struct int_from *from, uint32_t n);
void ingest_loss_change(struct telemetry *t, const struct reporter_state *r,
			const struct loss_change *news, uint64_t ts_ns);

/* vector.c */

/* Whether this CPU can do it. */
bool vector_is_supported(void);

/*
 * A record without metadata of its reporter, by its stack's SIMD
 * layout: if all hops are where they were it is taken, and the sum of the hops'
 * latencies, if the layout has them, is *latency; to count the values is left
 * to the caller. False: nothing was done.
 */
bool vector_ingest(struct telemetry *t, struct flow_entry *f,
		   const struct int_record *v, const struct simd_layout *p,
		   uint64_t *latency);

/* sink.c */

/* A node is new: its thresholds, and no distributions. */
void events_node(struct telemetry *t, struct node *n);

/* Of a flow, by its last packet. */
static inline struct telemetry_event
telemetry_event_of_flow(const struct flow_entry *f, enum metric m)
{
	struct telemetry_event what = telemetry_event_none;

	what.ts_ns = f->last_ns;
	what.metric = (int8_t)m;
	what.key = f->key;
	what.key_len = f->key_len;
	return what;
}

/* Of a queue, a link or a buffer. */
static inline void telemetry_event_set_port(struct telemetry_event *what,
					    const struct port_state *o)
{
	bool buffer = o->metric == METRIC_BUFFER_OCCUPANCY;

	what->metric = (int8_t)o->metric;
	what->node = o->node->id;
	what->egress = o->egress;
	*(buffer ? &what->buffer : &what->queue) = o->id;
}

/* Counts an event and tells it, if it is of those that are told. */
void telemetry_event_put(struct telemetry *t, enum telemetry_kind kind,
			 struct telemetry_event *what);

/* A value outside its watch's range: told if it is one event or several. what
 * says whose it is. Returns the key's new flags. */
unsigned telemetry_event_check(struct telemetry *t, struct threshold_state *w,
			       unsigned flags, const struct threshold *th,
			       uint32_t v, struct telemetry_event *what);

/* The thresholds of a flow's watches are others since they were made. */
void events_renew(struct telemetry *t, struct flow_entry *f);

#endif
