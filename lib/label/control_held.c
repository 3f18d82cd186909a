/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control_held.c - the clock of the packets, which may be wrong for some of
 * them, or have been set.
 *
 * A packet whose time is far ahead of all others' is right if a device says so:
 * if since the newest label of a port as much time has passed by that device's
 * clock. Else it waits for as many as make LABEL_ODD_MAX with it: those ahead
 * of one that comes later were wrong. Of packets far behind LABEL_ODD_MAX in a
 * row that agree with each other say that the clock was set back: then
 * intervals begin anew.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "label/control_private.h"

enum {
	LOOK_NS = 1000000000,
};

void control_held_free(struct label_control *c)
{
	for (unsigned i = 0; i < LABEL_ODD_MAX - 1; i++)
		free(c->held[i].frame);
}

/* Whether two times are so near to each other that both may be right. On an
 * interface the clock is looked at now and then only. */
static bool agree(const struct label_control *c, uint64_t a, uint64_t b)
{
	uint64_t skew_ns = label_db_skew(c->db) * 1000;

	return (a > b ? a - b : b - a) <=
	       (skew_ns > LOOK_NS ? skew_ns : LOOK_NS);
}

static bool is_ahead(const struct label_control *c, uint64_t ns)
{
	return ns > c->now_ns && !agree(c, ns, c->now_ns);
}

/* Whether a device's clock has gone on as far as the frame's time. */
static bool is_vouched_for(struct label_control *c, const uint8_t *frame,
			   size_t len, uint64_t ns)
{
	struct label_item item;
	struct label_view v;

	if (label_find(&v, &c->o.format, frame, len) || v.damaged)
		return false;
	for (unsigned i = 0; i < v.n; i++) {
		label_item_get(&item, &v, i);
		if (label_db_vouches(c->db, &item, ns))
			return true;
	}
	return false;
}

static int hold(struct label_control *c, const uint8_t *frame, size_t len,
		uint64_t ns)
{
	struct control_held *h = &c->held[c->holds];
	uint8_t *room;

	if (len > h->room) {
		if (!(room = realloc(h->frame, len)))
			return -ENOMEM;
		h->frame = room;
		h->room = len;
	}
	memcpy(h->frame, frame, len);
	h->len = len;
	h->ns = ns;
	c->holds++;
	return 0;
}

/* The first one that is held came when it says. */
static int release(struct label_control *c)
{
	struct control_held h = c->held[0];

	c->holds--;
	memmove(&c->held[0], &c->held[1], c->holds * sizeof(h));
	c->held[c->holds] = h;
	return control_take(c, h.frame, h.len, h.ns);
}

/* Those that nothing is left to wait for: they are not ahead of the others any
 * more, or enough came behind them. */
static int release_all(struct label_control *c)
{
	int rc = 0;

	while (!rc && c->holds &&
	       (c->holds == LABEL_ODD_MAX - 1 || !is_ahead(c, c->held[0].ns)))
		rc = release(c);
	return rc;
}

/* A later frame says that it is ns: of those ahead of that it is not known when
 * they came, but behind the one before them. */
static void correct(struct label_control *c, uint64_t ns)
{
	uint64_t before_ns = c->now_ns;

	for (unsigned i = 0; i < c->holds; i++) {
		struct control_held *h = &c->held[i];

		if (h->ns > ns && !agree(c, h->ns, ns)) {
			h->ns = before_ns;
			c->ctr.leaps++;
		}
		before_ns = h->ns;
	}
}

/* A frame that may be far behind. */
static void judge_back(struct label_control *c, uint64_t now_ns)
{
	if (agree(c, now_ns, c->now_ns)) {
		c->back = 0;
		return;
	}
	c->ctr.leaps++;
	c->back = c->back && agree(c, now_ns, c->back_ns) ? c->back + 1 : 1;
	c->back_ns = now_ns;
	if (c->back == LABEL_ODD_MAX)
		label_control_anew(c, now_ns);
}

int control_judge(struct label_control *c, const uint8_t *frame, size_t len,
		  uint64_t now_ns)
{
	bool ahead = is_ahead(c, now_ns);
	int rc = 0;

	correct(c, now_ns);
	if (ahead && is_vouched_for(c, frame, len, now_ns)) {
		c->back = 0;
		while (!rc && c->holds)
			rc = release(c);
		return rc ? rc : control_take(c, frame, len, now_ns);
	}
	rc = release_all(c);
	if (rc)
		return rc;
	if (c->holds || is_ahead(c, now_ns))
		return hold(c, frame, len, now_ns);
	judge_back(c, now_ns);
	return control_take(c, frame, len,
			    now_ns > c->now_ns ? now_ns : c->now_ns);
}

int control_judge_last(struct label_control *c)
{
	int rc = 0;

	if (c->holds)
		correct(c, c->now_ns);
	while (!rc && c->holds)
		rc = release(c);
	return rc;
}
