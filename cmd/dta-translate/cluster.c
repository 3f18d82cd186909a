/* SPDX-License-Identifier: BSD-2-Clause */
/* cluster.c - several collectors, and the road of a DART switch. */
#include <string.h>

#include "target.h"

static void take_fleet(struct target *g)
{
	g->road = fleet_road(g->fleet);
	g->n = fleet_tables(g->fleet);
	memcpy(g->table, fleet_table(g->fleet, 0), g->n * sizeof(g->table[0]));
}

void target_open_dart(struct target *g, const struct opts *o)
{
	struct fleet_options fo = {.ack_every = o->ack_every, .dart = true};
	struct fault f = {0};

	target_read_ticket(g, o);
	target_open_packets(g, o);
	fo.sink = g->packets;
	if (fleet_open_ticket(&g->fleet, g->ticket, &fo, &f) < 0)
		cli_fault(o->ticket, &f);
	take_fleet(g);
}

/* The members' addresses, if reports are told apart by them. */
static void take_addresses(struct target *g, const struct opts *o)
{
	const struct cluster_generation *newest = cluster_newest(&g->cluster);

	for (unsigned i = 0; i < newest->n; i++) {
		const struct cluster_collector *c =
			&g->cluster.collector[newest->member[i].collector];

		if (g->cluster.by_address && !c->version)
			cli_fail("%s: --steer address: collector %u has no "
				 "address",
				 o->cluster, c->id);
		g->address[i].version = c->version;
		memcpy(g->address[i].ip, c->ip, sizeof(c->ip));
	}
}

void target_open_cluster(struct target *g, const struct opts *o)
{
	bool packets = o->write || o->to;
	struct fleet_options fo = {
		.ack_every = o->ack_every,
		.dart = o->dart && packets,
	};
	struct fault f = {0};

	g->name = o->cluster;
	if (cluster_read(&g->cluster, o->cluster, &f) < 0)
		cli_fail("%s", f.text);
	if (o->steer_given)
		g->cluster.by_address = o->steer == STEER_ADDRESS;
	fo.mirror = o->mirror || g->cluster.mirror;
	if (g->cluster.by_address && fo.mirror)
		cli_fail("%s: mirror: only with --steer hash", o->cluster);
	take_addresses(g, o);
	if (packets)
		target_open_packets(g, o);
	fo.sink = g->packets;
	if (fleet_open(&g->fleet, &g->cluster, &fo, &f) < 0)
		cli_fault(o->cluster, &f);
	take_fleet(g);
}

void target_reread_cluster(struct target *g, const struct opts *o)
{
	struct fault f = {0};
	struct cluster c;

	if (cluster_read(&c, o->cluster, &f) < 0) {
		cli_warn("%s", f.text);
		return;
	}
	if (fleet_reticket(g->fleet, &c, &f) < 0)
		cli_warn_fault(o->cluster, &f);
	cluster_fini(&c);
}

void target_tell(const struct target *g, const struct opts *o,
		 struct translate_options *t)
{
	t->dart = o->dart;
	t->seed = o->seed;
	if (!o->cluster)
		return;
	t->collectors = fleet_collectors(g->fleet);
	t->steer = g->cluster.by_address ? STEER_ADDRESS : STEER_HASH;
	t->address = g->address;
}
