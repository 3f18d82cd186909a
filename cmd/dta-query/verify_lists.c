/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify: Append. The entries that rings still hold are the newest; they are
 * compared, in order, with the newest of the truth. Those of the newest epoch
 * are the last ones, those of the epoch before come before them.
 */
#include <stdlib.h>
#include <string.h>

#include "sources.h"
#include "verify.h"
#include "wire/be.h"

enum {
	READ = 65536,	      /* bytes of entries at once */
	LISTS_PER_LOOK = 256, /* at epochs on other machines */
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

	if (!places_fell(p, p->place[place].source))
		return;
	sources_check(p);
	collectors_failed_set(p->collectors);
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

/*
 * Goes to the list's places, and looks at the count in each before any entry is
 * compared: if a machine is lost, its mirror may do.
 */
static void locate(struct check *c, const struct truth_table *tt)
{
	struct places *p = c->v->p;
	uint8_t key[4];
	bool fell;

	be32_store(key, c->list);
	if (p->collectors && c->list % LISTS_PER_LOOK == 0)
		places_refresh(p);
	do {
		fell = false;
		places_of_key(p, key, sizeof(key));
		for (unsigned i = 0; p->collectors && i < p->n && !fell; i++) {
			struct view view;
			uint64_t n;

			fell = target_view(&view, p, &tt->target, i) &&
			       c->list < view.t->lists &&
			       list_count(&n, &view, c->list) < 0 &&
			       places_fell(p, p->place[i].source);
		}
	} while (fell);
	if (places_incomplete(p))
		collectors_failed_set(p->collectors);
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
		struct view view;

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
	free(c);
}
