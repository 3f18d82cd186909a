/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys.h - the keys that are asked for: arguments, or the lines of a file, in
 * batches; each with the table that takes it.
 */
#ifndef QUERY_KEYS_H
#define QUERY_KEYS_H

#include "hash/crc.h"
#include "cli/lines.h"
#include "options.h"

struct asked {
	const char *text; /* kept until the next batch; as it was given */
	const struct target *target;
	uint8_t *key;
};

struct keys {
	const struct targets *targets;
	const struct table *table[TABLE_MAX]; /* theirs */
	char **args;
	int nargs, arg;
	bool from_file;
	struct lines lines;
	const char *column; /* of a CSV file; NULL: lines are keys */
	bool csv_head;	    /* its header was read: it is field csv_at */
	bool truth;	    /* if it begins like a truth file, it is one: CSV */
	int csv_at;
	uint64_t malformed; /* keys refused; of the first, messages */
	uint64_t good;	    /* those that are keys */
	size_t n;
	struct asked asked[QUERY_BATCH];
	char text[QUERY_BATCH][KEY_TEXT_MAX]; /* of those written otherwise */
	struct {
		uint8_t headroom[CRC_HEADROOM];
		uint8_t key[KEY_MAX];
	} room[QUERY_BATCH];
};

/* Keys of o for any of the targets. Exits if the file cannot be opened. */
void keys_open(struct keys *k, const struct opts *o, const struct targets *t);
void keys_close(struct keys *k);

/*
 * The next batch, in k->asked[0 .. k->n): QUERY_BATCH keys, or fewer if the
 * file has to be read on for more, perhaps none. False at the end. Exits if the
 * file cannot be read.
 */
bool keys_next(struct keys *k);

#endif
