/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * send.h - items, each of them commands on one key, to a Redis server,
 * pipelined. The rows of a Redis Cluster's other nodes wait, and why is told.
 */
#ifndef REDIS_SEND_H
#define REDIS_SEND_H

#include "base/url.h"
#include "queue/driver.h"

struct redis_node;

/* That of the URL. 0 or -ENOMEM. */
int redis_node_open(struct redis_node **out, const struct url *u,
		    uint64_t timeout_ns, const struct stop *stop);

/* As a driver's send: payloads are `parts' commands in RESP. */
int redis_node_send(struct redis_node *n, struct block *b, struct tally *t,
		    struct fault *f);

void redis_node_close(struct redis_node *n); /* NULL is fine */

#endif
