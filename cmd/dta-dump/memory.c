/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.c - the verbs region, snapshot, digest and serve. In this order: a
 * region or a snapshot, and its tables and epochs; a row for each slot
 * (--slots); a row for each table and epoch (all that another program needs to
 * find every slot), each list, or each digest; serve.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/table.h"
#include "dump.h"
#include "hash/family.h"
#include "region/far_wire.h"
#include "query/query.h"
#include "query/show.h"
#include "region/snapshot.h"
#include "region/region.h"
#include "net/key.h"

struct source {
	const char *name;
	struct memory *memory;
	struct region *region;	   /* NULL: it is a snapshot */
	struct snapshot *snapshot; /* NULL: it is a region */
	uint64_t first, last;	   /* epochs that the options ask for */
};

/* Whether --table, a name or an id, lets the table through. */
static bool is_wanted(const struct opts *o, const struct table *t)
{
	char id[8];

	snprintf(id, sizeof(id), "%u", t->id);
	return !o->table || !strcmp(o->table, t->name) || !strcmp(o->table, id);
}

/* One of region and snapshot is a path, the other NULL. Exits on failure. */
static void source_open(struct source *src, const char *region,
			const char *snapshot, const struct opts *o)
{
	const struct memory *m;
	struct error err = {0};
	unsigned i = 0;
	int rc;

	*src = (struct source){.name = region ? region : snapshot};
	if (region)
		rc = region_open(&src->region, region, false, &err);
	else
		rc = snapshot_open(&src->snapshot, snapshot, &err);
	if (rc < 0)
		cli_error(src->name, &err);
	m = src->memory = region ? region_memory(src->region)
				 : snapshot_memory(src->snapshot);
	src->first = src->last = o->epoch ? o->epoch : m->newest;
	if (o->all_epochs)
		src->first = m->oldest;
	if (src->first < m->oldest || src->last > m->newest)
		cli_fail("%s: no epoch %llu; there are %llu to %llu", src->name,
			 (unsigned long long)o->epoch,
			 (unsigned long long)m->oldest,
			 (unsigned long long)m->newest);
	while (i < m->tables && !is_wanted(o, &m->table[i]))
		i++;
	if (i == m->tables)
		cli_fail("%s: no table %s", src->name, o->table);
}

/*
 * Steps to the next wanted table in an epoch, or to the first one of the next
 * older epoch. Begin with v->t NULL. Returns false at the end, and on a signal.
 */
static bool source_next(const struct source *src, const struct opts *o,
			struct table_view *v)
{
	struct memory *m = src->memory;
	uint64_t epoch = v->t ? v->epoch : src->last;
	unsigned i = v->t ? (unsigned)(v->t - m->table) + 1 : 0;

	for (; epoch >= src->first && !cli_stop; epoch--, i = 0)
		for (; i < m->tables; i++)
			if (is_wanted(o, &m->table[i])) {
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

enum { CHECKSUM_LEN = 4 };

/* The parts of a value, by the table's show, are columns after slot_fields. */
struct slots {
	struct rows *rows;
	const struct table *tables;
	struct table_view v; /* that is read */
	struct row_field field[SLOT_FIELDS + SHOW_COLUMNS];
	struct schema schema;
	struct show_columns shown;
	struct show_scratch scratch;
	struct show show[TABLE_MAX];
	uint8_t column[TABLE_MAX][SHOW_PARTS]; /* of each part */
};

/* The unit may be written meanwhile: all columns are made from one copy. */
static void slot_row(void *ctx, uint64_t unit, const uint8_t *bytes)
{
	struct slots *s = ctx;
	const struct table *t = s->v.t;
	uint8_t copy[CHECKSUM_LEN + TABLE_VALUE_MAX];
	size_t len = table_unit_len(t);
	uint8_t *value = copy;
	unsigned i = (unsigned)(t - s->tables);
	struct rows *r = s->rows;
	uint64_t count;

	memcpy(copy, bytes, len);
	row_str(r, SLOT_TABLE, t->name);
	row_u64(r, SLOT_EPOCH, s->v.epoch);
	row_u64(r, SLOT_UNIT, unit);
	if (t->kind == TABLE_KEYWRITE) {
		row_bytes(r, SLOT_CHECKSUM, copy, CHECKSUM_LEN);
		value += CHECKSUM_LEN;
	} else if (t->kind == TABLE_APPEND) {
		row_u64(r, SLOT_LIST, unit / t->units);
		row_u64(r, SLOT_ENTRY, unit % t->units);
	}
	if (table_counts(t)) {
		memcpy(&count, copy, sizeof(count));
		row_u64(r, SLOT_COUNT, count);
	} else {
		row_bytes(r, SLOT_VALUE, value, len - (size_t)(value - copy));
	}
	show_columns_set(&s->show[i], s->column[i], &s->scratch, r, SLOT_FIELDS,
			 value, t->value_len);
	cli_row_end(r);
}

/* Returns how many units could not be read. */
static uint64_t slot_rows(const struct source *src, const struct opts *o)
{
	static struct slots s; /* too large for the stack */
	struct error why;
	uint64_t bad = 0;
	int64_t n;

	s.tables = src->memory->table;
	memcpy(s.field, slot_fields, sizeof(slot_fields));
	while (source_next(src, o, &s.v)) {
		const struct table *t = s.v.t;
		unsigned i = (unsigned)(t - s.tables);

		if (*t->show &&
		    (query_show_parse(&s.show[i], t->show, &why) < 0 ||
		     !show_columns_add(&s.shown, &s.show[i], t->value_len,
				       s.column[i])))
			s.show[i].n = 0;
	}
	memcpy(s.field + SLOT_FIELDS, s.shown.field,
	       s.shown.n * sizeof(*s.field));
	s.schema = (struct schema){"slot", s.field, SLOT_FIELDS + s.shown.n};
	s.rows = cli_rows(o->format, &s.schema);
	for (s.v.t = NULL; source_next(src, o, &s.v);) {
		n = query_scan(&s.v, slot_row, &s, &cli_stop);
		if (n < 0)
			cli_fail("out of memory");
		bad += (uint64_t)n;
	}
	rows_close(s.rows);
	return bad;
}

/* --- a row for each table and epoch, list or digest ----------------------- */

/* The values of all columns, for one row. */
struct facts {
	struct table t;
	struct query_load load;
	const char *name, *kind, *key_type, *hash, *sequence, *qp;
	uint64_t epoch, offset, heads, entries, lost;
	uint64_t list, kept; /* of one list: its number, entries kept */
	const char *digest;
	/* Of the file, the same in each row. */
	uint64_t oldest, newest, epochs, notified, size, blocks, damaged;
	const char *pages, *path;
};

/* What a row must have for a column not to be null in it. */
enum {
	REGION = 1 << 0,
	SNAPSHOT = 1 << 1,
	LISTS = 1 << 2, /* an Append table */
	HOPS = 1 << 3,	/* a Postcarding table */
	SET = 1 << 4,	/* one whose value set V is a list of values */
	LOAD = 1 << 5,	/* its used slots were counted */
	SUM = 1 << 6,	/* its counters' sum fits 64 bits */
};

/* Sets of columns: text shows the first four in turn, other formats ALL. */
enum {
	PART_FILE = 1 << 0,
	PART_TABLES = 1 << 1,
	PART_LOADS = 1 << 2,
	PART_LISTS = 1 << 3,
	PART_ALL = 1 << 4,	 /* all columns but those with PART_ONLY */
	PART_EACH_LIST = 1 << 5, /* --lists */
	PART_DIGEST = 1 << 6,	 /* digest */
	PART_ONLY = 1 << 7,	 /* not in PART_ALL */
};

/* clang-format off */
#define AT(fact) offsetof(struct facts, fact), sizeof(((struct facts *)0)->fact)

static const struct column {
	struct row_field field;
	uint16_t at, width; /* its value's offset and bytes in struct facts */
	uint8_t needs;
	uint8_t parts;	     /* that show it, besides PART_ALL */
	const char *heading; /* in these; NULL: the field's name */
} columns[] = {
	{{"table", ROW_STR, 16, ROW_TAG}, AT(name), 0,
	 PART_ONLY | PART_EACH_LIST | PART_DIGEST},
	{{"name", ROW_STR, 16, ROW_TAG}, AT(name), 0,
	 PART_TABLES | PART_LOADS | PART_LISTS},
	{{"kind", ROW_STR, 8, ROW_TAG}, AT(kind), 0, PART_TABLES},
	{{"id", ROW_U64, 5}, AT(t.id), 0, PART_TABLES | PART_DIGEST},
	{{"epoch", ROW_U64, 5}, AT(epoch), 0,
	 PART_TABLES | PART_LOADS | PART_LISTS | PART_EACH_LIST | PART_DIGEST},
	{{"list", ROW_U64, 6}, AT(list), 0, PART_ONLY | PART_EACH_LIST},
	{{"digest", ROW_STR, 8}, AT(digest), 0, PART_ONLY | PART_DIGEST},
	{{"bytes", ROW_U64, 12, ROW_VALUE, "bytes"}, AT(t.length), 0,
	 PART_ONLY | PART_DIGEST},
	{{"key_type", ROW_STR, 8, ROW_TAG}, AT(key_type), 0, PART_TABLES},
	{{"key_length", ROW_U64, 3, ROW_VALUE, "bytes"}, AT(t.key_len)},
	{{"value_length", ROW_U64, 4, ROW_VALUE, "bytes"}, AT(t.value_len)},
	{{"copies", ROW_U64, 6}, AT(t.copies), 0, PART_TABLES},
	{{"hash", ROW_STR, 4, ROW_TAG}, AT(hash)},
	{{"units", ROW_U64, 10}, AT(t.units), 0, PART_TABLES},
	{{"stride", ROW_U64, 6, ROW_VALUE, "bytes"}, AT(t.stride), 0,
	 PART_TABLES},
	{{"offset", ROW_U64, 12, ROW_VALUE, "bytes"}, AT(offset), REGION},
	{{"length", ROW_U64, 12, ROW_VALUE, "bytes"}, AT(t.length)},
	{{"lists", ROW_U64, 6}, AT(t.lists), LISTS, PART_TABLES | PART_LISTS},
	{{"entries", ROW_U64, 8}, AT(entries), LISTS, PART_LISTS},
	{{"heads", ROW_U64, 12}, AT(heads), LISTS | REGION},
	{{"batch", ROW_U64, 5}, AT(t.batch), LISTS},
	{{"flush_ms", ROW_U64, 8, ROW_VALUE, "ms"}, AT(t.flush_ms), LISTS},
	{{"hops", ROW_U64, 4}, AT(t.hops), HOPS},
	{{"value_min", ROW_U64, 10}, AT(t.value_min), HOPS},
	{{"value_max", ROW_U64, 10}, AT(t.value_max), HOPS},
	{{"values", ROW_U64, 10}, AT(t.values), HOPS},
	{{"values_offset", ROW_U64, 12, ROW_VALUE, "bytes"}, AT(t.values_at),
	 SET | REGION},
	{{"cache_rows", ROW_U64, 8}, AT(t.cache_rows), HOPS},
	{{"sequence", ROW_STR, 8}, AT(sequence)},
	{{"immediate", ROW_BOOL, 9}, AT(t.immediate)},
	{{"qp", ROW_STR, 2, ROW_TAG}, AT(qp)},
	{{"written", ROW_U64, 12}, AT(load.written), LISTS | LOAD,
	 PART_LISTS | PART_EACH_LIST},
	{{"kept", ROW_U64, 10}, AT(kept), 0, PART_ONLY | PART_EACH_LIST},
	{{"lists_used", ROW_U64, 6}, AT(load.lists_used), LISTS | LOAD,
	 PART_LISTS},
	{{"lost", ROW_U64, 12, .good = "0"}, AT(lost), LISTS | LOAD,
	 PART_LISTS | PART_EACH_LIST},
	{{"sum", ROW_U64, 12}, AT(load.sum), SUM},
	{{"used", ROW_U64, 10}, AT(load.used), LOAD, PART_LOADS | PART_LISTS},
	{{"used_share", ROW_F64, 8, ROW_VALUE, "ratio"}, AT(load.used_share),
	 LOAD, PART_LOADS | PART_LISTS},
	{{"load", ROW_F64, 8}, AT(load.load), LOAD, PART_LOADS},
	{{"load_above", ROW_F64, 8, .spare = 1}, AT(load.above), LOAD,
	 PART_LOADS},
	{{"success", ROW_F64, 8, ROW_VALUE, "ratio"}, AT(load.success), LOAD,
	 PART_LOADS, "oldest_success"},
	{{"success_below", ROW_F64, 8, ROW_VALUE, "ratio", .spare = 1},
	 AT(load.success_below), LOAD, PART_LOADS, "oldest_success_below"},
	{{"average_success", ROW_F64, 8, ROW_VALUE, "ratio"},
	 AT(load.average), LOAD, PART_LOADS},
	{{"average_success_below", ROW_F64, 8, ROW_VALUE, "ratio", .spare = 1},
	 AT(load.average_below), LOAD, PART_LOADS},
	{{"unreadable", ROW_U64, 10, .good = "0"}, AT(load.unreadable), LOAD},
	{{"oldest", ROW_U64, 6}, AT(oldest), 0, PART_FILE},
	{{"newest", ROW_U64, 6}, AT(newest), 0, PART_FILE},
	{{"epochs", ROW_U64, 6}, AT(epochs), REGION, PART_FILE},
	{{"notified", ROW_U64, 8}, AT(notified), REGION, PART_FILE},
	{{"pages", ROW_STR, 14, ROW_TAG}, AT(pages), REGION, PART_FILE},
	{{"size", ROW_U64, 12, ROW_VALUE, "bytes"}, AT(size), 0, PART_FILE},
	{{"blocks", ROW_U64, 8}, AT(blocks), SNAPSHOT, PART_FILE},
	{{"damaged", ROW_U64, 7, .good = "0"}, AT(damaged), SNAPSHOT,
	 PART_FILE},
	{{"path", ROW_STR, 20}, AT(path), 0, PART_FILE},
};
/* clang-format on */

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

struct part_rows {
	struct rows *rows;
	struct row_field field[COLUMNS];
	const struct column *column[COLUMNS];
	struct schema schema;
};

static void part_open(struct part_rows *w, const struct opts *o, unsigned part)
{
	unsigned n = 0;

	for (const struct column *c = columns; c < columns + COLUMNS; c++) {
		if (!(c->parts & part) &&
		    (part != PART_ALL || c->parts & PART_ONLY))
			continue;
		w->column[n] = c;
		w->field[n] = c->field;
		if (part != PART_ALL && c->heading)
			w->field[n].name = c->heading;
		n++;
	}
	w->schema = (struct schema){part == PART_EACH_LIST ? "list_slot"
				    : part == PART_DIGEST  ? "digest"
							   : "table",
				    w->field, n};
	w->rows = cli_rows(o->format, &w->schema);
}

/* have: which of the columns' needs the row meets. */
static void facts_row(struct part_rows *w, const struct facts *f, unsigned have)
{
	for (unsigned i = 0; i < w->schema.n; i++) {
		const struct column *c = w->column[i];
		const void *p = (const char *)f + c->at;
		uint64_t number = 0;

		if (c->needs & ~have)
			continue;
		if (c->field.type == ROW_STR) {
			row_str(w->rows, i, *(const char *const *)p);
		} else if (c->field.type == ROW_F64) {
			row_f64(w->rows, i, *(const double *)p);
		} else if (c->field.type == ROW_BOOL) {
			row_bool(w->rows, i, *(const uint8_t *)p);
		} else {
			memcpy(field_low_bytes(&number, c->width), p, c->width);
			row_u64(w->rows, i, number);
		}
	}
	cli_row_end(w->rows);
}

/* A row for each list that has entries. Returns how many heads could not be
 * read. */
static uint64_t list_rows(struct part_rows *w, struct facts *f,
			  const struct table_view *v)
{
	uint64_t bad = 0, n;

	for (f->list = 0; f->list < v->t->lists && !cli_stop; f->list++) {
		if (query_list_count(&n, v, (uint32_t)f->list) < 0) {
			bad++;
		} else if (n) {
			f->load.written = n;
			f->lost = query_list_oldest(v->t, n);
			f->kept = n - f->lost;
			facts_row(w, f, LISTS | LOAD);
		}
	}
	return bad;
}

/* Returns 1 if the table cannot be read. */
static uint64_t digest_row(struct part_rows *w, struct facts *f,
			   const struct source *src, const struct table_view *v)
{
	char hex[12];
	uint32_t sum = 0;
	int rc = memory_digest(src->memory, v->t, v->epoch, &sum);

	if (rc < 0)
		cli_warn("%s: %s: %s", src->name, v->t->name,
			 rc == -EBADMSG ? "a damaged block" : strerror(-rc));
	snprintf(hex, sizeof(hex), "%08x", sum);
	f->digest = rc < 0 ? NULL : hex;
	facts_row(w, f, 0);
	return rc < 0;
}

static void table_row(struct part_rows *w, struct facts *f,
		      const struct source *src, const struct table_view *v,
		      bool load)
{
	unsigned have = (src->region ? REGION : SNAPSHOT) |
			(v->t->lists ? LISTS : 0) |
			(v->t->kind == TABLE_POSTCARD ? HOPS : 0) |
			(v->t->values ? SET : 0) | (load ? LOAD : 0);

	if (load && query_load_of(&f->load, v, &cli_stop) < 0)
		cli_fail("out of memory");
	if (load && table_counts(v->t) && f->load.sum_fits)
		have |= SUM;
	f->lost = f->load.written - f->load.used;
	facts_row(w, f, have);
}

/* The rows of a part: one for the file, or some for each table and epoch.
 * Returns how many heads or tables could not be read. */
static uint64_t write_part(const struct source *src, const struct opts *o,
			   struct facts *f, unsigned part)
{
	bool load = !o->no_load &&
		    (part & (PART_ALL | PART_LOADS | PART_LISTS));
	struct table_view v = {NULL};
	struct part_rows w = {NULL};
	uint64_t bad = 0;

	if (part & (PART_EACH_LIST | PART_DIGEST))
		part_open(&w, o, part); /* a header, even without rows */
	while (source_next(src, o, &v)) {
		const struct table *t = v.t;

		if (part &
		    (t->kind == TABLE_APPEND ? PART_LOADS
					     : PART_LISTS | PART_EACH_LIST))
			continue;
		if (!w.rows && (part & (PART_TABLES | PART_LOADS | PART_LISTS)))
			putchar('\n');
		if (!w.rows)
			part_open(&w, o, part);
		f->t = *t;
		f->name = t->name;
		f->kind = table_kind_name(t->kind);
		f->key_type = key_type_name((enum key_type)t->key_type);
		f->hash = hash_family_name((enum hash_family)t->hash);
		f->sequence = table_sequences[t->sequence];
		f->qp = t->qp == TABLE_QP_UC ? "uc" : "rc";
		f->epoch = v.epoch;
		f->entries = t->lists ? table_kept(t) : 0;
		f->offset = src->region ? region_offset(src->region, t, v.epoch)
					: 0;
		f->heads = f->offset + t->heads;
		if (part == PART_EACH_LIST)
			bad += list_rows(&w, f, &v);
		else if (part == PART_DIGEST)
			bad += digest_row(&w, f, src, &v);
		else
			table_row(&w, f, src, &v, load);
		if (part == PART_FILE)
			break;
	}
	rows_close(w.rows);
	return bad;
}

/* Exits if the snapshot cannot be verified; damage is only counted. */
static void set_file_facts(struct facts *f, const struct source *src)
{
	struct error err = {0};
	struct stat st;

	f->oldest = src->memory->oldest;
	f->newest = src->memory->newest;
	f->path = src->name;
	if (src->region) {
		f->epochs = region_epochs(src->region);
		f->notified = region_notified(src->region);
		f->pages = region_page_kind(src->region);
		f->size = region_size(src->region);
		f->path = region_path(src->region);
		return;
	}
	if (snapshot_verify(src->snapshot, &f->blocks, &f->damaged, &err) < 0 &&
	    !f->damaged)
		cli_error(src->name, &err);
	if (stat(src->name, &st) == 0)
		f->size = (uint64_t)st.st_size;
}

int dump_memory(const struct opts *o)
{
	bool snapshot = o->verb == VERB_SNAPSHOT;
	struct facts f = {.blocks = 0};
	struct source src;
	uint64_t bad = 0;

	source_open(&src, snapshot ? NULL : o->what,
		    snapshot ? o->what : o->snapshot, o);
	if (o->verb != VERB_DIGEST)
		set_file_facts(&f, &src);
	if (o->verb == VERB_DIGEST) {
		bad = write_part(&src, o, &f, PART_DIGEST);
	} else if (o->slots) {
		bad = slot_rows(&src, o);
	} else if (o->lists) {
		bad = write_part(&src, o, &f, PART_EACH_LIST);
	} else if (o->format != ROW_TEXT) {
		write_part(&src, o, &f, PART_ALL);
	} else {
		write_part(&src, o, &f, PART_FILE);
		write_part(&src, o, &f, PART_TABLES);
		if (!o->no_load) {
			write_part(&src, o, &f, PART_LOADS);
			write_part(&src, o, &f, PART_LISTS);
		}
	}
	if (f.damaged)
		cli_warn("%s: %llu of %llu blocks are damaged", o->what,
			 (unsigned long long)f.damaged,
			 (unsigned long long)f.blocks);
	memory_close(src.memory);
	return f.damaged || bad ? CLI_FAIL : CLI_OK;
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
