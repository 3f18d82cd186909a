/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_out.h - the RoCEv2 road: every operation becomes a packet, as a switch
 * would emit it, with the right iCRC. Writes above the path MTU are split.
 */
#ifndef RDMA_ROCE_OUT_H
#define RDMA_ROCE_OUT_H

#include "packet/pkt.h"
#include "rdma/op.h"
#include "rdma/ticket.h"

struct roce_out;

/*
 * t and sink outlive the road. ack_every: AckReq on every n-th packet of a
 * queue pair, 0 never.
 */
int roce_out_open(struct roce_out **out, const struct ticket *t,
		  struct snk *sink, unsigned ack_every, struct fault *f);
struct road *roce_out_road(struct roce_out *o);
uint64_t roce_out_packets(const struct roce_out *o);
void roce_out_close(struct roce_out *o);

#endif
