/* SPDX-License-Identifier: BSD-2-Clause */
#include "cores.h"

#include <stdlib.h>

#include "cli/cli.h"
#include "cli/live.h"
#include "collect/choose.h"

struct cores {
	struct cores_options o;
	struct collect_team *team; /* NULL: there is one core */
	struct intake *in;	   /* of that one */
	struct filter_ledger filtered;
	struct int_view view[INTAKE_VIEWS]; /* where it makes them */
};

static int number(void *cores, uint64_t ts_ns, const struct int_from *from)
{
	struct cores *c = cores;

	return c->o.filter ? 0 /* collect/choose.h */
			   : telemetry_numbers(c->o.t, ts_ns, from, 1, false);
}

static struct int_view *room(void *cores)
{
	struct cores *c = cores;

	return c->view;
}

static int views(void *cores, const struct int_view *v, size_t n)
{
	struct cores *c = cores;

	(void)v; /* they are there */
	n = choose_views(c->o.filter, &c->filtered, c->view, n);
	return telemetry_take(c->o.t, c->view, n);
}

static void open_one(struct cores *c)
{
	struct intake_options io = {.profile = c->o.profile,
				    .out = c->o.out,
				    .views = views,
				    .room = room,
				    .number = number,
				    .ctx = c};

	if (intake_open(&c->in, &io) < 0)
		cli_fail("out of memory");
}

static void open_team(struct cores *c)
{
	/* What widens thresholds, or is looked at, is in one piece. */
	bool whole = c->o.o->budget || c->o.o->top.top;
	const struct collect_team_options to = {.workers = c->o.o->cores,
						.sinks = whole ? NULL
							       : c->o.sinks,
						.profile = c->o.profile,
						.filter = c->o.filter,
						.out = c->o.out,
						.take = c->o.take,
						.ctx = c->o.ctx};
	struct fault f = {0};

	if (src_keep(c->o.source, c->o.o->cores) < 0)
		cli_fail("out of memory");
	if (collect_team_open(&c->team, c->o.t, &to, &f) < 0)
		cli_fail("-j: %s", f.text);
}

struct cores *cores_open(const struct cores_options *o)
{
	struct cores *c = calloc(1, sizeof(*c));

	if (!c)
		cli_fail("out of memory");
	c->o = *o;
	if (o->o->cores == 1)
		open_one(c);
	else
		open_team(c);
	return c;
}

void cores_close(struct cores *c)
{
	if (!c)
		return;
	collect_team_close(c->team);
	intake_close(c->in);
	free(c);
}

int cores_rx(struct cores *c, const struct pkt *pkts, size_t n)
{
	return c->team ? collect_team_rx(c->team, pkts, n)
		       : intake_take(c->in, pkts, n);
}

void cores_rest(struct cores *c)
{
	if (c->team) /* what is wrong comes up with the next batch */
		collect_team_rest(c->team);
}

int cores_set(struct cores *c, const struct telemetry_thresholds *th)
{
	return c->team ? collect_team_set(c->team, th)
		       : telemetry_set(c->o.t, th);
}

int cores_tick(struct cores *c, uint64_t now_ns)
{
	return c->team ? collect_team_tick(c->team, now_ns)
		       : telemetry_tick(c->o.t, now_ns);
}

int cores_pass(struct cores *c)
{
	/* A team passes on itself what comes in batches that are not full. */
	return c->team ? collect_team_pass(c->team) : telemetry_pass(c->o.t);
}

int cores_flush(struct cores *c)
{
	return c->team ? collect_team_flush(c->team) : telemetry_flush(c->o.t);
}

void cores_ledgers(struct cores *c, struct collect_ledgers *out)
{
	if (c->team) {
		collect_team_ledgers(c->team, out);
		return;
	}
	out->intake = *intake_counters(c->in);
	out->reports = *intake_report_counters(c->in);
	out->filtered = c->filtered;
	out->telemetry = *telemetry_counters(c->o.t);
	out->flows = *telemetry_flows(c->o.t);
}

const struct intake_ledger *cores_counters(const struct cores *c)
{
	return c->team ? collect_team_counters(c->team)
		       : intake_counters(c->in);
}

void cores_print(struct cores *c)
{
	struct cli_share share[TELEMETRY_SHARDS_MAX];

	if (!c->team || !c->o.o->live.stats_ns)
		return;
	for (unsigned i = 0; i < c->o.o->cores; i++) {
		struct collect_share s = collect_team_share(c->team, i);

		share[i] = (struct cli_share){s.batches, s.packets, s.views,
					      s.late, s.judged};
	}
	cli_shares(share, c->o.o->cores, "judged", c->o.o->format);
}
