/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp.h - what a TCP segment is, as seen from the middle of the network: by its
 * sequence number, its time, and what came before it in the same direction.
 *
 * A segment that begins below the highest sequence number of its flow is one
 * sent again, unless it is a keep-alive (RFC 9293 3.8.4), or comes within 3 ms
 * of the one that passed it and does not end at that number: then it was
 * reordered. One sent again after a silence of TCP_RTO_NS is a timeout, as of
 * Marple (Narayana et al., SIGCOMM 2017; DTA paper, section 6.1). A SYN with
 * another sequence number begins a new connection.
 *
 * Acknowledgements go the other way and are not seen: a retransmission without
 * need is a loss to us.
 */
#ifndef SIM_TCP_H
#define SIM_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/traffic.h"

/* The usual minimum of a retransmission timer. */
#define TCP_RTO_NS UINT64_C(200000000)

/* What is kept of a flow; zeros to begin with. */
struct tcp_flow {
	uint64_t last_ns;  /* time of the last packet */
	uint64_t top_ns;   /* when the highest sequence number was seen */
	uint32_t top, isn; /* one past the highest one; the SYN's */
	bool seen_seq;	   /* top is known */
};

enum tcp_verdict {
	TCP_FRESH,
	TCP_REORDERED,
	TCP_RETRANSMITTED,
	TCP_TIMED_OUT, /* retransmitted after at least TCP_RTO_NS of silence */
};

/* The verdict on the next packet of a flow, which is taken into account. Time
 * may go back: captures are not always in order. */
enum tcp_verdict tcp_track(struct tcp_flow *f, const struct traffic_packet *p);

#endif
