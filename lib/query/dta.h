/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta.h - the memory of direct telemetry collectors, for other programs: opens
 * regions, snapshots and clusters, tells their tables, looks up keys in bulk,
 * follows lists, and reads the counters of running programs. It is the one
 * header of libdta.so; libdta(3) has all of it at length. dta(7) is the
 * protocol, dta-region(5) the memory.
 *
 *	struct dta *d = dta_new();
 *
 *	if (!d || dta_set(d, "region", "fabric") < 0 || dta_open(d) < 0)
 *		errx(1, "%s", dta_error(d));
 *
 * Errors:  calls return 0 or a count, or -errno; dta_error() has the reason in
 *          words. Where a pointer is returned, NULL is the error.
 * Owners:  what a call returns belongs to its struct dta, and ends with it.
 *          Buffers are the caller's.
 * Threads: a struct dta, with its tables, is used by one thread at a time.
 *          Several of them, also of one region, are independent.
 * Bytes:   numbers in structs are of the machine's order; bytes of keys and of
 *          values are as they were reported (dta(7)): big-endian, mostly.
 * Growth:  structs grow at their end only. Where the caller owns one, the call
 *          takes its size.
 */
#ifndef DTA_H
#define DTA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dta;	  /* what is asked */
struct dta_table; /* one of its tables */

/* "1.1.0" */
const char *dta_version(void);

/* --- what is asked -------------------------------------------------------- */

/* NULL: no memory. */
struct dta *dta_new(void);

/*
 * An option, by its long name in dta-query(1), and with its text there. What is
 * asked, before dta_open(): region; snapshot, once for each; verbs; cluster;
 * epoch. How, at any time: copies ("0": the default), policy, partial ("yes",
 * "no"). Returns 0, -ENOENT: no such option; -EINVAL, -E2BIG, -ENOMEM; -EBUSY:
 * it is open.
 */
int dta_set(struct dta *d, const char *option, const char *value);

int dta_open(struct dta *d);

/* NULL is fine. */
void dta_close(struct dta *d);

/* Why the last call that failed did; of NULL: that there is no memory. */
const char *dta_error(const struct dta *d);

/* The oldest and the newest epoch that there are now, of all that is asked. */
int dta_epochs(struct dta *d, uint64_t *oldest, uint64_t *newest);

/* --- tables --------------------------------------------------------------- */

unsigned dta_tables(const struct dta *d);
const struct dta_table *dta_table(const struct dta *d, unsigned i);

/* A table by its name or id. */
const struct dta_table *dta_table_find(struct dta *d, const char *name);

/*
 * A number of a table, by its name; those of a layout that it does not have are
 * 0: id, copies, hops, units (slots, chunks, counters; entries of a ring),
 * lists, batch, stride (bytes from one unit to the next), length (bytes of the
 * table), heads (where lists' counts are), key (bytes of a key), value (bytes
 * of a value or entry), answer (bytes of an answer, see dta_ask()). Of other
 * names UINT64_MAX.
 */
uint64_t dta_table_number(const struct dta_table *t, const char *name);

/* A text of a table: name, kind ("keywrite"), key ("flow4"), hash ("dta1"),
 * show. NULL: no such text. */
const char *dta_table_text(const struct dta_table *t, const char *name);

/* What a value is made of (show in a layout): the name of part i, its type
 * ("u32", "flow4", "hex"...), and its place in the value. Without a show, it is
 * one part in hex. NULL behind the last part. */
const char *dta_table_part(const struct dta_table *t, unsigned i,
			   const char **type, size_t *offset, size_t *length);

/* A region's table where it is mapped, for reading: "length" bytes, that others
 * write meanwhile. Epoch 0 is the newest. NULL: it is not in this process's
 * memory, but in a snapshot or on another machine. */
const void *dta_map(struct dta *d, const struct dta_table *t, uint64_t epoch);

/* Copies bytes of a table from anywhere. -EBADMSG: a damaged block. */
int dta_read(struct dta *d, const struct dta_table *t, uint64_t epoch,
	     uint64_t offset, void *buf, size_t length);

/* --- keys ----------------------------------------------------------------- */

/* A key's bytes, "key" of them, from its text. */
int dta_key(struct dta *d, const struct dta_table *t, const char *text,
	    void *key);

/* A value (keywrite) or entry (append) as text, as dta-query shows it, parts
 * with commas between them; cut if it is too long. */
void dta_value_text(const struct dta_table *t, const void *value, char *buf,
		    size_t size);

enum dta_found {
	DTA_FOUND,
	DTA_NOT_FOUND,
	DTA_AMBIGUOUS,	/* copies of the key contradict each other */
	DTA_UNREADABLE, /* a damaged block; a collector that cannot be asked */
};

struct dta_answer {
	uint8_t found;	    /* enum dta_found */
	uint8_t agreed;	    /* keywrite, postcard: copies that agree on it */
	uint8_t matched;    /* keywrite: copies with the key's checksum */
	uint8_t copies;	    /* slots, chunks, counters that were read */
	uint8_t valid;	    /* postcard: chunks that hold a whole path */
	uint8_t hops;	    /* postcard: hops of the path */
	uint8_t holes;	    /* postcard, partial: bit i: hop i is missing */
	uint8_t unreadable; /* 1: some copy was, whatever the answer */
	uint32_t source;    /* where it is: dta_source(); UINT32_MAX: nowhere */
	uint32_t reserved;
	uint64_t epoch; /* of that; 0: nowhere */
};

/*
 * Looks up n keys, "key" bytes each, of a keywrite, postcard or keyinc table:
 * answers[i], of size bytes each, and "answer" bytes at values + i * "answer"
 * (NULL: not wanted): keywrite: the value; postcard: the path, a uint32_t for
 * each hop; keyinc: the count, a uint64_t. Where nothing is found they are 0.
 * size is sizeof(struct dta_answer). Returns how many were found, or -errno.
 */
int64_t dta_ask(struct dta *d, const struct dta_table *t, const void *keys,
		size_t n, struct dta_answer *answers, size_t size,
		void *values);

/* "found"..., by enum dta_found. */
const char *dta_found_name(unsigned found);

/* "region", a snapshot's path, or a collector's number. NULL: no such one. */
const char *dta_source(const struct dta *d, uint32_t source);

/* --- lists ---------------------------------------------------------------- */

/* Entries ever written to a list in an epoch (0: the newest), and the oldest of
 * them that can still be read: count if there is none. */
int dta_list_count(struct dta *d, const struct dta_table *t, uint64_t epoch,
		   uint32_t list, uint64_t *oldest, uint64_t *count);

/*
 * Reads a list in an epoch from entry *index on, oldest first, at most max of
 * "value" bytes each, and moves *index behind what was read and *lost: entries
 * that were overwritten before they could be read, which come before these.
 * Returns how many; 0, and *lost 0: there are none yet. -EBADMSG: a damaged
 * block, and *index is behind an entry in it; -ESTALE: the epoch was cleared
 * meanwhile. Not of a cluster: open the collector.
 *
 * To follow a list: when dta_epochs() tells of a newer epoch, read the rest of
 * this one (writers may be late), then go on there from 0.
 */
int64_t dta_list_read(struct dta *d, const struct dta_table *t, uint64_t epoch,
		      uint32_t list, uint64_t *index, void *entries, size_t max,
		      uint64_t *lost);

/* --- counters ------------------------------------------------------------- */

struct dta_counter {
	const char *program, *release;	     /* "dta-translate", "1.1.0" */
	const char *region, *input, *output; /* what it works on, or "" */
	const char *stage, *unit;	     /* "translate", "reports" */
	const char *name, *role; /* in, done, loss, harmless, note: dta(7) */
	uint64_t value;
	uint32_t pid;
	uint32_t level; /* 1: it may fall */
};

/*
 * Calls each() with every counter of every program that runs, as of its last
 * quarter of a second; texts last until it returns. directory: where programs
 * have their pages (DTA_LEDGERS); NULL: /dev/shm. Returns the number of
 * programs, or -errno.
 */
typedef void dta_counter_each(void *ctx, const struct dta_counter *c);
int dta_counters(const char *directory, dta_counter_each *each, void *ctx);

#ifdef __cplusplus
}
#endif

#endif
