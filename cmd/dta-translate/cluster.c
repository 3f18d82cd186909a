/* SPDX-License-Identifier: BSD-2-Clause */
/* cluster.c - one collector by its ticket, or several. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

static void take_fleet(struct target *g)
{
	g->road = fleet_road(g->fleet);
	g->n = fleet_tables(g->fleet);
	memcpy(g->table, fleet_table(g->fleet, 0), g->n * sizeof(g->table[0]));
}

void target_open_ticket(struct target *g, const struct opts *o)
{
	struct fleet_options fo = {.ack_every = o->ack_every, .dart = o->dart};
	struct ticket *t = malloc(sizeof(*t));
	struct fault f = {0};

	if (!t)
		cli_fail("out of memory");
	if (ticket_read(t, o->ticket, &f) < 0)
		cli_fail("%s", f.text);
	target_open_packets(g, o);
	fo.sink = g->packets;
	if (fleet_open_ticket(&g->fleet, t, o->ticket, &fo, &f) < 0)
		cli_fault(o->ticket, &f);
	take_fleet(g);
}

/* Who cannot be found by address. */
static const struct cluster_collector *nowhere(const struct cluster *c)
{
	const struct cluster_generation *newest = cluster_newest(c);

	for (unsigned i = 0; c->by_address && i < newest->n; i++) {
		const struct cluster_collector *a =
			&c->collector[newest->member[i].collector];

		if (!a->version)
			return a;
	}
	return NULL;
}

/* Reads the file as the options have it. Returns -errno, having f say why. */
static int read_cluster(struct cluster *c, const struct opts *o,
			struct fault *f)
{
	const struct cluster_collector *lost;
	int rc = cluster_read(c, o->cluster, f);

	if (rc < 0)
		return rc;
	if (o->steer_given)
		c->by_address = o->steer == STEER_ADDRESS;
	c->mirror = c->mirror || o->mirror;
	lost = nowhere(c);
	if (c->by_address && c->mirror)
		rc = fault_set(f, -EINVAL, "%s: mirror: only with --steer hash",
			       o->cluster);
	else if (lost)
		rc = fault_set(f, -EINVAL,
			       "%s: --steer address: collector %u has no "
			       "address",
			       o->cluster, lost->id);
	if (rc < 0)
		cluster_fini(c);
	return rc;
}

/* The members' addresses, if reports are told apart by them. */
static void take_addresses(struct target *g)
{
	const struct cluster_generation *newest = cluster_newest(&g->cluster);

	for (unsigned i = 0; i < newest->n; i++) {
		const struct cluster_collector *c =
			&g->cluster.collector[newest->member[i].collector];

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
	if (read_cluster(&g->cluster, o, &f) < 0)
		cli_fail("%s", f.text);
	fo.mirror = g->cluster.mirror;
	if (packets)
		target_open_packets(g, o);
	take_addresses(g);
	fo.sink = g->packets;
	if (fleet_open(&g->fleet, &g->cluster, &fo, &f) < 0)
		cli_fault(o->cluster, &f);
	take_fleet(g);
}

/*
 * Tickets are taken at once: a window may wait for one. Other members have to
 * wait until the batch in hand is through: target_change().
 */
void target_reread_cluster(struct target *g, const struct opts *o)
{
	struct fault f = {0};
	struct cluster c;

	if (read_cluster(&c, o, &f) < 0) {
		cli_warn("%s", f.text);
		return;
	}
	if (cluster_follows(&g->cluster, &c, &f) < 0) {
		cli_warn_fault(o->cluster, &f);
		cluster_fini(&c);
		return;
	}
	if (fleet_reticket(g->fleet, &c, &f) < 0)
		cli_warn_fault(o->cluster, &f);
	if (!fleet_is(g->fleet, &c, c.mirror) &&
	    fleet_recruit(g->fleet, &c, &f) < 0) {
		cli_warn_fault(o->cluster, &f);
		cluster_fini(&c);
		if (!g->next.n) /* else some of them may be its members */
			fleet_settle(g->fleet);
		return;
	}
	cluster_fini(&g->next);
	g->next = c;
}

/* The cluster in force and the next one change places. */
static void swap_clusters(struct target *g, struct translate_options *t,
			  const struct opts *o)
{
	struct cluster c = g->cluster;

	g->cluster = g->next;
	g->next = c;
	fleet_change(g->fleet, &g->cluster, g->cluster.mirror);
	take_addresses(g);
	target_tell(g, o, t);
}

int target_change(struct target *g, const struct opts *o, struct translator **t,
		  struct translate_options *options)
{
	struct fault f = {0};
	bool same;
	int rc;

	if (!g->next.n)
		return 0;
	same = fleet_is(g->fleet, &g->next, g->next.mirror);
	rc = same ? 0 : translate_flush(*t);
	if (rc < 0)
		return rc;
	swap_clusters(g, options, o);
	if (!same &&
	    translate_succeed(t, g->table, g->n, g->road, options, &f) < 0) {
		cli_warn_fault(o->cluster, &f);
		swap_clusters(g, options, o);
	} else if (!same && !o->quiet) {
		cli_warn("%s: generation %u: %u collectors", o->cluster,
			 cluster_newest(&g->cluster)->number,
			 fleet_collectors(g->fleet));
	}
	fleet_settle(g->fleet);
	cluster_fini(&g->next);
	return 0;
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
