/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * truth.h - the ground truth for verification: the answers that a collector
 * should give, from a list of all reports (dta-gen --truth). That is the last
 * value of a key, the sum of a counter, the last value of each hop, the entries
 * of a list.
 *
 * Its rows are CSV:  table,kind,key,hop,path_len,copies,value
 * Errors:            -EINVAL: a bad row, and why; -ENOMEM
 */
#ifndef QUERY_TRUTH_H
#define QUERY_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "query/query.h"
#include "region/table.h"

/* A hash map of keys of one length to records of one size, in the order in
 * which keys were added: an array, and an index with open addressing. */
struct keymap {
	size_t key_len, record_len;
	size_t stride;	  /* bytes from a record to the next; its key between */
	size_t n, cap;	  /* records, and how many there is room for */
	uint8_t *array;	  /* CRC_HEADROOM bytes, then records */
	uint64_t *bucket; /* hash << 32 | (index of the record + 1); or 0 */
	size_t buckets;	  /* twice cap, a power of two; 0: none yet */
};

void keymap_init(struct keymap *m, size_t key_len, size_t record_len);
void keymap_fini(struct keymap *m);

/* Finds the record of a key, or adds one that is all zero. It is valid until
 * the next call. NULL: no memory. */
void *keymap_get(struct keymap *m, const uint8_t *key);

/* Record and key of index i. CRC_HEADROOM bytes before the key are there. */
void *keymap_record(const struct keymap *m, size_t i);
const uint8_t *keymap_key(const struct keymap *m, size_t i);

enum { TRUTH_HOPS = 16 }; /* hops that a report can name (dta(7), REPORTS) */

/* The expected answer for a key: a record of a keymap. copies: the smallest
 * redundancy of its reports; slots of higher copies may hold an older value.
 * last: the number of the row that reported it last, from 1. */
struct truth_key {
	uint64_t copies : 8, last : 56;
	union {
		uint8_t value[TABLE_VALUE_MAX]; /* only value_len of it */
		uint64_t sum;
		struct {
			uint32_t hop[TRUTH_HOPS];
			uint16_t seen;	  /* bit i: hop i was reported */
			uint8_t path_len; /* of the last report; 0: unknown */
		};
	};
};

struct truth_list {
	uint8_t *entries;
	size_t len, cap; /* bytes */
};

struct truth_table {
	const struct table *t;
	struct keymap keys; /* all kinds but Append: of struct truth_key */
	uint32_t copies;    /* bit c: a key had `copies' = c at some time */
	struct truth_list *lists; /* Append: t->lists of them */
};

struct truth {
	const struct table *const *known;
	unsigned n_known;
	bool header_read;
	bool skips_others; /* rows of tables that are not known */
	uint64_t rows;	   /* after the header */
	unsigned n;
	struct truth_table table[TABLE_MAX];
};

/* Rows are for the first of these tables that fits. They must outlive t. */
void truth_init(struct truth *t, const struct table *const *known, unsigned n);
void truth_fini(struct truth *t);

/* Reads the next line, the header first; overwrites its text. */
int truth_line(struct truth *t, char *line, struct error *err);

/* Hops of a key's path: its path_len; if that is unknown, all of a chunk, or as
 * many as were reported if these are more. */
unsigned truth_path_len(const struct truth_key *k, const struct table *t);

/* Whether all hops were reported. */
bool truth_path_whole(const struct truth_key *k, const struct table *t);

enum truth_verdict {
	VERDICT_RIGHT,
	VERDICT_WRONG,
	VERDICT_MISSING, /* or in a damaged block of a snapshot */
	VERDICT_AMBIGUOUS,
	VERDICT_OVER, /* a counter above the sum, as count-min allows */
	VERDICTS,
};

/* The verdict on the reply for a key of any table but Append. A path is right
 * if it is whole and as long as the one reported: one longer than a chunk of
 * the table never is. */
enum truth_verdict truth_verdict_of(const struct table *t,
				    const struct truth_key *want,
				    const struct query_reply *r);

/* asked is the sum of the verdicts. */
struct truth_score {
	uint64_t asked, verdict[VERDICTS];
	uint64_t incomplete; /* paths not asked for: a hop was not reported */
	uint64_t too_long;   /* paths, asked for or not, too long for a chunk */
	uint64_t overwritten; /* list entries that no ring has room for */
};

#endif
