/* SPDX-License-Identifier: BSD-2-Clause */
/* target.h - where dta-translate's operations go. */
#ifndef DTA_TRANSLATE_TARGET_H
#define DTA_TRANSLATE_TARGET_H

#include "options.h"
#include "packet/pkt.h"
#include "fleet/fleet.h"
#include "op/local.h"
#include "roce/roce_out.h"
#include "verbs/verbs_road.h"
#include "store/region.h"
#include "translate/translate.h"

struct watch;

/* Where operations go, and the tables there. */
struct target {
	struct table table[TABLE_MAX];
	unsigned n;
	struct road *road;
	struct region *region; /* the local road */
	struct local_road *local;
	struct snk *packets; /* the RoCEv2 roads */
	const char *name;    /* of packets */
	bool heard;	     /* the collector's answers are: requests is used */
	bool closed, dart;   /* dart: there is a ledger of it */
	struct dart_ledger darts;
	struct requester_ledger requests; /* of all roads; then as it was */
	struct cluster cluster;		  /* several collectors; DART's road */
	struct cluster next;		  /* read since; n 0: there is none */
	struct fleet *fleet;
	struct collector_address address[CLUSTER_MAX];
	struct watch *watch;
	struct verbs_road *verbs; /* the verbs road */
	struct verbs_road_ledger posted;
};

/* Opens what the options name, settings of -T applied; exits if it cannot. */
void target_open(struct target *g, const struct opts *o);

/* cluster.c: several collectors, or one by its ticket. */
void target_open_cluster(struct target *g, const struct opts *o);
void target_open_ticket(struct target *g, const struct opts *o);
void target_reread_cluster(struct target *g, const struct opts *o);

/*
 * Between two batches: to what the cluster file says, if it was read again. The
 * translator's caches go to the old members, and another takes its place. 0 or
 * -errno of the road.
 */
int target_change(struct target *g, const struct opts *o, struct translator **t,
		  struct translate_options *options);

/* Where the RoCEv2 packets go: a capture, or the wire. */
void target_open_packets(struct target *g, const struct opts *o);

/* What the translator must know of it. */
void target_tell(const struct target *g, const struct opts *o,
		 struct translate_options *t);

/* The roads that send RoCEv2 packets: how many, FLEET_MAX at most. */
unsigned target_roces(const struct target *g, struct roce_out **out);

/* Takes tickets that were written anew; SIGHUP: the cluster file, too. One that
 * cannot be used leaves the old one: it may be half written. */
void target_look(struct target *g, const struct opts *o);

/* The road's own ledger, if it has one: of now, or as it was at the end. */
void target_report(struct target *g, enum row_format format);

/* Returns the first error of the packets' sink, or of the connection. */
int target_close(struct target *g);

#endif
