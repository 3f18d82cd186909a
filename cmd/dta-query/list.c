/* SPDX-License-Identifier: BSD-2-Clause */
/* list: entries of Append lists, oldest first, or how many there are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "entries.h"
#include "remote_list.h"
#include "run.h"
#include "wire/be.h"

enum entry_field {
	ENTRY_LIST,
	ENTRY_INDEX,
	ENTRY_VALUE,
	ENTRY_EPOCH,
	ENTRY_SOURCE,
	ENTRY_TABLE,
	ENTRY_FIELDS,
};

static struct row_field entry_fields[ENTRY_FIELDS] = {
	[ENTRY_LIST] = {"list", ROW_U64, 6},
	[ENTRY_INDEX] = {"index", ROW_U64, 10},
	[ENTRY_VALUE] = {"value", ROW_BYTES, 36},
	[ENTRY_EPOCH] = {"epoch", ROW_U64, 5},
	[ENTRY_SOURCE] = {"source", ROW_STR, 8, ROW_TAG},
	[ENTRY_TABLE] = {"table", ROW_STR, 8, ROW_TAG},
};

enum count_field {
	COUNT_LIST,
	COUNT_WRITTEN,
	COUNT_KEPT,
	COUNT_LOST,
	COUNT_EPOCH,
	COUNT_SOURCE,
	COUNT_TABLE,
	COUNT_FIELDS,
};

static struct row_field count_fields[COUNT_FIELDS] = {
	[COUNT_LIST] = {"list", ROW_U64, 6},
	[COUNT_WRITTEN] = {"written", ROW_U64, 12},
	[COUNT_KEPT] = {"kept", ROW_U64, 10},
	[COUNT_LOST] = {"lost", ROW_U64, 12},
	[COUNT_EPOCH] = {"epoch", ROW_U64, 5},
	[COUNT_SOURCE] = {"source", ROW_STR, 8, ROW_TAG},
	[COUNT_TABLE] = {"table", ROW_STR, 8, ROW_TAG},
};

static const struct schema entries = {"entry", entry_fields, ENTRY_FIELDS};
static const struct schema counts = {"list", count_fields, COUNT_FIELDS};

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

/* Says once per list what is wrong with it, and goes on with the others. */
static void unreadable(struct entries *e, unsigned place, const struct view *v,
		       uint32_t list, int rc)
{
	e->damaged = true;
	if (places_fell(e->p, e->p->place[place].source))
		return;
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

static void entry_rows(struct entries *e, const struct table *t,
		       const struct place *at, uint32_t list, uint64_t index,
		       uint64_t n)
{
	struct rows *r = e->rows;

	for (uint64_t i = 0; i < n; i++) {
		row_u64(r, ENTRY_LIST, list);
		row_u64(r, ENTRY_INDEX, index + i);
		render_set(&e->render, &e->room, r, ENTRY_VALUE,
			   e->buf + i * t->value_len, t->value_len);
		row_u64(r, ENTRY_EPOCH, at->epoch);
		row_str(r, ENTRY_SOURCE, e->p->source[at->source].name);
		row_str(r, ENTRY_TABLE, t->name);
		row_write(r);
	}
	e->printed += n;
}

uint64_t entries_print(struct entries *e, unsigned target, unsigned place,
		       const struct view *v, uint32_t list, uint64_t from,
		       uint64_t until, uint64_t *lost)
{
	const struct table *t = e->targets.target[target].t;
	const struct place at = e->p->place[place];
	uint64_t max = ENTRIES_READ / t->value_len, next, gone;

	while (from < until && !cli_stop) {
		uint64_t want = until - from < max ? until - from : max;
		int64_t n = list_read(v, list, from, e->buf, want, &next,
				      &gone);

		if (n < 0) {
			unreadable(e, place, v, list, (int)n);
			return until;
		}
		if (place_stale(e->p, place)) {
			*lost += until - from; /* cleared while it was read */
			e->damaged |= places_fell(e->p, at.source);
			return until;
		}
		*lost += gone;
		if (!n && !gone)
			return next;
		entry_rows(e, t, &at, list, next - (uint64_t)n, (uint64_t)n);
		from = next;
	}
	return from;
}

/* Entries that can be read now. */
static uint64_t kept(const struct view *v, uint64_t count)
{
	return count - list_oldest(v->t, count);
}

static void print_count(struct entries *e, unsigned place, const struct view *v,
			uint32_t list)
{
	const struct place *at = &e->p->place[place];
	uint64_t count = entries_count(e, place, v, list),
		 have = kept(v, count);
	struct rows *r = e->rows;

	if (!count && !e->lists)
		return;
	row_u64(r, COUNT_LIST, list);
	row_u64(r, COUNT_WRITTEN, count);
	row_u64(r, COUNT_KEPT, have);
	row_u64(r, COUNT_LOST, count - have);
	row_u64(r, COUNT_EPOCH, at->epoch);
	row_str(r, COUNT_SOURCE, e->p->source[at->source].name);
	row_str(r, COUNT_TABLE, v->t->name);
	row_write(r);
	e->printed += have;
	e->lost += count - have;
}

/*
 * Whether a place is to be listed. --from counts in one epoch: the newest, if
 * none is named.
 */
static bool place_listed(const struct entries *e, unsigned place)
{
	return !place_repeats(e->p, place) && !(e->o->from_given && place);
}

static bool list_view(struct view *v, const struct entries *e, unsigned target,
		      unsigned place, uint32_t list)
{
	return place_listed(e, place) &&
	       target_view(v, e->p, &e->targets.target[target], place) &&
	       list < v->t->lists;
}

/* Where to begin in each place: --last takes from the newest first. */
static void find_begins(struct entries *e, unsigned target, uint32_t list,
			uint64_t *begin, uint64_t *count)
{
	uint64_t left = e->o->last_given ? e->o->last : UINT64_MAX;

	for (unsigned i = 0; i < e->p->n; i++) {
		struct view v;
		uint64_t have;

		begin[i] = count[i] = 0;
		if (!list_view(&v, e, target, i, list))
			continue;
		count[i] = entries_count(e, i, &v, list);
		have = kept(&v, count[i]);
		if (!e->o->last_given) {
			begin[i] = e->o->from;
			continue;
		}
		begin[i] = count[i] - (have < left ? have : left);
		left -= count[i] - begin[i];
	}
}

/* The next row of a list from another machine; false behind the last. A
 * machine that cannot be asked is lost. */
static bool peek(struct entries *e, unsigned target, unsigned place,
		 uint32_t list, const struct remote_row **row, bool *lost)
{
	const struct place *at = &e->p->place[place];
	const struct source *s = &e->p->source[at->source];
	const struct table *in = e->targets.target[target].in[at->source];
	struct fault f = {0};
	int rc;

	if (!in)
		return false;
	rc = remote_list_peek(s->remote, e->o, in, at->from, at->epoch, list,
			      row, &f);
	if (rc < 0) {
		crew_lose(e->p, at->source, f.text);
		*lost = true;
	}
	return rc > 0;
}

static void print_remote(struct entries *e, unsigned target, unsigned place,
			 uint32_t list)
{
	const struct place *at = &e->p->place[place];
	const struct source *s = &e->p->source[at->source];
	const struct table *t = e->targets.target[target].t;
	const struct remote_row *row;
	struct rows *r = e->rows;

	while (!cli_stop && peek(e, target, place, list, &row, &e->damaged)) {
		row_u64(r, 0, row->list);
		if (e->o->count_only) {
			row_u64(r, COUNT_WRITTEN, row->written);
			row_u64(r, COUNT_KEPT, row->kept);
			row_u64(r, COUNT_LOST, row->lost);
			row_u64(r, COUNT_EPOCH, row->epoch);
			row_str(r, COUNT_SOURCE, s->name);
			row_str(r, COUNT_TABLE, t->name);
			e->lost += row->lost;
		} else {
			row_u64(r, ENTRY_INDEX, row->index);
			render_set(&e->render, &e->room, r, ENTRY_VALUE,
				   row->value, t->value_len);
			row_u64(r, ENTRY_EPOCH, row->epoch);
			row_str(r, ENTRY_SOURCE, s->name);
			row_str(r, ENTRY_TABLE, t->name);
		}
		row_write(r);
		e->printed += e->o->count_only ? row->kept : 1;
		remote_list_take(s->remote);
	}
}

/*
 * A list belongs to the collector that owns its id. Machines are asked for
 * their first rows before any is printed: if one is lost, its mirror may do.
 */
static void entries_locate(struct entries *e, unsigned target, uint32_t list)
{
	const struct remote_row *row;
	uint8_t key[4];
	bool lost;

	be32_store(key, list);
	do {
		lost = false;
		places_of_key(e->p, key, sizeof(key));
		for (unsigned i = 0; e->p->crew && i < e->p->n && !lost; i++)
			if (e->p->source[e->p->place[i].source].remote) {
				if (e->o->last_given && e->p->n > 1)
					cli_fail("list %u: --last: it is in "
						 "several places; name one "
						 "--epoch",
						 list);
				peek(e, target, i, list, &row, &lost);
			}
	} while (lost);
	if (e->p->crew && crew_incomplete(e->p->crew))
		crew_failed_set(e->p->crew);
}

/* One list in all epochs, oldest first: the order in which it was written. */
static void print_places(struct entries *e, unsigned target, uint32_t list)
{
	uint64_t *begin, *count;
	struct view v;

	entries_locate(e, target, list);
	begin = calloc(e->p->n + 1, 2 * sizeof(begin[0]));
	if (!begin)
		cli_fail("out of memory");
	count = begin + e->p->n;
	if (!e->o->count_only)
		find_begins(e, target, list, begin, count);
	for (unsigned i = e->p->n; i-- > 0 && !cli_stop;) {
		if (e->p->source[e->p->place[i].source].remote &&
		    place_listed(e, i))
			print_remote(e, target, i, list);
		if (!list_view(&v, e, target, i, list))
			continue;
		if (e->o->count_only)
			print_count(e, i, &v, list);
		else
			entries_print(e, target, i, &v, list, begin[i],
				      count[i], &e->lost);
	}
	free(begin);
}

static void parse_lists(struct entries *e)
{
	const struct opts *o = e->o;
	uint64_t max = 0;

	for (unsigned i = 0; i < e->targets.n; i++)
		if (e->targets.target[i].t->lists > max)
			max = e->targets.target[i].t->lists;
	e->list = calloc((size_t)o->nargs + 1, sizeof(e->list[0]));
	if (!e->list)
		cli_fail("out of memory");
	for (int i = 0; i < o->nargs; i++)
		e->list[e->lists++] = (uint32_t)cli_u64("list", o->args[i], 0,
							max - 1);
}

int run_list(const struct opts *o, struct places *p)
{
	struct entries *e = calloc(1, sizeof(*e));
	size_t value = 0;
	int rc = CLI_OK;

	if (!e)
		cli_fail("out of memory");
	e->o = o;
	e->p = p;
	e->render = o->render;
	e->render.escape_blank = o->format == ROW_TEXT;
	targets_pick(&e->targets, p, TABLE_APPEND, o->table);
	parse_lists(e);
	entry_fields[ENTRY_VALUE].type = render_type(&o->render);
	for (unsigned i = 0; i < e->targets.n; i++)
		if (e->targets.target[i].t->value_len > value)
			value = e->targets.target[i].t->value_len;
	entry_fields[ENTRY_VALUE].width = render_column(&o->render, value);
	e->rows = rows_print(stdout, o->format,
			     o->count_only ? &counts : &entries, true);
	if (!e->rows)
		cli_fail("out of memory");
	if (o->follow)
		rc = entries_follow(e);
	else
		for (unsigned i = 0; i < e->targets.n; i++) {
			uint32_t at = 0, list;

			while (!cli_stop &&
			       entries_next_list(e, e->targets.target[i].t, &at,
						 &list))
				print_places(e, i, list);
		}
	rows_close(e->rows);
	if (!o->quiet)
		cli_warn("%llu entries, %llu lost",
			 (unsigned long long)e->printed,
			 (unsigned long long)e->lost);
	if (!o->follow)
		rc = e->damaged ? CLI_FAIL : e->printed ? CLI_OK : CLI_NOTHING;
	free(e->list);
	free(e);
	return rc;
}
