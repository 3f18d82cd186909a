/* SPDX-License-Identifier: BSD-2-Clause */
#include "reading/csv_columns.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hash/family.h"
#include "store/layout.h"
#include "store/region.h"

/* The first of each is what dta-query writes. */
static const struct {
	const char *name;
	uint8_t column;
} known[] = {
	{"key", CSV_KEY},	 {"src", CSV_SRC},
	{"dst", CSV_DST},	 {"sport", CSV_SPORT},
	{"src_port", CSV_SPORT}, {"dport", CSV_DPORT},
	{"dst_port", CSV_DPORT}, {"proto", CSV_PROTO},
	{"protocol", CSV_PROTO}, {"switch", CSV_SWITCH},
	{"list", CSV_LIST},	 {"hop", CSV_HOP},
	{"path", CSV_PATH},	 {"path_len", CSV_PATH_LEN},
	{"hops", CSV_PATH_LEN},	 {"holes", CSV_HOLES},
	{"count", CSV_COUNT},	 {"value", CSV_VALUE},
	{"time", CSV_TIME},	 {"table", CSV_TABLE},
	{"kind", CSV_KIND},	 {"copies", CSV_COPIES},
	{"answer", CSV_ANSWER},
};

/* What dta-query tells beside: no report has it. */
static const char *const told[] = {
	"agreed", "matched", "valid", "epoch", "source", "index", "rank",
};

static const char truth_head[] = "table,kind,key,hop,path_len,copies,value";

static void find_columns(struct csv_columns *c)
{
	for (unsigned i = 0; i < CSV_COLUMNS; i++)
		c->at[i] = -1;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!csv_has(c, known[i].column))
			c->at[known[i].column] = csv_find(c->name, c->n,
							  known[i].name);
}

static int of_layout(struct csv_columns *c, const char *path, struct fault *f)
{
	struct layout l;
	int rc = layout_read(&l, path, f);

	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < l.n; i++)
		c->table[c->n_tables++].t = l.table[i];
	layout_fini(&l);
	return 0;
}

static int of_region(struct csv_columns *c, const char *name, struct fault *f)
{
	struct fault why;
	struct region *r;
	int rc = region_open(&r, name, false, &why);

	if (rc < 0)
		return fault_of(f, rc, name, &why);
	for (unsigned i = 0; i < region_tables(r); i++)
		c->table[c->n_tables++].t = *region_table(r, i);
	region_close(r);
	return 0;
}

static void make(struct csv_columns *c, const struct csv_options *o, int kind,
		 int key_type, unsigned after)
{
	struct table *t = &c->table[c->n_tables++].t;

	*t = (struct table){
		.id = (uint16_t)(o->table + after),
		.kind = (uint8_t)kind,
		.key_type = (uint8_t)key_type,
		.key_len = (uint16_t)key_type_len((enum key_type)key_type),
		.copies = 1,
		.hops = HASH_HOPS,
		.lists = kind == TABLE_APPEND ? UINT32_MAX : 0,
	};
	if (key_type == KEY_HEX)
		t->key_len = (uint16_t)o->key_len;
	snprintf(t->name, sizeof(t->name), "%u", t->id);
}

/* What the columns are about, where nobody says. */
static int kind_of_columns(const struct csv_columns *c)
{
	if (csv_has(c, CSV_LIST))
		return TABLE_APPEND;
	if (csv_has(c, CSV_HOP) || csv_has(c, CSV_PATH))
		return TABLE_POSTCARD;
	return csv_has(c, CSV_COUNT) ? TABLE_KEYINC : TABLE_KEYWRITE;
}

/* Without a layout: a table of each kind that there may be; flows of IPv6 go to
 * the next one, as those of workloads do. */
static void of_options(struct csv_columns *c, const struct csv_options *o)
{
	int only = o->kind ? o->kind : kind_of_columns(c);

	c->made = true;
	c->one_table = o->table_given;
	for (int kind = TABLE_KEYWRITE; kind <= TABLE_POSTCARD; kind++) {
		if (!csv_has(c, CSV_KIND) && kind != only)
			continue;
		if (kind == TABLE_APPEND)
			make(c, o, kind, KEY_U32, 0);
		else
			make(c, o, kind, o->key_type, 0);
		if (kind != TABLE_APPEND && !o->key_type_given)
			make(c, o, kind, KEY_FLOW6, 1);
	}
}

/* Finds the columns of a value's parts. */
static void find_parts(const struct csv_columns *c, struct csv_table *t,
		       const struct csv_options *o)
{
	struct fault why;

	if (o->show.n)
		t->show = o->show;
	else if (!*t->t.show || show_of(&t->show, t->t.show, &why) < 0)
		t->show.n = 0;
	t->parts = t->show.n > 0;
	for (unsigned i = 0; i < t->show.n; i++) {
		t->part_at[i] = csv_find(c->name, c->n, t->show.part[i].name);
		if (t->part_at[i] < 0)
			t->parts = false;
	}
}

/* The first thing that rows for a table lack; NULL: nothing. */
static const char *lacking(const struct csv_columns *c,
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
	if (t->t.kind == TABLE_POSTCARD) {
		if (csv_has(c, CSV_PATH))
			return NULL;
		return !csv_has(c, CSV_HOP) ? "hop" : value ? NULL : "value";
	}
	if (t->t.kind == TABLE_KEYINC)
		return value || csv_has(c, CSV_COUNT) ? NULL : "count";
	return value || t->parts ? NULL : "value";
}

/* Whether the options, or the columns, say that a table is not meant. */
static bool is_meant(const struct csv_columns *c, const struct csv_table *t,
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

static int tell_lacking(const struct csv_table *t, const char *column,
			const char *head, struct fault *f)
{
	if (!t)
		return fault_set(f, -EINVAL,
				 "no table takes such rows: see --kind, "
				 "--table and the columns: %s",
				 head);
	if (!strcmp(column, "value") && t->show.n)
		return fault_set(f, -EINVAL,
				 "no columns of the values of table %s (%s), "
				 "and none named value, in: %s",
				 t->t.name, *t->t.show ? t->t.show : "--as",
				 head);
	if (!strcmp(column, "value"))
		return fault_set(f, -EINVAL,
				 "no column named value, and no --as or "
				 "--layout tells which are the values of table "
				 "%s (%s), in: %s",
				 t->t.name, table_kind_name(t->t.kind), head);
	return fault_set(f, -EINVAL,
			 "no column named %s, as table %s (%s) needs, in: %s",
			 column, t->t.name, table_kind_name(t->t.kind), head);
}

/* Keeps the tables that rows can be for. */
static int choose(struct csv_columns *c, const struct csv_options *o,
		  const char *head, struct fault *f)
{
	const char *column = NULL, *first = NULL;
	struct csv_table lacks;
	unsigned n = 0;

	for (unsigned i = 0; i < c->n_tables; i++) {
		struct csv_table *t = &c->table[i];

		find_parts(c, t, o);
		if (!is_meant(c, t, o))
			continue;
		column = lacking(c, t);
		if (!column) {
			c->table[n++] = *t;
		} else if (!first) {
			first = column;
			lacks = *t;
		}
	}
	c->n_tables = n;
	return n ? 0 : tell_lacking(first ? &lacks : NULL, first, head, f);
}

/* Rows of one kind, or each says its own. */
static int check_kinds(const struct csv_columns *c, struct fault *f)
{
	const struct table *first = &c->table[0].t;

	if (csv_has(c, CSV_KIND) || csv_has(c, CSV_TABLE))
		return 0;
	for (unsigned i = 1; i < c->n_tables; i++)
		if (c->table[i].t.kind != first->kind)
			return fault_set(
				f, -EINVAL,
				"rows may be for table %s (%s) or %s (%s): "
				"say --kind or --table",
				first->name, table_kind_name(first->kind),
				c->table[i].t.name,
				table_kind_name(c->table[i].t.kind));
	return 0;
}

int csv_columns_open(struct csv_columns *c, const struct csv_options *o,
		     struct fault *f)
{
	*c = (struct csv_columns){.n = 0};
	if (o->layout)
		return of_layout(c, o->layout, f);
	return o->region ? of_region(c, o->region, f) : 0;
}

int csv_columns_read(struct csv_columns *c, const char *line,
		     const struct csv_options *o, struct fault *f)
{
	int rc;

	c->truth = !strcmp(line, truth_head);
	snprintf(c->head, sizeof(c->head), "%s", line);
	c->n = csv_split(c->head, c->name, CSV_FIELDS_MAX);
	if (c->n < 0)
		return fault_set(f, c->n, "a quote that is not closed");
	find_columns(c);
	if (!o->layout && !o->region)
		of_options(c, o);
	rc = choose(c, o, line, f);
	return rc < 0 ? rc : check_kinds(c, f);
}

static bool is_used(const struct csv_columns *c, int at)
{
	for (unsigned i = 0; i < CSV_COLUMNS; i++)
		if (c->at[i] == at)
			return true;
	for (unsigned i = 0; i < c->n_tables; i++)
		for (unsigned k = 0; k < c->table[i].show.n; k++)
			if (c->table[i].parts && c->table[i].part_at[k] == at)
				return true;
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (!strcmp(c->name[at], told[i]))
			return true;
	return false;
}

void csv_columns_unused(const struct csv_columns *c, char *text, size_t room)
{
	size_t n = 0;

	*text = '\0';
	for (int i = 0; i < c->n && n < room; i++)
		if (!is_used(c, i))
			n += (size_t)snprintf(text + n, room - n, "%s%s",
					      n ? ", " : "", c->name[i]);
}
