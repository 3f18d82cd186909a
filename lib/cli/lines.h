/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines.h - reads lines of a file, in large blocks. A line stays where it is in
 * memory until the next block is read, so many can be used at once.
 */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines {
	int fd;
	bool regular; /* a regular file */
	bool end, too_long;
	bool cut;	  /* the last line taken, at the file's end */
	const char *path; /* for messages */
	char *buf;
	char *at, *stop; /* what is read and not yet taken */
	uint64_t number; /* of the last line taken, from 1 */
};

enum {
	LINE_MAX_LEN = 8191, /* longer ones are refused */
};

/* Opens a file; "-" is stdin. 0 or -errno. */
int lines_open(struct lines *l, const char *path);
void lines_close(struct lines *l);

/*
 * Takes the next line that is in memory, NUL-terminated, without its end (\n,
 * \r\n) and blanks around it. NULL: call lines_more() first, or it is the end.
 */
char *lines_next(struct lines *l, size_t *len);

/* Reads a block, which overwrites lines taken before. 1; 0 at the end; -EINTR
 * on a signal; -E2BIG for a line that is too long; or -errno. */
int lines_more(struct lines *l);

/* Exits with a message if lines_more() failed, other than by -EINTR. */
void lines_check(const struct lines *l, int rc);

/* Puts back the line that was taken last: lines_next() takes it again. */
void lines_unread(struct lines *l, char *line, size_t len);

/* Moves whole lines that are in memory, of max bytes together at most, to
 * another struct lines, which another thread can use. False: call lines_more()
 * first. lines_init() makes such a struct, without a file: 0 or -ENOMEM. */
bool lines_move(struct lines *l, struct lines *to, size_t max);
int lines_init(struct lines *l);

/* --- the fields of a line ------------------------------------------------- */

/* CSV (RFC 4180). A field in quotes may hold commas, and quotes written twice,
 * but no line breaks. */
enum {
	CSV_FIELDS_MAX = 256, /* fields of a header that are looked at */
};

/* Splits a line, in place, into its first max fields. Returns their number;
 * -EINVAL: a quote is not closed, or is not followed by a comma. */
int csv_split(char *line, char **field, int max);

/* The index of the field of this name, or -1. */
int csv_find(char *const *field, int n, const char *name);

#endif
