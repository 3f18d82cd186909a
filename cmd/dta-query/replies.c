/* SPDX-License-Identifier: BSD-2-Clause */
#include "replies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Columns that are understood, in whatever order they come. */
enum column {
	COL_KEY,
	COL_ANSWER,
	COL_VALUE, /* and path, and count */
	COL_AGREED,
	COL_MATCHED, /* and valid */
	COL_COPIES,
	COL_EPOCH,
	COL_HOLES,
	COL_KNOWN,
};

int replies_cells(char *line, char **cell)
{
	int n = 0;

	for (;;) {
		char *out;

		if (n == REPLIES_COLUMNS)
			return -1;
		cell[n++] = out = line;
		if (*line == '"') {
			for (line++; *line && (*line != '"' || line[1] == '"');
			     line++) {
				line += *line == '"';
				*out++ = *line;
			}
			if (*line++ != '"')
				return -1;
		} else {
			line += strcspn(line, ",");
			out = line;
		}
		if (*line && *line != ',')
			return -1;
		if (!*line) {
			*out = '\0';
			return n;
		}
		line++;
		*out = '\0';
	}
}

int replies_header(struct replies_format *f, char *line)
{
	static const struct {
		const char *name;
		uint8_t column;
	} known[] = {
		{"key", COL_KEY},	  {"answer", COL_ANSWER},
		{"value", COL_VALUE},	  {"path", COL_VALUE},
		{"count", COL_VALUE},	  {"agreed", COL_AGREED},
		{"matched", COL_MATCHED}, {"valid", COL_MATCHED},
		{"copies", COL_COPIES},	  {"epoch", COL_EPOCH},
		{"holes", COL_HOLES},
	};
	char *cell[REPLIES_COLUMNS];
	int n = replies_cells(line, cell);

	if (n <= 0)
		return -EBADMSG;
	f->columns = (unsigned)n;
	for (int i = 0; i < n; i++) {
		f->column[i] = COL_KNOWN;
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (!strcmp(cell[i], known[k].name))
				f->column[i] = known[k].column;
	}
	return 0;
}

bool replies_number(const char *text, uint64_t max, uint64_t *out)
{
	char *end;

	*out = 0;
	if (!*text)
		return true;
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return !errno && !*end && *out <= max;
}

bool replies_hex(const char *text, uint8_t *out, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	if (!strncmp(text, "0x", 2))
		text += 2;
	if (strlen(text) != 2 * len)
		return false;
	for (size_t i = 0; i < 2 * len; i++) {
		const char *d = strchr(digits, text[i]);

		if (!d)
			return false;
		out[i / 2] = (uint8_t)(out[i / 2] << 4 | (d - digits));
	}
	return true;
}

/* "1,2,3": numbers; how many, or -1. */
static int list_of(const char *text, uint32_t *out, unsigned max)
{
	unsigned n = 0;
	char *end;

	while (*text) {
		unsigned long v;

		if (n == max || *text < '0' || *text > '9')
			return -1;
		errno = 0;
		v = strtoul(text, &end, 10);
		if (errno || v > UINT32_MAX || (*end && *end != ','))
			return -1;
		out[n++] = (uint32_t)v;
		text = end + (*end == ',');
	}
	return (int)n;
}

static bool take_answer(struct reply *r, const char *text)
{
	for (int a = 0; a <= ANSWER_UNREADABLE; a++)
		if (!strcmp(text, answer_name((enum answer)a))) {
			r->answer = (enum answer)a;
			return true;
		}
	return false;
}

/* What was found: a value, a path or a count. */
static bool take_value(struct reply *r, const struct table *t, const char *text,
		       const char *holes)
{
	uint32_t hole[HASH_HOPS];
	int n;

	if (r->answer != ANSWER_FOUND)
		return true;
	if (t->kind == TABLE_KEYWRITE)
		return replies_hex(text, r->value, t->value_len);
	if (t->kind == TABLE_KEYINC)
		return *text && replies_number(text, UINT64_MAX, &r->count);
	n = list_of(text, r->path.value, HASH_HOPS);
	if (n < 0)
		return false;
	r->path.len = (uint8_t)n;
	r->path.holes = 0;
	n = list_of(holes, hole, HASH_HOPS);
	for (int i = 0; i < n; i++)
		if (hole[i] < HASH_HOPS)
			r->path.holes |= (uint8_t)(1u << hole[i]);
	return n >= 0;
}

bool replies_row(const struct replies_format *f, const struct table *t,
		 char *line, const char *key, struct reply *r)
{
	const char *of[COL_KNOWN + 1];
	char *cell[REPLIES_COLUMNS];
	uint64_t agreed, matched, copies;
	int n = replies_cells(line, cell);

	if (n != (int)f->columns)
		return false;
	for (unsigned i = 0; i <= COL_KNOWN; i++)
		of[i] = "";
	for (int i = 0; i < n; i++)
		of[f->column[i]] = cell[i];
	if (strcmp(of[COL_KEY], key) != 0 || !take_answer(r, of[COL_ANSWER]) ||
	    !replies_number(of[COL_AGREED], HASH_COPIES, &agreed) ||
	    !replies_number(of[COL_MATCHED], HASH_COPIES, &matched) ||
	    !replies_number(of[COL_COPIES], HASH_COPIES, &copies) ||
	    !replies_number(of[COL_EPOCH], UINT64_MAX, &r->epoch))
		return false;
	r->agreed = (uint8_t)agreed;
	r->matched = (uint8_t)matched;
	r->copies = (uint8_t)copies;
	if (t->kind == TABLE_POSTCARD) {
		r->path.answer = r->answer;
		r->path.valid = (uint8_t)matched;
		r->path.agreed = (uint8_t)agreed;
	}
	return take_value(r, t, of[COL_VALUE], of[COL_HOLES]);
}
