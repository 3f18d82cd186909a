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
#include "wire/key.h"

enum {
	TRUTH_HOPS = 16, /* that a report can name (dta.md 1.1) */
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

struct truth_table {
	const struct table *t;
	struct keymap keys;	  /* all kinds but Append */
	struct truth_list *lists; /* Append: t->lists of them */
};

struct truth {
	const struct table *const *known;
	unsigned n_known;
	bool begun;    /* the header was there */
	uint64_t rows; /* behind it */
	unsigned n;
	struct truth_table table[TABLE_MAX];
};

/* What a row says by itself. */
struct truth_row {
	const struct table *t;
	uint32_t hash; /* of its key: keymap_hash() */
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
 * The same in steps, of a line that is not empty. look: by any thread, at any
 * time; row has what it says, some of that where line is. near, take: by one at
 * a time, in the order of the lines; near, of some lines before they are taken:
 * memory is fetched for all of them at once.
 */
int truth_look(struct truth_row *row, const struct truth *t, char *line,
	       struct fault *f);
void truth_near(const struct truth *t, const struct truth_row *row);
int truth_take(struct truth *t, const struct truth_row *row, struct fault *f);

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
