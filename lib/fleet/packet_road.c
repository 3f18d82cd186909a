/* SPDX-License-Identifier: BSD-2-Clause */
/* packet_road.c - opens the road of packets, and what it tells. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/packet_road_private.h"

static inline struct packet_road *self(struct road *r)
{
	return (struct packet_road *)r;
}

static uint64_t packet_begin(struct road *r)
{
	return self(r)->way->begin(self(r)->way);
}

static int packet_exec(struct road *r, const struct op *ops, size_t n,
		       uint64_t ts_ns)
{
	struct packet_road *p = self(r);
	int rc;

	p->way->stamps = r->stamps;
	rc = p->way->exec(p->way, ops, n, ts_ns);
	p->failed = p->failed || rc < 0;
	return rc;
}

static void packet_end(struct road *r)
{
	self(r)->way->end(self(r)->way);
}

static uint64_t packet_head(struct road *r, unsigned table, uint32_t list)
{
	return self(r)->way->head(self(r)->way, table, list);
}

static bool packet_busy(struct road *r, unsigned table)
{
	struct road *way = self(r)->way;

	return way->busy && way->busy(way, table);
}

static unsigned packet_fds(const struct road *r, int *fd, unsigned max)
{
	const struct packet_road *p = (const struct packet_road *)r;

	if (!p->heard || p->over || !max)
		return 0;
	*fd = src_fd(p->answers);
	return 1;
}

static int packet_tick(struct road *r)
{
	struct packet_road *p = self(r);

	packet_road_look(p);
	return p->heard ? packet_road_hear(p, 0) : 0;
}

/* SIGHUP: all that was sent is waited for, then the cluster is read again. */
static int open_again(struct packet_road *p)
{
	struct fault f = {0};
	struct cluster c;
	int rc = packet_road_drain(p);

	p->road.again = false;
	if (rc < 0)
		return rc;
	if (packet_road_read(p, &c, &f) < 0) {
		packet_road_say(p, "%s", f.text);
		return 0;
	}
	if (fleet_change(p->fleet, &c, c.mirror, &f) < 0) {
		packet_road_say_fault(p, p->o.cluster, &f);
		cluster_fini(&c);
		return 0;
	}
	cluster_fini(&p->cluster);
	p->cluster = c;
	packet_road_take_parts(p);
	if (!p->o.quiet)
		packet_road_say(p, "%s: generation %u: %u collectors",
				p->o.cluster, cluster_newest(&c)->number,
				fleet_collectors(p->fleet));
	if (p->heard && (rc = packet_road_windows(p, &f)) < 0)
		packet_road_say(p, "%s", f.text);
	return rc;
}

static int packet_reopen(struct road *r)
{
	struct packet_road *p = self(r);
	int rc = open_again(p);

	r->stamped = p->way->stamped;
	return rc;
}

static void packet_flush(struct road *r)
{
	if (self(r)->sink)
		snk_flush(self(r)->sink);
}

/* Key-Write by DART's road has no window, nor has UC. */
static bool is_confirmed(const struct packet_road *p)
{
	for (unsigned i = 0; i < p->road.tables && p->heard; i++)
		if (p->road.table[i].qp == TABLE_QP_RC &&
		    !(p->o.dart && p->road.table[i].kind == TABLE_KEYWRITE))
			return true;
	return false;
}

/* Of one collector: before the end what is under way is not lost. */
static struct requester_ledger ledger_of(const struct packet_road *p,
					 const struct roce_out *o)
{
	return p->over ? roce_out_ledger(o) : roce_out_ledger_open(o);
}

/* What became of all requests so far. */
static struct road_account sum_up(struct packet_road *p)
{
	struct roce_out *roce[CLUSTER_MAX];
	unsigned n = fleet_roces(p->fleet, roce);
	struct road_account a = {0};

	p->requests = *fleet_before(p->fleet);
	for (unsigned i = 0; i < n; i++) {
		struct requester_ledger l = ledger_of(p, roce[i]);

		ledger_add(&requester_ledger, &p->requests, &l);
		for (unsigned k = 0; k < p->road.tables; k++)
			a.waiting += roce_out_progress(roce[i], k).waiting;
	}
	a.sent = p->requests.requests - p->requests.uc;
	a.acked = p->requests.acked;
	return a;
}

static bool packet_account(struct road *r, struct road_account *out)
{
	struct packet_road *p = self(r);

	if (!is_confirmed(p))
		return false;
	*out = sum_up(p);
	return true;
}

static unsigned packet_ledgers(struct road *r,
			       struct road_ledger out[ROAD_LEDGERS])
{
	struct packet_road *p = self(r);
	unsigned n = 0;

	sum_up(p);
	if (p->heard)
		out[n++] = (struct road_ledger){&requester_ledger,
						&p->requests};
	if (fleet_dart(p->fleet, &p->darts))
		out[n++] = (struct road_ledger){&dart_ledger, &p->darts};
	return n;
}

/* The first collector that nothing was heard of, or that refuses. */
static const char *packet_why(struct road *r)
{
	struct packet_road *p = self(r);
	struct roce_out *roce[CLUSTER_MAX];
	unsigned n = fleet_roces(p->fleet, roce);
	struct road_account a = sum_up(p);

	if (!is_confirmed(p) || !a.sent || a.acked)
		return NULL;
	fault_set(&p->why, -1, "%s", standing_nothing);
	for (unsigned i = 0; i < n; i++)
		if (standing_why(roce[i], &p->why))
			break;
	return p->why.text;
}

static uint64_t packet_unsent(const struct road *r)
{
	const struct packet_road *p = (const struct packet_road *)r;

	return p->sink ? snk_drops(p->sink) : p->unsent;
}

static int packet_finish(struct road *r)
{
	struct packet_road *p = self(r);
	int rc = p->failed ? 0 : packet_road_drain(p), closed = 0;

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

static void packet_close(struct road *r)
{
	struct packet_road *p = self(r);

	src_close(p->answers);
	fleet_close(p->fleet);
	if (p->sink)
		snk_close(p->sink);
	for (unsigned i = 0; i < p->n; i++)
		free(p->respondent[i]);
	cluster_fini(&p->cluster);
	free(p);
}

static const struct road packet_road = {
	.begin = packet_begin,
	.exec = packet_exec,
	.end = packet_end,
	.head = packet_head,
	.busy = packet_busy,
	.fds = packet_fds,
	.due = packet_road_due,
	.tick = packet_tick,
	.renew = packet_road_renew,
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
static int open_sink(struct packet_road *p, struct fault *f)
{
	struct fault why = {0};
	int rc;

	if (!p->o.open_sink)
		return 0;
	rc = p->o.open_sink(p->o.ctx, &p->sink, &why);
	return rc < 0 ? fault_of(f, rc, p->o.to, &why) : 0;
}

static int open_ticket(struct packet_road *p, struct fault *f)
{
	struct fleet_options fo = {
		.ack_every = p->o.ack_every,
		.dart = p->o.dart,
	};
	struct ticket *t = malloc(sizeof(*t));
	struct fault why = {0};
	int rc;

	if (!t)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	rc = ticket_read(t, p->o.ticket, f);
	if (rc < 0) {
		free(t);
		return rc;
	}
	if (ticket_region(t)) {
		snprintf(p->region, sizeof(p->region), "%s", ticket_region(t));
		p->road.region = p->region;
	}
	rc = open_sink(p, f);
	if (rc < 0) {
		ticket_fini(t);
		free(t);
		return rc;
	}
	fo.sink = p->sink;
	rc = fleet_open_ticket(&p->fleet, t, p->o.ticket, &fo, &why);
	return rc < 0 ? fault_of(f, rc, p->o.ticket, &why) : 0;
}

static int open_cluster(struct packet_road *p, struct fault *f)
{
	struct fleet_options fo = {
		.ack_every = p->o.ack_every,
		.dart = p->o.dart && p->o.open_sink,
	};
	struct fault why = {0};
	int rc = packet_road_read(p, &p->cluster, f);

	if (!rc)
		rc = open_sink(p, f);
	if (rc < 0)
		return rc;
	fo.mirror = p->cluster.mirror;
	fo.sink = p->sink;
	rc = fleet_open(&p->fleet, &p->cluster, &fo, &why);
	if (rc < 0)
		return fault_of(f, rc, p->o.cluster, &why);
	packet_road_take_parts(p);
	return 0;
}

int packet_road_open(struct road **out, const struct packet_road_options *o,
		     struct fault *f)
{
	struct packet_road *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	p->road = packet_road;
	p->o = *o;
	p->road.name = o->open_sink ? o->to : o->cluster;
	rc = o->ticket ? open_ticket(p, f) : open_cluster(p, f);
	if (!rc) {
		p->way = fleet_road(p->fleet);
		p->road.stamped = p->way->stamped;
		p->road.table = fleet_table(p->fleet, 0);
		p->road.tables = fleet_tables(p->fleet);
		rc = packet_road_listen(p, f);
	}
	if (rc < 0) {
		packet_close(&p->road);
		return rc;
	}
	*out = &p->road;
	return 0;
}
