/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request.h - private to this room: common requests decoded fast, some at once.
 *
 * Common: IPv4 without options, no VLAN tag, UDP checksum 0, WRITE Only (RC or
 * UC) or FETCH_ADD, short. What it takes it decodes exactly as roce_decode()
 * does; everything else is that one's.
 */
#ifndef RDMA_REQUEST_H
#define RDMA_REQUEST_H

#include <stdint.h>

#include "packet/pkt.h"
#include "wire/roce.h"

enum {
	REQUEST_BATCH = 32,
};

/*
 * Decodes n <= REQUEST_BATCH packets. Bit i of what it returns: out[i] is
 * decoded; else packet i is not common, or wrong in some way: ask
 * roce_decode().
 */
uint32_t request_decode(struct roce *out, const struct pkt *pkts, unsigned n);

#endif
