/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top: the keys with the largest counters, values or paths, of those that are
 * known; and what lists name most often, or with the largest number.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/table.h"
#include "reading/known.h"
#include "list.h"
#include "places/ask.h"
#include "run.h"
#include "sources.h"

enum {
	LINES = 10, /* where nothing is said */
};

enum field {
	RANK,
	KEY,
	NUMBER,
	TABLE,
	FIELDS,
};

static const struct row_field fields[FIELDS] = {
	[RANK] = {"rank", ROW_U64, 4},
	[KEY] = {"key", ROW_STR, 0},
	[NUMBER] = {"count", ROW_U64, 12}, /* or whatever it is by */
	[TABLE] = {"table", ROW_STR, 8, ROW_TAG},
};

/* One of the largest so far. */
struct best {
	uint64_t number;
	const struct target *target;
	char key[RENDER_TEXT_MAX / 16];
};

struct top {
	const struct opts *o;
	struct targets targets;
	struct row_field field[FIELDS];
	struct schema schema;
	struct best *best; /* largest first */
	size_t n, max;
	struct show show[TABLE_MAX]; /* of each target */
	const struct show_part *by[TABLE_MAX], *what[TABLE_MAX];
	struct known known;
	struct rendered room;
	struct keymap seen[TABLE_MAX]; /* append: entries of each key */
};

static void add(struct top *top, uint64_t number, const struct target *t,
		const char *key)
{
	size_t at = top->n < top->max ? top->n++ : top->max - 1;

	if (at + 1 == top->max && top->n == top->max && top->best[at].target &&
	    number <= top->best[at].number)
		return;
	for (; at && top->best[at - 1].number < number; at--)
		top->best[at] = top->best[at - 1];
	top->best[at].number = number;
	top->best[at].target = t;
	snprintf(top->best[at].key, sizeof(top->best[at].key), "%s", key);
}

/* Of numbers in a row, as of a path: --by max, or their sum. */
static uint64_t number_of(struct top *top, unsigned i, const uint8_t *value)
{
	const struct show_part *p = top->by[i];
	const char *by = top->o->by;
	bool max = by && !strcmp(by, "max") && p->render.as == RENDER_LIST;
	char *at = (char *)(uintptr_t)render_text(&p->render, &top->room,
						  value + p->at, p->len);
	uint64_t all = 0, one;

	for (; *at; at += *at == ',') {
		one = strtoull(at, &at, 10);
		all = !max ? all + one : one > all ? one : all;
	}
	return all;
}

/* Of a path: --by hops, max, or sum: its latency, where hops are latencies. */
static uint64_t number_of_path(const struct opts *o,
			       const struct path_answer *p)
{
	uint64_t sum = 0, max = 0;

	for (unsigned i = 0; i < p->len; i++) {
		sum += p->value[i];
		max = p->value[i] > max ? p->value[i] : max;
	}
	return !o->by || !strcmp(o->by, "sum") ? sum
	       : !strcmp(o->by, "max")	       ? max
					       : p->len;
}

static void take_reply(struct top *top, const struct target *t,
		       const uint8_t *key, const struct reply *r)
{
	unsigned i = (unsigned)(t - top->targets.target);
	char text[KEY_TEXT_MAX];

	if (r->answer != ANSWER_FOUND)
		return;
	key_format(text, (enum key_type)t->t->key_type, key, t->t->key_len);
	add(top,
	    t->t->kind == TABLE_KEYINC	   ? r->count
	    : t->t->kind == TABLE_POSTCARD ? number_of_path(top->o, &r->path)
					   : number_of(top, i, r->value),
	    t, text);
}

static void ask_known(struct top *top, struct places *p, unsigned i)
{
	static struct reply reply[QUERY_BATCH];
	const struct keymap *m = &top->known.keys[i];
	struct ask ask = {.places = p, .rule = top->o->rule};
	const struct target *t = &top->targets.target[i];

	for (size_t at = 0; at < m->n && !cli_stop; at += QUERY_BATCH) {
		const uint8_t *key[QUERY_BATCH];
		struct reply *of[QUERY_BATCH];
		size_t n = 0;

		for (; n < QUERY_BATCH && at + n < m->n; n++) {
			key[n] = keymap_key(m, at + n);
			of[n] = &reply[n];
		}
		ask_keys(&ask, t, key, n, of);
		sources_check(p);
		for (size_t k = 0; k < n; k++)
			take_reply(top, t, key[k], &reply[k]);
	}
}

/* An entry of a list: its number now, or one more of its key. */
static void take_entry(void *ctx, unsigned i, const uint8_t *entry)
{
	struct top *top = ctx;
	const struct show_part *what = top->what[i];
	uint64_t *count, number;

	if (top->by[i]) {
		number = number_of(top, i, entry);
		add(top, number, &top->targets.target[i],
		    render_text(&what->render, &top->room, entry + what->at,
				what->len));
		return;
	}
	count = keymap_get(&top->seen[i], entry + what->at);
	if (!count)
		cli_fail("out of memory");
	++*count;
}

static void add_seen(struct top *top, unsigned i)
{
	const struct keymap *m = &top->seen[i];
	const struct show_part *what = top->what[i];

	for (size_t k = 0; k < m->n; k++)
		add(top, *(uint64_t *)keymap_record(m, k),
		    &top->targets.target[i],
		    render_text(&what->render, &top->room, keymap_key(m, k),
				what->len));
	keymap_fini(&top->seen[i]);
}

/* Whether a part is what --by means: a number, or numbers in a row. */
static bool is_meant(const struct show_part *p, uint8_t as, const char *name)
{
	return p->render.as == as &&
	       (!name || !strcmp(p->name, name) ||
		(as == RENDER_LIST &&
		 (!strcmp(name, "sum") || !strcmp(name, "max"))));
}

/* The part that --by names, or the first number, or numbers; NULL: there is
 * none. */
static const struct show_part *find_by(const struct show *s, const char *name)
{
	static const uint8_t as[] = {RENDER_NUMBER, RENDER_LIST};

	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < s->n; i++)
			if (is_meant(&s->part[i], as[k], name))
				return &s->part[i];
	return NULL;
}

static __attribute__((noreturn)) void
no_number(const struct top *top, const struct table *t, const struct show *s)
{
	char have[256] = "";
	size_t n = 0;

	for (unsigned i = 0; i < s->n && n < sizeof(have); i++)
		if (is_meant(&s->part[i], RENDER_NUMBER, NULL) ||
		    is_meant(&s->part[i], RENDER_LIST, NULL))
			n += (size_t)snprintf(have + n, sizeof(have) - n,
					      "%s%s", n ? ", " : "",
					      s->part[i].name);
	if (n)
		cli_refuse("--by: values of table %s have no number %s; there "
			   "is %s",
			   t->name, top->o->by, have);
	cli_refuse("values of table %s have no number to rank them by: say "
		   "with --as what they are made of, like u32:first,u32s",
		   t->name);
}

/* What values and entries of a table are made of, and which part counts. */
static void choose_parts(struct top *top, unsigned i)
{
	const struct table *t = top->targets.target[i].t;
	struct show *s = &top->show[i];
	const char *told = t->value_len == 8   ? "u64"
			   : t->value_len == 4 ? "u32"
					       : "hex";
	struct fault why;
	bool list = t->kind == TABLE_APPEND;

	if (top->o->show.n)
		*s = top->o->show;
	else if (top->o->as_given)
		show_one(s, &top->o->render);
	else if (show_of(s, *t->show ? t->show : told, &why) < 0)
		show_of(s, "hex", &why);
	if (s->n && !s->part[s->n - 1].len)
		s->part[s->n - 1].len = (uint16_t)(t->value_len -
						   s->part[s->n - 1].at);
	top->what[i] = &s->part[0];
	top->by[i] = list && !top->o->by ? NULL : find_by(s, top->o->by);
	if (!top->by[i] && (!list || top->o->by))
		no_number(top, t, s);
	if (s->part[s->n - 1].at + s->part[s->n - 1].len > t->value_len)
		cli_refuse("--as: values of table %s have %u bytes", t->name,
			   t->value_len);
	if (list)
		keymap_init(&top->seen[i], top->what[i]->len, sizeof(uint64_t));
}

/* The tables: the one named, or all of the first kind that there is. */
static void pick_tables(struct top *top, const struct places *p)
{
	static const int kinds[] = {TABLE_KEYINC, TABLE_KEYWRITE,
				    TABLE_POSTCARD, TABLE_APPEND};
	struct fault f = {""};

	for (unsigned i = 0; i < 4; i++)
		if (!targets_pick(&top->targets, p, kinds[i], top->o->table,
				  &f))
			return;
	cli_fail("%s", f.text);
}

static const char *name_of_number(const struct top *top, uint8_t kind)
{
	if (kind == TABLE_POSTCARD)
		return top->o->by ? top->o->by : "sum";
	if (kind == TABLE_KEYINC)
		return "count";
	if (!top->by[0])
		return "entries";
	if (top->by[0]->render.as == RENDER_LIST)
		return top->o->by && !strcmp(top->o->by, "max") ? "max" : "sum";
	return top->by[0]->name;
}

static uint8_t column(const char *text)
{
	size_t n = strlen(text);

	return (uint8_t)(n < UINT8_MAX ? n : UINT8_MAX);
}

static void show_best(struct top *top, uint8_t kind)
{
	const char *number = name_of_number(top, kind);
	struct rows *r;

	memcpy(top->field, fields, sizeof(fields));
	top->field[NUMBER].name = number;
	/* A sum of node ids is nothing that anybody asks for. */
	if (!top->o->by && !top->o->quiet && !strcmp(number, "sum"))
		cli_warn("top: by the sum of all hops, which tells something "
			 "where they are latencies; --by max%s ranks otherwise",
			 kind == TABLE_POSTCARD ? " or hops" : "");
	if (kind == TABLE_APPEND)
		top->field[KEY].name = top->what[0]->name;
	top->field[KEY].width = 0;
	for (size_t i = 0; i < top->n; i++)
		if (column(top->best[i].key) > top->field[KEY].width)
			top->field[KEY].width = column(top->best[i].key);
	top->schema = (struct schema){"top", top->field, FIELDS};
	r = cli_rows(top->o->format, &top->schema);
	if (!r)
		cli_fail("out of memory");
	for (size_t i = 0; i < top->n; i++) {
		row_u64(r, RANK, i + 1);
		row_str(r, KEY, top->best[i].key);
		row_u64(r, NUMBER, top->best[i].number);
		row_str(r, TABLE, top->best[i].target->t->name);
		row_write(r);
	}
	rows_close(r);
}

static void check_by(const struct opts *o, uint8_t kind)
{
	if (o->by && kind == TABLE_KEYINC)
		cli_refuse("--by: counters are ranked by their counts");
	if (o->by && kind == TABLE_POSTCARD && strcmp(o->by, "sum") &&
	    strcmp(o->by, "max") && strcmp(o->by, "hops"))
		cli_refuse("--by: '%s' is not sum, max or hops", o->by);
}

int run_top(const struct opts *o, struct places *p)
{
	struct top *top = calloc(1, sizeof(*top));
	uint8_t kind;
	int rc;

	if (!top)
		cli_fail("out of memory");
	top->o = o;
	top->max = o->lines ? o->lines : LINES;
	top->best = calloc(top->max, sizeof(*top->best));
	if (!top->best)
		cli_fail("out of memory");
	pick_tables(top, p);
	kind = top->targets.target[0].t->kind;
	check_by(o, kind);
	for (unsigned i = 0; i < top->targets.n; i++)
		if (kind == TABLE_KEYWRITE || kind == TABLE_APPEND)
			choose_parts(top, i);
	if (kind == TABLE_APPEND)
		list_each(o, p, &top->targets, take_entry, top);
	else if (!o->keys.file && !o->keys.nargs)
		cli_usage(&cli, "top: keys are not stored, only their "
				"checksums: name them with --keys FILE (also "
				"what dta-gen --truth wrote)");
	else
		known_read(&top->known, &o->keys, &top->targets);
	for (unsigned i = 0; i < top->targets.n; i++)
		if (kind == TABLE_APPEND)
			add_seen(top, i);
		else
			ask_known(top, p, i);
	show_best(top, kind);
	rc = top->n ? CLI_OK : CLI_NOTHING;
	known_free(&top->known, &top->targets);
	free(top->best);
	free(top);
	return rc;
}
