/* SPDX-License-Identifier: BSD-2-Clause */
/* xdp_none.c - replaces xdp.c if the libraries and tools for XDP were missing
 * at build time. xdp_sink_open() always fails: the rest is never called. */
#include <errno.h>

#include "xdp/xdp.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

const struct ledger xdp_sink_ledger = {"xdp", "frames", NULL, 0};

int xdp_sink_open(struct xdp_sink **out, const struct xdp_sink_options *o,
		  struct error *err)
{
	return error_set(err, -ENOTSUP,
			 "the XDP program was not built in: it wants "
			 "libxdp-dev, libbpf-dev, clang and bpftool");
}

int xdp_sink_attach(struct xdp_sink *x, const char *name, bool promiscuous,
		    struct error *err)
{
	return error_set(err, -ENOTSUP, "%s: no XDP", name);
}

struct src *xdp_sink_source(struct xdp_sink *x)
{
	return NULL;
}

int xdp_sink_set_thresholds(struct xdp_sink *x,
			    const struct telemetry_thresholds *th)
{
	return -ENOTSUP;
}

int xdp_sink_tick(struct xdp_sink *x)
{
	return -ENOTSUP;
}

void xdp_sink_stop(struct xdp_sink *x)
{
}

int xdp_sink_flush(struct xdp_sink *x)
{
	return -ENOTSUP;
}

const void *xdp_sink_counters(struct xdp_sink *x)
{
	return x;
}

void xdp_sink_close(struct xdp_sink *x)
{
}
