/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fanout.h - one transport that leads to several collectors.
 *
 * Table t of collector c is table number c * tables + t of this transport.
 */
#ifndef RDMA_FANOUT_H
#define RDMA_FANOUT_H

#include <stdbool.h>

#include "base/error.h"
#include "rdma/op.h"

struct fanout;

enum {
	FANOUT_MAX = 256, /* transports */
};

/* transports: n of them, copied; they outlive the fan-out. tables: of each. */
int fanout_open(struct fanout **out, struct transport *const *transports,
		unsigned n, unsigned tables, struct error *err);
struct transport *fanout_transport(struct fanout *o);

void fanout_close(struct fanout *o); /* NULL is fine */

#endif
