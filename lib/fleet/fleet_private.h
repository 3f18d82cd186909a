/* SPDX-License-Identifier: BSD-2-Clause */
/* fleet_private.h - between fleet.c and fleet_collector.c. */
#ifndef FLEET_FLEET_PRIVATE_H
#define FLEET_FLEET_PRIVATE_H

#include "op/fanout.h"
#include "fleet/fleet.h"
#include "op/local.h"
#include "store/region.h"

/* A collector: its region, or its ticket. */
struct collector {
	unsigned number; /* in DART's road */
	uint16_t id;
	char path[CLUSTER_TEXT]; /* of the region or the ticket */
	struct region *region;
	struct local_road *local;
	struct ticket *ticket;
	/* Of the last file that was judged, and of one that may be half
	 * written. */
	struct ticket_stamp seen, doubted;
	bool told; /* that its ticket is refused */
	struct roce_out *roce;
	struct road *road;
};

struct fleet {
	struct fleet_options o;
	unsigned n, tables;
	struct collector *member[CLUSTER_MAX]; /* in their order */
	struct table table[TABLE_MAX];
	struct fanout *fanout;
	struct dart_out *dart;
	struct road *road;
	unsigned numbers;		       /* given in DART's road */
	struct requester_ledger before;	       /* of those that went, */
	struct ticket_stamp gone[CLUSTER_MAX]; /* and their last tickets */
	unsigned went;
	unsigned looked_at; /* the member that is looked at next */
	uint64_t look_ns;   /* when */
};

int collector_open(struct fleet *fl, struct collector *s,
		   const struct cluster_collector *c, struct fault *f);
/* Takes over a ticket, read from path, and opens its road. */
int collector_ticket(struct fleet *fl, struct collector *s, struct ticket *t,
		     const char *path, struct fault *f);
/* Takes a ticket that is not the file which was read last: 1. 0: it is.
 * -EAGAIN: the file was written meanwhile. */
int collector_reticket(struct fleet *fl, struct collector *s, const char *path,
		       struct fault *f);

/* Whether that collector of a cluster file is this one. */
bool collector_is(const struct fleet *fl, const struct collector *s,
		  const struct cluster_collector *c);

void collector_close(struct collector *s); /* NULL is fine */

#endif
