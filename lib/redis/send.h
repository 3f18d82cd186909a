/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * send.h - items, each of them commands on one key, to Redis or to the nodes of
 * a Redis Cluster, pipelined. Items that a node has MOVED go where it says, and
 * so do their slots from then on; those that it says are to be ASKED elsewhere
 * go there this once. Where a slot is not served, or its node is not there
 * while another one is, its items wait, and no others.
 */
#ifndef REDIS_SEND_H
#define REDIS_SEND_H

#include "base/url.h"
#include "queue/driver.h"

struct redis_nodes;

/* The first node, of the URL. 0 or -ENOMEM. */
int redis_nodes_open(struct redis_nodes **out, const struct url *u,
		     uint64_t timeout_ns, const struct stop *stop);

/* As a driver's send: payloads are `parts' commands in RESP. */
int redis_nodes_send(struct redis_nodes *n, struct block *b, struct tally *t,
		     struct fault *f);

void redis_nodes_close(struct redis_nodes *n); /* NULL is fine */

#endif
