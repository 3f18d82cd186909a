/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sources.h - looks up keys in several memories. A source is a region, a
 * snapshot or a collector of a cluster, and each has epochs.
 *
 * With a region and snapshots, all keys are looked up in the same epochs: the
 * region's, newest first, then those of the snapshots, in the order given. In
 * a cluster each key has its own: the epochs of its owner under each
 * generation, newest generation first. If an owner cannot be reached, its
 * mirror's epochs replace them; without a mirror the key is incomplete.
 *
 * A target is a table to be queried, as the first source that has it describes
 * it. Its counterpart in another source is the table of the same id, kind, key
 * type and lengths of key and value.
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

/* The epochs to look in, both ends included. */
struct query_epoch_range {
	uint64_t from, until;
	const char *text; /* as given; NULL: all */
};

/* Parses "N", "N-M", "N-", "-M"; "0": all. False: it is none of these. *e has
 * a reference to text. */
bool query_epochs_parse(struct query_epoch_range *e, const char *text);

/* What to open: a cluster; or a region, here or by verbs, and snapshots. */
struct query_sources_options {
	const char *cluster; /* its file; NULL: none */
	const char *region;
	const char *verbs; /* address of a collector; instead of region */
	const char *const *snapshot;
	unsigned snapshots;
	struct query_epoch_range only;
	const atomic_int *stop; /* ends waiting when true */
	/* Prints a warning. */
	void (*warn)(const char *fmt, ...)
		__attribute__((format(printf, 1, 2)));
};

/* Of a cluster, source i is collector i of its file. */
struct query_source {
	const char *name;      /* in rows: "region", a snapshot's path, an id */
	const char *path;      /* in messages */
	struct memory *memory; /* NULL: lost */
	bool live;	       /* a region: its epochs change */
	bool fresh;	       /* far, and renewed for the current keys */
	uint64_t oldest, newest; /* epochs when they were listed */
	/* Of a collector: */
	char id[8];
	struct ssh *ssh;
	bool lost;     /* it cannot be reached */
	bool mirrored; /* a warning has said that its mirror answers */
};

struct query_epoch {
	unsigned source;
	uint64_t epoch;
};

struct query_sources {
	const struct query_sources_options *o;
	struct query_source source[QUERY_SOURCES_MAX];
	unsigned sources;
	struct query_epoch *epoch; /* to look in, in this order */
	unsigned n;		   /* of them */
	const char *gone; /* no cluster: why a source cannot be read; or NULL */
	bool clustered;
	struct cluster cluster;
	unsigned lost;	 /* collectors that cannot be reached */
	bool incomplete; /* an owner of the current key is among them */
	bool failed;	 /* some key or list had no answer for that reason */
};

struct query_target {
	const struct table *t; /* in the first source that has it */
	const struct table *in[QUERY_SOURCES_MAX]; /* by source; or NULL */
};

struct query_targets {
	unsigned n;
	struct query_target target[TABLE_MAX];
};

/* Opens what o names; o must outlive p. Close p after a failure, too. */
int query_sources_open(struct query_sources *p,
		       const struct query_sources_options *o,
		       struct error *err);
void query_sources_close(struct query_sources *p);

/* Before keys are looked up: lists the epochs again if they have changed. */
void query_sources_refresh(struct query_sources *p);

/* Lists in p->epoch the epochs of one key; for a list, the key is its id,
 * big-endian. Without a cluster, all keys have the same epochs. */
void query_sources_for_key(struct query_sources *p, const uint8_t *key,
			   size_t len);

/* Whether p->epoch[epoch] no longer exists. */
bool query_epoch_stale(struct query_sources *p, unsigned epoch);

/* Whether a source can no longer be read. Of a collector, it warns once, and
 * the mirror may answer; else p->gone says why, and the program should end. */
bool query_source_failed(struct query_sources *p, unsigned source);

/* A key or list has no answer because a collector cannot be reached: sets
 * p->failed, unless the program was told to stop. */
void query_sources_set_failed(struct query_sources *p);

/* Whether p->epoch[epoch] is a snapshot of an epoch that the region has, too:
 * sums and lists must not count it twice. */
bool query_epoch_repeats(const struct query_sources *p, unsigned epoch);

/* Finds the tables of a kind (0: of any), or the named one. 0; -ENOENT: none.
 */
int query_targets_pick(struct query_targets *out, const struct query_sources *p,
		       int kind, const char *name, struct error *err);

/* Finds the counterparts of one table. */
void query_target_init(struct query_target *out, const struct query_sources *p,
		       const struct table *t);

/* A target's memory in p->epoch[epoch]; false: its source lacks the table. */
bool query_target_view(struct table_view *out, const struct query_sources *p,
		       const struct query_target *t, unsigned epoch);

/* How keys are looked up in all epochs. */
struct query_ask {
	struct query_sources *sources;
	struct query_rule rule; /* copies 0: the kind's default */
	bool sum;		/* add a counter's values in all epochs */
	bool failed;		/* set: a source can no longer be read */
};

/*
 * Looks up n <= QUERY_BATCH keys, with CRC_HEADROOM readable bytes before each,
 * in a keywrite, postcard or keyinc table. The first epoch of the list that has
 * a key answers; if one cannot be read there and none has it, the answer is
 * QUERY_UNREADABLE. Fills in *reply[i]. Without a cluster, the caller has to
 * look at sources->gone afterwards.
 */
void query_ask_keys(struct query_ask *a, const struct query_target *t,
		    const uint8_t *const *keys, size_t n,
		    struct query_reply *const *reply);

#endif
