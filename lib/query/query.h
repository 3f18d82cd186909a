/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query.h - looks up keys and lists in a table's memory (dta(7), MEMORY).
 *
 * All calls take a struct table_view: the bytes of one table in one epoch of
 * any memory. A NIC or another process may write them meanwhile: every slot is
 * loaded once, and what was loaded is judged. A slot that holds two copies of a
 * key counts once.
 */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash/family.h"
#include "region/memory.h"

enum { QUERY_BATCH = 256 }; /* keys that the batch calls take at once */

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
	QUERY_UNIQUE, /* all matching copies agree, as model/model.h assumes */
	QUERY_POLICIES,
};

struct query_rule {
	uint8_t copies;	   /* slots to read, 1..4 */
	uint8_t policy;	   /* enum query_policy */
	uint8_t threshold; /* T of QUERY_CONSENSUS */
	/*
	 * Postcards: if no chunk is valid, takes paths with holes, too, from
	 * chunks where at least two hops hold values that the table may have:
	 * one alone is too likely to be chance. One is enough if a chunk has
	 * one hop only.
	 */
	bool partial;
};

/* Names by enum query_answer. */
extern const char *const query_answers[];

/* Reads "plurality", "first", "unique" or "consensus:T" (T from 2 to 4), and
 * sets policy and threshold. Returns 0 or -EINVAL. */
int query_policy_parse(const char *text, struct query_rule *r);

struct query_keywrite_answers {
	uint8_t answer[QUERY_BATCH];	 /* enum query_answer */
	uint8_t matched[QUERY_BATCH];	 /* copies whose checksum matched */
	uint8_t agreed[QUERY_BATCH];	 /* copies that agree on the value */
	uint8_t unreadable[QUERY_BATCH]; /* copies in damaged blocks */
	uint8_t *value; /* the caller's room for v->t->value_len bytes each */
};

/* Looks up n <= QUERY_BATCH keys, with CRC_HEADROOM readable bytes before each;
 * at memory speed, where the table is mapped. */
void query_keywrite(struct query_keywrite_answers *out,
		    const struct table_view *v, const struct query_rule *rule,
		    const uint8_t *const *keys, size_t n);

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
	QUERY_UNIT_REPEATED, /* an earlier copy of the key has the same unit */
	QUERY_UNIT_UNREADABLE,
};

struct query_unit {
	enum query_unit_state holds;
	uint64_t unit;			/* its index in the table */
	uint8_t sum[4];			/* keywrite: the checksum in memory, */
	uint8_t value[TABLE_VALUE_MAX]; /* and the value behind it */
	uint64_t count;			/* keyinc */
	/* Postcards: hops decoded as if the chunk were the key's. */
	uint8_t known; /* bit i: hop i holds a value that it may have */
	uint32_t hop[HASH_HOPS];
};

/* Names by enum query_unit_state. */
extern const char *const query_unit_states[];

/* Reads the units of copies 0 to n - 1 of a key, n <= HASH_COPIES. */
void query_inspect(struct query_unit *out, const struct table_view *v,
		   unsigned n, const uint8_t *key);

/* An answer from a table of any kind, and where it was found (sources.h). */
struct query_reply {
	enum query_answer answer;
	uint8_t agreed, matched, copies;
	bool unreadable;    /* a unit of the key was, whatever the answer */
	const char *source; /* NULL: nowhere */
	uint64_t epoch;
	union {
		uint8_t value[TABLE_VALUE_MAX];
		uint64_t count;
		struct query_path path;
	};
};

/*
 * Looks up n <= QUERY_BATCH keys, with CRC_HEADROOM readable bytes before each,
 * in a keywrite, postcard or keyinc table. Sets all of *reply[i] but source and
 * epoch. If rule->copies is 0: counters have the table's copies, other kinds
 * are looked up in four. Far memory is read in one batch.
 */
void query_keys(const struct table_view *v, const struct query_rule *rule,
		const uint8_t *const *keys, size_t n,
		struct query_reply *const *reply);

/*
 * Reads at most max entries of a list, oldest first, beginning with entry
 * `from', into buf (max * t->value_len bytes, packed, as reported). Entries
 * that were overwritten, or may have been while they were copied, are not
 * returned but counted in *lost. *next is the entry to go on with: *next - from
 * is the entries returned plus *lost. If from is above the count of entries,
 * returns none, and *next is the count.
 *
 * The newest table_kept() entries can always be read, whatever is written
 * meanwhile; older ones are lost.
 *
 * Returns entries read; -EINVAL if there is no such list; -EBADMSG if entry
 * *next - 1 is in a damaged block of a snapshot.
 */
int64_t query_list_read(const struct table_view *v, uint32_t list,
			uint64_t from, void *buf, uint64_t max, uint64_t *next,
			uint64_t *lost);

/* How many of n entries one query_list_read() should read. Far memory takes a
 * few round trips for a call, however many entries it reads, so it reads up to
 * 16 MiB; other memory what fits into a cache. */
uint64_t query_list_at_once(const struct table_view *v, uint64_t n);

/* The oldest entry that can be read when count have been written. */
static inline uint64_t query_list_oldest(const struct table *t, uint64_t count)
{
	uint64_t kept = table_kept(t);

	return count > kept ? count - kept : 0;
}

/* Entries ever written to a list below t->lists. 0 or -errno. */
int query_list_count(uint64_t *out, const struct table_view *v, uint32_t list);

/* How full a table is, and how likely its keys are found. Units are counted by
 * a scan, since a region keeps no count of them (dta-region(5)). */

/* Calls each() with every unit of a table (slot, chunk, counter, entry of a
 * ring) whose bytes are not all zero, until *stop. Returns how many units could
 * not be read, or -ENOMEM. */
typedef void query_scan_unit(void *ctx, uint64_t unit, const uint8_t *bytes);
int64_t query_scan(const struct table_view *v, query_scan_unit *each, void *ctx,
		   const atomic_int *stop);

/* The probability that another key's unit passes for a key's own. */
double query_pass_probability(const struct table *t);

/* The load of a table in an epoch. What is unknown or meaningless is NAN. */
struct query_load {
	uint64_t used;	     /* units that are not all zero; append: entries */
	uint64_t unreadable; /* units or lists, which are left out below */
	double used_share;
	/* As in model/model.h, with all of the table's copies written. */
	double load, above;
	double success, average; /* of the oldest key, of all keys */
	double success_below, average_below; /* upper bounds: at load `above' */
	/* append */
	uint64_t written, lists_used;
	/* keyinc: of all counters */
	uint64_t sum;
	bool sum_fits; /* 64 bits */
};

/* Estimates the share of used units only, from a sample of at_most units evenly
 * spaced. With 10,000 its standard error is half a per cent
 * at most. NAN: none could be read. */
double query_load_sample(const struct table_view *v, uint64_t at_most);

/* The same of the fullest table of a memory in its newest epoch, but for lists,
 * which are full after a lap; NAN of lists alone. */
double query_fill(struct memory *m);

/* Measures the load of a table. 0 or -ENOMEM. *stop ends it early. */
int query_load_of(struct query_load *l, const struct table_view *v,
		  const atomic_int *stop);

#endif
