/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * truth.h - the expected answers of a collector, from a list of what was
 * reported (dta-gen --truth): the last value of a key, the sum of a counter,
 * the last value of each hop, the entries of a list.
 *
 * Its rows are CSV:  table,kind,key,hop,path_len,copies,value
 * Errors:            -EINVAL: a row that is none, and why; -ENOMEM
 */
#ifndef QUERY_TRUTH_H
#define QUERY_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "query/query.h"
#include "region/table.h"

/* Keys of one length, each with a record of one size, in the order in which
 * they first came: an array of records, and an index with open addressing. */
struct keymap {
	size_t key_len, record_len;
	size_t stride;	/* of a record with its key behind it */
	size_t n, cap;	/* records: that there are, and have room */
	uint8_t *array; /* headroom for a CRC of the first key, then records */
	uint64_t *bucket; /* hash << 32, number of the record + 1; or 0 */
	size_t buckets;	  /* a power of two: twice cap; 0: none yet */
};

void keymap_init(struct keymap *m, size_t key_len, size_t record_len);
void keymap_fini(struct keymap *m);

/*
 * The record of a key, all zero if the key is new; it is valid until the next
 * call. NULL: no memory.
 */
void *truth_keymap_get(struct keymap *m, const uint8_t *key);

/* Record and key number i < m->n. CRC_HEADROOM bytes before the key may be
 * read. */
void *keymap_record(const struct keymap *m, size_t i);
const uint8_t *keymap_key(const struct keymap *m, size_t i);

enum {
	TRUTH_HOPS = 16, /* that a report can name (dta(7), REPORTS) */
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
};

struct truth_table {
	const struct table *t;
	struct keymap keys; /* all kinds but Append: a truth_key each */
	uint32_t copies;    /* that one of them had at some time: a bit each */
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

/* Rows are for these tables, the first that fits, which outlive the truth. */
void truth_init(struct truth *t, const struct table *const *known, unsigned n);
void truth_fini(struct truth *t);

/* The next line of a truth, the header first; its text is used up. */
int truth_line(struct truth *t, char *line, struct error *err);

/*
 * Hops of a path: as told; else all of the chunk, or as many as were reported
 * if these are more.
 */
unsigned truth_path_len(const struct truth_key *k, const struct table *t);

/* Whether all of them were reported. */
bool truth_path_whole(const struct truth_key *k, const struct table *t);

/* A path that no chunk of the table can hold. */
bool truth_path_long(const struct truth_key *k, const struct table *t);

enum truth_verdict {
	VERDICT_RIGHT,
	VERDICT_WRONG,
	VERDICT_MISSING, /* also what a damaged snapshot does not tell */
	VERDICT_AMBIGUOUS,
	VERDICT_OVER, /* a counter above the sum: count-min may */
	VERDICTS,
};

/*
 * The verdict on the reply for a key of any table but Append. A path is right
 * if it is whole and as long as the one that was reported: a chunk too short
 * for the path is never right.
 */
enum truth_verdict truth_verdict_of(const struct table *t,
				    const struct truth_key *want,
				    const struct query_reply *r);

/* asked is the sum of the verdicts. */
struct truth_score {
	uint64_t asked, verdict[VERDICTS];
	uint64_t incomplete;  /* paths not asked for: a hop was not reported */
	uint64_t too_long;    /* paths, of both, above the table's hops */
	uint64_t overwritten; /* list entries not asked for: the rings have room
				 for newer ones only */
};

void truth_score_add(struct truth_score *to, const struct truth_score *s);

#endif
