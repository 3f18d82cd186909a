/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ears.c - the collector's answers: from the interface that packets go to, or
 * from a capture, which may be a pipe.
 */
#include "ears.h"
#include "watch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "wire/roce.h"

enum {
	MS = 1000000,	      /* ns */
	LOOK_AROUND_MS = 100, /* without anything to wait for */
	AWAY_MS = 1000,	      /* without a look: we were stopped */
};

/* Without any progress, and for a ticket. */
static const uint64_t patience_ns = UINT64_C(5000000000);

/* One road that waits for room: this is its context. */
struct ear {
	struct ears *all;
	struct roce_out *o;
	uint64_t stale_since; /* all that waits, for its ticket; 0: not so */
};

struct ears {
	struct target *g;
	struct roce_out *roce[FLEET_MAX]; /* whose answers are heard */
	struct ear ear[FLEET_MAX];
	unsigned n;
	const struct opts *o;
	const char *name;
	struct src *s;
	bool over;	       /* the capture has ended: no more answers */
	uint64_t acked, since; /* what is confirmed; since when no more is */
	uint64_t listened;     /* the last time */
	struct pkt pkts[PKT_BATCH];
};

/* ms, or as long as the road may be left alone. */
static int wait_ms(const struct ears *e, int ms)
{
	uint64_t due = UINT64_MAX, now = clock_ns();

	for (unsigned i = 0; i < e->n; i++)
		if (due > roce_out_due(e->roce[i]))
			due = roce_out_due(e->roce[i]);
	if (due == UINT64_MAX)
		return ms;
	if (due <= now)
		return 0;
	due = (due - now + MS - 1) / MS;
	return due < (uint64_t)ms ? (int)due : ms;
}

/* Whether a ticket is refused, and nothing waits but for another one. */
static bool is_stale(const struct ears *e, const struct roce_out *o)
{
	for (unsigned i = 0; i < e->g->n; i++) {
		struct roce_out_progress at = roce_out_progress(o, i);

		if (at.waiting && !at.stale && !at.refused)
			return false;
	}
	return roce_out_stale(o);
}

/* How long nothing is confirmed of what waits, and a ticket is refused. */
static void note_progress(struct ears *e, uint64_t now)
{
	uint64_t acked = 0, pending = 0;
	bool renewed = false; /* a ticket that was refused */

	for (unsigned i = 0; i < e->n; i++) {
		struct ear *ear = &e->ear[i];

		acked += roce_out_ledger(ear->o).acked;
		pending += roce_out_pending(ear->o);
		renewed |= ear->stale_since && !roce_out_stale(ear->o);
		if (!is_stale(e, ear->o))
			ear->stale_since = 0;
		else if (!ear->stale_since)
			ear->stale_since = now;
	}
	if (acked != e->acked || !pending || renewed ||
	    now - e->listened > AWAY_MS * 1ull * MS)
		e->since = now;
	e->acked = acked;
	e->listened = now;
}

int ears_listen(struct ears *e, int ms)
{
	struct fault f = {0};
	int n = 0, rc = 0;

	if (!e)
		return 0;
	target_look(e->g, e->o);
	snk_flush(e->g->packets); /* snk_close() tells of an error */
	if (!e->over) {
		src_wait(e->s, wait_ms(e, ms));
		n = src_rx(e->s, e->pkts, PKT_BATCH, &f);
		e->over = !n || (n < 0 && n != -EAGAIN && n != -EINTR);
		if (n < 0 && e->over)
			cli_warn_fault(e->name, &f);
	}
	if (n > 0 && e->g->fleet)
		n = (int)fleet_dart_answers(e->g->fleet, e->pkts, (size_t)n);
	if (n > 0 && e->n)
		rc = roce_out_answers(e->roce, e->n, e->pkts, (size_t)n,
				      clock_ns());
	for (unsigned i = 0; i < e->n; i++) {
		int ticked = roce_out_tick(e->roce[i], clock_ns());

		rc = rc ? rc : ticked;
	}
	note_progress(e, clock_ns());
	snk_flush(e->g->packets);
	watch_look(e->g->watch);
	return rc;
}

/* Now that the end has come: whether nothing was confirmed for long, be it
 * before the end or since. */
static bool is_hopeless(const struct ears *e)
{
	return e->listened - e->since > patience_ns;
}

/* Whether a collector is about to be one no longer. */
static bool leaves(const struct ears *e, const struct roce_out *o)
{
	return e->g->next.n && fleet_leaves(e->g->fleet, o, &e->g->next);
}

/* A new ticket may be about to come; not for ever, and only into a file. */
static bool is_stale_for_good(const struct ear *ear)
{
	if (!ear->stale_since)
		return false;
	return !roce_out_ticket(ear->o)->stamp.inode ||
	       ear->all->listened - ear->stale_since > patience_ns;
}

/*
 * A window is full. A capture can wait; an interface can not wait for a
 * collector that says nothing, and nobody waits for one that is to go.
 */
static int wait_for_room(void *ctx)
{
	struct ear *ear = ctx;
	struct ears *e = ear->all;
	int rc;

	if (e->over || is_stale_for_good(ear) ||
	    (roce_out_stalled(ear->o) &&
	     (e->o->live.name || leaves(e, ear->o))) ||
	    (cli_stop && is_hopeless(e)))
		return 0;
	rc = ears_listen(e, LOOK_AROUND_MS);
	return rc < 0 ? rc : 1;
}

void ears_wait(struct ears *e, const struct src *reports)
{
	struct pollfd p[2] = {
		{.fd = src_fd(reports), .events = POLLIN},
		{.fd = e->over ? -1 : src_fd(e->s), .events = POLLIN},
	};

	poll(p, 2, wait_ms(e, LOOK_AROUND_MS));
}

static bool is_pending(const struct ears *e)
{
	for (unsigned i = 0; i < e->n; i++)
		if (roce_out_pending(e->roce[i]) &&
		    !is_stale_for_good(&e->ear[i]))
			return true;
	return false;
}

int ears_finish(struct ears *e)
{
	int rc = 0;

	if (!e)
		return 0;
	while (!rc && !e->over && is_pending(e) && !is_hopeless(e))
		rc = ears_listen(e, LOOK_AROUND_MS);
	return rc;
}

static struct src *open_answers(struct ears *e)
{
	struct live_options live = e->o->live.options;
	struct fault f = {0};
	struct src *s;
	int rc;

	memset(live.port, 0, sizeof(live.port));
	live.port[0] = ROCE_PORT;
	live.filter = NULL;	 /* that one is for reports */
	live.kind = LIVE_PACKET; /* and so is AF_XDP: answers are few */
	if (e->o->answers)
		rc = src_open(&s, e->o->answers, &f);
	else
		rc = src_open_live(&s, e->name, &live, &f);
	if (rc < 0)
		cli_fault(e->name, &f);
	return s;
}

static bool has_rc(const struct target *g)
{
	for (unsigned i = 0; i < g->n; i++)
		if (g->table[i].qp == TABLE_QP_RC)
			return true;
	return false;
}

/* Windows for the roads that have none yet. */
static void open_windows(struct ears *e)
{
	unsigned n = target_roces(e->g, e->roce);
	struct fault f = {0};

	for (; e->n < n; e->n++) {
		e->ear[e->n] = (struct ear){.all = e, .o = e->roce[e->n]};
		if (roce_out_window(e->roce[e->n], e->o->window, wait_for_room,
				    &e->ear[e->n], &f) < 0)
			cli_fail("%s", f.text);
	}
}

void ears_renew(struct ears *e)
{
	if (e)
		open_windows(e);
}

struct ears *ears_open(struct target *g, const struct opts *o)
{
	struct ears *e;

	if (!g->packets || !o->window || (o->write && !o->answers) ||
	    !has_rc(g))
		return NULL;
	if (!(e = calloc(1, sizeof(*e))))
		cli_fail("out of memory");
	e->g = g;
	e->o = o;
	e->name = o->answers ? o->answers : g->name;
	open_windows(e);
	g->heard = true;
	/* A pipe's other end waits for our header before it makes its own. */
	snk_flush(g->packets);
	e->s = open_answers(e);
	return e;
}

void ears_close(struct ears *e)
{
	if (!e)
		return;
	src_close(e->s);
	free(e);
}
