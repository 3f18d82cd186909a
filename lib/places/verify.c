/* SPDX-License-Identifier: BSD-2-Clause */
#include "places/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/be.h"

/* A table under verification. */
struct verifying {
	const struct verify *v;
	const struct truth_table *truth;
	struct target target;
	struct score *s;
};

/* Counts an answer, and tells of it if it is not right. */
static void note(const struct verifying *w, const struct verify_miss *m)
{
	w->s->asked++;
	w->s->verdict[m->verdict]++;
	if (w->v->miss && (w->v->all || m->verdict != VERDICT_RIGHT))
		w->v->miss(w->v->ctx, m);
}

/* A batch of keys, with their replies. */
struct batch {
	struct reply reply[QUERY_BATCH];
	const uint8_t *key[QUERY_BATCH];
	const struct truth_key *want[QUERY_BATCH];
	size_t n;
};

static void judge(const struct verifying *w, const struct batch *b)
{
	const struct table *t = w->truth->t;

	for (size_t i = 0; i < b->n; i++)
		note(w,
		     &(struct verify_miss){
			     .t = t,
			     .verdict = verdict_of(t, b->want[i], &b->reply[i]),
			     .key = b->key[i],
			     .want = b->want[i],
			     .got = &b->reply[i],
		     });
}

static void ask_batch(const struct verifying *w, unsigned copies,
		      struct batch *b)
{
	struct ask ask = {
		.places = w->v->places,
		.rule = w->v->rule,
		.sum = w->truth->t->kind == TABLE_KEYINC,
	};
	struct reply *reply[QUERY_BATCH];

	if (!ask.rule.copies)
		ask.rule.copies = (uint8_t)copies;
	for (size_t i = 0; i < b->n; i++)
		reply[i] = &b->reply[i];
	ask_keys(&ask, &w->target, b->key, b->n, reply);
}

/* A path of which a hop was not reported is not asked for. */
static bool is_asked(const struct verifying *w, const struct truth_key *k)
{
	const struct table *t = w->truth->t;
	bool whole;

	if (t->kind != TABLE_POSTCARD)
		return true;
	whole = truth_path_whole(k, t);
	w->s->incomplete += !whole;
	w->s->too_long += truth_path_long(k, t);
	return whole;
}

/* Asks a batch, judges the answers, and empties it. */
static int finish_batch(const struct verifying *w, unsigned copies,
			struct batch *b)
{
	if (!b->n)
		return 0;
	ask_batch(w, copies, b);
	if (w->v->places->gone)
		return -EIO;
	judge(w, b);
	b->n = 0;
	return 0;
}

/* Of the keys that were stored in so many copies, no more are asked. */
static int verify_copies(const struct verifying *w, unsigned copies,
			 struct batch *b)
{
	const struct keymap *m = &w->truth->keys;
	int rc = 0;

	b->n = 0;
	for (size_t i = 0; i < m->n && !rc && !*w->v->stop; i++) {
		const struct truth_key *k = keymap_record(m, i);

		if (k->copies != copies || !is_asked(w, k))
			continue;
		b->want[b->n] = k;
		b->key[b->n++] = keymap_key(m, i);
		if (b->n == QUERY_BATCH)
			rc = finish_batch(w, copies, b);
	}
	return rc ? rc : finish_batch(w, copies, b);
}

static int verify_keys(const struct verifying *w)
{
	struct batch *b = malloc(sizeof(*b));
	unsigned left = w->truth->copies;
	int rc = b ? 0 : -ENOMEM;

	for (; left && !rc && !*w->v->stop; left &= left - 1)
		rc = verify_copies(w, (unsigned)__builtin_ctz(left), b);
	free(b);
	return rc;
}

/*
 * Append. The entries that rings still hold are the newest; they are compared,
 * in order, with the newest of the truth. Those of the newest epoch are the
 * last ones, those of the epoch before come before them.
 */
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
	note(c->w, &(struct verify_miss){
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
	places_failed(p);
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
	if (p->clustered && c->list % LISTS_PER_LOOK == 0)
		places_refresh(p);
	do {
		fell = false;
		places_of_key(p, key, sizeof(key));
		for (unsigned i = 0; p->clustered && i < p->n && !fell; i++) {
			struct view view;
			uint64_t n;

			fell = target_view(&view, p, &c->w->target, i) &&
			       c->list < view.t->lists &&
			       list_count(&n, &view, c->list) < 0 &&
			       places_fell(p, p->place[i].source);
		}
	} while (fell);
	if (p->incomplete)
		places_failed(p);
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

static int verify_lists(struct verifying *w)
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

int verify_tables(const struct table *const **out, const struct places *p)
{
	const struct table **t = calloc(SOURCES_MAX * TABLE_MAX, sizeof(*t));
	int n = 0;

	if (!t)
		return -ENOMEM;
	for (unsigned s = 0; s < p->sources; s++)
		for (unsigned i = 0; i < source_tables(&p->source[s]); i++)
			t[n++] = source_table(&p->source[s], i);
	*out = t;
	return n;
}

static unsigned source_of(const struct places *p, const struct table *t)
{
	for (unsigned s = 0; s < p->sources; s++)
		for (unsigned i = 0; i < source_tables(&p->source[s]); i++)
			if (source_table(&p->source[s], i) == t)
				return s;
	return 0;
}

int verify_table(const struct verify *v, const struct truth_table *tt,
		 struct score *s)
{
	struct verifying w = {.v = v, .truth = tt, .s = s};

	target_of(&w.target, v->places, source_of(v->places, tt->t), tt->t);
	return tt->lists ? verify_lists(&w) : verify_keys(&w);
}
