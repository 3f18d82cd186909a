/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query.h - answers out of a table's memory (dta(7), MEMORY).
 *
 * All calls take a struct table_view: the bytes of one table in one epoch of
 * any memory. A NIC or another process may write it meanwhile: every slot is
 * loaded once and the copy judged. A slot that two copies of a key share counts
 * once.
 */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash/family.h"
#include "region/memory.h"

enum {
	QUERY_BATCH = 256, /* keys that the batch calls take at once */
};

enum query_answer {
	QUERY_FOUND,
	QUERY_NOT_FOUND,
	QUERY_AMBIGUOUS,
	QUERY_UNREADABLE, /* a damaged block of a snapshot */
};

enum query_policy {
	QUERY_PLURALITY, /* the most frequent value; a tie is ambiguous */
	QUERY_FIRST,	 /* the first copy that matches */
	QUERY_CONSENSUS, /* at least T copies have the most frequent value */
	QUERY_UNIQUE,	 /* all matching copies agree: the analysis' rule */
	QUERY_POLICIES,
};

struct query_rule {
	uint8_t copies;	   /* slots to read, 1..4 */
	uint8_t policy;	   /* enum query_policy */
	uint8_t threshold; /* T of QUERY_CONSENSUS */
	/*
	 * Postcards: if no chunk is valid, chunks with holes too, if at least
	 * two hops (one, where a chunk has one) hold values of V: one alone is
	 * too likely to be noise.
	 */
	bool partial;
};

/* "found", "not_found", "ambiguous", "unreadable". */
const char *query_answer_name(enum query_answer a);

/*
 * "plurality", "first", "unique", "consensus:T" (T from 2 to 4): sets policy
 * and threshold. Returns 0 or -EINVAL.
 */
int query_policy_of(const char *text, struct query_rule *r);

/* Key-Write answers to a batch. */
struct query_keywrite_answers {
	uint8_t answer[QUERY_BATCH];	 /* enum query_answer */
	uint8_t matched[QUERY_BATCH];	 /* copies whose checksum matched */
	uint8_t agreed[QUERY_BATCH];	 /* copies that agree on the value */
	uint8_t unreadable[QUERY_BATCH]; /* copies in damaged blocks */
	uint8_t *value; /* room for t->value_len bytes each, as reported */
};

/*
 * n <= QUERY_BATCH keys, with CRC_HEADROOM readable bytes before each; at
 * memory speed, where the table is mapped.
 */
void query_keywrite(struct query_keywrite_answers *out,
		    const struct table_view *v, const struct query_rule *rule,
		    const uint8_t *const *keys, size_t n);

/* A path out of a postcard table. */
struct query_path {
	enum query_answer answer;
	uint8_t valid;	    /* chunks that hold a valid path */
	uint8_t agreed;	    /* chunks that agree on it */
	uint8_t len;	    /* hops: values[0 .. len) */
	uint8_t holes;	    /* --partial: bit i set: hop i is missing */
	uint8_t unreadable; /* chunks in damaged blocks */
	uint32_t value[HASH_HOPS];
};

/* What a unit (slot, chunk, counter) that a key may be in holds. */
enum query_unit_state {
	QUERY_UNIT_EMPTY, /* it is all zero */
	QUERY_UNIT_KEY, /* the key, by its checksum; a counter that is not 0 */
	QUERY_UNIT_OTHER,    /* another key */
	QUERY_UNIT_REPEATED, /* a copy before this one is there, too */
	QUERY_UNIT_UNREADABLE,
};

struct query_unit {
	enum query_unit_state holds;
	uint64_t unit;
	uint8_t sum[4]; /* keywrite: as it lies there; its value: */
	uint8_t value[TABLE_VALUE_MAX];
	uint64_t count; /* keyinc */
	/* Postcards, as if the chunk were the key's: hops that hold a value. */
	uint8_t known;
	uint32_t hop[HASH_HOPS];
};

/* "nothing", "this_key", "another_key", "repeated", "unreadable". */
const char *query_unit_state_name(enum query_unit_state l);

/* Copies 0 .. n of a key, n <= HASH_COPIES. */
void query_inspect(struct query_unit *out, const struct table_view *v,
		   unsigned n, const uint8_t *key);

/* An answer of any kind, and where it is if several memories are asked. */
struct query_reply {
	enum query_answer answer;
	uint8_t agreed, matched, copies;
	bool unreadable;    /* something on the way, whatever the answer */
	const char *source; /* NULL: nowhere */
	uint64_t epoch;
	union {
		uint8_t value[TABLE_VALUE_MAX];
		uint64_t count;
		struct query_path path;
	};
};

/*
 * n <= QUERY_BATCH keys, with CRC_HEADROOM readable bytes before each, of a
 * keywrite, postcard or keyinc table: answer, agreed, matched, copies and what
 * was found of *reply[i]. Copies 0 of the rule: as many as the kind needs. Far
 * memory is read in one batch.
 */
void query_keys(const struct table_view *v, const struct query_rule *rule,
		const uint8_t *const *keys, size_t n,
		struct query_reply *const *reply);

/*
 * Reads entries [from, count) of a list, at most max, oldest first, into buf
 * (max * t->value_len bytes, packed, as reported). Entries that were
 * overwritten, or may have been while being copied, are not returned but
 * counted in *lost. *next is where to go on: *next - from is what was returned
 * and *lost. (from above the count: nothing, and *next is the count.)
 *
 * The newest table_kept() entries can be had at any time, whatever is written
 * meanwhile; of count entries all others are lost.
 *
 * Returns entries read; -EINVAL if there is no such list; -EBADMSG if entry
 * *next - 1 is in a damaged block of a snapshot.
 */
int64_t query_list_read(const struct table_view *v, uint32_t list,
			uint64_t from, void *buf, uint64_t max, uint64_t *next,
			uint64_t *lost);

/*
 * How many of n entries are best read at once. Far memory takes a few round
 * trips for each query_list_read(), however many it reads: all of them, if the
 * ring has no more than 16 MiB.
 */
uint64_t query_list_at_once(const struct table_view *v, uint64_t n);

/* The oldest entry that query_list_read() returns when count have been written.
 */
static inline uint64_t query_list_oldest(const struct table *t, uint64_t count)
{
	uint64_t kept = table_kept(t);

	return count > kept ? count - kept : 0;
}

/* Entries ever written to a list. Returns 0 or -errno. list < t->lists. */
int query_list_count(uint64_t *out, const struct table_view *v, uint32_t list);

/*
 * How full a table is, and what follows for its keys. It is counted, since a
 * region keeps no count of what is written into it (dta-region(5)).
 */

/*
 * Calls each() with every unit of a table (slot, chunk, counter, entry of all
 * rings) whose bytes are not all zero, until *stop. Returns how many could not
 * be read, or -ENOMEM.
 */
typedef void query_scan_unit(void *ctx, uint64_t unit, const uint8_t *bytes);
int64_t query_scan(const struct table_view *v, query_scan_unit *each, void *ctx,
		   const atomic_int *stop);

/* The chance that a foreign unit of a table passes for a key's own. */
double query_pass(const struct table *t);

/* Of a table in an epoch. What is not known, or makes no sense, is NAN. */
struct query_load {
	uint64_t used;	     /* units that are not all zero; append: entries */
	uint64_t unreadable; /* units, lists; they are left out below */
	double used_share;
	/* model/model.h; each report stored in all of the table's copies */
	double load, above;
	double success, average; /* of the oldest key, of all keys */
	double success_below, average_below; /* where only above is known */
	/* append */
	uint64_t written, lists_used;
	/* keyinc: of all counters */
	uint64_t sum;
	bool sum_fits; /* 64 bits */
};

/*
 * Only the share of used units, estimated from a sample of at most so many,
 * evenly apart (append: from so many lists). With 10,000 its standard error is
 * at most half of one per cent. NAN: none could be read.
 */
double query_load_sample(const struct table_view *v, uint64_t at_most);

/* The same of the fullest table of a memory in its newest epoch. */
double query_fill(struct memory *m, uint64_t at_most);

/* 0 or -ENOMEM. *stop ends it early. */
int query_load_of(struct query_load *l, const struct table_view *v,
		  const atomic_int *stop);

#endif
