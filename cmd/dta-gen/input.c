/* SPDX-License-Identifier: BSD-2-Clause */
#include "input.h"

#include "emit.h"

/* Synthetic time begins here: 2023-11-14 22:13:20 UTC. */
const uint64_t input_start_ns = 1700000000000000000;

/* Whether the workload can use the packet; else the reason is counted. */
static bool wanted(void *ctx, const struct traffic_packet *p)
{
	struct gen *g = ctx;
	struct gen_ledger *c = &g->ctr;

	if (p->v6 && g->o.format != DTA_FORMAT_1 &&
	    g->run.w->key[1] != g->run.w->key[0]) {
		c->ipv6++;
		return false;
	}
	if (p->fragment && g->run.w->needs != NEEDS_HOST) {
		c->fragments++;
		return false;
	}
	if (p->protocol != NET_PROTO_TCP && g->run.w->needs == NEEDS_TCP) {
		c->not_tcp++;
		return false;
	}
	c->used++;
	return true;
}

/* All flows again from the first; if so many reports are wanted, only while
 * there come some. */
static bool again(void *ctx)
{
	struct gen *g = ctx;

	if (!g->o.repeat || (g->o.count && g->ctr.reports == g->round_reports))
		return false;
	g->round_reports = g->ctr.reports;
	return true;
}

static void before_wait(void *ctx)
{
	emit_flush(ctx);
}

int input_open(struct traffic **out, struct gen *g, struct fault *f)
{
	struct traffic_options o = {
		.capture = g->o.from,
		.model =
			{
				.seed = g->o.work.seed,
				.flows = g->o.flows,
				.rate = g->o.rate,
				.start_ns = input_start_ns,
				.ipv6_percent = (unsigned)g->o.ipv6,
				.gap_ns = g->o.work.gap_ns,
			},
		.of = g->run.w->needs == NEEDS_NOTHING ? TRAFFIC_NUMBERS
		      : g->run.w->per_flow	       ? TRAFFIC_FLOWS
						       : TRAFFIC_PACKETS,
		.max_flows = WORKLOAD_FLOWS,
		.ctr = &g->ctr.traffic,
		.wanted = wanted,
		.again = again,
		.before_wait = before_wait,
		.ctx = g,
	};

	return traffic_open(out, &o, f);
}
