/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_transport.c - the transport of packets. From above: the cluster file,
 * and tickets that are written anew; the collectors' answers, from the
 * interface that packets go to, or from a capture, which may be a pipe; SIGHUP;
 * the transport itself.
 */
#include "cluster/packet_transport.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cluster/cluster_out.h"
#include "rdma/roce_out.h"
#include "net/roce.h"

enum {
	MS = 1000000,	      /* ns */
	LOOK_AROUND_MS = 100, /* without anything to wait for */
	AWAY_MS = 1000,	      /* without a look: we were stopped */
};

/* Without any progress, and for a ticket. */
static const uint64_t patience_ns = UINT64_C(5000000000);

struct packet_transport;

/* A collector whose answers are heard. */
struct respondent {
	struct packet_transport *transport;
	struct roce_out *o;
	uint64_t stale_since; /* all that waits, for its ticket; 0: not so */
	struct roce_out_health health;
};

struct packet_transport {
	struct transport transport;
	struct packet_transport_options o;
	struct snk *sink;
	struct src *answers;
	struct cluster_out *out;
	struct transport *way; /* the cluster's */
	struct cluster cluster;

	/* Answers. */
	bool heard;	       /* answers are, or were: requests is used */
	bool over;	       /* their source has ended */
	uint64_t acked, since; /* what is confirmed; since when no more is */
	uint64_t listened;     /* the last time */
	uint64_t looked;       /* at how the collectors stand */
	unsigned n;
	struct respondent *respondent; /* n */
	struct pkt pkts[PKT_BATCH];

	bool failed; /* an operation could not be carried out */
	struct dart_ledger darts;
	struct requester_ledger requests; /* of all */
	char region[TICKET_REGION];
	struct error why;
	uint64_t unsent;
};

static inline struct packet_transport *self(struct transport *r)
{
	return (struct packet_transport *)r;
}

__attribute__((format(printf, 2, 3))) static void
warn_text(const struct packet_transport *p, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p->o.warn(p->o.ctx, text);
}

/* "object: why", the object once. */
static void say_error(const struct packet_transport *p, const char *object,
		      const struct error *why)
{
	struct error all;

	error_about(&all, 0, object, why);
	warn_text(p, "%s", all.text);
}

/* Takes the tickets that were written anew, and says which are refused. Returns
 * how many were taken. */
static unsigned look_at_tickets(struct packet_transport *p)
{
	struct error err = {0};
	unsigned n = 0;
	int rc;

	while ((rc = cluster_out_poll_tickets(p->out, clock_ns(), &err))) {
		n += rc > 0;
		if (rc < 0 || !p->o.quiet)
			warn_text(p, "%s", err.text);
	}
	while (cluster_out_refusal(p->out, &err))
		warn_text(p, "%s", err.text);
	return n;
}

/* What SIGHUP has found, if it was not a ticket to be taken. */
static void say_why_not(const struct packet_transport *p)
{
	struct ticket_stamp now = ticket_stamp(p->o.ticket);
	struct roce_out *roce[CLUSTER_MAX];

	cluster_out_roces(p->out, roce);
	if (!now.inode)
		warn_text(p,
			  "SIGHUP: %s: there is no such file any more: "
			  "the old ticket stays",
			  p->o.ticket);
	else if (ticket_stamp_is(&now, &roce_out_ticket(roce[0])->stamp) &&
		 !p->o.quiet)
		warn_text(p, "SIGHUP: %s: still the same ticket", p->o.ticket);
}

static void packet_renew(struct transport *r)
{
	struct packet_transport *p = (struct packet_transport *)r;
	bool file = cluster_out_recheck_tickets(p->out);

	r->again = p->o.cluster != NULL;
	if (!r->again && !file)
		warn_text(p, "SIGHUP: there is nothing to read again");
	if (!look_at_tickets(p) && file && p->o.ticket)
		say_why_not(p);
}

static uint64_t packet_due(const struct transport *r)
{
	const struct packet_transport *p = (const struct packet_transport *)r;
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < p->n; i++)
		if (due > roce_out_due(p->respondent[i].o))
			due = roce_out_due(p->respondent[i].o);
	return due;
}

/* ms, or as long as the transport may be left alone. */
static int wait_ms(const struct packet_transport *p, int ms)
{
	uint64_t due = packet_due(&p->transport), now = clock_ns();

	if (due == UINT64_MAX)
		return ms;
	if (due <= now)
		return 0;
	due = (due - now + MS - 1) / MS;
	return due < (uint64_t)ms ? (int)due : ms;
}

/* Whether a ticket is refused, and nothing waits but for another one. */
static bool is_stale(const struct packet_transport *p, const struct roce_out *o)
{
	for (unsigned i = 0; i < p->transport.tables; i++) {
		struct roce_out_progress at = roce_out_progress(o, i);

		if (at.waiting && !at.stale && !at.refused)
			return false;
	}
	return roce_out_stale(o);
}

/* How long nothing is confirmed of what waits, and a ticket is refused. */
static void note_progress(struct packet_transport *p, uint64_t now)
{
	uint64_t acked = 0, pending = 0;
	bool renewed = false; /* a ticket that was refused */

	for (unsigned i = 0; i < p->n; i++) {
		struct respondent *r = &p->respondent[i];

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
static void note_health(struct packet_transport *p, uint64_t now)
{
	uint64_t took = now - p->looked;
	struct error err;

	if (took < LOOK_AROUND_MS * 1ull * MS)
		return;
	p->looked = now;
	for (unsigned i = 0; i < p->n; i++)
		if (roce_out_check_health(
			    &p->respondent[i].health, p->respondent[i].o, now,
			    took > AWAY_MS * 1ull * MS, !p->o.live, &err))
			warn_text(p, "%s", err.text);
}

/* Waits up to ms for the first answers. */
static int receive(struct packet_transport *p, int ms)
{
	struct error err = {0};
	int n;

	src_wait(p->answers, wait_ms(p, ms));
	n = src_rx(p->answers, p->pkts, PKT_BATCH, &err);
	p->over = !n || (n < 0 && n != -EAGAIN && n != -EINTR);
	if (n < 0 && p->over)
		say_error(p, p->o.from, &err);
	return n;
}

/* Answers, and what follows from them; waits for some up to ms. */
static int receive_answers(struct packet_transport *p, int ms)
{
	struct roce_out *roce[CLUSTER_MAX];
	int n = 0, rc = 0;

	for (unsigned i = 0; i < p->n; i++)
		roce[i] = p->respondent[i].o;
	snk_flush(p->sink); /* snk_close() tells of an error */
	if (!p->over)
		n = receive(p, ms);
	if (n > 0 && p->n)
		rc = roce_out_answers(roce, p->n, p->pkts, (size_t)n,
				      clock_ns());
	for (unsigned i = 0; i < p->n; i++) {
		int ticked = roce_out_tick(p->respondent[i].o, clock_ns());

		rc = rc ? rc : ticked;
	}
	note_progress(p, clock_ns());
	snk_flush(p->sink);
	note_health(p, clock_ns());
	return rc;
}

/* One turn of waiting. */
static int run_turn(struct packet_transport *p)
{
	if (p->o.turn)
		p->o.turn(p->o.ctx);
	look_at_tickets(p);
	return receive_answers(p, LOOK_AROUND_MS);
}

/* Now that all is to be confirmed: whether nothing was confirmed for long, be
 * it before the end or since. */
static bool is_hopeless(const struct packet_transport *p)
{
	return p->listened - p->since > patience_ns;
}

/* A new ticket may be about to come; not for ever, and only into a file. */
static bool is_stale_for_good(const struct respondent *r)
{
	if (!r->stale_since)
		return false;
	return !roce_out_ticket(r->o)->stamp.inode ||
	       r->transport->listened - r->stale_since > patience_ns;
}

/*
 * A window is full. A capture can wait; an interface can not wait for a
 * collector that says nothing. Nor is one waited for at the end, or when the
 * cluster is opened anew, for it may be there no longer.
 */
static int wait_for_room(void *ctx)
{
	struct respondent *r = ctx;
	struct packet_transport *p = r->transport;
	int rc;

	if (p->over || is_stale_for_good(r) ||
	    (roce_out_stalled(r->o) && p->o.live) ||
	    ((p->transport.again || (p->o.stop && *p->o.stop)) &&
	     is_hopeless(p)))
		return 0;
	rc = run_turn(p);
	return rc < 0 ? rc : 1;
}

static bool is_pending(const struct packet_transport *p)
{
	for (unsigned i = 0; i < p->n; i++)
		if (roce_out_pending(p->respondent[i].o) &&
		    !is_stale_for_good(&p->respondent[i]))
			return true;
	return false;
}

/* Until all is confirmed, or there is no hope. */
static int drain(struct packet_transport *p)
{
	int rc = 0;

	while (!rc && p->heard && !p->over && is_pending(p) && !is_hopeless(p))
		rc = run_turn(p);
	return rc;
}

/* A window for each collector that packets go to. */
static int open_windows(struct packet_transport *p, struct error *err)
{
	struct roce_out *roce[CLUSTER_MAX];
	unsigned n = cluster_out_roces(p->out, roce);

	free(p->respondent);
	p->n = 0;
	p->respondent = calloc(n, sizeof(p->respondent[0]));
	if (!p->respondent)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	while (p->n < n) {
		struct respondent *r = &p->respondent[p->n];
		int rc;

		*r = (struct respondent){.transport = p, .o = roce[p->n++]};
		rc = roce_out_window(r->o, p->o.window, wait_for_room, r, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool has_rc(const struct transport *r)
{
	for (unsigned i = 0; i < r->tables; i++)
		if (r->table[i].qp == TABLE_QP_RC)
			return true;
	return false;
}

/* Windows, if there are to be answers; and their source. */
static int listen_to(struct packet_transport *p, struct error *err)
{
	struct error why = {0};
	int rc;

	if (!p->sink || !p->o.open_answers || !p->o.window ||
	    !has_rc(&p->transport))
		return 0;
	rc = open_windows(p, err);
	if (rc < 0)
		return rc;
	p->heard = true;
	/* A pipe's other end waits for our header before it makes its own. */
	snk_flush(p->sink);
	rc = p->o.open_answers(p->o.ctx, &p->answers, &why);
	return rc < 0 ? error_about(err, rc, p->o.from, &why) : 0;
}

static uint64_t packet_begin(struct transport *r)
{
	return self(r)->way->begin(self(r)->way);
}

static int packet_exec(struct transport *r, const struct op *ops, size_t n,
		       uint64_t ts_ns)
{
	struct packet_transport *p = self(r);
	int rc;

	p->way->stamps = r->stamps;
	rc = p->way->exec(p->way, ops, n, ts_ns);
	p->failed = p->failed || rc < 0;
	return rc;
}

static void packet_end(struct transport *r)
{
	self(r)->way->end(self(r)->way);
}

static uint64_t packet_head(struct transport *r, unsigned table, uint32_t list)
{
	return self(r)->way->head(self(r)->way, table, list);
}

static bool packet_busy(struct transport *r, unsigned table)
{
	struct transport *way = self(r)->way;

	return way->busy && way->busy(way, table);
}

static unsigned packet_fds(const struct transport *r, int *fd, unsigned max)
{
	const struct packet_transport *p = (const struct packet_transport *)r;

	if (!p->heard || p->over || !max)
		return 0;
	*fd = src_fd(p->answers);
	return 1;
}

static int packet_tick(struct transport *r)
{
	struct packet_transport *p = self(r);

	look_at_tickets(p);
	return p->heard ? receive_answers(p, 0) : 0;
}

/* What the cluster's transport has to be known by. */
static void set_tables(struct packet_transport *p)
{
	p->way = cluster_out_transport(p->out);
	p->transport.stamped = p->way->stamped;
	p->transport.table = cluster_out_table(p->out, 0);
	p->transport.tables = cluster_out_tables(p->out);
	if (p->o.cluster)
		p->transport.parts = cluster_out_collectors(p->out);
	p->transport.mirror = p->cluster.mirror;
}

/* SIGHUP: all that was sent is waited for, then the cluster is opened anew. */
static int packet_reopen(struct transport *r)
{
	struct packet_transport *p = self(r);
	struct error err = {0};
	struct cluster c;
	int rc = drain(p);

	p->transport.again = false;
	if (rc < 0)
		return rc;
	if (cluster_read(&c, p->o.cluster, &err) < 0) {
		warn_text(p, "%s", err.text);
		return 0;
	}
	if (cluster_out_reopen(&p->out, &c, &err) < 0) {
		say_error(p, p->o.cluster, &err);
		cluster_fini(&c);
		return 0;
	}
	cluster_fini(&p->cluster);
	p->cluster = c;
	set_tables(p);
	if (!p->o.quiet)
		warn_text(p, "%s: generation %u: %u collectors", p->o.cluster,
			  cluster_newest(&c)->number,
			  cluster_out_collectors(p->out));
	if (p->heard && (rc = open_windows(p, &err)) < 0)
		warn_text(p, "%s", err.text);
	return rc;
}

static void packet_flush(struct transport *r)
{
	if (self(r)->sink)
		snk_flush(self(r)->sink);
}

/* Key-Write by DART's transport has no window, nor has UC. */
static bool is_confirmed(const struct packet_transport *p)
{
	for (unsigned i = 0; i < p->transport.tables && p->heard; i++)
		if (p->transport.table[i].qp == TABLE_QP_RC &&
		    !(p->o.dart &&
		      p->transport.table[i].kind == TABLE_KEYWRITE))
			return true;
	return false;
}

/* What became of all requests so far: before the end what is under way is not
 * lost. */
static struct transport_account sum_up(struct packet_transport *p)
{
	struct roce_out *roce[CLUSTER_MAX];
	unsigned n = cluster_out_roces(p->out, roce);
	struct transport_account a = {0};

	p->requests = cluster_out_ledger(p->out, !p->over);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < p->transport.tables; k++)
			a.waiting += roce_out_progress(roce[i], k).waiting;
	a.sent = p->requests.requests - p->requests.uc;
	a.acked = p->requests.acked;
	return a;
}

static bool packet_account(struct transport *r, struct transport_account *out)
{
	struct packet_transport *p = self(r);

	if (!is_confirmed(p))
		return false;
	*out = sum_up(p);
	return true;
}

static unsigned packet_ledgers(struct transport *r,
			       struct transport_ledger out[TRANSPORT_LEDGERS])
{
	struct packet_transport *p = self(r);
	unsigned n = 0;

	sum_up(p);
	if (p->heard)
		out[n++] = (struct transport_ledger){&requester_ledger,
						     &p->requests};
	if (cluster_out_dart(p->out, &p->darts))
		out[n++] = (struct transport_ledger){&dart_ledger, &p->darts};
	return n;
}

/* The first collector that nothing was heard of, or that refuses. */
static const char *packet_why(struct transport *r)
{
	struct packet_transport *p = self(r);
	struct roce_out *roce[CLUSTER_MAX];
	unsigned n = cluster_out_roces(p->out, roce);
	struct transport_account a = sum_up(p);

	if (!is_confirmed(p) || !a.sent || a.acked)
		return NULL;
	error_set(&p->why, -1, "%s", roce_out_nothing_acked);
	for (unsigned i = 0; i < n; i++)
		if (roce_out_unacked_reason(roce[i], &p->why))
			break;
	return p->why.text;
}

static uint64_t packet_unsent(const struct transport *r)
{
	const struct packet_transport *p = (const struct packet_transport *)r;

	return p->sink ? snk_drops(p->sink) : p->unsent;
}

static int packet_finish(struct transport *r)
{
	struct packet_transport *p = self(r);
	int rc = p->failed ? 0 : drain(p), closed = 0;

	src_close(p->answers);
	p->answers = NULL;
	p->over = true;
	if (p->sink) {
		snk_settle(p->sink); /* snk_close() tells of an error */
		p->unsent = snk_drops(p->sink);
		closed = snk_close(p->sink);
	}
	p->sink = NULL;
	return rc < 0 ? rc : closed;
}

static void packet_close(struct transport *r)
{
	struct packet_transport *p = self(r);

	src_close(p->answers);
	cluster_out_close(p->out);
	if (p->sink)
		snk_close(p->sink);
	free(p->respondent);
	cluster_fini(&p->cluster);
	free(p);
}

static const struct transport packet_transport = {
	.begin = packet_begin,
	.exec = packet_exec,
	.end = packet_end,
	.head = packet_head,
	.busy = packet_busy,
	.fds = packet_fds,
	.due = packet_due,
	.tick = packet_tick,
	.renew = packet_renew,
	.reopen = packet_reopen,
	.flush = packet_flush,
	.finish = packet_finish,
	.account = packet_account,
	.ledgers = packet_ledgers,
	.why = packet_why,
	.unsent = packet_unsent,
	.close = packet_close,
};

/* The way out, once what leads there was read. */
static int open_sink(struct packet_transport *p, struct error *err)
{
	struct error why = {0};
	int rc;

	if (!p->o.open_sink)
		return 0;
	rc = p->o.open_sink(p->o.ctx, &p->sink, &why);
	return rc < 0 ? error_about(err, rc, p->o.to, &why) : 0;
}

static int open_ticket(struct packet_transport *p, struct error *err)
{
	struct cluster_out_options fo = {
		.ack_every = p->o.ack_every,
		.dart = p->o.dart,
	};
	struct ticket *t = malloc(sizeof(*t));
	struct error why = {0};
	int rc;

	if (!t)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	rc = ticket_read(t, p->o.ticket, err);
	if (rc < 0) {
		free(t);
		return rc;
	}
	if (ticket_region(t)) {
		snprintf(p->region, sizeof(p->region), "%s", ticket_region(t));
		p->transport.region = p->region;
	}
	rc = open_sink(p, err);
	if (rc < 0) {
		ticket_fini(t);
		free(t);
		return rc;
	}
	fo.sink = p->sink;
	rc = cluster_out_open_ticket(&p->out, t, p->o.ticket, &fo, &why);
	return rc < 0 ? error_about(err, rc, p->o.ticket, &why) : 0;
}

static int open_cluster(struct packet_transport *p, struct error *err)
{
	struct cluster_out_options fo = {
		.ack_every = p->o.ack_every,
		.dart = p->o.dart && p->o.open_sink,
	};
	struct error why = {0};
	int rc = cluster_read(&p->cluster, p->o.cluster, err);

	if (!rc)
		rc = open_sink(p, err);
	if (rc < 0)
		return rc;
	fo.sink = p->sink;
	rc = cluster_out_open(&p->out, &p->cluster, &fo, &why);
	return rc < 0 ? error_about(err, rc, p->o.cluster, &why) : 0;
}

int packet_transport_open(struct transport **out,
			  const struct packet_transport_options *o,
			  struct error *err)
{
	struct packet_transport *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	p->transport = packet_transport;
	p->o = *o;
	p->transport.name = o->open_sink ? o->to : o->cluster;
	rc = o->ticket ? open_ticket(p, err) : open_cluster(p, err);
	if (!rc) {
		set_tables(p);
		rc = listen_to(p, err);
	}
	if (rc < 0) {
		packet_close(&p->transport);
		return rc;
	}
	*out = &p->transport;
	return 0;
}
