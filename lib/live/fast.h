/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fast.h - a source of the frames that the program of bpf/int_fast.h sends up;
 * its other records go elsewhere.
 */
#ifndef LIVE_FAST_H
#define LIVE_FAST_H

#include "bpf/int_fast.h"
#include "packet/pkt.h"

/*
 * Puts the program, which stays the caller's, on an interface. told() gets what
 * is not a frame, with its time since the epoch, from within src_rx(), which
 * returns -EAGAIN when there was nothing else.
 */
int src_open_fast(struct src **out, struct int_fast *x, const char *name,
		  bool promiscuous,
		  void (*told)(void *ctx, const struct fast_record *r,
			       size_t len, uint64_t ts_ns),
		  void *ctx, struct fault *f);

#endif
