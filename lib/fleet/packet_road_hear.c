/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_road_hear.c - the collectors' answers: from the interface that packets
 * go to, or from a capture, which may be a pipe.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fleet/packet_road_private.h"
#include "wire/roce.h"

enum {
	MS = 1000000,	      /* ns */
	LOOK_AROUND_MS = 100, /* without anything to wait for */
	AWAY_MS = 1000,	      /* without a look: we were stopped */
};

/* Without any progress, and for a ticket. */
static const uint64_t patience_ns = UINT64_C(5000000000);

uint64_t packet_road_due(const struct road *r)
{
	const struct packet_road *p = (const struct packet_road *)r;
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < p->n; i++)
		if (due > roce_out_due(p->respondent[i]->o))
			due = roce_out_due(p->respondent[i]->o);
	return due;
}

/* ms, or as long as the road may be left alone. */
static int wait_ms(const struct packet_road *p, int ms)
{
	uint64_t due = packet_road_due(&p->road), now = clock_ns();

	if (due == UINT64_MAX)
		return ms;
	if (due <= now)
		return 0;
	due = (due - now + MS - 1) / MS;
	return due < (uint64_t)ms ? (int)due : ms;
}

/* Whether a ticket is refused, and nothing waits but for another one. */
static bool is_stale(const struct packet_road *p, const struct roce_out *o)
{
	for (unsigned i = 0; i < p->road.tables; i++) {
		struct roce_out_progress at = roce_out_progress(o, i);

		if (at.waiting && !at.stale && !at.refused)
			return false;
	}
	return roce_out_stale(o);
}

/* How long nothing is confirmed of what waits, and a ticket is refused. */
static void note_progress(struct packet_road *p, uint64_t now)
{
	uint64_t acked = 0, pending = 0;
	bool renewed = false; /* a ticket that was refused */

	for (unsigned i = 0; i < p->n; i++) {
		struct respondent *r = p->respondent[i];

		acked += roce_out_ledger(r->o).acked;
		pending += roce_out_pending(r->o);
		renewed |= r->stale_since && !roce_out_stale(r->o);
		if (!is_stale(p, r->o))
			r->stale_since = 0;
		else if (!r->stale_since)
			r->stale_since = now;
	}
	if (acked != p->acked || !pending || renewed ||
	    now - p->listened > AWAY_MS * 1ull * MS)
		p->since = now;
	p->acked = acked;
	p->listened = now;
}

/* Whether a collector's state is to be told, ten times a second. */
static void note_standing(struct packet_road *p, uint64_t now)
{
	uint64_t took = now - p->looked;
	struct fault f;

	if (took < LOOK_AROUND_MS * 1ull * MS)
		return;
	p->looked = now;
	for (unsigned i = 0; i < p->n; i++)
		if (standing_look(&p->respondent[i]->standing,
				  p->respondent[i]->o, now,
				  took > AWAY_MS * 1ull * MS, !p->o.live, &f))
			packet_road_say(p, "%s", f.text);
}

/* Waits up to ms for the first answers. */
static int receive(struct packet_road *p, int ms)
{
	struct fault f = {0};
	int n;

	src_wait(p->answers, wait_ms(p, ms));
	n = src_rx(p->answers, p->pkts, PKT_BATCH, &f);
	p->over = !n || (n < 0 && n != -EAGAIN && n != -EINTR);
	if (n < 0 && p->over)
		packet_road_say_fault(p, p->o.from, &f);
	return n;
}

int packet_road_hear(struct packet_road *p, int ms)
{
	struct roce_out *roce[CLUSTER_MAX];
	int n = 0, rc = 0;

	for (unsigned i = 0; i < p->n; i++)
		roce[i] = p->respondent[i]->o;
	snk_flush(p->sink); /* snk_close() tells of an error */
	if (!p->over)
		n = receive(p, ms);
	if (n > 0)
		n = (int)fleet_dart_answers(p->fleet, p->pkts, (size_t)n);
	if (n > 0 && p->n)
		rc = roce_out_answers(roce, p->n, p->pkts, (size_t)n,
				      clock_ns());
	for (unsigned i = 0; i < p->n; i++) {
		int ticked = roce_out_tick(p->respondent[i]->o, clock_ns());

		rc = rc ? rc : ticked;
	}
	note_progress(p, clock_ns());
	snk_flush(p->sink);
	note_standing(p, clock_ns());
	return rc;
}

/* One turn of waiting. */
static int turn(struct packet_road *p)
{
	if (p->o.turn)
		p->o.turn(p->o.ctx);
	packet_road_look(p);
	return packet_road_hear(p, LOOK_AROUND_MS);
}

/* Now that all is to be confirmed: whether nothing was confirmed for long, be
 * it before the end or since. */
static bool is_hopeless(const struct packet_road *p)
{
	return p->listened - p->since > patience_ns;
}

/* A new ticket may be about to come; not for ever, and only into a file. */
static bool is_stale_for_good(const struct respondent *r)
{
	if (!r->stale_since)
		return false;
	return !roce_out_ticket(r->o)->stamp.inode ||
	       r->road->listened - r->stale_since > patience_ns;
}

/*
 * A window is full. A capture can wait; an interface can not wait for a
 * collector that says nothing. Nor is one waited for at the end, or when the
 * cluster is opened anew, for it may be there no longer.
 */
static int wait_for_room(void *ctx)
{
	struct respondent *r = ctx;
	struct packet_road *p = r->road;
	int rc;

	if (p->over || is_stale_for_good(r) ||
	    (roce_out_stalled(r->o) && p->o.live) ||
	    ((p->road.again || (p->o.stop && *p->o.stop)) && is_hopeless(p)))
		return 0;
	rc = turn(p);
	return rc < 0 ? rc : 1;
}

static bool is_pending(const struct packet_road *p)
{
	for (unsigned i = 0; i < p->n; i++)
		if (roce_out_pending(p->respondent[i]->o) &&
		    !is_stale_for_good(p->respondent[i]))
			return true;
	return false;
}

int packet_road_drain(struct packet_road *p)
{
	int rc = 0;

	while (!rc && p->heard && !p->over && is_pending(p) && !is_hopeless(p))
		rc = turn(p);
	return rc;
}

static bool is_among(const struct roce_out *o, struct roce_out *const *roce,
		     unsigned n)
{
	while (n-- > 0)
		if (roce[n] == o)
			return true;
	return false;
}

static bool has_window(const struct packet_road *p, const struct roce_out *o)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->respondent[i]->o == o)
			return true;
	return false;
}

int packet_road_windows(struct packet_road *p, struct fault *f)
{
	struct roce_out *roce[CLUSTER_MAX];
	struct respondent *r;
	unsigned n = fleet_roces(p->fleet, roce), kept = 0;

	/* New roads were opened before the old ones were closed: none of them
	 * has the address of one that is gone. */
	for (unsigned i = 0; i < p->n; i++)
		if (is_among(p->respondent[i]->o, roce, n))
			p->respondent[kept++] = p->respondent[i];
		else
			free(p->respondent[i]);
	p->n = kept;
	for (unsigned i = 0; i < n; i++) {
		int rc;

		if (has_window(p, roce[i]))
			continue;
		if (!(r = calloc(1, sizeof(*r))))
			return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
		*r = (struct respondent){.road = p, .o = roce[i]};
		p->respondent[p->n++] = r;
		rc = roce_out_window(r->o, p->o.window, wait_for_room, r, f);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool has_rc(const struct road *r)
{
	for (unsigned i = 0; i < r->tables; i++)
		if (r->table[i].qp == TABLE_QP_RC)
			return true;
	return false;
}

int packet_road_listen(struct packet_road *p, struct fault *f)
{
	struct fault why = {0};
	int rc;

	if (!p->sink || !p->o.open_answers || !p->o.window || !has_rc(&p->road))
		return 0;
	rc = packet_road_windows(p, f);
	if (rc < 0)
		return rc;
	p->heard = true;
	/* A pipe's other end waits for our header before it makes its own. */
	snk_flush(p->sink);
	rc = p->o.open_answers(p->o.ctx, &p->answers, &why);
	return rc < 0 ? fault_of(f, rc, p->o.from, &why) : 0;
}
