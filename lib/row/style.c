/* SPDX-License-Identifier: BSD-2-Clause */
/* style.c - rows for people's tools: times in ISO 8601, flows in columns. */
#include "row/row.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct row_style row_style;

static const struct row_field flow_columns[] = {
	{"src", ROW_STR, 15},  {"sport", ROW_U64, 5}, {"dst", ROW_STR, 15},
	{"dport", ROW_U64, 5}, {"proto", ROW_STR, 5},
};

enum { FLOW_COLUMNS = sizeof(flow_columns) / sizeof(flow_columns[0]) };

struct row_styled {
	struct row_styled *next;
	const struct schema *from;
	unsigned flow; /* the field to split, the first such; or from->n */
	struct schema to;
	struct row_batch b; /* of to */
	struct row_field field[];
};

static struct row_styled *style_schema(const struct schema *from)
{
	struct row_styled *d = calloc(
		1, sizeof(*d) + from->n * sizeof(flow_columns));

	if (!d)
		return NULL;
	while (d->flow < from->n &&
	       !(row_style.split_flow && from->fields[d->flow].flow))
		d->flow++;
	for (unsigned i = 0; i < from->n; i++) {
		const struct row_field *f = &from->fields[i];
		struct row_field *to = d->field + d->to.n;
		unsigned n = i == d->flow ? FLOW_COLUMNS : 1;

		memcpy(to, n > 1 ? flow_columns : f, n * sizeof(*f));
		if (row_style.iso_time && f->type == ROW_TIME) {
			to->type = ROW_STR;
			to->width = 30; /* 2026-11-29T02:39:38.123456789Z */
		}
		d->to.n += n;
	}
	d->from = from;
	d->to.name = from->name;
	d->to.fields = d->field;
	if (!row_batch_init(&d->b, &d->to, 1))
		return d;
	free(d);
	return NULL;
}

static void put_iso(struct row_batch *to, unsigned field, int64_t ns)
{
	int64_t rest = ns % 1000000000;
	time_t seconds = ns / 1000000000 - (rest < 0);
	struct tm at;
	char text[64];
	size_t n;

	gmtime_r(&seconds, &at);
	n = strftime(text, sizeof(text), "%FT%T", &at);
	snprintf(text + n, sizeof(text) - n, ".%09dZ",
		 (int)(rest < 0 ? rest + 1000000000 : rest));
	row_batch_str(to, field, text);
}

/* Splits ADDRESS:PORT>ADDRESS:PORT/PROTOCOL in place, if it is that. */
static void split_flow(struct row_batch *b, struct row_cell *cell)
{
	char *src = (char *)b->bytes + cell->at, *dst = strchr(src, '>'),
	     *proto = dst ? strrchr(dst, '/') : NULL,
	     *sport = proto ? memrchr(src, ':', (size_t)(dst - src)) : NULL,
	     *dport = sport ? memrchr(dst, ':', (size_t)(proto - dst)) : NULL,
	     *cut[] = {src - 1, sport, dst, dport, proto, src + cell->len};

	for (unsigned i = 0; dport && i < FLOW_COLUMNS; i++) {
		char *from = cut[i] + 1, *to = cut[i + 1];

		if (*from == '[' && to[-1] == ']') {
			from++;
			to--;
		}
		*to = '\0';
		cell[i].kind = flow_columns[i].type;
		if (cell[i].kind == ROW_U64) {
			cell[i].u64 = strtoul(from, NULL, 10);
		} else {
			cell[i].at = (uint32_t)(from - (char *)b->bytes);
			cell[i].len = (uint32_t)(to - from);
		}
	}
}

struct row_batch *row_restyle(struct row_styled **list, struct row_batch *b)
{
	const struct row_cell *c = b->cells;
	struct row_styled *d = *list;
	unsigned at;

	if (!row_style.iso_time && !row_style.split_flow)
		return b;
	while (d && d->from != b->schema)
		d = d->next;
	if (!d) {
		if (!(d = style_schema(b->schema)))
			return NULL;
		d->next = *list;
		*list = d;
	}
	row_batch_clear(&d->b);
	/* Texts stay where they are; the cell is that of the first row. */
	row_batch_bytes(&d->b, 0, b->bytes, b->used);
	for (unsigned row = 0; row < b->rows; row++) {
		at = 0;
		for (unsigned i = 0; i < d->from->n; i++, c++) {
			d->b.hand[at] = *c;
			if (c->kind == ROW_TIME && row_style.iso_time)
				put_iso(&d->b, at, c->i64);
			else if (c->kind == ROW_STR && i == d->flow)
				split_flow(&d->b, &d->b.hand[at]);
			at += i == d->flow ? FLOW_COLUMNS : 1;
		}
		if (row_batch_end(&d->b) < 0)
			return NULL;
	}
	return d->b.err ? NULL : &d->b;
}

void row_styled_free(struct row_styled *list)
{
	for (struct row_styled *next; list; list = next) {
		next = list->next;
		row_batch_fini(&list->b);
		free(list);
	}
}
