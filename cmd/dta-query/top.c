/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top: the keys with the largest counters, values or paths, of those that are
 * known; and what lists name most often.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/table.h"
#include "reading/keys.h"
#include "run.h"

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
	char key[512];
};

struct top {
	const struct opts *o;
	struct targets targets;
	struct row_field field[FIELDS];
	struct schema schema;
	struct best *best; /* largest first */
	size_t n, max;
	/* Of each target: the part of values that is ranked; of entries, the
	 * part that names what they are of, and how often it was there. */
	struct show_part part[TABLE_MAX];
	struct keymap seen[TABLE_MAX];
	struct keymap known[TABLE_MAX]; /* keys of each target */
	struct rendered room;
};

static void add(struct top *top, uint64_t number, const struct target *t,
		const char *key)
{
	size_t at = top->n < top->max ? top->n++ : top->max - 1;

	if (top->best[at].target && number <= top->best[at].number)
		return;
	for (; at && top->best[at - 1].number < number; at--)
		top->best[at] = top->best[at - 1];
	top->best[at].number = number;
	top->best[at].target = t;
	snprintf(top->best[at].key, sizeof(top->best[at].key), "%s", key);
}

/* A number, or the sum of several. */
static uint64_t number_of(struct top *top, unsigned i, const uint8_t *value)
{
	const struct table *t = top->targets.target[i].t;
	const char *text = show_part_text(&top->part[i], &top->room, value,
					  t->value_len);
	uint64_t sum = 0;
	char *end;

	for (; *text; text = end + (*end == ','))
		sum += strtoull(text, &end, 10);
	return sum;
}

/* Its latency, where hops are latencies. */
static uint64_t sum_of_path(const struct path_answer *p)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < p->len; i++)
		sum += p->value[i];
	return sum;
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
	    : t->t->kind == TABLE_POSTCARD ? sum_of_path(&r->path)
					   : number_of(top, i, r->value),
	    t, text);
}

static void ask_known(struct top *top, struct places *p, unsigned i)
{
	static struct reply reply[QUERY_BATCH];
	const struct keymap *m = &top->known[i];
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

/* An entry of a list: one more of its key. */
static void take_entry(void *ctx, unsigned i, const uint8_t *entry)
{
	struct top *top = ctx;
	uint64_t *count = keymap_get(&top->seen[i], entry);

	if (!count)
		cli_fail("out of memory");
	++*count;
}

static void add_seen(struct top *top, unsigned i)
{
	const struct keymap *m = &top->seen[i];

	for (size_t k = 0; k < m->n; k++)
		add(top, *(uint64_t *)keymap_record(m, k),
		    &top->targets.target[i],
		    show_part_text(&top->part[i], &top->room, keymap_key(m, k),
				   m->key_len));
	keymap_fini(&top->seen[i]);
}

/* The first number, or numbers; NULL: there is none. */
static const struct show_part *find_number(const struct show *s)
{
	static const uint8_t as[] = {RENDER_NUMBER, RENDER_LIST};

	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < s->n; i++)
			if (s->part[i].render.as == as[k])
				return &s->part[i];
	return NULL;
}

/* Which part of a table's values or entries counts. */
static void choose_part(struct top *top, unsigned i)
{
	const struct table *t = top->targets.target[i].t;
	const struct show_part *p;
	struct show s;
	struct fault why;

	show_for(&s, t, opts_show(top->o));
	if (!*t->show && !top->o->show.n && t->value_len == 8)
		show_of(&s, "u64", &why);
	else if (!*t->show && !top->o->show.n && t->value_len == 4)
		show_of(&s, "u32", &why);
	p = t->kind == TABLE_APPEND ? &s.part[0] : find_number(&s);
	if (!p)
		cli_refuse("values of table %s have no number to rank them by: "
			   "say with --as what they are made of, like "
			   "u32:first,u32s",
			   t->name);
	if (show_fits(&s, t->value_len, &why) < 0)
		cli_refuse("--as: table %s: %s", t->name, why.text);
	top->part[i] = *p;
	if (t->kind == TABLE_APPEND)
		keymap_init(&top->seen[i],
			    p->len ? p->len : (size_t)t->value_len,
			    sizeof(uint64_t));
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
	if (kind == TABLE_KEYINC)
		return "count";
	if (kind == TABLE_APPEND)
		return "entries";
	if (kind == TABLE_POSTCARD || top->part[0].render.as == RENDER_LIST)
		return "sum";
	return top->part[0].name;
}

static void show_best(struct top *top, uint8_t kind)
{
	const char *number = name_of_number(top, kind);
	struct rows *r;

	memcpy(top->field, fields, sizeof(fields));
	top->field[NUMBER].name = number;
	/* A sum of node ids is nothing that anybody asks for. */
	if (!top->o->quiet && !strcmp(number, "sum"))
		cli_warn("top: by the sum of all hops, which tells something "
			 "where they are latencies");
	if (kind == TABLE_APPEND)
		top->field[KEY].name = top->part[0].name;
	for (size_t i = 0; i < top->n; i++) {
		size_t width = strlen(top->best[i].key);

		width = width < UINT8_MAX ? width : UINT8_MAX;
		if (width > top->field[KEY].width)
			top->field[KEY].width = (uint8_t)width;
	}
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
	for (unsigned i = 0; i < top->targets.n; i++)
		if (kind == TABLE_KEYWRITE || kind == TABLE_APPEND)
			choose_part(top, i);
	if (kind == TABLE_APPEND)
		list_each(o, p, &top->targets, take_entry, top);
	else if (!o->keys.file && !o->keys.nargs)
		cli_usage(&cli, "top: keys are not stored, only their "
				"checksums: name them with --keys FILE (also "
				"what dta-gen --truth wrote)");
	else
		keys_gather(top->known, &o->keys, &top->targets);
	for (unsigned i = 0; i < top->targets.n; i++)
		if (kind == TABLE_APPEND)
			add_seen(top, i);
		else
			ask_known(top, p, i);
	show_best(top, kind);
	rc = top->n ? CLI_OK : CLI_NOTHING;
	for (unsigned i = 0; i < top->targets.n; i++)
		keymap_fini(&top->known[i]);
	free(top->best);
	free(top);
	return rc;
}
