/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * places.h - where answers come from: the epochs of a region, newest first,
 * then those of the snapshots, in the order given. Or the collectors of a
 * cluster: then the places are those of one key, the epochs of its owner under
 * each generation, newest generation first.
 *
 * A target is a table that is asked. It is found by the first source; in the
 * others, the table of the same id, kind, key and value lengths is its
 * counterpart.
 */
#ifndef PLACES_PLACES_H
#define PLACES_PLACES_H

#include "places/collectors.h"

enum {
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
	struct collectors_options cluster; /* cluster NULL: none; stop, warn */
	const char *region;
	const char *verbs; /* address of a collector */
	const char *const *snapshot;
	unsigned snapshots;
	struct epochs only;
};

struct place {
	unsigned source;
	uint64_t epoch;
};

struct places {
	struct source source[SOURCES_MAX];
	unsigned sources;
	struct place *place; /* newest first */
	unsigned n;
	struct epochs only;	       /* the epochs that are asked */
	struct collectors *collectors; /* NULL: no cluster */
	const char *gone; /* why the only source is, NULL: it is there */
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

/* Only these epochs; false if no source has any. */
bool places_only(struct places *p, struct epochs only);

/* Before keys are asked: follows regions that went to another epoch. */
void places_refresh(struct places *p);

/*
 * Goes to the places of one key (of a list: its id, big-endian). Without a
 * cluster, every key has the same.
 */
void places_of_key(struct places *p, const uint8_t *key, size_t len);

/* Whether an epoch that the places tell is no longer there. */
bool places_stale(struct places *p);
bool place_stale(struct places *p, unsigned place);

/*
 * Whether a source can no longer be read. Of a cluster, that is said, once, and
 * its mirror may do; else p->gone tells why, and there is nothing to ask.
 */
bool places_fell(struct places *p, unsigned source);

/* Whether something that was asked has no answer for want of a collector. */
bool places_incomplete(const struct places *p);

/*
 * Whether an earlier source, a region, has a snapshot's epoch too: what sums
 * up or lists must not take it twice.
 */
bool place_repeats(const struct places *p, unsigned place);

/* The tables of a kind, or the one that is named. -ENOENT: there are none. */
int targets_pick(struct targets *out, const struct places *p, int kind,
		 const char *name, struct fault *f);

/* One table and its counterparts. t belongs to the source given. */
void target_of(struct target *out, const struct places *p, unsigned source,
	       const struct table *t);

/* A target's memory in a place; false if it is not there. */
bool target_view(struct view *out, const struct places *p,
		 const struct target *t, unsigned place);

/* Tables of a source: none if it is lost. */
unsigned source_tables(const struct source *s);
const struct table *source_table(const struct source *s, unsigned i);

#endif
