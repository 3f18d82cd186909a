/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys.h - reads the keys to ask for in batches, from arguments or a file, and
 * finds the table of each. Text that is no key is counted, with a warning.
 */
#ifndef DTA_QUERY_KEYS_H
#define DTA_QUERY_KEYS_H

#include "cli/lines.h"
#include "hash/crc.h"
#include "query/sources.h"
#include "query/query.h"
#include "net/key.h"

/* Where keys are: arguments; or a file with one a line, or CSV whose header has
 * a field key. "-" is stdin. */
struct keys_from {
	const char *file; /* NULL: the arguments */
	char **args;
	int nargs;
};

struct asked {
	const char *text; /* of the key, valid until the next batch */
	const struct query_target *target;
	uint8_t *key;
};

enum {
	KEYS_SHOWN = 10, /* so many lines that are no keys get a warning */
};

struct keys {
	const struct query_targets *targets;
	const struct table *table[TABLE_MAX]; /* of the targets */
	struct keys_from from;
	int next_arg;	     /* of from.args, to be read next */
	struct lines lines;  /* of from.file */
	bool header_checked; /* its first line: whether it is a CSV header */
	int csv_at;	     /* which field of a line is the key; -1: no CSV */
	uint64_t malformed;  /* lines or arguments that are no keys */
	bool is_part; /* warnings wait in message[] for keys_part_join() */
	char *message[KEYS_SHOWN];
	struct error wrong; /* for keys_check(): why reading ended early */
	size_t n;
	struct asked asked[QUERY_BATCH];
	char text[QUERY_BATCH][KEY_TEXT_MAX]; /* of keys respelled as usual */
	struct {
		uint8_t headroom[CRC_HEADROOM];
		uint8_t key[KEY_MAX];
	} room[QUERY_BATCH];
};

/* For any of the targets. Exits if the file cannot be opened. */
void keys_open(struct keys *k, const struct keys_from *from,
	       const struct query_targets *t);
void keys_close(struct keys *k);

/* The width of the column that shows keys: of the longest argument; for a file,
 * which is not read yet, of most keys of the tables' types. */
uint8_t keys_column(const struct keys_from *from,
		    const struct query_targets *t);

/*
 * The next batch, in k->asked[0 .. k->n). It may be short or empty before the
 * end, so that a pipe is not waited for while keys are at hand. False at the
 * end, and if keys_check() would exit. Exits if the file cannot be read.
 */
bool keys_next(struct keys *k);

/* Exits with status 2 if the file is CSV without a column key, or if several
 * tables take a key. */
void keys_check(const struct keys *k);

/*
 * Threads share a file in parts: a part takes the next lines of the keys that
 * were opened (all), for keys_next(). keys_part_join() adds a part's malformed
 * lines to all, prints its warnings, and may exit as keys_check() does; parts
 * are joined in the order of the file.
 *
 * keys_part_open(): 0 or -ENOMEM; lines_close(&k->lines) frees a part.
 * keys_part_fill(): 1; 0 at the end; -errno if the file cannot be read.
 */
int keys_part_open(struct keys *k, const struct query_targets *t);
int keys_part_fill(struct keys *all, struct keys *part);
void keys_part_join(struct keys *all, struct keys *part);

#endif
