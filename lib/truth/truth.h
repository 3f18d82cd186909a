/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * truth.h - what was reported (dta-gen --truth), gathered into what a collector
 * ought to answer: the last value of a key, the sum of a counter, the last
 * value of each hop, the entries of a list.
 *
 * Its rows are CSV:  table,kind,key,hop,path_len,copies,value
 * Errors:            -EINVAL: a row that is none, and why; -ENOMEM
 */
#ifndef TRUTH_TRUTH_H
#define TRUTH_TRUTH_H

#include <stdbool.h>

#include "base/fault.h"
#include "query/keymap.h"
#include "store/table.h"
#include "team/turn.h"
#include "wire/key.h"

enum {
	TRUTH_HOPS = 16,       /* that a report can name (dta.md 1.1) */
	TRUTH_SHARDS_MAX = 32, /* that can be filled at once */
};

/*
 * What is expected of a key: a record of its map. copies: the fewest slots that
 * one of its reports was stored in; those beyond may hold an older value. last:
 * the row that reported it last, of all rows, from 1.
 */
struct truth_key {
	uint64_t copies : 8, last : 56;
	union {
		uint8_t value[TABLE_VALUE_MAX]; /* only value_len of it */
		uint64_t sum;
		struct {
			uint32_t hop[TRUTH_HOPS];
			uint16_t seen;	  /* bit i: hop i was reported */
			uint8_t path_len; /* as last told; 0: unknown */
		};
	};
};

/* All entries of a list, in order. */
struct truth_list {
	uint8_t *entries;
	size_t len, cap; /* bytes */
	uint64_t first;	 /* entries before the first that is kept */
};

/* The keys of some hashes. */
struct truth_shard {
	struct keymap keys;
	uint32_t copies; /* that one of them had at some time: a bit each */
} __attribute__((aligned(TEAM_LINE)));

struct truth_table {
	const struct table *t;
	unsigned shards;
	struct truth_shard *shard; /* all kinds but Append */
	uint8_t *order;		   /* of several: whose each key is */
	size_t ordered, order_cap;
	struct truth_list *lists; /* Append: t->lists of them */
};

struct truth {
	const struct table *const *known;
	unsigned n_known;
	unsigned shards;
	bool begun;    /* the header was there */
	uint64_t rows; /* behind it */
	unsigned n;
	struct truth_table table[TABLE_MAX];
};

/* What a row says by itself. */
struct truth_row {
	const struct table *t;
	uint64_t last; /* its number: truth_admit() */
	uint32_t hash; /* of its key: keymap_hash() */
	uint8_t shard; /* who takes it */
	bool is_new;   /* its key is: truth_take() */
	uint8_t at;    /* of its table, in the truth: truth_admit() */
	uint8_t copies, hop, path_len;
	uint64_t number;      /* the value of a hop or counter; or the list */
	const uint8_t *bytes; /* other values, in the line */
	size_t len;
	uint8_t key[KEY_MAX];
};

/* Rows are for these tables, the first that fits, which outlive the truth. */
void truth_init(struct truth *t, const struct table *const *known, unsigned n);
void truth_fini(struct truth *t);

/* The next line of a truth, the header first; its text is used up. */
int truth_line(struct truth *t, char *line, struct fault *f);

/*
 * The same in steps, by several, of lines that are not empty. Before the first:
 * shards, 1 to TRUTH_SHARDS_MAX.
 *
 * look: by any thread, at any time; row->bytes points into the line. admit: by
 * one at a time, in the order of the lines. near, take: then, by one at a time
 * for each shard, in that order; near, of some rows before they are taken:
 * memory is fetched for all of them at once. order: as admit, behind all that.
 */
void truth_split(struct truth *t, unsigned shards);
int truth_look(struct truth_row *row, const struct truth *t, char *line,
	       struct fault *f);
int truth_admit(struct truth *t, struct truth_row *row, struct fault *f);
void truth_near(const struct truth *t, const struct truth_row *row);
int truth_take(struct truth *t, struct truth_row *row);
int truth_order(struct truth *t, const struct truth_row *row);

/* Of a table's keys: how many; and all copies that one had, a bit each. */
size_t truth_keys(const struct truth_table *tt);
uint32_t truth_copies(const struct truth_table *tt);

/* Through them, in the order in which they first came; not to be called
 * past the last key. CRC_HEADROOM bytes before a key may be read. */
struct truth_walk {
	const struct truth_table *tt;
	size_t at, next[TRUTH_SHARDS_MAX];
};

void truth_walk_open(struct truth_walk *w, const struct truth_table *tt);
const struct truth_key *truth_walk_next(struct truth_walk *w,
					const uint8_t **key);
void truth_walk_skip(struct truth_walk *w, size_t keys);

/*
 * Hops of a path: as told; else all of the chunk, or as many as were reported
 * if these are more.
 */
unsigned truth_path_len(const struct truth_key *k, const struct table *t);

/* Whether all of them were reported. */
bool truth_path_whole(const struct truth_key *k, const struct table *t);

/* A path that no chunk of the table can hold. */
bool truth_path_long(const struct truth_key *k, const struct table *t);

#endif
