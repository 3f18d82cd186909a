/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp.h - the INT sink's comparisons in the kernel, before the host's stack: a
 * program on an interface (int_fast.bpf.c) that takes packets with INT-MD and
 * telemetry reports, and sends up only events, in the rows that
 * telemetry/sink.h would make of the same packets. The kernel removes it when
 * it is closed, or its process ends.
 *
 * It takes INT-MD 1.0 to 2.1 over TCP and UDP, and reports of one such packet
 * that add no metadata of their own, over IPv4 and IPv6, of up to 8 hops. All
 * else that is or may be telemetry comes up as frames, through
 * xdp_sink_source(). UDP checksums are not checked. Several processors may
 * compare values of one queue or link at the same time, and report them in any
 * order.
 *
 * Functions that can fail return 0 or -errno.
 */
#ifndef XDP_XDP_H
#define XDP_XDP_H

#include "packet/pkt.h"
#include "telemetry/sink.h"
#include "int/int_profile.h"

struct xdp_sink;

struct xdp_sink_options {
	const struct int_profile *profile;
	const struct telemetry_sinks *sinks;
	/* The sink in user space, which takes the frames that come up; it gets
	 * the sequence numbers of all reports. NULL: there is none. */
	struct telemetry *telemetry;
	uint32_t kinds;	  /* bits: enum telemetry_event_kind, wanted as rows */
	uint64_t push_ns; /* between two pushes of a live value; 0: none */
	uint64_t idle_ns; /* flows silent for so long expire; 0: never */
};

extern const struct ledger xdp_sink_ledger;

/* Loads the program. */
int xdp_sink_open(struct xdp_sink **out, const struct xdp_sink_options *o,
		  struct error *err);
/* Attaches it to an interface: in its driver if that can, else in generic mode.
 * (Not offloaded to hardware, where maps cannot be ring buffers.) */
int xdp_sink_attach(struct xdp_sink *x, const char *name, bool promiscuous,
		    struct error *err);
int xdp_sink_prog(const struct xdp_sink *x); /* the program's descriptor */
/* The frames that come up; valid until xdp_sink_close(). src_rx() also puts
 * rows into the sinks; it returns -EAGAIN if there were only rows. */
struct src *xdp_sink_source(struct xdp_sink *x);

/* Sets what is an event from now on; the state of flows and ports is kept. */
int xdp_sink_set_thresholds(struct xdp_sink *x,
			    const struct telemetry_thresholds *th);
/* Pushes values, expires flows and puts out rows, if it is time. */
int xdp_sink_tick(struct xdp_sink *x);
/* No more packets are taken; those that came up can still be read. */
void xdp_sink_stop(struct xdp_sink *x);
/* Expires all flows, and puts out rows. */
int xdp_sink_flush(struct xdp_sink *x);
/* For xdp_sink_ledger. */
const void *xdp_sink_counters(struct xdp_sink *x);

void xdp_sink_close(struct xdp_sink *x); /* NULL is fine */

#endif
