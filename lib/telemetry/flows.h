/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flows.h - the flow cache, as in "SmartNIC platform", section III-B: rows of
 * buckets. A hash of the flow's key picks the row; when all buckets of the row
 * are taken, the flow that was updated least recently is evicted. A bucket
 * holds the number of an entry; the flow used last is in the first one. Entries
 * are taken one after the other, so that few flows touch little memory.
 *
 * Memory: 8 bytes a bucket; and for each entry that was ever in use 128 bytes,
 * and 96 for each of options.hops: 704 for 6. Flows of more hops take blocks of
 * 8 hops (832 bytes) from a bounded number of them. All is reserved at the
 * beginning, and touched when it is first used. End-to-end metrics beside the
 * latency take 80 bytes more of each entry, once a threshold wants them.
 *
 * Flows in: created = live + evicted + expired + flushed.
 */
#ifndef TELEMETRY_FLOWS_H
#define TELEMETRY_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/area.h"
#include "base/ledger.h"
#include "hash/bytes.h"
#include "net/proto.h"
#include "telemetry/objects.h"

/*
 * Reports that did not come: gaps in the sequence numbers of a reporter. A
 * reporter is a node and its hardware id. Telemetry report 2.0 numbers the
 * reports of each such pair and destination, and this collector is one
 * destination; for 0.5 and 1.0 the pair is taken, too. A report 0.5 without a
 * drop or local header names no node: its number is not looked at.
 *
 * Numbers have 22 bits (2.0) or 32 (0.5, 1.0) and wrap. One up to LOSS_AHEAD
 * ahead of the highest leaves a gap; one less than LOSS_WINDOW behind it is
 * late; any other is suspect, and counts only if the number after it comes next
 * (RFC 3550, appendix A.1). Then it leaves a gap if it is ahead by less than
 * half of all numbers (RFC 1982), is not below LOSS_WINDOW, and no number of
 * the old sequence came meanwhile; else the reporter has restarted. A missing
 * number is lost when it is LOSS_WINDOW behind the highest.
 */

enum {
	LOSS_WINDOW = 256,
	LOSS_AHEAD = 1 << 16,
};

struct reporter_state {
	uint32_t node;
	uint8_t hw_id;		    /* the last byte of the table's key */
	uint8_t bits;		    /* of its numbers; 0: no reporter */
	bool heard;		    /* there was a number */
	uint16_t missing;	    /* bits of received that are 0 */
	uint32_t last;		    /* the highest number */
	uint32_t last_at_suspicion; /* last, when a suspect number came */
	uint32_t gap_from; /* first of the lost numbers at the window's end */
	uint64_t gap;	   /* how many they are */
	uint64_t expected; /* the number after a suspect one */
	uint64_t heard_ns;
	uint64_t received[LOSS_WINDOW / 64]; /* a bit for each of the latest
						numbers, by its remainder */
};

/* What a number has shown; all fields may be set at once. */
struct loss_change {
	bool restart, late, repeated;
	uint64_t lost; /* numbers, of all gaps whose end is known now */
	uint32_t from; /* the first of them */
};

/* Does the usual case of loss_add_number(): the number after the last one, and
 * none is missing. False: it is not that case, and nothing was done. */
static inline bool loss_next(struct reporter_state *r, uint32_t number)
{
	if (number != r->last + 1 || !r->heard || r->missing || r->gap)
		return false;
	r->last++;
	return true;
}

/* Adds a number that a reporter sent, received at ns. */
struct loss_change loss_add_number(struct reporter_state *r, uint32_t number,
				   uint64_t ns);

/* Counts the missing numbers as lost: at the end, and when a reporter is
 * silent. */
struct loss_change loss_settle(struct reporter_state *r);

struct losses {
	struct key_table table;
	struct reporter_state *latest;
};

/* A table of at most n reporters. 0 or -ENOMEM; freed by area_fini() of its
 * table's area. */
int losses_init(struct losses *l, unsigned n);
/* Finds or adds a reporter; NULL: there is no room. bits: 22 or 32. */
struct reporter_state *losses_find(struct losses *l, uint32_t node,
				   uint8_t hw_id, uint8_t bits);

/* The same, fast for the reporter that was asked for last. */
static inline struct reporter_state *losses_get(struct losses *l, uint32_t node,
						uint8_t hw_id, uint8_t bits)
{
	struct reporter_state *r = l->latest;

	return r->node == node && r->hw_id == hw_id && r->bits
		       ? r
		       : losses_find(l, node, hw_id, bits);
}

/* Goes through a whole table once in a period, a few entries at a time, as
 * packet time goes by. */
struct sweep {
	uint64_t period_ns; /* 0: never */
	uint64_t start_ns;
	uint64_t at; /* the next entry */
	bool begun;
};

/* The entries from *from to below the returned number are due at now_ns, of
 * total entries. The first call starts the first period: none is due. */
static inline uint64_t sweep_due(struct sweep *s, uint64_t now_ns,
				 uint64_t total, uint64_t *from)
{
	uint64_t gone = now_ns - s->start_ns, to;

	*from = s->at;
	if (!s->period_ns)
		return s->at;
	if (!s->begun) {
		s->begun = true;
		s->start_ns = now_ns;
		return s->at;
	}
	if (gone >= s->period_ns) {
		s->start_ns += gone / s->period_ns * s->period_ns;
		s->at = 0;
		return total;
	}
	to = (uint64_t)((unsigned __int128)total * gone / s->period_ns);
	if (to > s->at)
		s->at = to;
	return s->at;
}

struct flows_options {
	uint32_t rows, buckets; /* buckets: of a row */
	uint32_t shards; /* caches that the flows are divided among: this one
			    has entries for its share of them; 0 is 1 */
	uint32_t hops;	 /* of a flow, before it takes blocks */
	uint32_t blocks;
	uint64_t idle_ns; /* a flow that is silent for this long, or up to half
			     as much more, expires; 0: never */
};

/* The latest of a number and the mean of all: sum / n. */
struct meter {
	uint32_t latest, n;
	uint64_t sum;
};

static inline void meter_add(struct meter *m, uint32_t v)
{
	m->latest = v;
	m->n++;
	m->sum += v;
}

enum {
	FLOW_METERS = 3, /* in a hop's line: latency, occupancy, utilization */
	FLOW_RARE_METERS = HOP_METRICS - FLOW_METERS,
	FLOW_BLOCK = 8, /* hops */
	FLOW_BUCKETS_MAX = 64,
	FLOW_HOPS_MAX = 1024, /* that are kept of one flow */
};

/* Flags of a hop, beside enum threshold_flag. */
enum {
	FLOW_HOP_ACTIVE = 1 << 2, /* off the path now, but since its last push
				     it was on it, or its node reported */
};

/* Flags of a flow, beside enum threshold_flag. */
enum {
	FLOW_ACTIVE = 1 << 2,  /* it had a record since it was pushed */
	FLOW_BY_NODE = 1 << 3, /* INT-XD, MX: .reporter's packets are counted */
};

struct flow_hop {
	uint32_t hop_key : 24; /* number of its hop key (objects.h), or 0 */
	uint32_t flags : 8;
	struct threshold_state watch; /* of the latency */
	struct meter meter[FLOW_METERS];
};

/* The meters of congestion and buffers, which few networks report: apart, so
 * that struct flow_hop is one cache line. */
struct flow_rare {
	struct meter meter[FLOW_RARE_METERS];
};

/* A flow, and behind it its hops: those of its path, the source's first; then
 * those of other paths that it took before. */
struct flow_entry {
	uint8_t key[KEY_FLOW6_LEN];
	uint8_t key_len; /* 0: no flow */
	uint16_t hops;	 /* of the path, be they kept or not */
	uint64_t hash;
	uint64_t packets, bytes;
	uint64_t first_ns, last_ns;
	struct threshold_state watch; /* of the latency from end to end */
	uint8_t flags;
	uint8_t generation; /* of the thresholds that made the watches */
	uint16_t kept;	    /* hops that are kept */
	struct meter latency;
	uint32_t path; /* number, 0: unknown or no room; in a free entry: the
			  next free one */
	uint32_t first_block; /* or 0 */
	uint32_t latency_max;
	uint32_t reporter; /* a node, if FLOW_BY_NODE */
};

_Static_assert(sizeof(struct flow_hop) == 64, "a line");
_Static_assert(sizeof(struct flow_entry) == 128, "two lines");

/* An end-to-end metric of a flow, beside its latency. */
struct flow_end_metric {
	struct threshold_state watch;
	uint32_t latest;
	uint8_t flags; /* enum threshold_flag */
};

struct flow_bucket {
	uint32_t tag; /* low half of the flow's hash */
	uint32_t at;  /* its entry; 0: free, and so is the rest of the row */
};

enum flow_leave { FLOW_EVICTED, FLOW_EXPIRED, FLOW_FLUSHED };

struct flows_ledger {
	uint64_t created;
	uint64_t live; /* at the moment */
	uint64_t evicted;
	uint64_t expired;
	uint64_t flushed;
	uint64_t no_block; /* a note: times that a hop could not be kept */
};

extern const struct ledger flows_ledger;

struct flows {
	struct flows_options o;
	size_t stride; /* bytes of an entry and its hops */
	struct area row, entry, block, end;
	struct area occupied; /* a bit for each row: there is a flow in it */
	uint32_t used, free;  /* entries: highest number, first free one */
	uint32_t blocks_used, blocks_free; /* the same of blocks */
	struct flows_ledger ledger;
	struct sweep age;
	/* Called before a flow is removed. */
	void (*leave)(void *ctx, struct flow_entry *f, enum flow_leave why);
	void *ctx;
};

/* 0, -EINVAL or -ENOMEM. */
int flows_init(struct flows *fl, const struct flows_options *o);
void flows_fini(struct flows *fl); /* does not call leave() */

static inline uint64_t flows_hash(const uint8_t *key, size_t len)
{
	uint64_t a, b;

	if (len != KEY_FLOW4_LEN)
		return hash_bytes(0, key, len);
	memcpy(&a, key, 8);
	memcpy(&b, key + KEY_FLOW4_LEN - 8, 8);
	return rng_mix(le64toh(a) ^ rng_mix(le64toh(b)));
}

static inline struct flow_bucket *flows_row_at(const struct flows *fl,
					       uint64_t row)
{
	return (struct flow_bucket *)fl->row.base + row * fl->o.buckets;
}

/* The number of the row of a flow with this hash. */
static inline uint64_t flows_row_of(const struct flows *fl, uint64_t hash)
{
	return (hash >> 32) * fl->o.rows >> 32;
}

static inline struct flow_bucket *flows_row(const struct flows *fl,
					    uint64_t hash)
{
	return flows_row_at(fl, flows_row_of(fl, hash));
}

static inline struct flow_entry *flows_entry(const struct flows *fl,
					     uint32_t at)
{
	return (struct flow_entry *)(fl->entry.base + at * fl->stride);
}

/* The entry to prefetch: probably the flow's. NULL: the flow is new. */
struct flow_entry *flows_guess(const struct flows *fl, uint64_t hash);

/* Compares keys of IPv4 by loads: given two memcmp() of different lengths,
 * compilers make one call of both, which costs more than this. */
static inline bool flow_key4_is(const uint8_t *a, const uint8_t *b)
{
	uint64_t a1, a2, b1, b2;

	memcpy(&a1, a, 8);
	memcpy(&a2, a + KEY_FLOW4_LEN - 8, 8);
	memcpy(&b1, b, 8);
	memcpy(&b2, b + KEY_FLOW4_LEN - 8, 8);
	return a1 == b1 && a2 == b2;
}

static inline bool flow_is(const struct flow_entry *f, const uint8_t *key,
			   size_t len)
{
	if (f->key_len != len)
		return false;
	return len == KEY_FLOW4_LEN ? flow_key4_is(f->key, key)
				    : !memcmp(f->key, key, len);
}

struct flow_entry *flows_find(struct flows *fl, uint64_t hash,
			      const uint8_t *key, size_t len);

/* Finds or adds the flow of a key, and makes it the most recently used one of
 * its row. For a new one, whose generation is 0, another may be evicted. */
static inline struct flow_entry *flows_get(struct flows *fl, uint64_t hash,
					   const uint8_t *key, size_t len)
{
	const struct flow_bucket *first = flows_row(fl, hash);
	struct flow_entry *f = flows_entry(fl, first->at);

	if (first->tag == (uint32_t)hash && flow_is(f, key, len))
		return f; /* not entry 0: its key_len is 0 */
	return flows_find(fl, hash, key, len);
}

/* Gives each flow END_METRICS of struct flow_end_metric. 0 or -ENOMEM. */
int flows_keep_end_metrics(struct flows *fl);

/* A flow's END_METRICS end-to-end metrics; NULL: flows have none. */
static inline struct flow_end_metric *
flow_end_metrics(const struct flows *fl, const struct flow_entry *f)
{
	size_t at = (size_t)((const uint8_t *)f - fl->entry.base);

	if (!fl->end.base)
		return NULL;
	return (struct flow_end_metric *)fl->end.base +
	       at / fl->stride * END_METRICS;
}

/* The first options.hops of them, which follow the entry. */
static inline struct flow_hop *flow_hops(struct flow_entry *f)
{
	return (struct flow_hop *)(f + 1);
}

/* Hop i of a flow, i < kept. */
struct flow_hop *flow_hop(const struct flows *fl, struct flow_entry *f,
			  unsigned i);
struct flow_rare *flow_rare(const struct flows *fl, struct flow_entry *f,
			    unsigned i);
/* Adds a hop of zeros, number kept - 1 then. False: there is no room. */
bool flow_add_hop(struct flows *fl, struct flow_entry *f);
void flow_swap_hops(const struct flows *fl, struct flow_entry *f, unsigned i,
		    unsigned k);

/* The first row from number row to below `to' that has flows; or `to'. Sweeps
 * go through rows, not entries: when it is a flow's turn depends on its key and
 * the time, not on other flows, so on several cores as on one. */
uint64_t flows_next(const struct flows *fl, uint64_t row, uint64_t to);

/* Removes flows that were silent for idle_ns, a part of the rows at a time. */
void flows_age(struct flows *fl, uint64_t now_ns);

/* Removes all flows, in the order of their entries. */
void flows_flush(struct flows *fl);

/* The paths that packets took: lists of nodes, the source first, each kept
 * once. Bounded; a path that finds no room is counted. */

enum {
	PATH_NODES_MAX = 256, /* INT_HOP_MAX of 4 bytes, and a reporter */
	PATH_NODES = 16,      /* of each path, on average: room for them */
};

struct path {
	uint64_t hash;	   /* of the nodes: the same in every run */
	uint16_t n;	   /* nodes; the last field of the table's key */
	bool loop;	   /* a node is in it twice */
	uint32_t at;	   /* index of the first node in paths.nodes[] */
	struct dist *dist; /* latency from end to end, or dist_none */
};

struct paths {
	struct key_table table;
	struct path *path; /* 1 to table.used */
	struct area area;
	uint64_t *nodes; /* of all paths */
	uint32_t nodes_used;
};

static inline const uint64_t *path_nodes(const struct paths *ps, uint32_t path)
{
	return ps->nodes + ps->path[path].at;
}

uint64_t path_hash(const uint64_t *nodes, unsigned n);

/* Whether one of n nodes is there twice; unknown ones are never the same. */
bool path_loops(const uint64_t *nodes, unsigned n);

#endif
