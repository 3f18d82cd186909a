/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flows.h - the flow cache, as in "SmartNIC platform", section III-B: rows of
 * buckets. A hash of the flow's key picks the row; when all buckets of the row
 * are taken, the flow that was updated least recently is evicted. A row holds
 * numbers of entries, the flow used last first; entries are taken one after the
 * other, so that few flows touch little memory.
 *
 * Memory: 8 bytes a bucket, and for each flow that there is (or has been at one
 * time) 128 bytes, and 96 for each of options.hops: 704 for 6.
 * Flows of more hops take blocks of 8 (832 bytes) from a bounded number of
 * them. All is taken at the beginning, and touched as it is used; what is
 * watched from end to end beside the latency takes 80 bytes more, once asked
 * for.
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
 * late; any other counts only if the very next number follows (RFC 3550,
 * appendix A.1). Then it leaves a gap if it is ahead by less than half of all
 * numbers (RFC 1982), is not below LOSS_WINDOW, and the earlier numbers did not
 * go on meanwhile; else the reporter has restarted. What is missing is lost
 * when it is LOSS_WINDOW behind.
 */

enum {
	LOSS_WINDOW = 256,
	LOSS_AHEAD = 1 << 16,
};

struct reporter_state {
	uint32_t node;
	uint8_t hw_id;	   /* the last of its key */
	uint8_t bits;	   /* 0: no reporter */
	bool heard;	   /* there was a number */
	uint16_t missing;  /* bits of came that are 0 */
	uint32_t last;	   /* the highest number */
	uint32_t before;   /* last, when a number was far off */
	uint32_t run_from; /* the gap that is being found, if run is not 0 */
	uint64_t run;
	uint64_t suspected; /* the number behind one that was far off */
	uint64_t heard_ns;
	uint64_t came[LOSS_WINDOW / 64]; /* a bit for each of the last numbers,
					    by number mod LOSS_WINDOW */
};

/* What a number has shown; its fields may all be set at once. */
struct loss_change {
	bool restart, late, repeated;
	uint64_t lost; /* gaps that have come to their end: so many in all */
	uint32_t from; /* the first of them */
};

/* The usual case of loss_add_number(): the number after the last one, and
 * nothing is missing. False: it is not. */
static inline bool loss_next(struct reporter_state *r, uint32_t number)
{
	if (number != r->last + 1 || !r->heard || r->missing || r->run)
		return false;
	r->last++;
	return true;
}

/* A reporter's number, at a time. */
struct loss_change loss_add_number(struct reporter_state *r, uint32_t number,
				   uint64_t ns);

/* What has not come by now is lost: at the end, and when a reporter is silent.
 */
struct loss_change loss_settle(struct reporter_state *r);

struct losses {
	struct key_table table;
	struct reporter_state *latest;
};

/* Room for n reporters. 0 or -ENOMEM; area_fini() of its table's area ends it.
 */
int losses_init(struct losses *l, unsigned n);
/* NULL: there is no room for another. bits: 22 or 32. */
struct reporter_state *losses_find(struct losses *l, uint32_t node,
				   uint8_t hw_id, uint8_t bits);

static inline struct reporter_state *losses_of(struct losses *l, uint32_t node,
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
	uint64_t at; /* the next one */
	bool begun;
};

/* From *from to below the result it is due now, of so many. The first call
 * starts the first period. */
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
	uint32_t rows, buckets; /* of a row */
	uint32_t shards; /* 0: all flows come here; else those of one of so
			    many runs of rows, and there is room for them */
	uint32_t hops;	 /* of a flow, before it takes blocks */
	uint32_t blocks;
	uint64_t idle_ns; /* flows are silent so long, or half as much again,
			     and expire; 0: never */
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
	FLOW_METERS = 3, /* of each hop: latency, occupancy, utilization */
	FLOW_WIDE = METRIC_OF_HOP - FLOW_METERS,
	FLOW_BLOCK = 8, /* hops */
	FLOW_BUCKETS_MAX = 64,
	FLOW_HOPS_MAX = 1024, /* that are kept of one flow */
};

/* Of a hop's flags, beside enum threshold_flag. */
enum {
	FLOW_HOP_SEEN = 1 << 2, /* left the path since it was pushed */
};

/* Of a flow's flags. */
enum {
	FLOW_MET = 1 << 2,	/* since its values were pushed */
	FLOW_REPORTED = 1 << 3, /* node by node: packets are reporter's */
};

struct flow_hop {
	uint32_t place : 24; /* objects.h */
	uint32_t flags : 8;
	struct threshold_state watch; /* of the latency */
	struct meter meter[FLOW_METERS];
};

struct flow_wide {
	struct meter meter[FLOW_WIDE];
};

/* The first hops are those of the path, the source's first; behind them those
 * that were met on other paths. */
struct flow_entry {
	uint8_t key[KEY_FLOW6_LEN];
	uint8_t key_len; /* 0: no flow */
	uint16_t hops;	 /* of the path; all of it, though not all are kept */
	uint64_t hash;
	uint64_t packets, bytes;
	uint64_t first_ns, last_ns;
	struct threshold_state watch; /* of the latency from end to end */
	uint8_t flags;
	uint16_t kept; /* hops that are kept */
	struct meter latency;
	uint32_t path; /* struct path; 0: unknown, or no room. Free: the next */
	uint32_t more; /* the first block, or 0 */
	uint32_t generation; /* of thresholds, by which the watches were made */
	uint32_t reporter;   /* node: FLOW_REPORTED */
};

_Static_assert(sizeof(struct flow_hop) == 64, "a line");
_Static_assert(sizeof(struct flow_entry) == 128, "two lines");

/* A metric from end to end. */
struct flow_end {
	struct threshold_state watch;
	uint32_t latest;
	uint8_t flags; /* enum threshold_flag */
};

struct flow_bucket {
	uint32_t tag;
	uint32_t at; /* 0: free, and so are those behind */
};

enum flow_leaves {
	FLOW_EVICTED,
	FLOW_EXPIRED,
	FLOW_FLUSHED,
};

struct flows_ledger {
	uint64_t created;
	uint64_t live; /* at the moment */
	uint64_t evicted;
	uint64_t expired;
	uint64_t flushed;
	uint64_t no_block; /* notes: times a hop could not be kept */
};

extern const struct ledger flows_ledger;

struct flows {
	struct flows_options o;
	size_t stride; /* of an entry */
	struct area row, entry, block, end;
	struct area some;    /* a bit for each row: there is a flow in it */
	uint32_t used, free; /* entries: highest number, first free one */
	uint32_t blocks_used, blocks_free;
	struct flows_ledger ledger;
	struct sweep age;
	/* A flow leaves; it still holds everything. */
	void (*leave)(void *ctx, struct flow_entry *f, enum flow_leaves why);
	void *ctx;
};

/* 0, -EINVAL or -ENOMEM. */
int flows_init(struct flows *fl, const struct flows_options *o);
void flows_fini(struct flows *fl); /* no flow leaves */

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

/* The number of a hash's row. */
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

/* Probably the flow of a hash, NULL if it is new: to be prefetched. */
struct flow_entry *flows_guess(const struct flows *fl, uint64_t hash);

/* Keys of IPv4: compilers make one call of two comparisons whose lengths
 * differ, and it is long for these. */
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

/*
 * The flow of a key, which is the most recently updated one of its row now. A
 * new one (packets is 0) has no hops; for it another may leave.
 */
static inline struct flow_entry *flows_get(struct flows *fl, uint64_t hash,
					   const uint8_t *key, size_t len)
{
	const struct flow_bucket *first = flows_row(fl, hash);
	struct flow_entry *f = flows_entry(fl, first->at);

	if (first->tag == (uint32_t)hash && flow_is(f, key, len))
		return f; /* entry 0 is no flow */
	return flows_find(fl, hash, key, len);
}

/* From now on flows have METRIC_ENDS of struct flow_end. 0 or -ENOMEM. */
int flows_keep_ends(struct flows *fl);

/* NULL: they have none. */
static inline struct flow_end *flow_ends(const struct flows *fl,
					 const struct flow_entry *f)
{
	size_t at = (size_t)((const uint8_t *)f - fl->entry.base);

	if (!fl->end.base)
		return NULL;
	return (struct flow_end *)fl->end.base + at / fl->stride * METRIC_ENDS;
}

static inline struct flow_hop *flow_hops(struct flow_entry *f)
{
	return (struct flow_hop *)(f + 1);
}

/* Hop i, i < kept. */
struct flow_hop *flow_hop(const struct flows *fl, struct flow_entry *f,
			  unsigned i);
/* Its congestion and buffer meters. */
struct flow_wide *flow_wide(const struct flows *fl, struct flow_entry *f,
			    unsigned i);
/* One more, zeros: its number is kept - 1. False: there is no room. */
bool flow_grow(struct flows *fl, struct flow_entry *f);
void flow_swap(const struct flows *fl, struct flow_entry *f, unsigned i,
	       unsigned k);

/*
 * The first row from number row on in which there are flows, below to; or to.
 * Who goes through the flows as time goes by goes through rows: when it is a
 * flow's turn depends on its key and the time, not on other flows.
 */
uint64_t flows_next(const struct flows *fl, uint64_t row, uint64_t to);

/* Those of the flows whose turn it is, and that were silent too long, expire.
 */
void flows_age(struct flows *fl, uint64_t now_ns);

/* All flows leave, in the order of their entries. */
void flows_flush(struct flows *fl);

/*
 * The paths that packets took: lists of nodes, the source first, each kept
 * once. Bounded; what finds no room is counted.
 */

enum {
	PATH_NODES_MAX = 256, /* INT_HOP_MAX of 4 bytes, and a reporter */
	PATH_NODES = 16,      /* of each path, on average: room for them */
};

struct path {
	uint64_t hash;	   /* of the nodes: the same in every run */
	uint16_t n;	   /* the last of its key */
	bool loop;	   /* a node is in it twice */
	uint32_t at;	   /* in nodes[] */
	struct dist *dist; /* latency from end to end; dist_none */
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

/* What is in path.hash. */
uint64_t path_hash(const uint64_t *nodes, unsigned n);

/* Whether one of n nodes is there twice; those that are not known are not
 * the same. */
bool path_loops(const uint64_t *nodes, unsigned n);

#endif
