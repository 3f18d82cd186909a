/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cluster_out.h - one transport to all collectors of a cluster's newest
 * generation: into their regions on this machine, as RoCEv2 packets by their
 * tickets, or some so and some so.
 */
#ifndef CLUSTER_CLUSTER_OUT_H
#define CLUSTER_CLUSTER_OUT_H

#include "packet/pkt.h"
#include "cluster/cluster.h"
#include "rdma/op.h"
#include "rdma/roce_out.h"
#include "rdma/ticket.h"

struct cluster_out_options {
	struct snk *sink; /* of RoCEv2 packets; NULL: regions only */
	unsigned ack_every;
	bool dart; /* Key-Write as DART's switches do; needs sink */
};

struct cluster_out;

/*
 * Opens the members' regions and tickets: with a sink, by ticket what has one.
 * Refused where their tables are not the same. o->sink and c outlive it.
 */
int cluster_out_open(struct cluster_out **out, const struct cluster *c,
		     const struct cluster_out_options *o, struct error *err);

/* The same for one ticket, which is taken over: malloc'ed, read from path. */
int cluster_out_open_ticket(struct cluster_out **out, struct ticket *t,
			    const char *path,
			    const struct cluster_out_options *o,
			    struct error *err);

struct transport *cluster_out_transport(struct cluster_out *fl);
unsigned cluster_out_collectors(const struct cluster_out *fl);
/* What each of them has: cluster_out_tables() tables. */
const struct table *cluster_out_table(const struct cluster_out *fl, unsigned i);
unsigned cluster_out_tables(const struct cluster_out *fl);

/* What became of DART's packets; false: there are none. */
bool cluster_out_dart(const struct cluster_out *fl, struct dart_ledger *out);
void cluster_out_close(struct cluster_out *fl); /* NULL is fine */

/* The members' transports of RoCEv2 packets (roce_out.h), for windows and
 * answers: how many, CLUSTER_MAX at most. */
unsigned cluster_out_roces(const struct cluster_out *fl, struct roce_out **out);

/* What became of all requests so far, those of before a cluster_out_reopen()
 * among them: if this is the end, or (open) if it goes on. */
struct requester_ledger cluster_out_ledger(const struct cluster_out *fl,
					   bool open);

/*
 * Replaces a flushed cluster by the newest generation of c. Requests that the
 * old one has not had confirmed are lost. Under tickets that both use, PSNs and
 * lists continue. On an error the old one stays. Not after
 * cluster_out_open_ticket(). Transport and tables are new afterwards.
 */
int cluster_out_reopen(struct cluster_out **cluster, const struct cluster *c,
		       struct error *err);

/*
 * Checks, ten times a second at most, whether a ticket's file was replaced, and
 * takes the new ticket. Returns 1, and err names it; 0: none; or -errno, and
 * err says why it cannot be used: it is ignored until written again. It takes
 * one at a time: call it until it returns 0.
 */
int cluster_out_poll_tickets(struct cluster_out *fl, uint64_t now_ns,
			     struct error *err);

/* The next cluster_out_poll_tickets() looks at all again, and at each once;
 * false: no ticket is a file. */
bool cluster_out_recheck_tickets(struct cluster_out *fl);

/*
 * Whether a member began to refuse the R_Keys of its ticket, or accepts them
 * again: err says which. Each change is reported once; call it until it returns
 * false.
 */
bool cluster_out_refusal(struct cluster_out *fl, struct error *err);

#endif
