/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify: Append. The entries that rings still hold are the newest; they are
 * compared, in order, with the newest of the truth. Those of the newest epoch
 * are the last ones, those of the epoch before come before them.
 */
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "remote_list.h"
#include "verify.h"
#include "wire/be.h"

enum {
	READ = 65536, /* bytes of entries at once */
	KNOWN = 64,
};

struct check {
	struct verify *v;
	struct score *s;
	const struct table *t;
	const struct truth_list *truth;
	uint32_t list;
	uint64_t end;  /* entries of the truth that are not yet compared */
	uint64_t held; /* entries that the rings hold */
	uint8_t buf[READ];
	/* A list on another machine, as it said, oldest entry first. */
	struct remote_row *row;
	size_t rows, cap;
	struct known {
		unsigned epochs;
		struct place at;
	} known[KNOWN]; /* how many epochs there are in a place there */
	unsigned nknown;
};

static void count(struct check *c, enum verdict verdict, uint64_t index,
		  const uint8_t *want, const uint8_t *got)
{
	struct miss m = {.index = index};
	char list[16];

	if (verify_listed(c->v, verdict)) {
		snprintf(list, sizeof(list), "%u", c->list);
		m.key = list;
		if (want)
			m.expected = render_text(&c->v->render, &c->v->expected,
						 want, c->t->value_len);
		if (got)
			m.got = render_text(&c->v->render, &c->v->got, got,
					    c->t->value_len);
	}
	verify_count(c->v, c->s, c->t, verdict, &m);
}

/* n entries, read from memory, that stand for those from index on. */
static void compare(struct check *c, uint64_t index, uint64_t n)
{
	size_t len = c->t->value_len;

	for (uint64_t i = 0; i < n; i++) {
		const uint8_t *got = c->buf + i * len;
		const uint8_t *want = c->truth->entries +
				      (index + i - c->truth->first) * len;
		bool same = !memcmp(got, want, len);

		count(c, same ? VERDICT_RIGHT : VERDICT_WRONG, index + i, want,
		      got);
	}
}

/* n entries from index on that cannot be had, or never came. */
static void missing(struct check *c, uint64_t index, uint64_t n)
{
	size_t len = c->t->value_len;

	for (uint64_t i = index; i < index + n; i++)
		count(c, VERDICT_MISSING, i,
		      i < c->truth->first
			      ? NULL
			      : c->truth->entries + (i - c->truth->first) * len,
		      NULL);
}

/* Who asks of a collector that has just been lost does not know all. */
static void lost(struct check *c, unsigned place)
{
	struct places *p = c->v->p;

	if (places_fell(p, p->place[place].source))
		crew_failed_set(p->crew);
}

/* The list in one place: its last entry is number c->end - 1 of the truth. */
static void check_place(struct check *c, unsigned place,
			const struct view *view)
{
	uint64_t entries, from, shift, next, gone;
	uint64_t max = READ / c->t->value_len;

	if (list_count(&entries, view, c->list) < 0) {
		lost(c, place);
		return;
	}
	/* The ring may hold more than the truth tells of, or still has. */
	from = c->end - c->truth->first;
	from = entries > from ? entries - from : 0;
	if (entries - from > table_kept(view->t))
		from = entries - table_kept(view->t);
	shift = c->end - entries; /* wraps: index = at + shift */
	for (uint64_t at = from; at < entries; at = next) {
		uint64_t want = entries - at < max ? entries - at : max;
		int64_t n = list_read(view, c->list, at, c->buf, want, &next,
				      &gone);

		if (n < 0) { /* a damaged block, or no connection */
			lost(c, place);
			missing(c, at + shift, want);
			next = at + want;
		} else if ((!n && !gone) || next > entries) {
			break; /* it is being written, or cleared */
		} else {
			compare(c, next - (uint64_t)n + shift, (uint64_t)n);
		}
	}
	c->held += entries - from;
	c->end = entries < c->end ? c->end - entries : 0;
}

/* What another machine's list is asked for; -errno: it cannot be asked. */
static int peek(const struct check *c, const struct truth_table *tt,
		const struct opts *o, const struct place *at, uint32_t list,
		const struct remote_row **row)
{
	const struct source *s = &c->v->p->source[at->source];
	struct fault f = {0};
	int rc = remote_list_peek(s->remote, o, tt->target.in[at->source],
				  at->from, at->epoch, list, row, &f);

	if (rc < 0)
		crew_lose(c->v->p, at->source, f.text);
	return rc;
}

/* All that it has of the list; -errno: it fell silent on the way. */
static int gather(struct check *c, const struct truth_table *tt,
		  const struct place *at)
{
	static const struct opts entries;
	struct remote *r = c->v->p->source[at->source].remote;
	const struct remote_row *row;
	int rc;

	c->rows = 0;
	while ((rc = peek(c, tt, &entries, at, c->list, &row)) > 0) {
		if (c->rows == c->cap) {
			c->cap = c->cap ? 2 * c->cap : 1024;
			c->row = realloc(c->row, c->cap * sizeof(*c->row));
			if (!c->row)
				cli_fail("out of memory");
		}
		c->row[c->rows++] = *row;
		remote_list_take(r);
	}
	return rc;
}

/* How many epochs it has: a list that is named is counted in each. Asked once
 * for each place. */
static unsigned epochs_there(struct check *c, const struct truth_table *tt,
			     const struct place *at)
{
	static const struct opts counts = {.count_only = true, .nargs = 1};
	struct remote *r = c->v->p->source[at->source].remote;
	const struct remote_row *row;
	struct known *k = c->known;

	for (; k < c->known + KNOWN && k < c->known + c->nknown; k++)
		if (k->at.source == at->source && k->at.from == at->from &&
		    k->at.epoch == at->epoch)
			return k->epochs;
	k = &c->known[c->nknown++ % KNOWN];
	*k = (struct known){.at = *at};
	while (peek(c, tt, &counts, at, c->list, &row) > 0) {
		k->epochs++;
		remote_list_take(r);
	}
	return k->epochs;
}

/* Rows [first, end) are one epoch's; what they are of the truth as in
 * check_place(). Indices that do not go up by one are no list's. */
static void check_rows(struct check *c, size_t first, size_t end)
{
	uint64_t entries = c->row[end - 1].index + 1, from = entries, shift;
	size_t len = c->t->value_len;

	while (end > first && from > 0 && c->row[end - 1].index == from - 1 &&
	       entries - from < c->end - c->truth->first) {
		end--;
		from--;
	}
	shift = c->end - entries;
	for (uint64_t at = from; at < entries; at++) {
		memcpy(c->buf, c->row[end + (at - from)].value, len);
		compare(c, at + shift, 1);
	}
	c->held += entries - from;
	c->end = entries < c->end ? c->end - entries : 0;
}

/* The list at another machine, newest epoch first. Returns how many entries
 * there would be room for. */
static uint64_t check_remote(struct check *c, const struct truth_table *tt,
			     const struct place *at)
{
	const struct table *there = tt->target.in[at->source];
	size_t first;

	if (gather(c, tt, at) < 0)
		crew_failed_set(c->v->p->crew);
	for (size_t end = c->rows; end; end = first) {
		for (first = end - 1; first; first--)
			if (c->row[first - 1].epoch != c->row[end - 1].epoch)
				break;
		if (c->end > c->truth->first)
			check_rows(c, first, end);
	}
	return epochs_there(c, tt, at) * table_kept(there);
}

/*
 * Goes to the list's places. Machines are asked for their first rows before any
 * is compared: if one is lost, its mirror may do.
 */
static void locate(struct check *c, const struct truth_table *tt)
{
	static const struct opts entries;
	const struct places *p = c->v->p;
	const struct remote_row *row;
	uint8_t key[4];
	bool fell;

	be32_store(key, c->list);
	do {
		fell = false;
		places_of_key(c->v->p, key, sizeof(key));
		for (unsigned i = 0; i < p->n && !fell; i++)
			if (p->source[p->place[i].source].remote &&
			    tt->target.in[p->place[i].source])
				fell = peek(c, tt, &entries, &p->place[i],
					    c->list, &row) < 0;
	} while (fell);
	if (p->crew && crew_incomplete(p->crew))
		crew_failed_set(p->crew);
}

/*
 * What no place has is missing as far as there would have been room for it;
 * the rest was overwritten, or would have been.
 */
static void check_list(struct check *c, const struct truth_table *tt)
{
	const struct verify *v = c->v;
	uint64_t rooms = 0, left;

	locate(c, tt);
	c->end = c->truth->first + c->truth->len / c->t->value_len;
	c->held = 0;
	for (unsigned p = 0; p < v->p->n; p++) {
		unsigned source = v->p->place[p].source;
		struct view view;

		if (v->p->source[source].remote && tt->target.in[source]) {
			rooms += check_remote(c, tt, &v->p->place[p]);
			continue;
		}
		if (place_repeats(v->p, p) ||
		    !target_view(&view, v->p, &tt->target, p) ||
		    c->list >= view.t->lists)
			continue;
		rooms += table_kept(view.t);
		if (c->end > c->truth->first)
			check_place(c, p, &view);
	}
	left = rooms > c->held ? rooms - c->held : 0;
	if (left > c->end)
		left = c->end;
	missing(c, c->end - left, left);
}

void verify_lists(struct verify *v, struct score *s, struct truth_table *tt)
{
	struct check *c = calloc(1, sizeof(*c));

	if (!c)
		cli_fail("out of memory");
	c->v = v;
	c->s = s;
	c->t = tt->target.t;
	for (c->list = 0; c->list < c->t->lists && !cli_stop; c->list++) {
		c->truth = &tt->lists[c->list];
		check_list(c, tt);
	}
	free(c->row);
	free(c);
}
