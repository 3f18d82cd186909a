/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys: the keys that there are, each once: those that entries of lists name,
 * and those of a key log. Other tables hold checksums in the place of keys.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reading/keys.h"
#include "cli/table.h"
#include "query/keymap.h"
#include "query/keytext.h"
#include "query/query.h"
#include "query/show.h"
#include "row/csv.h"
#include "whole.h"

enum {
	BAD_SHOWN = 10,
	AT_ONCE = 1024, /* entries of a list */
};

enum field {
	KEY,
	SEEN,
	TABLE,
	FIELDS,
};

static const struct row_field fields[FIELDS] = {
	[KEY] = {"key", ROW_STR, 47},
	[SEEN] = {"seen", ROW_U64, 10},
	[TABLE] = {"table", ROW_STR, 8, ROW_TAG},
};

static const struct schema key_rows = {"known_key", fields, FIELDS};

/* Keys of a table, in the order in which they came: how often each did. */
struct counted {
	const struct table *t; /* NULL: texts, of no table that is known */
	enum key_type type;
	struct keymap map;
};

struct dump_keys {
	const struct opts *o;
	struct rows *rows;
	struct counted counted[TABLE_MAX];
	unsigned n;
	uint64_t rows_done, good, malformed;
	bool damaged;
	int csv_at; /* the field of a log that is CSV; -1: it is none */
};

static void count(struct counted *c, const void *key)
{
	uint64_t *times = keymap_get(&c->map, key);

	if (!times)
		cli_fail("out of memory");
	++*times;
}

static struct counted *add_table(struct dump_keys *d, const struct table *t,
				 enum key_type type, size_t len)
{
	struct counted *c = &d->counted[d->n++];

	c->t = t;
	c->type = type;
	keymap_init(&c->map, len, sizeof(uint64_t));
	return c;
}

static void show(struct dump_keys *d)
{
	char text[KEY_TEXT_MAX];

	for (unsigned i = 0; i < d->n; i++) {
		struct counted *c = &d->counted[i];

		for (size_t k = 0; k < c->map.n && !cli_stop; k++) {
			const uint8_t *key = keymap_key(&c->map, k);

			if (c->t)
				key_format(text, c->type, key, c->map.key_len);
			row_str(d->rows, KEY, c->t ? text : (const char *)key);
			row_u64(d->rows, SEEN,
				*(uint64_t *)keymap_record(&c->map, k));
			row_str(d->rows, TABLE, c->t ? c->t->name : NULL);
			row_write(d->rows);
			d->rows_done++;
		}
		keymap_fini(&c->map);
	}
}

/* The first part of a list's entries that is a key; false: none is. */
static bool find_key(struct show_part *part, const struct table *t)
{
	struct show s;
	struct fault why;

	if (t->kind != TABLE_APPEND || !*t->show ||
	    show_of(&s, t->show, &why) < 0)
		return false;
	for (unsigned i = 0; i < s.n; i++)
		if (s.part[i].render.as == RENDER_KEY &&
		    s.part[i].at + s.part[i].len <= t->value_len) {
			*part = s.part[i];
			return true;
		}
	return false;
}

static void read_list(struct dump_keys *d, struct counted *c,
		      const struct view *v, const struct show_part *part,
		      uint32_t list, uint8_t *room)
{
	uint64_t at = 0, before, lost = 0, all;
	int64_t n;

	if (list_count(&all, v, list) < 0) {
		d->damaged = true;
		return;
	}
	do {
		before = at;
		n = list_read(v, list, at, room, AT_ONCE, &at, &lost);
		d->damaged |= n < 0;
		for (int64_t i = 0; i < n; i++)
			count(c, room + i * v->t->value_len + part->at);
	} while (at > before && at < all && !cli_stop);
}

static struct counted *of_table(struct dump_keys *d, const struct table *t,
				const struct show_part *part)
{
	for (unsigned i = 0; i < d->n; i++)
		if (d->counted[i].t == t) /* of another epoch */
			return &d->counted[i];
	return add_table(d, t, (enum key_type)part->render.key, part->len);
}

/* Keys in entries; of the others it is said that they have none. */
static void read_memory(struct dump_keys *d, const struct whole *w)
{
	char without[256] = "";
	struct view v = {NULL};
	size_t n = 0;

	while (whole_next(w, d->o, &v)) {
		struct show_part part;
		uint8_t *room;

		if (!find_key(&part, v.t)) {
			if (v.epoch == w->last && n < sizeof(without))
				n += (size_t)snprintf(
					without + n, sizeof(without) - n,
					"%s%s", n ? ", " : "", v.t->name);
			continue;
		}
		room = malloc((size_t)AT_ONCE * v.t->value_len);
		if (!room)
			cli_fail("out of memory");
		for (uint32_t i = 0; i < v.t->lists && !cli_stop; i++)
			read_list(d, of_table(d, v.t, &part), &v, &part, i,
				  room);
		free(room);
	}
	if (n)
		cli_warn("%s: no keys are stored in %s: there are checksums of "
			 "keys, or values alone; dta-translate --key-log FILE "
			 "writes keys down, --log FILE shows them",
			 w->name, without);
}

/* What no text of any key has is no key of a table that is not known, too. */
static bool may_be_key(const char *text)
{
	return *text &&
	       !text[strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ.:[]>/@-")];
}

static void read_line(struct dump_keys *d, const struct lines *l,
		      const char *line)
{
	const struct table *t[TABLE_MAX] = {NULL};
	struct keytext_fault why;
	uint8_t key[KEY_TEXT_MAX] = {0};
	bool loose;
	int which = 0;

	for (unsigned i = 0; i < d->n; i++)
		t[i] = d->counted[i].t;
	if (t[0])
		which = keytext_pick(key, &loose, t, d->n, line, &why);
	else if (!may_be_key(line))
		which = fault_set(&why.why, -EINVAL, "is no key");
	else if (strlen(line) < sizeof(key))
		memcpy(key, line, strlen(line));
	else
		which = fault_set(&why.why, -EINVAL, "is too long for a key");
	d->good += which >= 0;
	if (which >= 0)
		count(&d->counted[which], key);
	else if (d->malformed++ < BAD_SHOWN)
		cli_warn("%s:%llu: '%.160s' %s", l->path,
			 (unsigned long long)l->number, line, why.why.text);
}

static void read_log_line(struct dump_keys *d, const struct lines *l,
			  char *line)
{
	char *field[CSV_FIELDS_MAX];
	int n;

	if (l->number == 1 && (d->csv_at = keys_head(line)) >= 0)
		return;
	if (d->csv_at < 0) {
		if (*line != '#')
			read_line(d, l, line);
		return;
	}
	n = csv_split(line, field, d->csv_at + 1);
	read_line(d, l, n > d->csv_at ? field[d->csv_at] : "");
}

/* Ten lines, and none is a key. */
static bool hopeless(const struct dump_keys *d)
{
	return !d->good && d->malformed >= BAD_SHOWN;
}

static void read_log(struct dump_keys *d, const char *path)
{
	struct lines l;
	char *line;
	size_t len;
	int rc = lines_open(&l, path);

	if (rc < 0)
		cli_fail("%s: %s", cli_file(path), strerror(-rc));
	do {
		while (!hopeless(d) && (line = lines_next(&l, &len)))
			if (len)
				read_log_line(d, &l, line);
		rc = hopeless(d) ? 0 : lines_more(&l);
	} while (!cli_stop && (rc > 0 || rc == -EINTR));
	lines_check(&l, rc);
	lines_close(&l);
	if (hopeless(d))
		cli_warn("%s: none of %llu lines is a key: another file?",
			 l.path, (unsigned long long)d->malformed);
	else if (d->malformed > BAD_SHOWN)
		cli_warn("%s: %llu lines are no keys; above are the first %d",
			 l.path, (unsigned long long)d->malformed, BAD_SHOWN);
}

/* The tables whose keys a log may have; without a memory, any. */
static void log_tables(struct dump_keys *d, const struct whole *w)
{
	struct view v = {NULL};

	if (!w->memory) {
		add_table(d, NULL, KEY_HEX, KEY_TEXT_MAX);
		return;
	}
	while (whole_next(w, d->o, &v) && v.epoch == w->last)
		if (v.t->kind != TABLE_APPEND)
			add_table(d, v.t, (enum key_type)v.t->key_type,
				  v.t->key_len);
	if (!d->n)
		cli_fail("%s: lists alone: no table has keys", w->name);
}

int dump_keys(const struct opts *o)
{
	struct dump_keys *d = calloc(1, sizeof(*d));
	struct whole w = {NULL};
	int rc;

	if (!d)
		cli_fail("out of memory");
	d->o = o;
	d->csv_at = -1;
	d->rows = cli_rows(o->format, &key_rows);
	if (!d->rows)
		cli_fail("out of memory");
	if (o->what || o->snapshot)
		whole_open(&w, o->what, o->snapshot, o);
	if (o->log) {
		log_tables(d, &w);
		read_log(d, o->log);
	} else {
		read_memory(d, &w);
	}
	show(d);
	rows_close(d->rows);
	if (w.memory)
		whole_close(&w);
	rc = d->malformed || d->damaged ? CLI_FAIL
	     : d->rows_done		? CLI_OK
					: CLI_NOTHING;
	free(d);
	return rc;
}
