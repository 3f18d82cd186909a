/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * places.h - where answers come from: the epochs of a region, newest first,
 * then those of the snapshots, in the order given. Or the collectors of a
 * cluster: then the places are those of one key, the epochs of its owner under
 * each generation, newest generation first. Where an owner cannot be reached,
 * its mirror's epochs take their stead, if there is one; else the key is
 * incomplete.
 *
 * A target is a table that is asked. It is found by the first source; in the
 * others, the table of the same id, kind, key and value lengths is its
 * counterpart.
 */
#ifndef QUERY_PLACES_H
#define QUERY_PLACES_H

#include <stdatomic.h>

#include "cluster/cluster.h"
#include "query/query.h"
#include "region/memory.h"

enum {
	SOURCES_MAX = CLUSTER_MAX,
	SNAPSHOTS_MAX = 63,
};

_Static_assert((int)SNAPSHOTS_MAX < (int)SOURCES_MAX, "and a region");

/* The epochs that are asked. */
struct epochs {
	uint64_t from, until;
	const char *text; /* as given; NULL: all */
};

/* What is to be asked: a cluster, or a region and snapshots. */
struct places_options {
	const char *cluster; /* its file; NULL: none */
	const char *region;
	const char *verbs; /* address of a collector */
	const char *const *snapshot;
	unsigned snapshots;
	struct epochs only;
	const atomic_int *stop; /* ends waiting when true */
	/* What people are to know, though all goes on. */
	void (*warn)(const char *fmt, ...)
		__attribute__((format(printf, 1, 2)));
};

/* Of a cluster, source i is collector i of its file. */
struct source {
	const char *name; /* of the row: "region", or the snapshot's path */
	const char *path; /* of messages */
	struct memory *memory;	 /* NULL: lost */
	bool live;		 /* a region: its epochs change */
	bool fresh;		 /* far, and renewed for the keys in hand */
	uint64_t oldest, newest; /* when it was listed */
	/* A collector: */
	char id[8];
	struct ssh *ssh;
	bool lost;     /* it cannot be reached, */
	bool mirrored; /* and it was said who answers */
};

struct place {
	unsigned source;
	uint64_t epoch;
};

struct places {
	const struct places_options *o;
	struct source source[SOURCES_MAX];
	unsigned sources;
	struct place *place; /* newest first */
	unsigned n;
	const char *gone; /* why the only source is, NULL: it is there */
	bool clustered;
	struct cluster cluster;
	unsigned lost;	 /* collectors */
	bool incomplete; /* one was left out, of the key in hand */
	bool failed;	 /* a question stayed without an answer, ever */
};

struct target {
	const struct table *t; /* in the first source that has it */
	const struct table *in[SOURCES_MAX];
};

struct targets {
	unsigned n;
	struct target target[TABLE_MAX];
};

/* Opens what o names; o outlives it. places_close() also after a failure. */
int places_open(struct places *p, const struct places_options *o,
		struct fault *f);
void places_close(struct places *p);

/* Before keys are asked: follows regions that went to another epoch. */
void places_refresh(struct places *p);

/*
 * Goes to the places of one key (of a list: its id, big-endian). Without a
 * cluster, every key has the same.
 */
void places_of_key(struct places *p, const uint8_t *key, size_t len);

/* Whether the epoch that a place tells is no longer there. */
bool place_stale(struct places *p, unsigned place);

/*
 * Whether a source can no longer be read. Of a cluster, that is said, once, and
 * its mirror may do; else p->gone tells why, and there is nothing to ask.
 */
bool places_fell(struct places *p, unsigned source);

/* Something has no answer for want of a collector: places->failed, unless that
 * is because nobody waits any more. */
void places_failed(struct places *p);

/*
 * Whether an earlier source, a region, has a snapshot's epoch too: what sums
 * up or lists must not take it twice.
 */
bool place_repeats(const struct places *p, unsigned place);

/* The tables of a kind, or the one that is named. -ENOENT: there are none. */
int targets_pick(struct targets *out, const struct places *p, int kind,
		 const char *name, struct fault *f);

/* One table and its counterparts. */
void target_of(struct target *out, const struct places *p,
	       const struct table *t);

/* A target's memory in a place; false if it is not there. */
bool target_view(struct view *out, const struct places *p,
		 const struct target *t, unsigned place);

/* Tables of a source: none if it is lost. */
unsigned source_tables(const struct source *s);
const struct table *source_table(const struct source *s, unsigned i);

struct ask {
	struct places *places;
	struct query_rule rule; /* copies 0: the kind's default */
	bool sum;		/* counters: over all places */
	bool fell;		/* a collector can no longer be reached */
};

/*
 * n <= QUERY_BATCH keys with CRC_HEADROOM bytes before each, asked of one table
 * in all places: the newest answer wins. A key that an epoch does not have is
 * looked for in the next; one that cannot be read there, too, and stays
 * "unreadable" if no other has it. *reply[i] is filled in. The kind is the
 * table's: keywrite, postcard or keyinc. Without a cluster, look at
 * places->gone afterwards.
 */
void ask_keys(struct ask *a, const struct target *t, const uint8_t *const *keys,
	      size_t n, struct reply *const *reply);

#endif
