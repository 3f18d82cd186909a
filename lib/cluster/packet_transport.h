/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_transport.h - the transport of RoCEv2 packets to one collector (a
 * ticket) or a cluster (a cluster file). Packets go to a sink; answers, if
 * there are any, come from a source. It takes tickets whose files are replaced,
 * and reads the cluster file again on renew().
 */
#ifndef CLUSTER_PACKET_TRANSPORT_H
#define CLUSTER_PACKET_TRANSPORT_H

#include <stdatomic.h>

#include "base/error.h"
#include "rdma/op.h"
#include "packet/pkt.h"

struct packet_transport_options {
	const char *ticket, *cluster; /* files, of which there is one */
	bool dart; /* Key-Write as DART's switches do, where there is a sink */
	unsigned ack_every;
	unsigned window; /* requests kept until confirmed; 0: no answers */
	bool live;  /* reports do not wait for a collector that is silent */
	bool quiet; /* no messages about new tickets */
	const atomic_int *stop; /* true: the program is ending */
	/*
	 * Opened when what is above was read: the way out, or NULL (regions on
	 * this machine only), and behind it that of the answers, or NULL.
	 */
	int (*open_sink)(void *ctx, struct snk **out, struct error *err);
	int (*open_answers)(void *ctx, struct src **out, struct error *err);
	const char *to, *from; /* their names */
	/* While the transport waits, for room or at the end; may be NULL. */
	void (*turn)(void *ctx);
	void (*warn)(void *ctx, const char *text);
	void *ctx;
};

/* err names the file. The strings outlive the transport. */
int packet_transport_open(struct transport **out,
			  const struct packet_transport_options *o,
			  struct error *err);

#endif
