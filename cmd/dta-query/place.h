/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * place.h - where answers come from: the epochs of a region, newest first,
 * then those of the snapshots, in the order given. Or the collectors of a
 * cluster: then the places are those of one key, the epochs of its owner under
 * each generation, newest generation first (crew.c).
 *
 * A target is a table that is asked. It is found by the first source; in the
 * others, the table of the same id, kind, key and value lengths is its
 * counterpart.
 */
#ifndef QUERY_PLACE_H
#define QUERY_PLACE_H

#include "options.h"
#include "fleet/cluster.h"
#include "store/region.h"
#include "snapshot/snapshot.h"

enum {
	SOURCES_MAX = CLUSTER_MAX,
};

_Static_assert((int)SNAPSHOTS_MAX < (int)SOURCES_MAX, "and a region");

struct crew;   /* crew.c: the collectors of a cluster */
struct remote; /* remote.c: one on another machine, asked there */
struct reach;  /* reach.c: one on another machine, read from here */

struct source {
	const char *name; /* of the row: "region", or the snapshot's path */
	const char *path; /* of messages */
	struct region *region; /* or an image of it: then reach */
	struct reach *reach;
	struct snapshot *snapshot;
	struct remote *remote;
	uint64_t oldest; /* epoch of the region, when it was listed */
};

struct place {
	unsigned source;
	uint64_t epoch; /* remote: the newest that is asked */
	uint64_t from;	/* remote: the oldest; else 0 */
};

struct places {
	struct source source[SOURCES_MAX];
	unsigned sources;
	struct place *place; /* newest first */
	unsigned n;
	struct epochs only;	 /* the epochs that are asked */
	struct crew *crew;	 /* NULL: no cluster */
	uint64_t oldest, newest; /* the region's, as the places tell */
};

struct target {
	const struct table *t; /* in the first source that has it */
	const struct table *in[SOURCES_MAX];
};

struct targets {
	unsigned n;
	struct target target[TABLE_MAX];
};

/* Opens what o names. Exits with a message on failure. */
void places_open(struct places *p, const struct opts *o);
void places_close(struct places *p);

/* Only these epochs; false if no source has any. */
bool places_only(struct places *p, struct epochs only);

/* Follows a region that went to another epoch; true if it did. */
bool places_refresh(struct places *p);

/*
 * Goes to the places of one key (of a list: its id, big-endian). Without a
 * cluster, every key has the same.
 */
void places_of_key(struct places *p, const uint8_t *key, size_t len);

/* Adds the epochs of source i within these bounds, unless they are there. */
void places_add(struct places *p, unsigned i, uint64_t from, uint64_t until);

/* Whether an epoch that the places tell is no longer there. */
bool places_stale(struct places *p);
bool place_stale(struct places *p, unsigned place);

/*
 * Whether a source can no longer be read; says so, once. Of a cluster, its
 * mirror may do; exits if it is the only source.
 */
bool places_fell(struct places *p, unsigned source);

/*
 * Whether an earlier source, a region, has a snapshot's epoch too: what sums
 * up or lists must not take it twice.
 */
bool place_repeats(const struct places *p, unsigned place);

/* The tables of a kind, or the one that is named. Exits if there are none. */
void targets_pick(struct targets *out, const struct places *p, int kind,
		  const char *name);

/* One table and its counterparts. t belongs to the source given. */
void target_of(struct target *out, const struct places *p, unsigned source,
	       const struct table *t);

/* A target's memory in a place; false if it is not there. */
bool target_view(struct view *out, const struct places *p,
		 const struct target *t, unsigned place);

/* Tables of a source. */
unsigned source_tables(const struct source *s);
const struct table *source_table(const struct source *s, unsigned i);

#endif
