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
	const char *name;    /* of the file, for messages */
	const char *strange; /* of a line: "not a line of a ticket" */
	struct error *err;

	/* Of the key in hand. */
	char section[INI_LINE_MAX + 1]; /* "" before the first */
	char key[INI_LINE_MAX + 1];
	const char *value;
	unsigned line;
	unsigned header; /* line of the section's, 0 before the first */
	unsigned empty;	 /* line of the first that no key followed, or 0 */

	/* The reader's own. */
	char text[INI_LINE_MAX + 1];
	unsigned used; /* the header of the last key */
};

/* The next key and value, valid until the next call. Returns 1; 0 at the end;
 * or -errno, said as below. */
int ini_next(struct ini *i);

/*
 * Sets the field of an object by the key in hand: one of the table, and not
 * among those seen. Returns its place there, or -errno, said as below.
 */
int ini_set(const struct ini *i, const struct field *table, uint64_t *seen,
	    void *object);

/* "FILE:LINE: reason", for line 0 "FILE: reason", to i->err. Returns err. */
int ini_error(const struct ini *i, unsigned line, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
