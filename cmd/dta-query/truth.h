/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * truth.h - what was reported (dta-gen --truth), gathered into what a collector
 * ought to answer: the last value of a key, the sum of a counter, the last
 * value of each hop, the entries of a list.
 */
#ifndef QUERY_TRUTH_H
#define QUERY_TRUTH_H

#include "query/keymap.h"
#include "options.h"

/*
 * What is expected of a key: a record of its map. copies: the fewest slots that
 * one of its reports was stored in; those beyond may hold an older value.
 */
struct truth_key {
	uint8_t copies;
	union {
		uint8_t value[TABLE_VALUE_MAX]; /* only value_len of it */
		uint64_t sum;
		struct {
			uint32_t hop[HASH_HOPS];
			uint8_t seen;	  /* bit i: hop i was reported */
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
	struct target target;
	struct keymap keys;	  /* all kinds but Append */
	struct truth_list *lists; /* Append: t->lists of them */
};

struct truth {
	unsigned n;
	struct truth_table table[TABLE_MAX];
	uint64_t rows;
};

/* Reads a truth for the tables of p. Exits with FILE:LINE if malformed. */
void truth_read(struct truth *t, const char *path, const struct places *p);
void truth_fini(struct truth *t);

#endif
