/* SPDX-License-Identifier: BSD-2-Clause */
/* packet_road_renew.c - tickets and cluster files that are written anew. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "fleet/packet_road_private.h"

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

int packet_road_read(struct packet_road *p, struct cluster *c, struct fault *f)
{
	const struct cluster_collector *lost;
	int rc = cluster_read(c, p->o.cluster, f);

	if (rc < 0)
		return rc;
	if (p->o.steer_given)
		c->by_address = p->o.by_address;
	c->mirror = c->mirror || p->o.mirror;
	lost = nowhere(c);
	if (c->by_address && c->mirror)
		rc = fault_set(f, -EINVAL, "%s: mirror: only with --steer hash",
			       p->o.cluster);
	else if (lost)
		rc = fault_set(f, -EINVAL,
			       "%s: --steer address: collector %u has no "
			       "address",
			       p->o.cluster, lost->id);
	if (rc < 0)
		cluster_fini(c);
	return rc;
}

void packet_road_take_parts(struct packet_road *p)
{
	const struct cluster_generation *newest = cluster_newest(&p->cluster);

	for (unsigned i = 0; i < newest->n; i++) {
		const struct cluster_collector *c =
			&p->cluster.collector[newest->member[i].collector];

		p->address[i].version = c->version;
		memcpy(p->address[i].ip, c->ip, sizeof(c->ip));
	}
	p->parts = (struct road_parts){
		.n = fleet_collectors(p->fleet),
		.by_address = p->cluster.by_address,
		.address = p->address,
	};
	p->road.parts = &p->parts;
}

unsigned packet_road_look(struct packet_road *p)
{
	struct fault f = {0};
	unsigned n = 0;
	int rc;

	while ((rc = fleet_look(p->fleet, clock_ns(), &f))) {
		n += rc > 0;
		if (rc != FLEET_RENEWED || !p->o.quiet)
			packet_road_say(p, "%s", f.text);
	}
	while (fleet_refusal(p->fleet, &f))
		packet_road_say(p, "%s", f.text);
	return n;
}

/* What SIGHUP has found, if it was not a ticket to be taken. */
static void say_why_not(const struct packet_road *p)
{
	struct ticket_stamp now = ticket_stamp(p->o.ticket);
	struct roce_out *roce[CLUSTER_MAX];

	fleet_roces(p->fleet, roce);
	if (!now.inode)
		packet_road_say(p,
				"SIGHUP: %s: there is no such file any more: "
				"the old ticket stays",
				p->o.ticket);
	else if (ticket_stamp_is(&now, &roce_out_ticket(roce[0])->stamp) &&
		 !p->o.quiet)
		packet_road_say(p, "SIGHUP: %s: still the same ticket",
				p->o.ticket);
}

void packet_road_renew(struct road *r)
{
	struct packet_road *p = (struct packet_road *)r;
	bool file = fleet_look_again(p->fleet);

	r->again = p->o.cluster != NULL;
	if (!r->again && !file)
		packet_road_say(p, "SIGHUP: there is nothing to read again");
	if (!packet_road_look(p) && file && p->o.ticket)
		say_why_not(p);
}
