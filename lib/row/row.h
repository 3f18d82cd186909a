/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * row.h - the row: everything a person or a database sees is a row of named,
 * typed fields. One formatter for text, CSV and NDJSON.
 *
 * text:   a header in capitals, columns separated by blanks, "-" for null; no
 *         field holds a blank unless it is the last: blanks in others, and
 *         control characters, are \xNN. "" is empty.
 * csv:    a header line, RFC 4180 quoting but lines ending in LF, empty for
 *         null, "" for the empty text.
 * ndjson: an object a line, null for null. Numbers above 2^53 are still
 *         numbers: 64-bit counters are read as such by jq 1.7 and Python.
 *
 * Field names are a public interface. Output does not depend on locale,
 * byte order or time zone; bytes that are not UTF-8 become U+FFFD. Nothing is
 * allocated per row. Rows go through out's own buffer, one fwrite each, so that
 * several rows and printf may share a stream; flush it yourself to follow.
 */
#ifndef ROW_ROW_H
#define ROW_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum row_format {
	ROW_TEXT,
	ROW_CSV,
	ROW_NDJSON,
};

enum row_type {
	ROW_STR,   /* UTF-8 text */
	ROW_U64,
	ROW_I64,
	ROW_F64,   /* 6 significant digits ("%.6g"); null if not finite */
	ROW_BYTES, /* hexadecimal text */
	ROW_BOOL,  /* true, false */
	ROW_LIST,  /* uint32_t: 1,2,3 in text and CSV, an array in NDJSON */
};

struct row_field {
	const char *name; /* letters, digits, underscores */
	uint8_t type;
	uint8_t width; /* of the text column, at least; numbers are
			  right-aligned */
};

struct rows;

/* "text", "csv", "ndjson"; -1 for others. */
int row_format_of(const char *name);

/*
 * Rows of the given fields on out; NULL: no memory. The fields outlive it. The
 * header is written before the first row, or by rows_close() if there were none
 * (CSV and text). A program that prints several kinds of rows opens several;
 * each prints its own header.
 */
struct rows *rows_open(FILE *out, enum row_format fmt,
		       const struct row_field *fields, unsigned n, bool head);

/*
 * Set the fields of the row in hand, in any order; those not set are null.
 * field < n. Texts, bytes and lists are read at row_end(): keep them till then.
 */
void row_str(struct rows *r, unsigned field, const char *v); /* NULL: null */
void row_u64(struct rows *r, unsigned field, uint64_t v);
void row_i64(struct rows *r, unsigned field, int64_t v);
void row_f64(struct rows *r, unsigned field, double v);
void row_bool(struct rows *r, unsigned field, bool v);
void row_bytes(struct rows *r, unsigned field, const void *data, size_t len);
void row_list(struct rows *r, unsigned field, const uint32_t *v, size_t n);

/* Writes the row, clears it. Returns 0 or -errno of the stream. */
int row_end(struct rows *r);
void rows_close(struct rows *r); /* NULL is fine */

#endif
