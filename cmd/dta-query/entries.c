/* SPDX-License-Identifier: BSD-2-Clause */
#include "entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sources.h"
#include "wire/be.h"
#include "cli/table.h"

enum entry_field {
	ENTRY_LIST,
	ENTRY_INDEX,
	ENTRY_VALUE,
	ENTRY_EPOCH,
	ENTRY_SOURCE,
	ENTRY_TABLE,
	ENTRY_FIELDS,
};

static const struct row_field entry_fields[ENTRY_FIELDS] = {
	[ENTRY_LIST] = {"list", ROW_U64, 6},
	[ENTRY_INDEX] = {"index", ROW_U64, 10},
	[ENTRY_VALUE] = {"value", ROW_BYTES, 36},
	[ENTRY_EPOCH] = {"epoch", ROW_U64, 5, .spare = 1},
	[ENTRY_SOURCE] = {"source", ROW_STR, 8, ROW_TAG, .spare = 1},
	[ENTRY_TABLE] = {"table", ROW_STR, 8, ROW_TAG, .spare = 1},
};

static const struct schema entry_rows_schema = {"entry", entry_fields,
						ENTRY_FIELDS};

/* "losses has list 0 alone", "losses has lists 0 to 3": of each table. */
static __attribute__((noreturn)) void no_list(const struct entries *e,
					      const char *text)
{
	char have[256] = "";
	size_t n = 0;

	for (unsigned i = 0; i < e->targets.n && n < sizeof(have); i++) {
		const struct table *t = e->targets.target[i].t;

		n += (size_t)snprintf(have + n, sizeof(have) - n,
				      t->lists > 1 ? "%stable %s has lists 0 "
						     "to %u"
						   : "%stable %s has list %u "
						     "alone",
				      i ? ", " : "", t->name, t->lists - 1);
	}
	cli_refuse("list: '%s': %s", text, have);
}

static void parse_lists(struct entries *e)
{
	const struct opts *o = e->o;
	uint64_t max = 0;

	for (unsigned i = 0; i < e->targets.n; i++)
		if (e->targets.target[i].t->lists > max)
			max = e->targets.target[i].t->lists;
	e->list = calloc((size_t)o->keys.nargs + 1, sizeof(e->list[0]));
	if (!e->list)
		cli_fail("out of memory");
	for (int i = 0; i < o->keys.nargs; i++) {
		uint64_t id;

		if (!text_u64(&id, o->keys.args[i], max - 1))
			no_list(e, o->keys.args[i]);
		e->list[e->lists++] = (uint32_t)id;
	}
}

void entries_open(struct entries *e, const struct opts *o, struct places *p,
		  const struct schema *other)
{

	e->o = o;
	e->p = p;
	sources_pick(&e->targets, p, TABLE_APPEND, o->table);
	parse_lists(e);
	values_open(&e->values, &entry_rows_schema, ENTRY_VALUE, opts_show(o),
		    o->format == ROW_TEXT, &e->targets);
	e->rows = cli_rows(o->format, other ? other : &e->values.schema);
	if (!e->rows)
		cli_fail("out of memory");
}

void entries_close(struct entries *e)
{
	rows_close(e->rows);
	if (!e->o->quiet)
		cli_warn("%llu entries, %llu lost",
			 (unsigned long long)e->printed,
			 (unsigned long long)e->lost);
	free(e->list);
	free(e->buf);
}

bool entries_next_list(const struct entries *e, const struct table *t,
		       uint32_t *at, uint32_t *list)
{
	if (!e->lists) {
		*list = *at;
		return (*at)++ < t->lists;
	}
	while (*at < e->lists) {
		*list = e->list[(*at)++];
		if (*list < t->lists)
			return true;
	}
	return false;
}

void entries_of_list(struct entries *e, uint32_t list)
{
	uint8_t key[4];

	be32_store(key, list);
	places_of_key(e->p, key, sizeof(key));
}

/* Says once per list what is wrong with it, and goes on with the others. */
static void unreadable(struct entries *e, unsigned place, const struct view *v,
		       uint32_t list, int rc)
{
	if (places_fell(e->p, e->p->place[place].source)) {
		sources_check(e->p);
		e->fell = true;
		return;
	}
	e->damaged = true;
	cli_warn("%s: list %u: %s", v->t->name, list,
		 rc == -EBADMSG ? "a damaged block" : strerror(-rc));
}

uint64_t entries_count(struct entries *e, unsigned place, const struct view *v,
		       uint32_t list)
{
	uint64_t n;
	int rc = list_count(&n, v, list);

	if (rc == 0)
		return n;
	unreadable(e, place, v, list, rc);
	return 0;
}

static void entry_rows(struct entries *e, const struct target *target,
		       const struct place *at, uint32_t list, uint64_t index,
		       uint64_t n)
{
	const struct table *t = target->t;
	struct rows *r = e->rows;

	for (uint64_t i = 0; i < n && e->take; i++)
		e->take(e->ctx, (unsigned)(target - e->targets.target),
			e->buf + i * t->value_len);
	for (uint64_t i = 0; i < n && !e->take; i++) {
		row_u64(r, ENTRY_LIST, list);
		row_u64(r, ENTRY_INDEX, index + i);
		values_set(&e->values, r, target, e->buf + i * t->value_len);
		row_u64(r, values_field(&e->values, ENTRY_EPOCH), at->epoch);
		row_str(r, values_field(&e->values, ENTRY_SOURCE),
			e->p->source[at->source].name);
		row_str(r, values_field(&e->values, ENTRY_TABLE), t->name);
		row_write(r);
	}
	e->printed += n;
}

/* Room for as many of n entries as are to be read at once. */
static uint64_t make_room(struct entries *e, const struct view *v, uint64_t n)
{
	uint64_t some = list_at_once(v, n);
	size_t len = (size_t)(some * v->t->value_len);

	if (len > e->buf_len) {
		e->buf = realloc(e->buf, len);
		if (!e->buf)
			cli_fail("out of memory");
		e->buf_len = len;
	}
	return some;
}

uint64_t entries_print(struct entries *e, unsigned target, unsigned place,
		       const struct view *v, uint32_t list, uint64_t from,
		       uint64_t until, uint64_t *lost)
{
	const struct place at = e->p->place[place];
	uint64_t next, gone;

	while (from < until && !cli_stop) {
		uint64_t want = make_room(e, v, until - from);
		int64_t n = list_read(v, list, from, e->buf, want, &next,
				      &gone);

		if (n < 0) {
			unreadable(e, place, v, list, (int)n);
			return until;
		}
		if (place_stale(e->p, place)) {
			*lost += until - from; /* cleared while it was read */
			e->fell |= places_fell(e->p, at.source);
			sources_check(e->p);
			return until;
		}
		*lost += gone;
		if (!n && !gone)
			return next;
		entry_rows(e, &e->targets.target[target], &at, list,
			   next - (uint64_t)n, (uint64_t)n);
		from = next;
	}
	return from;
}
