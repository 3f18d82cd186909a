/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/row.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	BUFFER = 1 << 16, /* rows waiting for one fwrite */
};

struct value {
	bool set;
	union {
		uint64_t u64;
		int64_t i64;
		double f64;
		bool truth;
		struct {
			const void *at;
			size_t len;
		};
	};
};

struct rows {
	FILE *out;
	const struct row_field *fields;
	struct value *value;
	unsigned n;
	enum row_format fmt;
	bool header; /* still to be written */
	int error;
	size_t used;
	char buf[BUFFER];
};

int row_format_of(const char *name)
{
	static const char *const names[] = { "text", "csv", "ndjson" };

	for (int i = 0; i < 3; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

static void write_out(struct rows *r)
{
	if (r->used && fwrite(r->buf, 1, r->used, r->out) != r->used &&
	    !r->error)
		r->error = errno ? -errno : -EIO;
	r->used = 0;
}

static void add(struct rows *r, const void *data, size_t len)
{
	if (len > BUFFER - r->used)
		write_out(r);
	if (len > BUFFER) {
		if (fwrite(data, 1, len, r->out) != len && !r->error)
			r->error = errno ? -errno : -EIO;
		return;
	}
	memcpy(r->buf + r->used, data, len);
	r->used += len;
}

static void add_char(struct rows *r, char c)
{
	if (r->used == BUFFER)
		write_out(r);
	r->buf[r->used++] = c;
}

static void add_str(struct rows *r, const char *s)
{
	add(r, s, strlen(s));
}

/* Digits of v, right-aligned in width. */
static void add_u64(struct rows *r, uint64_t v, size_t width, bool minus)
{
	char digits[24], *p = digits + sizeof(digits);
	size_t len;

	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	if (minus)
		*--p = '-';
	len = (size_t)(digits + sizeof(digits) - p);
	while (width-- > len)
		add_char(r, ' ');
	add(r, p, len);
}

static void add_f64(struct rows *r, double v, size_t width)
{
	char text[40];
	size_t len = (size_t)snprintf(text, sizeof(text), "%.6g", v);
	char *comma = strchr(text, ','); /* a locale's decimal point */

	if (comma)
		*comma = '.';
	while (width-- > len)
		add_char(r, ' ');
	add(r, text, len);
}

static size_t add_hex(struct rows *r, const uint8_t *p, size_t len)
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		add_char(r, digit[p[i] >> 4]);
		add_char(r, digit[p[i] & 15]);
	}
	return 2 * len;
}

static size_t add_list(struct rows *r, const uint32_t *v, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		if (i)
			add_char(r, ',');
		add_u64(r, v[i], 0, false);
		for (uint32_t x = v[i]; x > 9; x /= 10)
			len++;
		len += 1 + (i > 0);
	}
	return len;
}

/* Length of the UTF-8 sequence at p, 0 if it is none (RFC 3629). */
static size_t utf8_len(const uint8_t *p, size_t left)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 :
		   p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

	if (!n || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

static void add_json_str(struct rows *r, const char *s, size_t len)
{
	const uint8_t *p = (const uint8_t *)s, *end = p + len;

	add_char(r, '"');
	while (p < end) {
		size_t n = utf8_len(p, (size_t)(end - p));
		char esc[8];

		if (!n) {
			add_str(r, "\\ufffd");
			n = 1;
		} else if (*p == '"' || *p == '\\') {
			add_char(r, '\\');
			add_char(r, (char)*p);
		} else if (*p < 0x20) {
			add(r, esc, (size_t)snprintf(esc, sizeof(esc),
						     "\\u%04x", *p));
		} else {
			add(r, p, n);
		}
		p += n;
	}
	add_char(r, '"');
}

/* RFC 4180: quotes where there is something to quote. */
static void add_csv_str(struct rows *r, const char *s, size_t len)
{
	if (!memchr(s, ',', len) && !memchr(s, '"', len) &&
	    !memchr(s, '\n', len) && !memchr(s, '\r', len)) {
		add(r, s, len);
		return;
	}
	add_char(r, '"');
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '"')
			add_char(r, '"');
		add_char(r, s[i]);
	}
	add_char(r, '"');
}

/* Text columns hold no control characters: one row stays one line. */
static size_t add_text_str(struct rows *r, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		add_char(r, (unsigned char)s[i] < 0x20 || s[i] == 0x7f ? '?' :
									 s[i]);
	return len;
}

static bool is_number(uint8_t type)
{
	return type == ROW_U64 || type == ROW_I64 || type == ROW_F64;
}

static void add_number(struct rows *r, uint8_t type, const struct value *v,
		       size_t width)
{
	if (type == ROW_U64)
		add_u64(r, v->u64, width, false);
	else if (type == ROW_F64)
		add_f64(r, v->f64, width);
	else if (v->i64 < 0)
		add_u64(r, 0 - (uint64_t)v->i64, width, true);
	else
		add_u64(r, (uint64_t)v->i64, width, false);
}

static size_t add_text_value(struct rows *r, uint8_t type,
			     const struct value *v)
{
	switch (type) {
	case ROW_STR: return add_text_str(r, v->at, v->len);
	case ROW_BYTES: return add_hex(r, v->at, v->len);
	case ROW_LIST: return add_list(r, v->at, v->len);
	default: add_str(r, v->truth ? "yes" : "no"); return v->truth ? 3 : 2;
	}
}

static void text_row(struct rows *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		const struct row_field *f = &r->fields[i];
		bool number = is_number(f->type), last = i + 1 == r->n;
		size_t len;

		if (number && r->value[i].set) {
			add_number(r, f->type, &r->value[i], f->width);
			len = f->width;
		} else if (number) {
			for (len = 1; len < f->width; len++)
				add_char(r, ' ');
			add_char(r, '-');
		} else if (r->value[i].set) {
			len = add_text_value(r, f->type, &r->value[i]);
		} else {
			add_char(r, '-');
			len = 1;
		}
		while (!last && len++ < f->width)
			add_char(r, ' ');
		add_char(r, last ? '\n' : ' ');
	}
}

static void csv_row(struct rows *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		const struct value *v = &r->value[i];
		uint8_t type = r->fields[i].type;

		if (v->set && is_number(type))
			add_number(r, type, v, 0);
		else if (v->set && type == ROW_STR)
			add_csv_str(r, v->at, v->len);
		else if (v->set && type == ROW_BYTES)
			add_hex(r, v->at, v->len);
		else if (v->set && type == ROW_BOOL)
			add_str(r, v->truth ? "true" : "false");
		else if (v->set && v->len > 1) {
			add_char(r, '"');
			add_list(r, v->at, v->len);
			add_char(r, '"');
		} else if (v->set) {
			add_list(r, v->at, v->len);
		}
		add_char(r, i + 1 < r->n ? ',' : '\n');
	}
}

static void ndjson_value(struct rows *r, uint8_t type, const struct value *v)
{
	if (!v->set) {
		add_str(r, "null");
	} else if (is_number(type)) {
		add_number(r, type, v, 0);
	} else if (type == ROW_STR) {
		add_json_str(r, v->at, v->len);
	} else if (type == ROW_BOOL) {
		add_str(r, v->truth ? "true" : "false");
	} else if (type == ROW_BYTES) {
		add_char(r, '"');
		add_hex(r, v->at, v->len);
		add_char(r, '"');
	} else {
		add_char(r, '[');
		add_list(r, v->at, v->len);
		add_char(r, ']');
	}
}

static void ndjson_row(struct rows *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		add_char(r, i ? ',' : '{');
		add_char(r, '"');
		add_str(r, r->fields[i].name);
		add_str(r, "\":");
		ndjson_value(r, r->fields[i].type, &r->value[i]);
	}
	add_str(r, "}\n");
}

static void text_header(struct rows *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		const struct row_field *f = &r->fields[i];
		size_t len = strlen(f->name), pad = len < f->width ?
						    f->width - len : 0;
		bool last = i + 1 == r->n;

		for (size_t k = 0; is_number(f->type) && k < pad; k++)
			add_char(r, ' ');
		for (const char *p = f->name; *p; p++)
			add_char(r, *p >= 'a' && *p <= 'z' ? (char)(*p - 32) :
							     *p);
		for (size_t k = 0; !is_number(f->type) && !last && k < pad; k++)
			add_char(r, ' ');
		add_char(r, last ? '\n' : ' ');
	}
}

static void write_header(struct rows *r)
{
	if (!r->header)
		return;
	r->header = false;
	if (r->fmt == ROW_TEXT) {
		text_header(r);
	} else if (r->fmt == ROW_CSV) {
		for (unsigned i = 0; i < r->n; i++) {
			add_str(r, r->fields[i].name);
			add_char(r, i + 1 < r->n ? ',' : '\n');
		}
	}
}

struct rows *rows_open(FILE *out, enum row_format fmt,
		       const struct row_field *fields, unsigned n, bool header)
{
	struct rows *r = malloc(sizeof(*r));
	struct value *value = calloc(n, sizeof(*value));

	if (!r || !value) {
		free(r);
		free(value);
		return NULL;
	}
	r->out = out;
	r->fields = fields;
	r->value = value;
	r->n = n;
	r->fmt = fmt;
	r->header = header;
	r->error = 0;
	r->used = 0;
	return r;
}

static struct value *set(struct rows *r, unsigned field)
{
	r->value[field].set = true;
	return &r->value[field];
}

void row_str(struct rows *r, unsigned field, const char *v)
{
	if (!v)
		return;
	set(r, field)->at = v;
	r->value[field].len = strlen(v);
}

void row_u64(struct rows *r, unsigned field, uint64_t v)
{
	set(r, field)->u64 = v;
}

void row_i64(struct rows *r, unsigned field, int64_t v)
{
	set(r, field)->i64 = v;
}

void row_f64(struct rows *r, unsigned field, double v)
{
	if (isfinite(v))
		set(r, field)->f64 = v;
}

void row_bool(struct rows *r, unsigned field, bool v)
{
	set(r, field)->truth = v;
}

void row_bytes(struct rows *r, unsigned field, const void *data, size_t len)
{
	set(r, field)->at = data;
	r->value[field].len = len;
}

void row_list(struct rows *r, unsigned field, const uint32_t *v, size_t n)
{
	set(r, field)->at = v;
	r->value[field].len = n;
}

int row_end(struct rows *r)
{
	write_header(r);
	if (r->fmt == ROW_TEXT)
		text_row(r);
	else if (r->fmt == ROW_CSV)
		csv_row(r);
	else
		ndjson_row(r);
	memset(r->value, 0, r->n * sizeof(*r->value));
	return r->error;
}

void rows_flush(struct rows *r)
{
	write_out(r);
	if (fflush(r->out) != 0 && !r->error)
		r->error = errno ? -errno : -EIO;
}

void rows_close(struct rows *r)
{
	if (!r)
		return;
	write_header(r);
	write_out(r);
	free(r->value);
	free(r);
}
