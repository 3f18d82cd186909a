/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_transport.h - the transport of RoCEv2 packets to one collector (a
 * ticket) or a cluster (a cluster file). Packets go to a sink; the collectors'
 * answers, if they send any, come from a source. A ticket file that is replaced
 * is read again by itself, the cluster file only on renew().
 */
#ifndef CLUSTER_PACKET_TRANSPORT_H
#define CLUSTER_PACKET_TRANSPORT_H

#include <stdatomic.h>

#include "base/error.h"
#include "rdma/op.h"
#include "packet/pkt.h"

struct packet_transport_options {
	const char *ticket, *cluster; /* paths; one is given, the other NULL */
	bool dart; /* Key-Write as DART's switches do, where there is a sink */
	unsigned ack_every; /* packets of a QP from one AckReq to the next */
	unsigned window; /* requests kept until confirmed; 0: no answers read */
	bool live;  /* reports do not wait for a collector that is silent */
	bool quiet; /* no messages about new tickets */
	const atomic_int *stop; /* true: the program is ending */
	/* Called once the ticket or the cluster file was read, the sink first.
	 * open_sink NULL: all collectors' regions are on this machine.
	 * open_answers NULL: no answers are read. */
	int (*open_sink)(void *ctx, struct snk **out, struct error *err);
	int (*open_answers)(void *ctx, struct src **out, struct error *err);
	const char *to, *from; /* names of sink and source, for messages */
	/* Called repeatedly while the transport waits; may be NULL. */
	void (*turn)(void *ctx);
	void (*warn)(void *ctx, const char *text); /* prints a message */
	void *ctx;
};

/* err names the file. The strings outlive the transport. */
int packet_transport_open(struct transport **out,
			  const struct packet_transport_options *o,
			  struct error *err);

#endif
