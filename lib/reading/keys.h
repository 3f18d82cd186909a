/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys.h - the keys that are asked for: arguments, or the lines of a file, in
 * batches; each with the table that takes it. What is none is told.
 */
#ifndef READING_KEYS_H
#define READING_KEYS_H

#include "reading/lines.h"
#include "hash/crc.h"
#include "places/places.h"
#include "query/query.h"
#include "wire/key.h"

/* Where keys are. */
struct keys_from {
	const char *file; /* one a line; "-" is stdin; NULL: the arguments */
	/* Then the file is CSV with a header, and keys are in the column of
	 * this name or number. NULL: it is CSV, too, if its header begins as
	 * that of a truth, or with key, and keys are in the column key. */
	const char *column;
	char **args;
	int nargs;
};

struct asked {
	const char *text; /* kept until the next batch; as it was given */
	const struct target *target;
	uint8_t *key;
};

enum {
	KEYS_SHOWN = 10, /* messages of lines that are no keys */
};

/* What is told in turn: keys_told(). */
struct keys_later {
	uint64_t first_bad; /* lines refused before the first key */
	int error;	    /* of the file, behind them: -errno */
	unsigned n;
	struct {
		uint64_t number; /* of the line, in the share */
		char *text;	 /* NULL: no memory */
		struct fault why;
	} bad[KEYS_SHOWN];
};

struct keys {
	const struct targets *targets;
	const struct table *table[TABLE_MAX]; /* theirs */
	struct keys_from from;
	int arg;
	struct lines lines;
	bool begun;    /* its first line was looked at: keys_share() */
	bool csv_head; /* its header was read: it is field csv_at */
	int csv_at;
	uint64_t malformed;	  /* keys refused; of the first, messages */
	uint64_t good;		  /* those that are keys */
	struct keys_later *later; /* a share of another's; NULL: it is not */
	uint64_t told;		  /* lines of shares that were told of */
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
	       const struct targets *t);
void keys_close(struct keys *k);

/* Whether a line is the header of a truth, or of answers: no key looks like it,
 * and keys are in the column key. */
bool keys_is_head(const char *line);

/* How wide a column for them is: as those of the command line need; for those
 * of a file, which are not known yet, as most flows do. */
uint8_t keys_column(const struct keys_from *from, const struct targets *t);

/*
 * The next batch, in k->asked[0 .. k->n): QUERY_BATCH keys, or fewer if the
 * file has to be read on for more, perhaps none. False at the end. Exits if the
 * file cannot be read.
 */
bool keys_next(struct keys *k);

/*
 * Threads that take the keys of a file in turn. Each has a share: keys of its
 * own, for keys_next(), filled by keys_share() from those that were opened.
 *
 * open: for targets of its own; 0 or -ENOMEM. share: 1; 0 at the end; -EAGAIN:
 * a pipe has none now, and wait is false, or a signal came. Exits if what is to
 * be the header is none. told: in the order of the shares, before what is made
 * of one is shown: messages and counts; false: that, and all behind it, is not
 * to be, since another file was meant. check: behind what is shown: exits if
 * the file cannot be read.
 */
int keys_share_open(struct keys *k, const struct targets *t);
void keys_share_close(struct keys *k);
int keys_share(struct keys *of, struct keys *share, bool wait);
bool keys_told(struct keys *of, const struct keys *share);
void keys_check(const struct keys *of, const struct keys *share);

#endif
