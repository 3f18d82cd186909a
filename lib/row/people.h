/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * people.h - a cell as people read it, on a terminal: bytes are KiB and MiB,
 * times local, without the date if it is today's, a flag is *.
 */
#ifndef ROW_PEOPLE_H
#define ROW_PEOPLE_H

#include "row/encode.h"
#include "row/outbuf.h"

/* micro: times have microseconds, whatever they are. */
void people_cell(struct outbuf *o, const struct row_batch *b,
		 const struct row_field *f, const struct row_cell *c,
		 bool micro);

/* Characters, of which those of UTF-8 have several bytes. */
unsigned people_width(const char *text);

/*
 * A text in a column of so many characters, at least 4: what is too long is
 * cut, with "..." at its end or in its middle. Nothing is put behind the last
 * column.
 */
void people_put(FILE *out, const char *text, unsigned width, bool right,
		bool last, bool middle);

#endif
