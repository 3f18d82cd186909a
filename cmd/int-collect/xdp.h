/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp.h - --xdp: events that the kernel has found (bpf/int_fast.h), as the rows
 * that telemetry/sink.h would have made of the same packets. Frames that it
 * only hands up are a source like others.
 */
#ifndef INT_COLLECT_XDP_H
#define INT_COLLECT_XDP_H

#include "bpf/int_fast.h"
#include "options.h"
#include "outlets.h"
#include "telemetry/sink.h"
#include "wire/int_profile.h"

enum {
	/* Bytes of distributions, of what comes up whole: the kernel's tables
	 * take what they leave of 64 MB. */
	XDP_DISTS = 8 << 20,
};

struct xdp;

/* Exits if it cannot. *s is what the frames come by; t, which judges numbers of
 * reports, gets them. */
struct xdp *xdp_open(const struct opts *o, const struct int_profile *p,
		     const struct telemetry_thresholds *th,
		     const struct telemetry_sinks *sinks, struct telemetry *t,
		     struct src **s);
/* telemetry_options.judge, ctx points to the struct xdp: paths and values that
 * were read here are judged in the kernel. 32 bits of a node's id are told
 * there; what has more is judged here. */
bool xdp_judge(void *ctx, const struct telling *what);
/* Those that were gathered; 0 or -errno. */
int xdp_judge_all(struct xdp *x);
/* Other thresholds from now on; 0 or -errno. */
int xdp_set(struct xdp *x, const struct telemetry_thresholds *th);
/* It is so late: values are pushed, flows expire, rows go out. 0 or -errno of a
 * sink. */
int xdp_tick(struct xdp *x);
/* No more packets are taken; those that came up can still be read. */
void xdp_stop(struct xdp *x);
/* All flows leave. 0 or -errno of a sink. */
int xdp_flush(struct xdp *x);
const void *xdp_counters(struct xdp *x, uint64_t *received);
void xdp_ledger(struct xdp *x, enum row_format fmt);
void xdp_close(struct xdp *x);

#endif
