/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * encode.h - rows as text for people, CSV and NDJSON.
 *
 * text:   a header in capitals, columns separated by blanks, "-" for null; no
 *         field holds a blank unless it is the last: blanks in others, and
 *         control characters, are \xNN. "" is empty; a list of nothing: "-".
 * csv:    a header line, RFC 4180 quoting but lines ending in LF, empty for
 *         null and for a list of nothing, "" for the empty text.
 * ndjson: an object a line, null for null. Numbers above 2^53 are still
 *         numbers: 64-bit counters are read as such by jq 1.7 and Python.
 *
 * Output does not depend on locale, byte order or time zone; bytes that are not
 * UTF-8 become U+FFFD. Nothing is allocated per row.
 */
#ifndef ROW_ENCODE_H
#define ROW_ENCODE_H

#include <stdio.h>

#include "row/sink.h"

enum row_format {
	ROW_TEXT,
	ROW_CSV,
	ROW_NDJSON,
	ROW_SPARSE, /* NDJSON without what is null; for who has defaults */
};

/* "text", "csv", "ndjson"; -1 for others. */
int row_format_of(const char *name);

struct encoder;
struct outbuf;

/* For the rows of one schema; NULL: no memory. The schema outlives it. */
struct encoder *encoder_open(enum row_format fmt, const struct schema *s);
/* NDJSON: rows begin with the field measurement from now on, the schema's name:
 * for streams that have several. False: no memory. */
bool encoder_say_schema(struct encoder *e);
/* The header line, where the format has one; then rows. */
void encoder_head(const struct encoder *e, struct outbuf *o);
void encoder_row(const struct encoder *e, struct outbuf *o,
		 const struct row_batch *b, unsigned row);
void encoder_close(struct encoder *e); /* NULL is fine */

/* A cell that is not null as bare text: of a key, a label. Lists are joined by
 * colons: a path is 6:5:4. */
void encode_cell(struct outbuf *o, const struct row_batch *b,
		 const struct row_cell *c);
/* Whether it is: no number is one that is not finite. */
bool encode_is_null(const struct row_cell *c);

/*
 * A sink that writes to a stream, which stays the caller's: rows go through its
 * buffer, one fwrite each, so that others may write to it, too; flush it
 * yourself to follow. A header comes before the first row, and before that of
 * another schema; not without head. NULL: no memory.
 */
struct row_sink *stream_sink_open(FILE *out, enum row_format fmt, bool head);
/* The same for rows of several schemas: those of NDJSON, which has no headers,
 * say of which they are (encoder_say_schema()). */
struct row_sink *stream_sink_mixed(FILE *out, enum row_format fmt, bool head);

#endif
