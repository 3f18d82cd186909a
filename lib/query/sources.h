/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sources.h - where answers come from. A source is a region, a snapshot or a
 * collector of a cluster, and each has epochs.
 *
 * Of a region and snapshots, all keys are looked up in the same epochs: the
 * region's, newest first, then those of the snapshots, in the order given. In
 * a cluster each key has its own: the epochs of its owner under each
 * generation, newest generation first. If an owner cannot be reached, its
 * mirror's epochs replace them; without a mirror the key is incomplete.
 *
 * A target is a table that is asked. It is named after the first source that
 * has it; in the others its counterpart is the table of the same id, kind, key
 * and value lengths.
 */
#ifndef QUERY_SOURCES_H
#define QUERY_SOURCES_H

#include <stdatomic.h>

#include "cluster/cluster.h"
#include "query/query.h"
#include "region/memory.h"

enum {
	QUERY_SOURCES_MAX = CLUSTER_MAX,
	QUERY_SNAPSHOTS_MAX = 63,
};

_Static_assert((int)QUERY_SNAPSHOTS_MAX < (int)QUERY_SOURCES_MAX,
	       "one source more for the region");

/* The epochs that are asked, both ends included. */
struct query_epoch_range {
	uint64_t from, until;
	const char *text; /* as given; NULL: all */
};

/* What is to be asked: a cluster, or a region and snapshots. */
struct query_sources_options {
	const char *cluster; /* its file; NULL: none */
	const char *region;
	const char *verbs; /* address of a collector */
	const char *const *snapshot;
	unsigned snapshots;
	struct query_epoch_range only;
	const atomic_int *stop; /* ends waiting when true */
	/* Told what a person should know, though work goes on. */
	void (*warn)(const char *fmt, ...)
		__attribute__((format(printf, 1, 2)));
};

/* Of a cluster, source i is collector i of its file. */
struct query_source {
	const char *name;	 /* in rows: "region", or the snapshot's path */
	const char *path;	 /* in messages */
	struct memory *memory;	 /* NULL: lost */
	bool live;		 /* a region: its epochs change */
	bool fresh;		 /* far, and renewed for the current keys */
	uint64_t oldest, newest; /* epochs when they were listed */
	/* A collector: */
	char id[8];
	struct ssh *ssh;
	bool lost;     /* it cannot be reached, */
	bool mirrored; /* and the warning that its mirror answers was given */
};

/* One epoch of one source. */

struct query_epoch {
	unsigned source;
	uint64_t epoch;
};

struct query_sources {
	const struct query_sources_options *o;
	struct query_source source[QUERY_SOURCES_MAX];
	unsigned sources;
	struct query_epoch *epoch; /* newest first */
	unsigned n;
	const char *gone; /* why the only source cannot be read; NULL: it can */
	bool clustered;
	struct cluster cluster;
	unsigned lost;	 /* collectors */
	bool incomplete; /* of the current key, a collector was left out */
	bool failed;	 /* a key or list had no answer since the beginning */
};

struct query_target {
	const struct table *t; /* in the first source that has it */
	const struct table *in[QUERY_SOURCES_MAX];
};

struct query_targets {
	unsigned n;
	struct query_target target[TABLE_MAX];
};

/* Opens what o names; o outlives it. query_sources_close() is needed also after
 * a failure. */
int query_sources_open(struct query_sources *p,
		       const struct query_sources_options *o,
		       struct error *err);
void query_sources_close(struct query_sources *p);

/* Before keys are looked up: follows regions that went to another epoch. */
void query_sources_refresh(struct query_sources *p);

/*
 * Lists the epochs of one key (of a list: of its id, big-endian). Without a
 * cluster, every key has the same.
 */
void query_sources_for_key(struct query_sources *p, const uint8_t *key,
			   size_t len);

/* Whether p->epoch[epoch] no longer exists. */
bool query_epoch_stale(struct query_sources *p, unsigned epoch);

/*
 * Whether a source can no longer be read. If it is a collector, that is warned
 * of once, and its mirror may answer; else p->gone says why, and there is
 * nothing left to ask.
 */
bool query_source_failed(struct query_sources *p, unsigned source);

/* Something has no answer for want of a collector: sets p->failed, unless the
 * program was told to stop. */
void query_sources_set_failed(struct query_sources *p);

/*
 * Whether p->epoch[epoch] is a snapshot's and the region has that epoch, too:
 * sums and lists must not take it twice.
 */
bool query_epoch_repeats(const struct query_sources *p, unsigned epoch);

/* The tables of a kind, or the one that is named. -ENOENT: there are none. */
int query_targets_pick(struct query_targets *out, const struct query_sources *p,
		       int kind, const char *name, struct error *err);

/* One table and its counterparts. */
void query_target_of(struct query_target *out, const struct query_sources *p,
		     const struct table *t);

/* A target's memory in p->epoch[epoch]; false if that source lacks the table.
 */
bool query_target_view(struct table_view *out, const struct query_sources *p,
		       const struct query_target *t, unsigned epoch);

struct query_ask {
	struct query_sources *sources;
	struct query_rule rule; /* copies 0: the kind's default */
	bool sum;		/* counters: over all epochs */
	bool failed;		/* a source can no longer be read */
};

/*
 * Looks up n <= QUERY_BATCH keys, with CRC_HEADROOM bytes before each, of one
 * table in all epochs: the newest answer wins. A key that is not in an epoch,
 * or cannot be read there, is looked up in the next; it stays "unreadable" if
 * no other has it. Fills in *reply[i]. The table's kind is keywrite, postcard
 * or keyinc. Without a cluster, look at sources->gone afterwards.
 */
void query_ask_keys(struct query_ask *a, const struct query_target *t,
		    const uint8_t *const *keys, size_t n,
		    struct query_reply *const *reply);

#endif
