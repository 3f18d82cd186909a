/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * region, snapshot, digest, serve: the tables of a region or a snapshot. In
 * this order: what is opened, and its tables in their epochs; --slots; a row
 * for each table and epoch, with all that another program needs to find every
 * slot by itself; digests; a region's bytes for another machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/table.h"
#include "dump.h"
#include "hash/family.h"
#include "region/far_wire.h"
#include "query/query.h"
#include "query/show.h"
#include "region/snapshot.h"
#include "region/region.h"
#include "net/key.h"

struct whole {
	const char *name; /* of the file */
	struct memory *memory;
	struct region *region;	   /* facts of the file: of the one, */
	struct snapshot *snapshot; /* or of the other */
	uint64_t first, last;	   /* epochs that are asked for */
};

static bool wanted(const struct opts *o, const struct table *t)
{
	char id[8];

	snprintf(id, sizeof(id), "%u", t->id);
	return !o->table || !strcmp(o->table, t->name) || !strcmp(o->table, id);
}

static void check_table(const struct whole *w, const struct opts *o)
{
	for (unsigned i = 0; i < w->memory->tables; i++)
		if (wanted(o, &w->memory->table[i]))
			return;
	cli_fail("%s: no table %s", w->name, o->table);
}

/* Opens one of the two, with the epochs that o asks for. Exits on failure. */
static void whole_open(struct whole *w, const char *region,
		       const char *snapshot, const struct opts *o)
{
	const struct memory *m;
	struct error err = {0};
	int rc;

	*w = (struct whole){.name = region ? region : snapshot};
	if (region)
		rc = region_open(&w->region, region, false, &err);
	else
		rc = snapshot_open(&w->snapshot, snapshot, &err);
	if (rc < 0)
		cli_error(w->name, &err);
	m = w->memory = region ? region_memory(w->region)
			       : snapshot_memory(w->snapshot);
	w->first = w->last = o->epoch ? o->epoch : m->newest;
	if (o->all_epochs)
		w->first = m->oldest;
	if (w->first < m->oldest || w->last > m->newest)
		cli_fail("%s: no epoch %llu; there are %llu to %llu", w->name,
			 (unsigned long long)o->epoch,
			 (unsigned long long)m->oldest,
			 (unsigned long long)m->newest);
	check_table(w, o);
}

/*
 * Goes through the tables that --table leaves in, epoch by epoch, newest first:
 * begin with v->t NULL; false behind the last, or when told to stop.
 */
static bool whole_next(const struct whole *w, const struct opts *o,
		       struct table_view *v)
{
	struct memory *m = w->memory;
	uint64_t epoch = v->t ? v->epoch : w->last;
	unsigned i = v->t ? (unsigned)(v->t - m->table) + 1 : 0;

	for (; epoch >= w->first && !cli_stop; epoch--, i = 0)
		for (; i < m->tables; i++)
			if (wanted(o, &m->table[i])) {
				memory_view(v, m, &m->table[i], epoch);
				return true;
			}
	return false;
}

/* --- --slots -------------------------------------------------------------- */

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
	struct show_columns shown;
	struct show_scratch room;
	struct show show[TABLE_MAX]; /* of each table */
	uint8_t column[TABLE_MAX][SHOW_PARTS];
};

static void slots_open(struct slots *s, const struct whole *w,
		       const struct opts *o)
{
	const struct memory *m = w->memory;
	struct table_view v = {NULL};
	struct error why;

	s->tables = m->table;
	memcpy(s->field, slot_fields, sizeof(slot_fields));
	while (whole_next(w, o, &v)) {
		unsigned i = (unsigned)(v.t - m->table);

		if (*v.t->show &&
		    (show_parse(&s->show[i], v.t->show, &why) < 0 ||
		     !show_columns_add(&s->shown, &s->show[i], v.t->value_len,
				       s->column[i])))
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

	show_columns_set(&s->show[i], s->column[i], &s->room, s->rows,
			 SLOT_FIELDS, value, s->t->value_len);
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

/* Returns how many units could not be read. */
static uint64_t whole_slots(const struct whole *w, const struct opts *o)
{
	struct slots *s = calloc(1, sizeof(*s));
	struct table_view v = {NULL};
	uint64_t bad = 0;
	int64_t n;

	if (!s)
		cli_fail("out of memory");
	slots_open(s, w, o);
	while (whole_next(w, o, &v)) {
		s->t = v.t;
		s->epoch = v.epoch;
		n = query_scan(&v, slot_row, s, &cli_stop);
		if (n < 0)
			cli_fail("out of memory");
		bad += (uint64_t)n;
	}
	rows_close(s->rows);
	free(s);
	return bad;
}

/* --- --lists: what each list holds ---------------------------------------- */

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

static const struct schema list_schema = {"list_slot", list_fields,
					  LIST_FIELDS};

/* Returns how many heads could not be read. */
static uint64_t list_rows(struct rows *r, const struct table_view *v)
{
	uint64_t bad = 0;

	for (uint32_t i = 0; i < v->t->lists && !cli_stop; i++) {
		uint64_t n, kept;

		if (query_list_count(&n, v, i) < 0) {
			bad++;
			continue;
		}
		if (!n)
			continue;
		kept = n - query_list_oldest(v->t, n);
		row_str(r, LIST_TABLE, v->t->name);
		row_u64(r, LIST_EPOCH, v->epoch);
		row_u64(r, LIST_LIST, i);
		row_u64(r, LIST_WRITTEN, n);
		row_u64(r, LIST_KEPT, kept);
		row_u64(r, LIST_LOST, n - kept);
		row_write(r);
	}
	return bad;
}

static uint64_t whole_lists(const struct whole *w, const struct opts *o)
{
	struct rows *r = cli_rows(o->format, &list_schema);
	struct table_view v = {NULL};
	uint64_t bad = 0;

	if (!r)
		cli_fail("out of memory");
	while (whole_next(w, o, &v))
		if (v.t->kind == TABLE_APPEND)
			bad += list_rows(r, &v);
	rows_close(r);
	return bad;
}

/* --- a row for each table and epoch --------------------------------------- */

enum field {
	NAME,
	KIND,
	ID,
	EPOCH,
	KEY_TYPE,
	KEY_LENGTH,
	VALUE_LENGTH,
	COPIES,
	HASH,
	UNITS,
	STRIDE,
	OFFSET,
	LENGTH,
	LISTS,
	ENTRIES,
	HEADS,
	BATCH,
	FLUSH_MS,
	HOPS,
	VALUE_MIN,
	VALUE_MAX,
	VALUES,
	VALUES_OFFSET,
	CACHE_ROWS,
	SEQUENCE,
	IMMEDIATE,
	QP,
	WRITTEN,
	LISTS_USED,
	LOST,
	SUM,
	USED,
	USED_SHARE,
	LOAD,
	LOAD_ABOVE,
	SUCCESS,
	SUCCESS_BELOW,
	AVERAGE_SUCCESS,
	AVERAGE_SUCCESS_BELOW,
	UNREADABLE,
	OLDEST,
	NEWEST,
	EPOCHS,
	NOTIFIED,
	PAGES,
	SIZE,
	BLOCKS,
	DAMAGED,
	PATH,
	FIELDS,
};

static const struct row_field fields[FIELDS] = {
	[NAME] = {"name", ROW_STR, 16, ROW_TAG},
	[KIND] = {"kind", ROW_STR, 8, ROW_TAG},
	[ID] = {"id", ROW_U64, 5},
	[EPOCH] = {"epoch", ROW_U64, 5},
	[KEY_TYPE] = {"key_type", ROW_STR, 8, ROW_TAG},
	[KEY_LENGTH] = {"key_length", ROW_U64, 3, ROW_VALUE, "bytes"},
	[VALUE_LENGTH] = {"value_length", ROW_U64, 4, ROW_VALUE, "bytes"},
	[COPIES] = {"copies", ROW_U64, 6},
	[HASH] = {"hash", ROW_STR, 4, ROW_TAG},
	[UNITS] = {"units", ROW_U64, 10},
	[STRIDE] = {"stride", ROW_U64, 6, ROW_VALUE, "bytes"},
	[OFFSET] = {"offset", ROW_U64, 12, ROW_VALUE, "bytes"},
	[LENGTH] = {"length", ROW_U64, 12, ROW_VALUE, "bytes"},
	[LISTS] = {"lists", ROW_U64, 6},
	[ENTRIES] = {"entries", ROW_U64, 8},
	[HEADS] = {"heads", ROW_U64, 12},
	[BATCH] = {"batch", ROW_U64, 5},
	[FLUSH_MS] = {"flush_ms", ROW_U64, 8, ROW_VALUE, "ms"},
	[HOPS] = {"hops", ROW_U64, 4},
	[VALUE_MIN] = {"value_min", ROW_U64, 10},
	[VALUE_MAX] = {"value_max", ROW_U64, 10},
	[VALUES] = {"values", ROW_U64, 10},
	[VALUES_OFFSET] = {"values_offset", ROW_U64, 12, ROW_VALUE, "bytes"},
	[CACHE_ROWS] = {"cache_rows", ROW_U64, 8},
	[SEQUENCE] = {"sequence", ROW_STR, 8},
	[IMMEDIATE] = {"immediate", ROW_BOOL, 9},
	[QP] = {"qp", ROW_STR, 2, ROW_TAG},
	[WRITTEN] = {"written", ROW_U64, 12},
	[LISTS_USED] = {"lists_used", ROW_U64, 6},
	[LOST] = {"lost", ROW_U64, 12, .good = "0"},
	[SUM] = {"sum", ROW_U64, 12},
	[USED] = {"used", ROW_U64, 10},
	[USED_SHARE] = {"used_share", ROW_F64, 8},
	[LOAD] = {"load", ROW_F64, 8},
	[LOAD_ABOVE] = {"load_above", ROW_F64, 8, .spare = 1},
	[SUCCESS] = {"success", ROW_F64, 8},
	[SUCCESS_BELOW] = {"success_below", ROW_F64, 8, .spare = 1},
	[AVERAGE_SUCCESS] = {"average_success", ROW_F64, 8},
	[AVERAGE_SUCCESS_BELOW] = {"average_success_below", ROW_F64, 8,
				   .spare = 1},
	[UNREADABLE] = {"unreadable", ROW_U64, 10, .good = "0"},
	[OLDEST] = {"oldest", ROW_U64, 6},
	[NEWEST] = {"newest", ROW_U64, 6},
	[EPOCHS] = {"epochs", ROW_U64, 6},
	[NOTIFIED] = {"notified", ROW_U64, 8},
	[PAGES] = {"pages", ROW_STR, 14, ROW_TAG},
	[SIZE] = {"size", ROW_U64, 12, ROW_VALUE, "bytes"},
	[BLOCKS] = {"blocks", ROW_U64, 8},
	[DAMAGED] = {"damaged", ROW_U64, 7, .good = "0"},
	[PATH] = {"path", ROW_STR, 20},
};

/* What people look at first: the text form has these only, in parts. */
static const uint8_t file_columns[] = {
	OLDEST, NEWEST, EPOCHS, NOTIFIED, PAGES, SIZE, BLOCKS, DAMAGED, PATH,
};
static const uint8_t table_columns[] = {
	NAME, KIND, ID, EPOCH, KEY_TYPE, COPIES, UNITS, STRIDE, LISTS,
};
static const uint8_t load_columns[] = {
	NAME,
	EPOCH,
	USED,
	USED_SHARE,
	LOAD,
	LOAD_ABOVE,
	SUCCESS,
	SUCCESS_BELOW,
	AVERAGE_SUCCESS,
	AVERAGE_SUCCESS_BELOW,
};
static const uint8_t list_columns[] = {
	NAME,	 EPOCH, LISTS, ENTRIES,	   LISTS_USED,
	WRITTEN, USED,	LOST,  USED_SHARE,
};

/* Where the text form says more than the field's name does. */
static const char *const headings[FIELDS] = {
	[SUCCESS] = "oldest_success",
	[SUCCESS_BELOW] = "oldest_success_below",
};

/* A part of the text form, or all of the others. */
struct part {
	const uint8_t *columns; /* NULL: all */
	unsigned n;
	enum {
		ANY,
		LISTS_ONLY,
		NO_LISTS,
	} tables;
};

static const struct part everything = {NULL, FIELDS, ANY};
static const struct part file_part = {file_columns, sizeof(file_columns), ANY};
static const struct part table_part = {table_columns, sizeof(table_columns),
				       ANY};
static const struct part load_part = {load_columns, sizeof(load_columns),
				      NO_LISTS};
static const struct part list_part = {list_columns, sizeof(list_columns),
				      LISTS_ONLY};

static bool has(const struct part *p, const struct table *t)
{
	return p->tables == ANY ||
	       (p->tables == LISTS_ONLY) == (t->kind == TABLE_APPEND);
}

/* A row of all fields, or of those of a list. */
struct out {
	struct rows *rows;
	struct row_field field[FIELDS];
	struct schema schema;
	uint8_t at[FIELDS]; /* FIELDS: not shown */
};

static void out_open(struct out *w, const struct opts *o, const struct part *p)
{
	memset(w->at, FIELDS, sizeof(w->at));
	for (uint8_t i = 0; i < p->n; i++) {
		uint8_t f = p->columns ? p->columns[i] : i;

		w->field[i] = fields[f];
		if (p->columns && headings[f])
			w->field[i].name = headings[f];
		w->at[f] = i;
	}
	w->schema = (struct schema){"table", w->field, p->n};
	w->rows = cli_rows(o->format, &w->schema);
	if (!w->rows)
		cli_fail("out of memory");
}

static void put_u64(struct out *w, enum field f, uint64_t v)
{
	if (w->at[f] != FIELDS)
		row_u64(w->rows, w->at[f], v);
}

static void put_str(struct out *w, enum field f, const char *v)
{
	if (w->at[f] != FIELDS)
		row_str(w->rows, w->at[f], v);
}

static void put_f64(struct out *w, enum field f, double v)
{
	if (w->at[f] != FIELDS)
		row_f64(w->rows, w->at[f], v);
}

static void put_load(struct out *w, const struct table_view *v)
{
	struct query_load l;

	if (query_load_of(&l, v, &cli_stop) < 0)
		cli_fail("out of memory");
	if (v->t->kind == TABLE_APPEND) {
		put_u64(w, WRITTEN, l.written);
		put_u64(w, LISTS_USED, l.lists_used);
		put_u64(w, LOST, l.written - l.used);
	}
	if (v->t->kind == TABLE_KEYINC && l.sum_fits)
		put_u64(w, SUM, l.sum);
	put_u64(w, USED, l.used);
	put_u64(w, UNREADABLE, l.unreadable);
	put_f64(w, USED_SHARE, l.used_share);
	put_f64(w, LOAD, l.load);
	put_f64(w, LOAD_ABOVE, l.above);
	put_f64(w, SUCCESS, l.success);
	put_f64(w, SUCCESS_BELOW, l.success_below);
	put_f64(w, AVERAGE_SUCCESS, l.average);
	put_f64(w, AVERAGE_SUCCESS_BELOW, l.average_below);
}

static void put_append(struct out *w, const struct table *t)
{
	put_u64(w, LISTS, t->lists);
	put_u64(w, ENTRIES, table_kept(t));
	put_u64(w, BATCH, t->batch);
	put_u64(w, FLUSH_MS, t->flush_ms);
}

static void put_postcard(struct out *w, const struct table *t)
{
	put_u64(w, HOPS, t->hops);
	put_u64(w, VALUE_MIN, t->value_min);
	put_u64(w, VALUE_MAX, t->value_max);
	put_u64(w, VALUES, t->values);
	put_u64(w, CACHE_ROWS, t->cache_rows);
}

static void put_table(struct out *w, const struct table *t)
{
	static const char *const sequence[] = {
		[TABLE_SEQ_COUNT] = "count",
		[TABLE_SEQ_STRICT] = "strict",
		[TABLE_SEQ_OFF] = "off",
	};

	put_str(w, NAME, t->name);
	put_str(w, KIND, table_kind_name(t->kind));
	put_u64(w, ID, t->id);
	put_str(w, KEY_TYPE, key_type_name((enum key_type)t->key_type));
	put_u64(w, KEY_LENGTH, t->key_len);
	put_u64(w, VALUE_LENGTH, t->value_len);
	put_u64(w, COPIES, t->copies);
	put_str(w, HASH, hash_family_name((enum hash_family)t->hash));
	put_u64(w, UNITS, t->units);
	put_u64(w, STRIDE, t->stride);
	put_u64(w, LENGTH, t->length);
	if (t->kind == TABLE_APPEND)
		put_append(w, t);
	if (t->kind == TABLE_POSTCARD)
		put_postcard(w, t);
	put_str(w, SEQUENCE, sequence[t->sequence]);
	put_str(w, QP, t->qp == TABLE_QP_UC ? "uc" : "rc");
	if (w->at[IMMEDIATE] != FIELDS)
		row_bool(w->rows, w->at[IMMEDIATE], t->immediate);
}

struct blocks {
	uint64_t blocks, damaged, size;
};

static void put_file(struct out *w, const struct whole *m,
		     const struct blocks *b)
{
	put_u64(w, OLDEST, m->memory->oldest);
	put_u64(w, NEWEST, m->memory->newest);
	if (m->region) {
		put_u64(w, EPOCHS, region_epochs(m->region));
		put_u64(w, NOTIFIED, region_notified(m->region));
		put_str(w, PAGES, region_page_kind(m->region));
		put_u64(w, SIZE, region_size(m->region));
		put_str(w, PATH, region_path(m->region));
	} else {
		put_u64(w, BLOCKS, b->blocks);
		put_u64(w, DAMAGED, b->damaged);
		put_u64(w, SIZE, b->size);
		put_str(w, PATH, m->name);
	}
}

/* Where a table is in the region's file. */
static void put_offsets(struct out *w, const struct whole *m,
			const struct table *t, uint64_t epoch)
{
	uint64_t at;

	if (!m->region)
		return;
	at = region_offset(m->region, t, epoch);
	put_u64(w, OFFSET, at);
	if (t->kind == TABLE_APPEND)
		put_u64(w, HEADS, at + t->heads);
	if (t->kind == TABLE_POSTCARD && t->values)
		put_u64(w, VALUES_OFFSET, t->values_at);
}

static void table_rows(const struct whole *m, const struct opts *o,
		       const struct blocks *b, const struct part *p)
{
	struct table_view v = {NULL};
	struct out w;

	out_open(&w, o, p);
	while (whole_next(m, o, &v)) {
		if (!has(p, v.t))
			continue;
		put_table(&w, v.t);
		put_u64(&w, EPOCH, v.epoch);
		put_offsets(&w, m, v.t, v.epoch);
		if (!o->no_load && w.at[USED] != FIELDS)
			put_load(&w, &v);
		put_file(&w, m, b);
		row_write(w.rows);
	}
	rows_close(w.rows);
}

static void file_row(const struct whole *m, const struct opts *o,
		     const struct blocks *b)
{
	struct out w;

	out_open(&w, o, &file_part);
	put_file(&w, m, b);
	row_write(w.rows);
	rows_close(w.rows);
}

/* A part that some table is in, behind the others. */
static void text_part(const struct whole *m, const struct opts *o,
		      const struct blocks *b, const struct part *p)
{
	struct table_view v = {NULL};

	while (whole_next(m, o, &v))
		if (has(p, v.t)) {
			putchar('\n');
			table_rows(m, o, b, p);
			return;
		}
}

/* For people: the file, the tables, how full they are, their lists. */
static void text_rows(const struct whole *m, const struct opts *o,
		      const struct blocks *b)
{
	file_row(m, o, b);
	text_part(m, o, b, &table_part);
	if (o->no_load)
		return;
	text_part(m, o, b, &load_part);
	text_part(m, o, b, &list_part);
}

int dump_memory(const struct opts *o)
{
	bool region = o->verb == VERB_REGION;
	struct blocks b = {0};
	struct error err = {0};
	struct whole m;
	struct stat st;
	uint64_t bad = 0;

	whole_open(&m, region ? o->what : NULL, region ? NULL : o->what, o);
	if (!region) {
		if (snapshot_verify(m.snapshot, &b.blocks, &b.damaged, &err) <
			    0 &&
		    !b.damaged)
			cli_error(o->what, &err);
		if (stat(o->what, &st) == 0)
			b.size = (uint64_t)st.st_size;
	}
	if (o->slots) {
		bad = whole_slots(&m, o);
	} else if (o->lists) {
		bad = whole_lists(&m, o);
	} else if (o->format == ROW_TEXT) {
		text_rows(&m, o, &b);
	} else {
		table_rows(&m, o, &b, &everything);
	}
	if (b.damaged)
		cli_warn("%s: %llu of %llu blocks are damaged", o->what,
			 (unsigned long long)b.damaged,
			 (unsigned long long)b.blocks);
	memory_close(m.memory);
	return b.damaged || bad ? CLI_FAIL : CLI_OK;
}

/* --- digests -------------------------------------------------------------- */

enum digest_field {
	DIGEST_TABLE,
	DIGEST_ID,
	DIGEST_EPOCH,
	DIGEST_SUM,
	DIGEST_BYTES,
	DIGEST_FIELDS,
};

static const struct row_field digest_fields[DIGEST_FIELDS] = {
	[DIGEST_TABLE] = {"table", ROW_STR, 16, ROW_TAG},
	[DIGEST_ID] = {"id", ROW_U64, 5},
	[DIGEST_EPOCH] = {"epoch", ROW_U64, 5},
	[DIGEST_SUM] = {"digest", ROW_STR, 8},
	[DIGEST_BYTES] = {"bytes", ROW_U64, 12, ROW_VALUE, "bytes"},
};

static bool digest_row(struct rows *r, const struct whole *w,
		       const struct table_view *v)
{
	const struct table *t = v->t;
	char hex[12];
	uint32_t sum = 0;
	int rc = memory_digest(w->memory, t, v->epoch, &sum);

	if (rc < 0)
		cli_warn("%s: %s: %s", w->name, t->name,
			 rc == -EBADMSG ? "a damaged block" : strerror(-rc));
	snprintf(hex, sizeof(hex), "%08x", sum);
	row_str(r, DIGEST_TABLE, t->name);
	row_u64(r, DIGEST_ID, t->id);
	row_u64(r, DIGEST_EPOCH, v->epoch);
	row_str(r, DIGEST_SUM, rc < 0 ? NULL : hex);
	row_u64(r, DIGEST_BYTES, t->length);
	row_write(r);
	return rc == 0;
}

int dump_digest(const struct opts *o)
{
	static const struct schema digests = {"digest", digest_fields,
					      DIGEST_FIELDS};
	struct rows *r = cli_rows(o->format, &digests);
	struct table_view v = {NULL};
	struct whole w;
	bool good = true;

	if (!r)
		cli_fail("out of memory");
	whole_open(&w, o->what, o->snapshot, o);
	while (whole_next(&w, o, &v))
		good &= digest_row(r, &w, &v);
	rows_close(r);
	memory_close(w.memory);
	return good ? CLI_OK : CLI_FAIL;
}

/* --- serve ---------------------------------------------------------------- */

int dump_serve(const struct opts *o)
{
	struct error err = {0};
	struct region *r;

	if (isatty(STDOUT_FILENO))
		cli_fail("%s: serve is for dta-query --cluster, by ssh; a "
			 "terminal cannot read it",
			 o->what);
	if (region_open(&r, o->what, false, &err) < 0)
		cli_error(o->what, &err);
	if (far_wire_serve(region_file(r), region_size(r), STDIN_FILENO,
			   STDOUT_FILENO, &cli_stop, &err) < 0)
		cli_error(o->what, &err);
	region_close(r);
	return CLI_OK;
}
