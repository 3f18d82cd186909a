/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * row.h - the row: everything a person or a database sees is a row of named,
 * typed fields. In reading order: what a kind of row is; batches, which own
 * their bytes; sinks, where they go; rows made field by field; rows as text,
 * CSV and NDJSON; texts made of a row's fields.
 */
#ifndef ROW_ROW_H
#define ROW_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* --- what a kind of row is ------------------------------------------------ */

/* Names are a public interface: they change only with a major version. */
enum row_type {
	ROW_STR, /* UTF-8 text */
	ROW_U64,
	ROW_I64,
	ROW_F64,   /* 6 significant digits ("%.6g"), from a million to 10^15
		      all before the point; null if not finite */
	ROW_BYTES, /* hexadecimal text */
	ROW_BOOL,  /* true, false */
	ROW_LIST,  /* uint64_t: 1,2,3 in text and CSV, an array in NDJSON */
	ROW_TIME,  /* int64_t, ns since 1970-01-01 UTC: seconds, a point, nine
		      digits; a string in NDJSON, for no double holds it */
};

/* What a field is to a database. */
enum row_role {
	ROW_VALUE,
	ROW_TAG,  /* tells rows apart, of few different values: indexed */
	ROW_WHEN, /* the row's time; at most one, of ROW_TIME */
};

struct row_field {
	const char *name; /* letters, digits, underscores */
	uint8_t type;	  /* enum row_type */
	uint8_t width;	  /* of the text column, at least; numbers are
			     right-aligned */
	uint8_t role;	  /* enum row_role */
	const char *unit; /* "bytes", "ns"; NULL: a number, or no number */
	const char *good; /* as text: any other value is shown to people as
			     something wrong; NULL: none is */
	bool spare;	  /* left out first where there is no room for all */
	bool flow;	  /* a text that key_format() wrote of a flow */
};

static inline bool row_is_number(const struct row_field *f)
{
	return f->type == ROW_U64 || f->type == ROW_I64 || f->type == ROW_F64;
}

struct schema {
	const char *name; /* of the measurement: letters, digits, underscores */
	const struct row_field *fields;
	unsigned n;
};

/* --- batches -------------------------------------------------------------- */

/*
 * Rows of one schema that own their bytes: they can be queued, and sent
 * elsewhere by another thread. Memory is kept from one filling to the next;
 * nothing is allocated for a row once a batch has been as large.
 *
 * Errors: sticky, -ENOMEM in err; rows that found no room are not there.
 */
enum {
	ROW_NULL = 255, /* kind of a cell that was not set */
};

struct row_cell {
	uint8_t kind; /* enum row_type, or ROW_NULL */
	union {
		uint64_t u64;
		int64_t i64; /* ROW_TIME, too */
		double f64;
		struct {
			uint32_t at, len; /* in bytes[]: len bytes, or numbers
					     of a list; a text ends with NUL */
		};
	};
};

struct row_batch {
	const struct schema *schema; /* outlives the batch */
	unsigned rows;		     /* complete ones */
	unsigned room;		     /* for so many, and the one in hand */
	struct row_cell *cells;	     /* row by row */
	struct row_cell *hand;	     /* the row in hand, behind them */
	uint8_t *bytes;
	size_t used, size; /* of bytes */
	int err;
};

/* An empty batch with room for some rows. 0 or -ENOMEM. */
int row_batch_init(struct row_batch *b, const struct schema *s, unsigned room);
void row_batch_fini(struct row_batch *b);

/* Forgets all rows, keeps the memory. */
void row_batch_clear(struct row_batch *b);

/* Copies a batch into an uninitialised one. 0 or -ENOMEM. */
int row_batch_copy(struct row_batch *to, const struct row_batch *b);

/* Set the fields of the row in hand, in any order; those not set are null.
 * What is pointed at is copied. field < schema->n. */
void row_batch_str(struct row_batch *b, unsigned field, const char *v);
void row_batch_bytes(struct row_batch *b, unsigned field, const void *data,
		     size_t len);
void row_batch_list(struct row_batch *b, unsigned field, const uint64_t *v,
		    size_t n);
/* A flow by its key (net/key.h) of len bytes; 0: null. */
void row_batch_flow(struct row_batch *b, unsigned field, const uint8_t *key,
		    size_t len);

static inline struct row_cell *row_batch_cell(const struct row_batch *b,
					      unsigned row, unsigned field)
{
	return &b->cells[(size_t)row * b->schema->n + field];
}

/* The cell of the row in hand, for what needs no bytes. */
static inline struct row_cell *row_batch_set(struct row_batch *b,
					     unsigned field, uint8_t kind)
{
	b->hand[field].kind = kind;
	return &b->hand[field];
}

static inline void row_batch_u64(struct row_batch *b, unsigned field,
				 uint64_t v)
{
	row_batch_set(b, field, ROW_U64)->u64 = v;
}

static inline void row_batch_time(struct row_batch *b, unsigned field,
				  uint64_t ns)
{
	row_batch_set(b, field, ROW_TIME)->i64 = (int64_t)ns;
}

/* Ends the row in hand. 0 or the sticky error. */
int row_batch_end(struct row_batch *b);

/* --- sinks ---------------------------------------------------------------- */

/* Where rows go: a stream, a file, a database (export/). A sink may be given
 * batches of several schemas. A slow sink copies the batch, and writes its rows
 * in a thread of its own. */
struct row_sink {
	/* Writes or copies the rows of a batch, which stay there. 0 or -errno;
	 * the sink counts the rows that it drops. */
	int (*put)(struct row_sink *s, struct row_batch *b);
	/* Waits until all that was put has been delivered. 0 or -errno. */
	int (*flush)(struct row_sink *s);
	/* Flushes, and frees the sink. The first error of all, or 0. */
	int (*close)(struct row_sink *s);
};

/* Gives the rows of each batch to n sinks, which stay the caller's and outlive
 * it; one that fails does not keep rows from the others. NULL: no memory. */
struct row_sink *tee_open(struct row_sink *const *to, unsigned n);

/* --- rows as text, CSV and NDJSON ----------------------------------------- */

/*
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
enum row_format {
	ROW_TEXT,
	ROW_CSV,
	ROW_NDJSON,
	ROW_SPARSE, /* NDJSON without what is null; for readers with defaults */
};

/* "text", "csv", "ndjson", NULL. */
extern const char *const row_format_names[];

struct encoder;
struct outbuf;

/* For the rows of one schema; NULL: no memory. The schema outlives it. mixed:
 * rows of NDJSON begin with the field measurement, the schema's name: for
 * streams that have several. */
struct encoder *encoder_open(enum row_format fmt, const struct schema *s,
			     bool mixed);
/* The header line, where the format has one; then rows. */
void encoder_head(const struct encoder *e, struct outbuf *o);
void encoder_row(const struct encoder *e, struct outbuf *o,
		 const struct row_batch *b, unsigned row);
void encoder_close(struct encoder *e); /* NULL is fine */

/* A cell that is not null as bare text: of a key, a label. Lists are joined by
 * colons: a path is 6:5:4. */
void encode_cell(struct outbuf *o, const struct row_batch *b,
		 const struct row_cell *c);
/* The same alone in a buffer, of len bytes; "" for null. NULL: no memory. */
const char *encode_text(struct outbuf *o, const struct row_batch *b,
			const struct row_cell *c, size_t *len);
/* Whether a cell is null, as a number that is not finite is, too. */
bool encode_is_null(const struct row_cell *c);

/*
 * A sink that writes to a stream, which stays the caller's: rows go through its
 * buffer, one fwrite each, so that others may write to it, too; flush() shows
 * what is in the buffer. head: a header comes before the first row, and before
 * the first of another schema. mixed: rows are of several schemas, and those of
 * NDJSON, which has no headers, name theirs (encoder_open()). NULL: no memory.
 */
struct row_sink *stream_sink_open(FILE *out, enum row_format fmt, bool head,
				  bool mixed);

/* How streams and tables on a terminal show what databases, and files beside
 * them, always have alike. Set once, before the first row. */
extern struct row_style {
	bool iso_time;	 /* UTC: 2026-11-29T02:39:38.123456789Z */
	bool split_flow; /* columns src, sport, dst, dport, proto; what is no
			    flow stands in src. Of the first flow of a row */
} row_style;

/* For sinks: the batch in that style, valid until the next one: b itself if
 * there is none. *list, NULL at first, is what row_styled_free() frees. NULL:
 * no memory. */
struct row_styled;
struct row_batch *row_restyle(struct row_styled **list, struct row_batch *b);
void row_styled_free(struct row_styled *list);

/* --- rows, field by field ------------------------------------------------- */

/* The row in hand is the batch's; the rest is private. */
struct rows {
	struct row_batch b;
	struct row_sink *sink;
	bool own;	     /* rows_close() closes the sink */
	unsigned batch_rows; /* to put at once */
	int err;
};

/* Rows of a schema, which outlives them, for a sink: put when a batch has
 * batch_rows, and by rows_flush(). NULL: no memory. */
struct rows *rows_open(struct row_sink *sink, const struct schema *s,
		       unsigned batch_rows);

/* The same, which closes the sink: here, if there is no memory. NULL: none. */
struct rows *rows_open_own(struct row_sink *sink, const struct schema *s,
			   unsigned batch_rows);

/* The same on a stream of the caller's, each row at once; a program that prints
 * several kinds of rows opens several. The header is written before the first
 * row, or by rows_close() if there were none (CSV and text). */
struct rows *rows_print(FILE *out, enum row_format fmt, const struct schema *s,
			bool head);

/* Set the fields of the row in hand, as the batch's do. */
static inline void row_str(struct rows *r, unsigned field, const char *v)
{
	row_batch_str(&r->b, field, v); /* NULL: null */
}

static inline void row_u64(struct rows *r, unsigned field, uint64_t v)
{
	row_batch_set(&r->b, field, ROW_U64)->u64 = v;
}

static inline void row_f64(struct rows *r, unsigned field, double v)
{
	row_batch_set(&r->b, field, ROW_F64)->f64 = v;
}

static inline void row_bool(struct rows *r, unsigned field, bool v)
{
	row_batch_set(&r->b, field, ROW_BOOL)->u64 = v;
}

static inline void row_time(struct rows *r, unsigned field, int64_t ns)
{
	row_batch_set(&r->b, field, ROW_TIME)->i64 = ns;
}

static inline void row_bytes(struct rows *r, unsigned field, const void *data,
			     size_t len)
{
	row_batch_bytes(&r->b, field, data, len);
}

static inline void row_list(struct rows *r, unsigned field, const uint64_t *v,
			    size_t n)
{
	row_batch_list(&r->b, field, v, n);
}

/* Writes the header now, for rows that were encoded elsewhere and follow it. 0
 * or -errno. */
int rows_head(struct rows *r);
/* Ends the row. Returns 0, or -errno of the sink, which stays. */
int row_end(struct rows *r);
int rows_flush(struct rows *r);
/* Flushes; closes the sink of rows_print(), no other. NULL is fine. */
void rows_close(struct rows *r);

/* --- texts made of fields ------------------------------------------------- */

/* "flow:{src}:{sport}" is the text with each field in its place as
 * encode_cell() writes it, nothing for null; {} is the measurement. 0; or
 * -EINVAL with err set: no such field, or a brace without the other. */
int row_template_check(const char *text, const struct schema *s,
		       struct error *err);
/* text was checked by row_template_check(). */
void row_template_encode(const char *text, struct outbuf *o,
			 const struct row_batch *b, unsigned row);

#endif
