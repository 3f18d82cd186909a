/* SPDX-License-Identifier: BSD-2-Clause */
#include "csv_reports.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "hash/family.h"
#include "query/keytext.h"
#include "region/layout.h"
#include "region/region.h"
#include "net/be.h"

enum {
	SECOND_DIGITS = 9,
};

/* Of several names of a column, the first is what dta-query writes. */
static const struct {
	const char *name;
	uint8_t column;
} known_columns[] = {
	{"key", CSV_KEY},	    {"src", CSV_SRC},
	{"dst", CSV_DST},	    {"sport", CSV_SPORT},
	{"src_port", CSV_SPORT},    {"dport", CSV_DPORT},
	{"dst_port", CSV_DPORT},    {"proto", CSV_PROTO},
	{"protocol", CSV_PROTO},    {"switch", CSV_SWITCH},
	{"list", CSV_LIST},	    {"hop", CSV_HOP},
	{"path_len", CSV_PATH_LEN}, {"hops", CSV_PATH_LEN},
	{"count", CSV_COUNT},	    {"value", CSV_VALUE},
	{"time", CSV_TIME},	    {"table", CSV_TABLE},
	{"kind", CSV_KIND},	    {"copies", CSV_COPIES},
	{"answer", CSV_ANSWER},	    {"node", CSV_SWITCH},
};

static const char truth_head[] = "table,kind,key,hop,path_len,copies,value";

static void make_table(struct csv_columns *c, const struct csv_options *o,
		       int kind, int key_type, unsigned after)
{
	struct table *t = &c->table[c->n_tables++].t;

	*t = (struct table){
		.id = (uint16_t)(o->table + after),
		.kind = (uint8_t)kind,
		.key_type = (uint8_t)key_type,
		.key_len = key_type == KEY_HEX
				   ? (uint16_t)o->key_len
				   : (uint16_t)key_type_len(
					     (enum key_type)key_type),
		.copies = 1,
		.hops = HASH_HOPS,
		.lists = kind == TABLE_APPEND ? UINT32_MAX : 0,
	};
	snprintf(t->name, sizeof(t->name), "%u", t->id);
}

/* The kind of table that the columns suggest, without --kind. */
static int kind_of_columns(const struct csv_columns *c)
{
	if (csv_has(c, CSV_LIST))
		return TABLE_APPEND;
	if (csv_has(c, CSV_HOP))
		return TABLE_POSTCARD;
	return csv_has(c, CSV_COUNT) ? TABLE_KEYINC : TABLE_KEYWRITE;
}

/* Without a layout: adds a table of each possible kind, and for IPv6 flows one
 * with the next id, as workloads have. */
static void add_option_tables(struct csv_columns *c,
			      const struct csv_options *o)
{
	int only = o->kind ? o->kind : kind_of_columns(c);

	c->made = true;
	c->one_table = o->table_given;
	for (int kind = 1; kind < TABLE_KINDS; kind++) {
		if (!csv_has(c, CSV_KIND) && kind != only)
			continue;
		make_table(c, o, kind,
			   kind == TABLE_APPEND ? KEY_U32 : o->key_type, 0);
		if (kind != TABLE_APPEND && !o->key_type_given)
			make_table(c, o, kind, KEY_FLOW6, 1);
	}
}

/* Finds the columns of a value's parts. */
static void find_parts(const struct csv_columns *c, struct csv_table *t,
		       const struct csv_options *o)
{
	struct error why;

	if (o->show.n)
		t->show = o->show;
	else if (!*t->t.show || query_show_parse(&t->show, t->t.show, &why) < 0)
		t->show.n = 0;
	t->parts = t->show.n > 0;
	for (unsigned i = 0; i < t->show.n; i++) {
		t->part_at[i] = csv_find(c->name, c->n, t->show.part[i].name);
		if (t->part_at[i] < 0)
			t->parts = false;
	}
}

/* The first column that rows for a table lack; NULL: none. */
static const char *missing_column(const struct csv_columns *c,
				  const struct csv_table *t)
{
	bool value = csv_has(c, CSV_VALUE);
	bool flow = csv_has(c, CSV_SPORT) && csv_has(c, CSV_DPORT);

	if (t->t.kind == TABLE_APPEND) {
		if (!csv_has(c, CSV_LIST) && t->t.lists > 1 &&
		    !(c->truth && csv_has(c, CSV_KEY)))
			return "list";
		return value || t->parts ? NULL : "value";
	}
	if (!csv_has(c, CSV_KEY) && !csv_has(c, CSV_SRC))
		return "key";
	if (!csv_has(c, CSV_KEY) && csv_has(c, CSV_DST) && !flow)
		return csv_has(c, CSV_SPORT) ? "dport" : "sport";
	if (t->t.kind == TABLE_POSTCARD)
		return !csv_has(c, CSV_HOP) ? "hop" : value ? NULL : "value";
	if (table_counts(&t->t))
		return value || csv_has(c, CSV_COUNT) ? NULL : "count";
	return value || t->parts ? NULL : "value";
}

/* Whether the options and columns allow rows for a table. */
static bool allows_table(const struct csv_columns *c, const struct csv_table *t,
			 const struct csv_options *o)
{
	int kind = kind_of_columns(c);

	if (o->kind && t->t.kind != o->kind)
		return false;
	if (o->table_given && !c->made && t->t.id != o->table &&
	    t->t.id != o->table + 1)
		return false;
	if (csv_has(c, CSV_KIND) || o->kind)
		return true;
	return kind == TABLE_KEYWRITE || kind == TABLE_KEYINC ||
	       t->t.kind == kind;
}

/* Keeps the tables that rows can be for: of one kind, unless each row says
 * its own. */
static int choose_tables(struct csv_columns *c, const struct csv_options *o,
			 const char *head, struct error *err)
{
	const struct table *first = &c->table[0].t;
	const char *column, *lacks = NULL;
	struct csv_table of;
	unsigned n = 0;

	for (unsigned i = 0; i < c->n_tables; i++) {
		struct csv_table *t = &c->table[i];

		find_parts(c, t, o);
		if (!allows_table(c, t, o))
			continue;
		column = missing_column(c, t);
		if (!column) {
			c->table[n++] = *t;
		} else if (!lacks) {
			lacks = column;
			of = *t;
		}
	}
	c->n_tables = n;
	if (!n && !lacks)
		return error_set(err, -EINVAL,
				 "no table takes such rows: see --kind, "
				 "--table and the columns: %s",
				 head);
	if (!n)
		return error_set(
			err, -EINVAL,
			"no column named %s, as table %s (%s) needs%s%s, in: "
			"%s",
			lacks, of.t.name, table_kind_name(of.t.kind),
			strcmp(lacks, "value") ? "" : ", nor those of ",
			strcmp(lacks, "value") ? ""
			: *of.t.show	       ? of.t.show
					       : "--as or --layout",
			head);
	for (unsigned i = 1; i < n; i++)
		if (c->table[i].t.kind != first->kind &&
		    !csv_has(c, CSV_KIND) && !csv_has(c, CSV_TABLE))
			return error_set(
				err, -EINVAL,
				"rows may be for table %s (%s) or %s (%s): "
				"say --kind or --table",
				first->name, table_kind_name(first->kind),
				c->table[i].t.name,
				table_kind_name(c->table[i].t.kind));
	return 0;
}

int csv_columns_open(struct csv_columns *c, const struct csv_options *o,
		     struct error *err)
{
	struct error why;
	struct region *r;
	struct layout l;
	int rc = 0;

	*c = (struct csv_columns){.n = 0};
	if (o->layout) {
		if ((rc = layout_read(&l, o->layout, err)) < 0)
			return rc;
		for (unsigned i = 0; i < l.n; i++)
			c->table[c->n_tables++].t = l.table[i];
		layout_fini(&l);
	} else if (o->region) {
		if ((rc = region_open(&r, o->region, false, &why)) < 0)
			return error_about(err, rc, o->region, &why);
		for (unsigned i = 0; i < region_tables(r); i++)
			c->table[c->n_tables++].t = *region_table(r, i);
		region_close(r);
	}
	return 0;
}

int csv_columns_read(struct csv_columns *c, const char *line,
		     const struct csv_options *o, struct error *err)
{
	c->truth = !strcmp(line, truth_head);
	snprintf(c->head, sizeof(c->head), "%s", line);
	c->n = csv_split(c->head, c->name, CSV_FIELDS_MAX);
	if (c->n < 0)
		return error_set(err, c->n, "a quote that is not closed");
	for (unsigned i = 0; i < CSV_COLUMNS; i++)
		c->at[i] = -1;
	for (size_t i = 0; i < sizeof(known_columns) / sizeof(known_columns[0]);
	     i++) {
		int *at = &c->at[known_columns[i].column];

		if (*at < 0)
			*at = csv_find(c->name, c->n, known_columns[i].name);
	}
	if (!o->layout && !o->region)
		add_option_tables(c, o);
	return choose_tables(c, o, line, err);
}

/* A row that is being read. */
struct reader {
	const struct csv_columns *c;
	char *const *field;
	int n;
	struct csv_row *row;
	struct error *err;
	/* The tables that the row may be for. */
	int tables;
	const struct csv_table *csv_table[TABLE_MAX];
	const struct table *table[TABLE_MAX];
};

/* The field of a column; NULL: there is no such column, or it is empty. */
static const char *get_cell(const struct reader *r, enum csv_column column)
{
	int at = r->c->at[column];

	return at >= 0 && at < r->n && *r->field[at] ? r->field[at] : NULL;
}

/* Reads a number up to max of a column; *out stays if the cell is empty. */
static int read_number(const struct reader *r, enum csv_column column,
		       const char *what, uint64_t max, uint64_t *out)
{
	const char *text = get_cell(r, column);

	if (!text || text_number(out, text, max))
		return 0;
	return error_set(r->err, -EINVAL, "%s '%.40s' is no number up to %llu",
			 what, text, (unsigned long long)max);
}

/* "1700000000.25": seconds since 1970. */
static int read_time(struct reader *r)
{
	const char *text = get_cell(r, CSV_TIME), *p;
	uint64_t s, ns = 0;
	unsigned digits = 0;

	if (!text)
		return 0;
	p = text_digits(&s, text, UINT64_MAX / 2000000000);
	if (p && *p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++, digits++)
			if (digits < SECOND_DIGITS)
				ns = ns * 10 + (uint64_t)(*p - '0');
	if (!p || *p)
		return error_set(r->err, -EINVAL,
				 "time '%.40s' is no seconds since 1970, like "
				 "1700000000.25",
				 text);
	for (; digits < SECOND_DIGITS; digits++)
		ns *= 10;
	r->row->ts_ns = s * 1000000000 + ns;
	r->row->has_time = true;
	return 0;
}

/* Whether the row says that its table is not this one: by kind, name or id. */
static bool is_other(const struct reader *r, const struct csv_table *t)
{
	const char *name = get_cell(r, CSV_TABLE),
		   *kind = get_cell(r, CSV_KIND);
	uint64_t id;

	if (kind && strcmp(kind, table_kind_name(t->t.kind)) != 0)
		return true;
	return name && !r->c->made && strcmp(name, t->t.name) != 0 &&
	       !(text_u64(&id, name, UINT16_MAX) && id == t->t.id);
}

/* Finds the tables that the row may be for, of one kind. *id: without a layout,
 * the id that the row says; else UINT64_MAX. */
static int find_tables(struct reader *r, uint64_t *id)
{
	const char *name = get_cell(r, CSV_TABLE),
		   *kind = get_cell(r, CSV_KIND);

	*id = UINT64_MAX;
	if (r->c->made && name && !r->c->one_table &&
	    !text_u64(id, name, UINT16_MAX))
		return error_set(r->err, -EINVAL,
				 "table '%.40s': --layout or --region tells "
				 "which number that is",
				 name);
	for (unsigned i = 0; i < r->c->n_tables; i++) {
		if (is_other(r, &r->c->table[i]) ||
		    (r->tables && r->c->table[i].t.kind != r->table[0]->kind))
			continue;
		r->csv_table[r->tables] = &r->c->table[i];
		r->table[r->tables++] = &r->c->table[i].t;
	}
	if (r->tables)
		return 0;
	return error_set(
		r->err, -EINVAL, "no table takes a row of table '%.40s'%s%.40s",
		name ? name : "any", kind ? ", kind " : "", kind ? kind : "");
}

/* The key as text: of one column, or composed in buf of a flow's columns. */
static const char *key_text(const struct reader *r, char *buf, size_t size)
{
	const char *src = get_cell(r, CSV_SRC), *dst = get_cell(r, CSV_DST);
	const char *sport = get_cell(r, CSV_SPORT),
		   *dport = get_cell(r, CSV_DPORT);
	const char *proto = get_cell(r, CSV_PROTO),
		   *at = get_cell(r, CSV_SWITCH);
	const char *open = src && strchr(src, ':') ? "[" : "";
	const char *shut = *open ? "]" : "";

	if (csv_has(r->c, CSV_KEY) || !csv_has(r->c, CSV_DST)) {
		const char *key = get_cell(r, csv_has(r->c, CSV_KEY) ? CSV_KEY
								     : CSV_SRC);
		return key ? key : "";
	}
	snprintf(buf, size, "%s%s%s%s%s:%s>%s%s%s:%s%s%s", at ? at : "",
		 at ? "@" : "", open, src ? src : "", shut, sport ? sport : "",
		 open, dst ? dst : "", shut, dport ? dport : "",
		 proto ? "/" : "", proto ? proto : "");
	return buf;
}

static int read_key(struct reader *r)
{
	char buf[2 * KEY_TEXT_MAX];
	struct error why;
	const char *text = key_text(r, buf, sizeof(buf));
	bool loose;
	int which = query_key_pick(r->row->key, &loose, r->table,
				   (unsigned)r->tables, text, &why);

	if (which < 0)
		return error_set(r->err, -EINVAL, "key '%.120s' %s%s", text,
				 why.text,
				 r->c->made ? "; --layout or --key-type tell "
					      "of other keys"
					    : "");
	r->row->table = r->csv_table[which];
	return 0;
}

static int read_list(struct reader *r)
{
	bool as_key = !csv_has(r->c, CSV_LIST) && r->c->truth;
	uint64_t list = 0;
	int rc = read_number(r, as_key ? CSV_KEY : CSV_LIST, "list",
			     r->row->table->t.lists - 1, &list);

	be32_store(r->row->key, (uint32_t)list);
	return rc;
}

/* Reads a value, or one part of it, into len bytes at at. */
static int read_part(struct reader *r, const struct render *as, size_t at,
		     size_t len, int column)
{
	const char *text = column < r->n ? r->field[column] : "";
	struct error why;
	int n = show_read(as, r->row->value + at, len,
			  sizeof(r->row->value) - at, text, &why);

	if (n < 0)
		return error_set(r->err, n, "%s '%.60s' %s", r->c->name[column],
				 text, why.text);
	r->row->len = at + (size_t)n;
	return 0;
}

/* Reads a Key-Write value or a list's entry, padded to the table's length. */
static int read_bytes(struct reader *r)
{
	static const struct render hex = {.as = RENDER_HEX};
	const struct csv_table *t = r->row->table;
	const struct show_part *p = t->show.part;
	bool one = t->show.n == 1 && !r->c->truth;
	size_t want = t->t.value_len, len;
	int rc = 0;

	if (!t->parts || r->c->truth)
		rc = read_part(r, one ? &p->render : &hex, 0,
			       one && !want ? p->len : want,
			       r->c->at[CSV_VALUE]);
	else
		for (unsigned i = 0; i < t->show.n && !rc; i++, p++) {
			len = p->len ? p->len : p->at < want ? want - p->at : 0;
			rc = read_part(r, &p->render, p->at, len,
				       t->part_at[i]);
		}
	if (rc < 0 || !want || r->row->len == want)
		return rc;
	if (r->row->len > want)
		return error_set(r->err, -EINVAL,
				 "a value of %zu bytes: those of table %s have "
				 "%zu",
				 r->row->len, t->t.name, want);
	memset(r->row->value + r->row->len, 0, want - r->row->len);
	r->row->len = want;
	return 0;
}

static int read_count(struct reader *r)
{
	enum csv_column column = csv_has(r->c, CSV_COUNT) ? CSV_COUNT
							  : CSV_VALUE;
	uint64_t v = 0;

	if (!get_cell(r, column))
		return error_set(r->err, -EINVAL, "no count");
	if (read_number(r, column, "count", UINT64_MAX, &v) < 0)
		return -EINVAL;
	be64_store(r->row->value, v);
	r->row->len = 8;
	return 0;
}

static int read_postcard(struct reader *r)
{
	uint64_t hop = 0, path_len = 0, value = 0;

	if (!get_cell(r, CSV_HOP) || !get_cell(r, CSV_VALUE))
		return error_set(r->err, -EINVAL, "no %s",
				 get_cell(r, CSV_HOP) ? "value" : "hop");
	if (read_number(r, CSV_HOP, "hop", CSV_HOPS, &hop) < 0 ||
	    read_number(r, CSV_PATH_LEN, "path length", CSV_HOPS, &path_len) <
		    0 ||
	    read_number(r, CSV_VALUE, "value", UINT32_MAX, &value) < 0)
		return -EINVAL;
	r->row->hop = (uint8_t)hop;
	r->row->path_len = (uint8_t)path_len;
	be32_store(r->row->value, (uint32_t)value);
	r->row->len = 4;
	return 0;
}

/* An entry has no key that tells its table, so the first table that takes it is
 * used. If none does, the error is the first table's. */
static int read_append(struct reader *r)
{
	struct error *first = r->err, other;
	int rc = -EINVAL;

	for (int i = 0; i < r->tables && rc < 0; i++) {
		r->row->table = r->csv_table[i];
		rc = read_list(r);
		if (rc == 0)
			rc = read_bytes(r);
		r->err = &other;
	}
	r->err = first;
	return rc;
}

static int read_data(struct reader *r)
{
	int rc;

	if (r->table[0]->kind == TABLE_APPEND)
		return read_append(r);
	rc = read_key(r);
	if (rc < 0)
		return rc;
	if (table_counts(&r->row->table->t))
		return read_count(r);
	return r->row->table->t.kind == TABLE_POSTCARD ? read_postcard(r)
						       : read_bytes(r);
}

int csv_row_read(struct csv_row *row, const struct csv_columns *c,
		 char *const *field, int n, struct error *err)
{
	struct reader r = {
		.c = c, .field = field, .n = n, .row = row, .err = err};
	const char *answer = get_cell(&r, CSV_ANSWER);
	uint64_t copies = 0, id;
	int rc;

	*row = (struct csv_row){0};
	if (answer && strcmp(answer, "found") != 0)
		return 0;
	if (n < c->n)
		return error_set(err, -EINVAL,
				 "%d columns, and the header has %d", n, c->n);
	rc = read_number(&r, CSV_COPIES, "copies", HASH_COPIES, &copies);
	if (rc == 0)
		rc = read_time(&r);
	if (rc == 0)
		rc = find_tables(&r, &id);
	if (rc == 0)
		rc = read_data(&r);
	if (rc < 0)
		return rc;
	row->id = id == UINT64_MAX ? row->table->t.id : (uint16_t)id;
	row->copies = (uint8_t)copies;
	return 1;
}
