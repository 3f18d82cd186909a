/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * outbuf.h - for encoders of rows (this room, export/): a buffer before a stdio
 * stream, or before memory that grows, and how numbers, bytes and strings are
 * written in each format.
 *
 * Errors: sticky, -errno of the stream or -ENOMEM in err; what follows is
 * thrown away.
 */
#ifndef ROW_OUTBUF_H
#define ROW_OUTBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	OUTBUF_SIZE = 1 << 14,
};

struct outbuf {
	FILE *out; /* NULL: what is spilled is gathered in text */
	char *text;
	size_t text_len, text_size;
	int err;
	unsigned spills; /* times that buf was emptied */
	size_t len;	 /* bytes in buf */
	size_t hidden;	 /* outbuf_plain()'s bytes beyond a character's first */
	char buf[OUTBUF_SIZE];
};

/* Hands what is gathered to the stream, or to the text. */
void outbuf_spill(struct outbuf *o);

/* All that was written, of len bytes, a NUL behind it: valid until something
 * is written. NULL: the error is set. */
const char *outbuf_text(struct outbuf *o, size_t *len);

/* The same, for the caller to free; the buffer is empty then. */
char *outbuf_take(struct outbuf *o, size_t *len);

/* Forgets all but the first len bytes; errors stay. */
void outbuf_cut(struct outbuf *o, size_t len);

/* Bytes of the text in all. */
static inline size_t outbuf_len(const struct outbuf *o)
{
	return o->text_len + o->len;
}

/* Room for n more bytes, n <= OUTBUF_SIZE; the caller adds to len. */
static inline char *outbuf_room(struct outbuf *o, size_t n)
{
	if (o->len + n > OUTBUF_SIZE)
		outbuf_spill(o);
	return o->buf + o->len;
}

static inline void outbuf_char(struct outbuf *o, char c)
{
	*outbuf_room(o, 1) = c;
	o->len++;
}

/* n of any size. */
void outbuf_long(struct outbuf *o, const char *s, size_t n);

static inline void outbuf_bytes(struct outbuf *o, const char *s, size_t n)
{
	if (n > OUTBUF_SIZE - o->len) {
		outbuf_long(o, s, n);
		return;
	}
	memcpy(o->buf + o->len, s, n);
	o->len += n;
}

void outbuf_word(struct outbuf *o, const char *s);
void outbuf_u64(struct outbuf *o, uint64_t v);
void outbuf_i64(struct outbuf *o, int64_t v);
void outbuf_f64(struct outbuf *o, double v);	/* finite */
void outbuf_time(struct outbuf *o, int64_t ns); /* seconds, nine digits */
void outbuf_hex(struct outbuf *o, const void *data, size_t n);
void outbuf_list(struct outbuf *o, const uint64_t *v, size_t n);

/* Strings of len bytes, NUL behind them: for JSON, without its quotes; for CSV;
 * for people, where blanks stay only in the last column. */
void outbuf_json(struct outbuf *o, const char *text, size_t len);
void outbuf_csv(struct outbuf *o, const char *text, size_t len);
void outbuf_plain(struct outbuf *o, const char *text, size_t len, bool last);
/* With a backslash before each character of special (ASCII), where a newline
 * becomes \n, and U+FFFD for bytes that are not UTF-8. */
void outbuf_escaped(struct outbuf *o, const char *text, size_t len,
		    const char *special);

#endif
