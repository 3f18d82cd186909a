/* SPDX-License-Identifier: BSD-2-Clause */
/* --slots and --lists: what the memory of a table holds, as it lies there. */
#include <stdlib.h>
#include <string.h>

#include "query/query.h"
#include "query/show.h"
#include "whole.h"
#include "wire/be.h"
#include "cli/table.h"

enum slot_field {
	SLOT_TABLE,
	SLOT_EPOCH,
	SLOT_UNIT,
	SLOT_LIST,
	SLOT_ENTRY,
	SLOT_CHECKSUM,
	SLOT_COUNT,
	SLOT_VALUE,
	SLOT_FIELDS,
};

static const struct row_field slot_fields[SLOT_FIELDS] = {
	[SLOT_TABLE] = {"table", ROW_STR, 16, ROW_TAG},
	[SLOT_EPOCH] = {"epoch", ROW_U64, 5},
	[SLOT_UNIT] = {"unit", ROW_U64, 10},
	[SLOT_LIST] = {"list", ROW_U64, 6},
	[SLOT_ENTRY] = {"entry", ROW_U64, 8},
	[SLOT_CHECKSUM] = {"checksum", ROW_BYTES, 8},
	[SLOT_COUNT] = {"count", ROW_U64, 12},
	[SLOT_VALUE] = {"value", ROW_BYTES, 16},
};

enum list_field {
	LIST_TABLE,
	LIST_EPOCH,
	LIST_LIST,
	LIST_WRITTEN,
	LIST_KEPT,
	LIST_LOST,
	LIST_FIELDS,
};

static const struct row_field list_fields[LIST_FIELDS] = {
	[LIST_TABLE] = {"table", ROW_STR, 16, ROW_TAG},
	[LIST_EPOCH] = {"epoch", ROW_U64, 5},
	[LIST_LIST] = {"list", ROW_U64, 6},
	[LIST_WRITTEN] = {"written", ROW_U64, 12},
	[LIST_KEPT] = {"kept", ROW_U64, 10},
	[LIST_LOST] = {"lost", ROW_U64, 12},
};

static const struct schema lists = {"list_slot", list_fields, LIST_FIELDS};

enum {
	SUM_LEN = 4,
};

/* The columns that layouts tell of come behind the bytes. */
struct slots {
	struct rows *rows;
	const struct table *tables, *t;
	uint64_t epoch;
	struct row_field field[SLOT_FIELDS + SHOW_COLUMNS];
	struct schema schema;
	struct shown shown;
	struct rendered room;
	struct show show[TABLE_MAX]; /* of each table */
	uint8_t column[TABLE_MAX][SHOW_PARTS];
};

static void slots_open(struct slots *s, const struct whole *w,
		       const struct opts *o)
{
	const struct memory *m = w->memory;
	struct view v = {NULL};
	struct fault why;

	s->tables = m->table;
	memcpy(s->field, slot_fields, sizeof(slot_fields));
	while (whole_next(w, o, &v)) {
		unsigned i = (unsigned)(v.t - m->table);

		if (*v.t->show && (show_of(&s->show[i], v.t->show, &why) < 0 ||
				   !shown_add(&s->shown, &s->show[i],
					      v.t->value_len, s->column[i])))
			s->show[i].n = 0;
	}
	memcpy(s->field + SLOT_FIELDS, s->shown.field,
	       s->shown.n * sizeof(*s->field));
	s->schema = (struct schema){"slot", s->field, SLOT_FIELDS + s->shown.n};
	s->rows = cli_rows(o->format, &s->schema);
	if (!s->rows)
		cli_fail("out of memory");
}

/* What is in the bytes of a value, by its types. */
static void put_parts(struct slots *s, const uint8_t *value)
{
	unsigned i = (unsigned)(s->t - s->tables);

	shown_set(&s->show[i], s->column[i], &s->room, s->rows, SLOT_FIELDS,
		  value, s->t->value_len);
}

/* A unit may be written meanwhile: it is copied once, and the copy shown. */
static void slot_row(void *ctx, uint64_t unit, const uint8_t *bytes)
{
	struct slots *s = ctx;
	const struct table *t = s->t;
	uint8_t copy[SUM_LEN + TABLE_VALUE_MAX];
	size_t len = t->kind == TABLE_KEYWRITE ? SUM_LEN + (size_t)t->value_len
		     : t->kind == TABLE_POSTCARD ? 4u * t->hops
						 : t->value_len;
	struct rows *r = s->rows;
	uint64_t count;

	memcpy(copy, bytes, len);
	row_str(r, SLOT_TABLE, t->name);
	row_u64(r, SLOT_EPOCH, s->epoch);
	row_u64(r, SLOT_UNIT, unit);
	switch (t->kind) {
	case TABLE_KEYWRITE:
		row_bytes(r, SLOT_CHECKSUM, copy, SUM_LEN);
		row_bytes(r, SLOT_VALUE, copy + SUM_LEN, t->value_len);
		put_parts(s, copy + SUM_LEN);
		break;
	case TABLE_KEYINC:
		memcpy(&count, copy, sizeof(count));
		row_u64(r, SLOT_COUNT, count);
		break;
	case TABLE_APPEND:
		row_u64(r, SLOT_LIST, unit / t->units);
		row_u64(r, SLOT_ENTRY, unit % t->units);
		put_parts(s, copy);
		/* fall through */
	default:
		row_bytes(r, SLOT_VALUE, copy, len);
	}
	row_write(r);
}

static void list_rows(struct rows *r, const struct view *v, uint64_t epoch,
		      uint64_t *bad)
{
	for (uint32_t i = 0; i < v->t->lists; i++) {
		uint64_t n, kept;

		if (list_count(&n, v, i) < 0) {
			++*bad;
			continue;
		}
		if (!n)
			continue;
		kept = n - list_oldest(v->t, n);
		row_str(r, LIST_TABLE, v->t->name);
		row_u64(r, LIST_EPOCH, epoch);
		row_u64(r, LIST_LIST, i);
		row_u64(r, LIST_WRITTEN, n);
		row_u64(r, LIST_KEPT, kept);
		row_u64(r, LIST_LOST, n - kept);
		row_write(r);
	}
}

uint64_t whole_slots(const struct whole *w, const struct opts *o)
{
	struct slots *s = calloc(1, sizeof(*s));
	struct view v = {NULL};
	uint64_t bad = 0;

	if (!s)
		cli_fail("out of memory");
	slots_open(s, w, o);
	while (whole_next(w, o, &v)) {
		s->t = v.t;
		s->epoch = v.epoch;
		bad += whole_scan(&v, slot_row, s);
	}
	rows_close(s->rows);
	free(s);
	return bad;
}

uint64_t whole_lists(const struct whole *w, const struct opts *o)
{
	struct rows *r = cli_rows(o->format, &lists);
	struct view v = {NULL};
	uint64_t bad = 0;

	if (!r)
		cli_fail("out of memory");
	while (whole_next(w, o, &v))
		if (v.t->kind == TABLE_APPEND)
			list_rows(r, &v, v.epoch, &bad);
	rows_close(r);
	return bad;
}
