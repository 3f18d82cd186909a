/* SPDX-License-Identifier: BSD-2-Clause */
#include "row/people.h"

#include <string.h>
#include <time.h>

static void put_bytes(struct outbuf *o, uint64_t v)
{
	static const char *const unit[] = {"", "KiB", "MiB", "GiB", "TiB"};
	double x = (double)v;
	unsigned i = 0;
	char text[32];

	while (x >= 1024 && i < 4) {
		x /= 1024;
		i++;
	}
	snprintf(text, sizeof(text), x < 10 && i ? "%.1f%s" : "%.0f%s", x,
		 unit[i]);
	outbuf_word(o, text);
}

static void put_f64(struct outbuf *o, double v)
{
	char text[32];

	snprintf(text, sizeof(text), "%.4g", v);
	outbuf_word(o, text);
}

/* As many as say anything: none, 3, 6 or 9. -1: not even the point. */
static int digits_of(long ns)
{
	return !ns ? -1 : ns % 1000 ? 9 : ns % 1000000 ? 6 : 3;
}

/* Local time, without the date if it is today. */
static void put_time(struct outbuf *o, int64_t ns, bool micro)
{
	time_t seconds = (time_t)(ns / 1000000000), now = time(NULL);
	long rest = (long)(ns % 1000000000);
	struct tm at, today;
	char text[64], fraction[16];
	int digits = micro ? 6 : digits_of(rest);

	localtime_r(&seconds, &at);
	localtime_r(&now, &today);
	strftime(text, sizeof(text),
		 at.tm_year == today.tm_year && at.tm_yday == today.tm_yday
			 ? "%H:%M:%S"
			 : "%Y-%m-%d %H:%M:%S",
		 &at);
	snprintf(fraction, sizeof(fraction), ".%09ld", rest);
	outbuf_word(o, text);
	outbuf_bytes(o, fraction, (size_t)(digits + 1));
}

void people_cell(struct outbuf *o, const struct row_batch *b,
		 const struct row_field *f, const struct row_cell *c,
		 bool micro)
{
	if (encode_is_null(c))
		outbuf_char(o, '-');
	else if (c->kind == ROW_BOOL)
		outbuf_word(o, c->u64 ? "*" : "");
	else if (c->kind == ROW_TIME)
		put_time(o, c->i64, micro);
	else if (c->kind == ROW_U64 && f->unit && !strcmp(f->unit, "bytes"))
		put_bytes(o, c->u64);
	else if (c->kind == ROW_F64)
		put_f64(o, c->f64);
	else if (c->kind == ROW_STR)
		outbuf_plain(o, (const char *)b->bytes + c->at, c->len, true);
	else if (c->kind == ROW_LIST)
		outbuf_list(o, (const void *)(b->bytes + c->at), c->len);
	else
		encode_cell(o, b, c);
}

unsigned people_width(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

/* The first n characters of a text, and what follows them. */
static const char *put_chars(FILE *out, const char *text, unsigned n)
{
	while (n || (*text & 0xc0) == 0x80) {
		n -= (*text & 0xc0) != 0x80;
		putc(*text++, out);
	}
	return text;
}

/* A text that is too long ends in "...", or has that in its middle. */
static void put_cut(FILE *out, const char *text, unsigned n, unsigned width,
		    bool middle)
{
	unsigned tail = middle ? (width - 3) / 2 : 0, skip = n - width + 3;

	text = put_chars(out, text, width - 3 - tail);
	fputs("...", out);
	for (; skip || (*text & 0xc0) == 0x80; text++)
		skip -= (*text & 0xc0) != 0x80;
	put_chars(out, text, tail);
}

void people_put(FILE *out, const char *text, unsigned width, bool right,
		bool last, bool middle)
{
	unsigned n = people_width(text);

	if (n > width) {
		put_cut(out, text, n, width, middle);
		return;
	}
	fprintf(out, "%*s%s", right ? (int)(width - n) : 0, "", text);
	if (!right && !last)
		fprintf(out, "%*s", (int)(width - n), "");
}
