/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys.h - reads the keys to look up in batches, from arguments or a file, and
 * finds the table of each. Text that is no key is counted, with a warning.
 */
#ifndef DTA_QUERY_KEYS_H
#define DTA_QUERY_KEYS_H

#include "cli/lines.h"
#include "hash/crc.h"
#include "query/sources.h"
#include "query/query.h"
#include "net/key.h"

/* Keys: arguments; or lines of a file (- is stdin), or its CSV column key. */
struct keys_from {
	const char *file; /* NULL: the arguments */
	char **args;
	int nargs;
};

struct parsed_key {
	const char *text; /* of the key, valid until the next batch */
	const struct query_target *target;
	uint8_t *key;
};

enum { KEYS_SHOWN = 10 }; /* warnings about lines that are no keys */

struct keys {
	const struct query_targets *targets;
	const struct table *table[TABLE_MAX]; /* of the targets */
	struct keys_from from;
	int next_arg;	     /* index in from.args */
	struct lines lines;  /* of from.file */
	bool header_checked; /* the first line, which may be a CSV header */
	int csv_at;	     /* which field of a line is the key; -1: no CSV */
	uint64_t malformed;  /* lines or arguments that are no keys */
	bool is_part;	     /* of a file, for a thread: keys_part_open() */
	char *message[KEYS_SHOWN]; /* of a part: warnings */
	struct error wrong; /* why reading ended early, for keys_check() */
	size_t n;
	struct parsed_key parsed[QUERY_BATCH];
	char text[QUERY_BATCH][KEY_TEXT_MAX]; /* of keys spelled unusually */
	struct {
		uint8_t headroom[CRC_HEADROOM];
		uint8_t key[KEY_MAX];
	} room[QUERY_BATCH];
};

/* Opens keys of any of the targets. Exits if the file cannot be opened. */
void keys_open(struct keys *k, const struct keys_from *from,
	       const struct query_targets *t);
void keys_close(struct keys *k);

/* The width of the column that shows keys: that of the longest argument; for a
 * file, which is not read yet, one that fits most keys of the tables' types. */
uint8_t keys_column(const struct keys_from *from,
		    const struct query_targets *t);

/*
 * Reads the next batch, into k->parsed[0 .. k->n). It may be short or empty
 * before the end: keys that have been read do not wait for a slow pipe. False
 * at the end, and if keys_check() would exit. Exits if the file cannot be read.
 */
bool keys_next(struct keys *k);

/* Exits with 2 if a CSV file has no column key, or a key several tables. */
void keys_check(const struct keys *k);

/*
 * For several threads: a part holds some lines of a file, for keys_next() in
 * another thread. keys_part_fill() moves the next lines of `all' to it.
 * keys_part_join() adds its malformed lines to `all', prints its warnings, and
 * may exit as keys_check() does; parts are joined in the order of the file.
 *
 * keys_part_open(): 0 or -ENOMEM.
 * keys_part_fill(): 1; 0 at the end; -errno if the file cannot be read.
 */
int keys_part_open(struct keys *k, const struct query_targets *t);
int keys_part_fill(struct keys *all, struct keys *part);
void keys_part_join(struct keys *all, struct keys *part);

#endif
