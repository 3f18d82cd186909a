/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fleet.h - one road to all collectors of a cluster's newest generation: into
 * their regions on this machine, as RoCEv2 packets by their tickets, or some
 * so and some so.
 */
#ifndef CLUSTER_FLEET_H
#define CLUSTER_FLEET_H

#include "packet/pkt.h"
#include "cluster/cluster.h"
#include "rdma/dart_out.h"
#include "rdma/op.h"
#include "rdma/roce_out.h"
#include "rdma/ticket.h"

struct fleet_options {
	struct snk *sink; /* of RoCEv2 packets; NULL: regions only */
	unsigned ack_every;
	bool mirror;
	bool dart; /* Key-Write by dart_out.h's road; needs sink */
};

struct fleet;

/*
 * Opens the members' regions and tickets: with a sink, by ticket what has one.
 * Refused where their tables are not the same. o->sink and c outlive it.
 */
int fleet_open(struct fleet **out, const struct cluster *c,
	       const struct fleet_options *o, struct fault *f);

/* The same for one ticket, which is taken over: malloc'ed, read from path. */
int fleet_open_ticket(struct fleet **out, struct ticket *t, const char *path,
		      const struct fleet_options *o, struct fault *f);

struct road *fleet_road(struct fleet *fl);
unsigned fleet_collectors(const struct fleet *fl);
/* What each of them has: fleet_tables() tables. */
const struct table *fleet_table(const struct fleet *fl, unsigned i);
unsigned fleet_tables(const struct fleet *fl);

/* The ledger of DART's road; false: it has none. */
bool fleet_dart(const struct fleet *fl, struct dart_ledger *out);

/* Answers to its packets; returns how many others stay, in front. */
size_t fleet_dart_answers(struct fleet *fl, struct pkt *pkts, size_t n);
void fleet_close(struct fleet *fl); /* NULL is fine */

/* The members' roads of RoCEv2 packets (roce_out.h), for windows and answers:
 * how many, CLUSTER_MAX at most. A DART road's packets are not theirs. */
unsigned fleet_roces(const struct fleet *fl, struct roce_out **out);

/* What became of all requests so far, those of before a fleet_reopen() among
 * them: if this is the end, or (open) if it goes on. */
struct requester_ledger fleet_ledger(const struct fleet *fl, bool open);

/*
 * Opens the newest generation of c in the place of a fleet that was flushed,
 * and closes that one: what it has not had confirmed is lost. Under tickets
 * that it used PSNs and lists go on. On an error the old one stays. Not after
 * fleet_open_ticket(). Roads and tables are others then.
 */
int fleet_reopen(struct fleet **fleet, const struct cluster *c, bool mirror,
		 struct fault *f);

/*
 * Looks, ten times a second at most, for a ticket whose file was written anew,
 * and takes it. Returns 1, having f say which; 0: there is none; or -errno,
 * having f say why it cannot be used: then it is left alone until it is written
 * again. One at a time: call it until it returns 0.
 */
int fleet_look(struct fleet *fl, uint64_t now_ns, struct fault *f);

/* The next fleet_look() looks at all again, and at each once; false: no ticket
 * is a file. */
bool fleet_look_again(struct fleet *fl);

/*
 * Whether a member has begun to refuse the R_Keys of its ticket, or takes them
 * again: f says which. Each is told of once; call it until it returns false.
 */
bool fleet_refusal(struct fleet *fl, struct fault *f);

#endif
