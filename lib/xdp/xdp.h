/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp.h - the INT sink's comparisons in the kernel, before the host's stack: a
 * program on an interface that takes packets with INT-MD and telemetry reports,
 * and tells only what is an event (int_fast.bpf.c), in the rows that
 * telemetry/sink.h would make of the same packets. It goes when it is closed,
 * also by the death of its process.
 *
 * It takes INT-MD 1.0 to 2.1 over TCP and UDP, and reports of one such packet
 * that add no metadata of their own, over IPv4 and IPv6, of up to 8 hops. All
 * else that is or may be telemetry comes up as it is: xdp is a source of these
 * frames, as of others. It does not check UDP checksums. On several processors
 * the packets of one queue or link may be judged at the same time, and either
 * be told first.
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
	/* That takes the frames which come up: it judges the numbers of all
	 * reports. NULL: nothing does. */
	struct telemetry *telemetry;
	uint32_t kinds;	  /* events that are told: 1 << enum telemetry_kind */
	uint64_t push_ns; /* values of live keys, so often; 0: never */
	uint64_t idle_ns; /* flows that are silent so long leave; 0: never */
};

extern const struct ledger xdp_sink_ledger;

/* Loads the program. */
int xdp_sink_open(struct xdp_sink **out, const struct xdp_sink_options *o,
		  struct error *err);
/* To an interface: in its driver, else, generic, before the host's stack. Into
 * hardware the kernel takes no program with such maps (BPF offload: arrays and
 * hash tables). */
int xdp_sink_attach(struct xdp_sink *x, const char *name, bool promiscuous,
		    struct error *err);
int xdp_sink_prog(const struct xdp_sink *x); /* the program's descriptor */
/* What comes up, until xdp_sink_close(). Rows are told from within src_rx(),
 * which returns -EAGAIN when there was nothing else. */
struct src *xdp_sink_source(struct xdp_sink *x);

/* What is an event from now on; nothing is forgotten. */
int xdp_sink_set_thresholds(struct xdp_sink *x,
			    const struct telemetry_thresholds *th);
/* Values are pushed, flows expire, rows go out, when it is time. */
int xdp_sink_tick(struct xdp_sink *x);
/* No more packets are taken; those that came up can still be read. */
void xdp_sink_stop(struct xdp_sink *x);
/* All flows leave, and rows go out. */
int xdp_sink_flush(struct xdp_sink *x);
/* For xdp_sink_ledger. */
const void *xdp_sink_counters(struct xdp_sink *x);

void xdp_sink_close(struct xdp_sink *x); /* NULL is fine */

#endif
