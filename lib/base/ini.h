/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * ini.h - the lines of an INI file, one by one: layouts, tickets, clusters.
 *
 *	[section]               ; what follows ] does not count
 *	key = value             ; or key: value
 *	    value               ; more indented than its key: the same key again
 *	# a comment; so is what follows a blank and ;
 *
 * Blanks around keys and values do not count, nor do those at the end of a
 * line, a carriage return among them, nor a byte order mark at the beginning.
 * A line that is too long or binary (a zero byte) is refused.
 *
 * The file may be a pipe or have no end: one line is held at a time. Nothing is
 * allocated.
 */
/* clang-format on */
#ifndef BASE_INI_H
#define BASE_INI_H

#include <stdio.h>

#include "base/error.h"
#include "base/text.h"

enum {
	INI_LINE_MAX = 198, /* bytes of a line, its end not counted */
};

struct ini {
	/* The caller's, before the first line. */
	FILE *in;
	const char *name;     /* of the file, for messages */
	const char *bad_line; /* said of a line that is none of the above */
	struct error *err;

	/* Of the key that ini_next() returned last. */
	char section[INI_LINE_MAX + 1]; /* "" before the first */
	char key[INI_LINE_MAX + 1];
	const char *value;
	unsigned line;
	unsigned header;	/* line of its [section]; 0 before the first */
	unsigned empty_section; /* line of the first [section] without a key, or
				   0 */

	/* The reader's own. */
	char text[INI_LINE_MAX + 1];
	unsigned used; /* header, when there was a key last */
};

/* The next key and value, valid until the next call. Returns 1; 0 at the end;
 * or -errno, with the reason in i->err. */
int ini_next(struct ini *i);

/* Sets the field of an object which the key names. The key must be in the
 * table, and not be marked in seen, where it is marked then (bit: index in the
 * table). Returns that index, or -errno with the reason in i->err. */
int ini_set(const struct ini *i, const struct field *table, uint64_t *seen,
	    void *object);

/* Writes "FILE:LINE: reason", for line 0 "FILE: reason", into i->err. Returns
 * err. */
int ini_error(const struct ini *i, unsigned line, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
