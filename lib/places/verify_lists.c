/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Append against a truth. The entries that rings still hold are the newest;
 * they are compared, in order, with the newest of the truth. Those of the
 * newest epoch are the last ones, those of the epoch before come before them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "places/verify_private.h"
#include "wire/be.h"

enum {
	LISTS_PER_LOOK = 256, /* at epochs on other machines */
};

struct check {
	struct verifying *w;
	const struct table *t;
	const struct truth_list *truth;
	uint32_t list;
	uint64_t end;  /* entries of the truth that are not yet compared */
	uint64_t held; /* entries that the rings hold */
	uint8_t *buf;  /* entries that were read */
	size_t room;
};

static void count(struct check *c, enum verdict verdict, uint64_t index,
		  const uint8_t *want, const uint8_t *got)
{
	verify_note(c->w, &(struct verify_miss){
				  .t = c->t,
				  .verdict = verdict,
				  .list = c->list,
				  .index = index,
				  .want_entry = want,
				  .got_entry = got,
			  });
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

/* Who asks of a collector that has just been lost does not know all. -EIO:
 * there is nobody else to ask. */
static int lost(struct check *c, unsigned place)
{
	struct places *p = c->w->v->places;

	if (!places_fell(p, p->place[place].source))
		return 0;
	if (p->gone)
		return -EIO;
	collectors_failed_set(p->collectors);
	return 0;
}

/* Room for as many of n entries as are to be read at once; 0: no memory. */
static uint64_t make_room(struct check *c, const struct view *v, uint64_t n)
{
	uint64_t some = list_at_once(v, n);
	size_t room = (size_t)(some * v->t->value_len);
	void *more;

	if (room > c->room) {
		more = realloc(c->buf, room);
		if (!more)
			return 0;
		c->buf = more;
		c->room = room;
	}
	return some;
}

/* The list in one place: its last entry is number c->end - 1 of the truth. */
static int check_place(struct check *c, unsigned place, const struct view *view)
{
	uint64_t entries, from, shift, next, gone;

	if (list_count(&entries, view, c->list) < 0)
		return lost(c, place);
	/* The ring may hold more than the truth tells of, or still has. */
	from = c->end - c->truth->first;
	from = entries > from ? entries - from : 0;
	if (entries - from > table_kept(view->t))
		from = entries - table_kept(view->t);
	shift = c->end - entries; /* wraps: index = at + shift */
	for (uint64_t at = from; at < entries; at = next) {
		uint64_t want = make_room(c, view, entries - at);
		int64_t n = !want ? -ENOMEM
				  : list_read(view, c->list, at, c->buf, want,
					      &next, &gone);

		if (n == -ENOMEM)
			return -ENOMEM;
		if (n < 0) { /* a damaged block, or no connection */
			if (lost(c, place) < 0)
				return -EIO;
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
	return 0;
}

/*
 * Goes to the list's places, and looks at the count in each before any entry is
 * compared: if a machine is lost, its mirror may do.
 */
static void locate(struct check *c)
{
	struct places *p = c->w->v->places;
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

			fell = target_view(&view, p, &c->w->target, i) &&
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
static int check_list(struct check *c)
{
	struct places *p = c->w->v->places;
	uint64_t rooms = 0, left, reported, asked = c->w->s->asked;
	int rc = 0;

	locate(c);
	reported = c->truth->first + c->truth->len / c->t->value_len;
	c->end = reported;
	c->held = 0;
	for (unsigned i = 0; i < p->n && !rc; i++) {
		struct view view;

		if (place_repeats(p, i) ||
		    !target_view(&view, p, &c->w->target, i) ||
		    c->list >= view.t->lists)
			continue;
		rooms += table_kept(view.t);
		if (c->end > c->truth->first)
			rc = check_place(c, i, &view);
	}
	left = rooms > c->held ? rooms - c->held : 0;
	if (left > c->end)
		left = c->end;
	if (rc < 0)
		return rc;
	missing(c, c->end - left, left);
	asked = c->w->s->asked - asked;
	c->w->s->overwritten += reported > asked ? reported - asked : 0;
	return 0;
}

int verify_lists(struct verifying *w)
{
	struct check *c = calloc(1, sizeof(*c));
	int rc = 0;

	if (!c)
		return -ENOMEM;
	c->w = w;
	c->t = w->truth->t;
	for (; c->list < c->t->lists && !*w->v->stop && !rc; c->list++) {
		c->truth = &w->truth->lists[c->list];
		rc = check_list(c);
	}
	free(c->buf);
	free(c);
	return rc;
}
