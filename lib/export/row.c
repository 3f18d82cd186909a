/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/row.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROW_BUF = 1 << 14, /* a row is gathered here, then handed to stdio */
	ROW_NULL = 255,    /* kind of a cell that was not set */
	NUMBER_MAX = 32,   /* longest number, bytes */
};

struct cell {
	uint8_t kind; /* enum row_type, or ROW_NULL */
	union {
		uint64_t u64;
		int64_t i64;
		double f64;
		const void *data;
	};
	size_t len; /* of data: bytes, or numbers of a list */
};

struct rows {
	FILE *out;
	enum row_format fmt;
	const struct row_field *fields;
	unsigned n;
	bool header; /* still to be written */
	int err;
	unsigned spills; /* times that buf was emptied */
	size_t len;      /* bytes in buf */
	char buf[ROW_BUF];
	struct cell cells[];
};

static const char digit_pairs[] =
	"00010203040506070809101112131415161718192021222324"
	"25262728293031323334353637383940414243444546474849"
	"50515253545556575859606162636465666768697071727374"
	"75767778798081828384858687888990919293949596979899";

int row_format_of(const char *name)
{
	static const char *const names[] = { "text", "csv", "ndjson" };

	for (int i = 0; i < 3; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

static void spill(struct rows *r)
{
	errno = 0;
	if (r->len && !r->err &&
	    fwrite_unlocked(r->buf, 1, r->len, r->out) != r->len)
		r->err = errno ? -errno : -EIO;
	r->len = 0;
	r->spills++;
}

/* Room for n more bytes, n < ROW_BUF. */
static inline char *room(struct rows *r, size_t n)
{
	if (r->len + n > ROW_BUF)
		spill(r);
	return r->buf + r->len;
}

static inline void put_char(struct rows *r, char c)
{
	*room(r, 1) = c;
	r->len++;
}

static void put_text(struct rows *r, const char *s, size_t n)
{
	while (n) {
		size_t part = n < ROW_BUF ? n : ROW_BUF;

		memcpy(room(r, part), s, part);
		r->len += part;
		s += part;
		n -= part;
	}
}

static void put_word(struct rows *r, const char *s)
{
	put_text(r, s, strlen(s));
}

/* Writes the digits so that they end at end; returns where they begin. */
static char *digits(char *end, uint64_t v)
{
	while (v >= 100) {
		end -= 2;
		memcpy(end, digit_pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, digit_pairs + v * 2, 2);
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

static void put_u64(struct rows *r, uint64_t v)
{
	char text[NUMBER_MAX], *p = digits(text + sizeof(text), v);

	put_text(r, p, (size_t)(text + sizeof(text) - p));
}

static void put_i64(struct rows *r, int64_t v)
{
	if (v < 0)
		put_char(r, '-');
	put_u64(r, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* The decimal point of a locale, of whatever bytes, becomes a point again. */
static void put_f64(struct rows *r, double v)
{
	char text[NUMBER_MAX];
	bool point = false;

	snprintf(text, sizeof(text), "%.6g", v);
	for (const char *p = text; *p; p++) {
		if (isdigit((unsigned char)*p) || *p == '-' || *p == '+' ||
		    *p == 'e')
			put_char(r, *p);
		else if (!point)
			put_char(r, '.');
		point = !isdigit((unsigned char)*p);
	}
}

static void put_hex(struct rows *r, const struct cell *c)
{
	static const char hex[] = "0123456789abcdef";
	const uint8_t *p = c->data;

	for (size_t i = 0; i < c->len; i++) {
		char *to = room(r, 2);

		to[0] = hex[p[i] >> 4];
		to[1] = hex[p[i] & 15];
		r->len += 2;
	}
}

static void put_list(struct rows *r, const struct cell *c)
{
	const uint32_t *v = c->data;

	for (size_t i = 0; i < c->len; i++) {
		if (i)
			put_char(r, ',');
		put_u64(r, v[i]);
	}
}

/*
 * Length of the well-formed UTF-8 sequence at s (RFC 3629, section 4), with its
 * code point; 0 if there is none. Never looks past a NUL.
 */
static unsigned utf8(const unsigned char *s, uint32_t *cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned n = s[0] < 0x80           ? 1
		     : (s[0] & 0xe0) == 0xc0 ? 2
		     : (s[0] & 0xf0) == 0xe0 ? 3
		     : (s[0] & 0xf8) == 0xf0 ? 4
					     : 0;
	uint32_t v = n > 1 ? s[0] & (0x7fu >> n) : s[0];

	for (unsigned i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (s[i] & 0x3f);
	}
	if (!n || v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
		return 0;
	*cp = v;
	return n;
}

/* A string for JSON (RFC 8259, section 7), between quotes already written. */
static void put_json_text(struct rows *r, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned n;
	uint32_t cp;

	for (; *s; s += n ? n : 1) {
		n = utf8(s, &cp);
		if (!n) {
			put_word(r, "\xef\xbf\xbd"); /* U+FFFD */
		} else if (cp == '"' || cp == '\\') {
			put_char(r, '\\');
			put_char(r, (char)cp);
		} else if (cp < 0x20 || cp == 0x7f) {
			char esc[8];

			snprintf(esc, sizeof(esc), "\\u%04x", cp);
			put_word(r, esc);
		} else {
			put_text(r, (const char *)s, n);
		}
	}
}

/*
 * A string for people: what could move a cursor, and a blank that would look
 * like the end of a column, is written as \xNN.
 */
static void put_plain_text(struct rows *r, const char *text, bool last)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned n;
	uint32_t cp;

	if (!*s)
		put_word(r, "\"\"");
	for (; *s; s += n ? n : 1) {
		n = utf8(s, &cp);
		if (!n) {
			put_word(r, "\xef\xbf\xbd");
		} else if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0) ||
			   (cp == ' ' && !last)) {
			char esc[8];

			snprintf(esc, sizeof(esc), "\\x%02x", cp);
			put_word(r, esc);
		} else {
			put_text(r, (const char *)s, n);
		}
	}
}

/* Whether a string can stand in CSV as it is: printable ASCII, no quotes. */
static bool csv_is_plain(const char *s)
{
	const char *p = s;

	while (*p > ' ' && *p < 0x7f && *p != ',' && *p != '"')
		p++;
	return !*p && p > s;
}

/* RFC 4180. An empty string is "", so that null is not the same. */
static void put_csv_text(struct rows *r, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned n;
	uint32_t cp;

	if (csv_is_plain(text)) {
		put_word(r, text);
		return;
	}
	put_char(r, '"');
	for (; *s; s += n ? n : 1) {
		n = utf8(s, &cp);
		if (*s == '"')
			put_char(r, '"');
		if (n)
			put_text(r, (const char *)s, n);
		else
			put_word(r, "\xef\xbf\xbd"); /* U+FFFD */
	}
	put_char(r, '"');
}

static bool cell_is_null(const struct cell *c)
{
	return c->kind == ROW_NULL || (c->kind == ROW_F64 && !isfinite(c->f64));
}

/* What is written alike in every format. */
static void put_number(struct rows *r, const struct cell *c)
{
	switch (c->kind) {
	case ROW_U64:
		put_u64(r, c->u64);
		break;
	case ROW_I64:
		put_i64(r, c->i64);
		break;
	case ROW_F64:
		put_f64(r, c->f64);
		break;
	case ROW_BOOL:
		put_word(r, c->u64 ? "true" : "false");
		break;
	}
}

static void json_cell(struct rows *r, unsigned i)
{
	const struct cell *c = &r->cells[i];

	put_char(r, i ? ',' : '{');
	put_char(r, '"');
	put_json_text(r, r->fields[i].name);
	put_text(r, "\":", 2);
	if (cell_is_null(c)) {
		put_word(r, "null");
	} else if (c->kind == ROW_STR || c->kind == ROW_BYTES) {
		put_char(r, '"');
		if (c->kind == ROW_STR)
			put_json_text(r, c->data);
		else
			put_hex(r, c);
		put_char(r, '"');
	} else if (c->kind == ROW_LIST) {
		put_char(r, '[');
		put_list(r, c);
		put_char(r, ']');
	} else {
		put_number(r, c);
	}
}

static void csv_cell(struct rows *r, unsigned i)
{
	const struct cell *c = &r->cells[i];
	bool quote = c->kind == ROW_LIST && c->len != 1;

	if (i)
		put_char(r, ',');
	if (cell_is_null(c))
		return;
	if (c->kind == ROW_STR) {
		put_csv_text(r, c->data);
	} else if (c->kind == ROW_BYTES || c->kind == ROW_LIST) {
		quote |= c->len == 0;
		if (quote)
			put_char(r, '"');
		c->kind == ROW_LIST ? put_list(r, c) : put_hex(r, c);
		if (quote)
			put_char(r, '"');
	} else {
		put_number(r, c);
	}
}

static bool right_aligned(const struct row_field *f)
{
	return f->type == ROW_U64 || f->type == ROW_I64 || f->type == ROW_F64;
}

static size_t column_width(const struct row_field *f)
{
	size_t name = strlen(f->name);

	return name > f->width ? name : f->width;
}

/*
 * Pads what was written from start on to its column's width, in characters. A
 * field that did not fit the buffer is wider than any column.
 */
static void pad(struct rows *r, unsigned i, size_t start)
{
	size_t width = column_width(&r->fields[i]), chars = 0, blanks;

	for (size_t k = start; k < r->len; k++)
		chars += (r->buf[k] & 0xc0) != 0x80;
	if (chars >= width || r->len + (blanks = width - chars) > ROW_BUF)
		return;
	if (right_aligned(&r->fields[i])) {
		memmove(r->buf + start + blanks, r->buf + start,
			r->len - start);
		memset(r->buf + start, ' ', blanks);
		r->len += blanks;
	} else if (i + 1 < r->n) {
		memset(r->buf + r->len, ' ', blanks);
		r->len += blanks;
	}
}

static void text_value(struct rows *r, unsigned i)
{
	const struct cell *c = &r->cells[i];

	if (cell_is_null(c))
		put_char(r, '-');
	else if (c->kind == ROW_STR)
		put_plain_text(r, c->data, i + 1 == r->n);
	else if (c->kind > ROW_F64 && c->kind != ROW_BOOL && !c->len)
		put_word(r, "\"\"");
	else if (c->kind == ROW_BYTES)
		put_hex(r, c);
	else if (c->kind == ROW_LIST)
		put_list(r, c);
	else
		put_number(r, c);
}

static void text_cell(struct rows *r, unsigned i)
{
	unsigned spills;
	size_t start;

	if (i)
		put_text(r, "  ", 2);
	room(r, ROW_BUF / 2);
	start = r->len;
	spills = r->spills;
	text_value(r, i);
	if (r->spills == spills)
		pad(r, i, start);
}

static void text_header(struct rows *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		size_t start;

		if (i)
			put_text(r, "  ", 2);
		room(r, ROW_BUF / 2);
		start = r->len;
		for (const char *s = r->fields[i].name; *s; s++)
			put_char(r, (char)toupper((unsigned char)*s));
		pad(r, i, start);
	}
	put_char(r, '\n');
}

static void csv_header(struct rows *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		if (i)
			put_char(r, ',');
		put_csv_text(r, r->fields[i].name);
	}
	put_char(r, '\n');
}

static void header(struct rows *r)
{
	if (r->header && r->fmt == ROW_TEXT)
		text_header(r);
	else if (r->header && r->fmt == ROW_CSV)
		csv_header(r);
	r->header = false;
}

static void clear(struct rows *r)
{
	for (unsigned i = 0; i < r->n; i++)
		r->cells[i].kind = ROW_NULL;
}

struct rows *rows_open(FILE *out, enum row_format fmt,
		       const struct row_field *fields, unsigned n, bool head)
{
	struct rows *r = malloc(sizeof(*r) + n * sizeof(r->cells[0]));

	if (!r)
		return NULL;
	r->out = out;
	r->fmt = fmt;
	r->fields = fields;
	r->n = n;
	r->header = head;
	r->err = 0;
	r->len = 0;
	r->spills = 0;
	clear(r);
	return r;
}

void row_str(struct rows *r, unsigned field, const char *v)
{
	r->cells[field].kind = v ? ROW_STR : ROW_NULL;
	r->cells[field].data = v;
}

void row_u64(struct rows *r, unsigned field, uint64_t v)
{
	r->cells[field].kind = ROW_U64;
	r->cells[field].u64 = v;
}

void row_i64(struct rows *r, unsigned field, int64_t v)
{
	r->cells[field].kind = ROW_I64;
	r->cells[field].i64 = v;
}

void row_f64(struct rows *r, unsigned field, double v)
{
	r->cells[field].kind = ROW_F64;
	r->cells[field].f64 = v;
}

void row_bool(struct rows *r, unsigned field, bool v)
{
	r->cells[field].kind = ROW_BOOL;
	r->cells[field].u64 = v;
}

void row_bytes(struct rows *r, unsigned field, const void *data, size_t len)
{
	r->cells[field].kind = ROW_BYTES;
	r->cells[field].data = data;
	r->cells[field].len = len;
}

void row_list(struct rows *r, unsigned field, const uint32_t *v, size_t n)
{
	r->cells[field].kind = ROW_LIST;
	r->cells[field].data = v;
	r->cells[field].len = n;
}

int row_end(struct rows *r)
{
	header(r);
	for (unsigned i = 0; i < r->n; i++) {
		if (r->fmt == ROW_NDJSON)
			json_cell(r, i);
		else if (r->fmt == ROW_CSV)
			csv_cell(r, i);
		else
			text_cell(r, i);
	}
	if (r->fmt == ROW_NDJSON)
		put_char(r, '}');
	put_char(r, '\n');
	spill(r);
	clear(r);
	return r->err;
}

void rows_close(struct rows *r)
{
	if (!r)
		return;
	header(r);
	spill(r);
	free(r);
}
