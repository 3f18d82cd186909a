/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys.h - the keys that are asked for: arguments, or the lines of a file, in
 * batches; each with the table that takes it. What is none is told.
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
	const char *text; /* kept until the next batch; as it was given */
	const struct query_target *target;
	uint8_t *key;
};

enum {
	KEYS_SHOWN = 10, /* messages of lines that are no keys */
};

struct keys {
	const struct query_targets *targets;
	const struct table *table[TABLE_MAX]; /* theirs */
	struct keys_from from;
	int arg;
	struct lines lines;
	bool begun;	    /* its first line was looked at */
	int csv_at;	    /* the field of its lines; -1: no CSV */
	uint64_t malformed; /* lines or arguments that are no keys */
	bool share;	    /* it has the messages of its first ones: */
	char *message[KEYS_SHOWN];
	struct error wrong; /* why the rest is not asked for */
	size_t n;
	struct asked asked[QUERY_BATCH];
	char text[QUERY_BATCH][KEY_TEXT_MAX]; /* of those written otherwise */
	struct {
		uint8_t headroom[CRC_HEADROOM];
		uint8_t key[KEY_MAX];
	} room[QUERY_BATCH];
};

/* For any of the targets. Exits if the file cannot be opened. */
void keys_open(struct keys *k, const struct keys_from *from,
	       const struct query_targets *t);
void keys_close(struct keys *k);

/* How wide a column for them is: as those of the command line need; for those
 * of a file, which are not known yet, as most flows do. */
uint8_t keys_column(const struct keys_from *from,
		    const struct query_targets *t);

/*
 * The next batch, in k->asked[0 .. k->n): QUERY_BATCH keys, or fewer if the
 * file has to be read on for more, perhaps none. False at the end, and where
 * keys_check() has a reason. Exits if the file cannot be read.
 */
bool keys_next(struct keys *k);

/* Exits with status 2 if the file is CSV without a column key, or if several
 * tables take a key. */
void keys_check(const struct keys *k);

/*
 * Threads that take the keys of a file in turn. Each has a share: keys of its
 * own, for keys_next(), filled by keys_share() from those that were opened.
 * keys_join() says what is wrong with them: for one share after the other, in
 * the order of the file.
 *
 * open: for targets of its own; 0 or -ENOMEM; lines_close() of its lines ends
 * it. share: 1; 0 at the end; -errno: the file cannot be read.
 */
int keys_share_open(struct keys *k, const struct query_targets *t);
int keys_share(struct keys *of, struct keys *share);
void keys_join(struct keys *of, struct keys *share);

#endif
