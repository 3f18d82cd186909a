/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines.h - lines of a file, in large blocks. A line keeps its place until the
 * block behind it has to be read, so that many can be taken at once.
 */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines {
	int fd;
	bool regular, end, too_long;
	const char *path; /* for messages */
	char *buf, *at, *stop;
	uint64_t number; /* of the line in hand, from 1 */
};

enum {
	LINE_MAX_LEN = 8191, /* longer ones are refused */
};

/* "-" is stdin. 0 or -errno. */
int lines_open(struct lines *l, const char *path);
void lines_close(struct lines *l);

/*
 * The next line if one is at hand, NUL-terminated, without its end (\n, \r\n)
 * and blanks around it; NULL if more must be read first, or at the end.
 */
char *lines_next(struct lines *l, size_t *len);

/*
 * Reads more; lines taken before are gone. 1, 0 at the end, -EINTR on a signal,
 * -E2BIG for a line that is too long, or -errno.
 */
int lines_more(struct lines *l);

/* Exits if that was an error (but a signal), with a message. */
void lines_check(const struct lines *l, int rc);

/* That line again, which was taken last. */
void lines_again(struct lines *l, char *line, size_t len);

/*
 * Whole lines that are at hand go to another's room, most bytes at most and as
 * many as there are: for a thread of its own, which has no more than those.
 * False: more must be read first. lines_room(): such a room, without a file.
 */
bool lines_share(struct lines *l, struct lines *to, size_t most);
int lines_room(struct lines *l); /* 0 or -ENOMEM */

/* --- the fields of a line ------------------------------------------------- */

/*
 * CSV (RFC 4180), cut into its fields where it lies. A field in quotes may hold
 * commas, and quotes written twice; none spans lines.
 */
enum {
	CSV_FIELDS_MAX = 256, /* that a header is looked at */
};

/*
 * The first max fields of a line, which is used up. Returns how many there are;
 * -EINVAL: a quote is not closed, or something is behind one that is.
 */
int csv_split(char *line, char **field, int max);

/* The number of the field that is this name, or -1. */
int csv_find(char *const *field, int n, const char *name);

#endif
