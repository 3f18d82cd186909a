/* SPDX-License-Identifier: BSD-2-Clause */
/* xdp_none.c - in place of xdp.c where what that is built with was missing: it
 * cannot be opened, and so nothing else is called. */
#include <errno.h>

#include "xdp/xdp.h"

const struct ledger xdp_ledger = {"fast", "frames", NULL, 0};

int xdp_open(struct xdp **out, const struct xdp_options *o, struct fault *f)
{
	(void)out;
	(void)o;
	return fault_set(f, -ENOTSUP,
			 "the XDP program was not built in: it wants "
			 "libxdp-dev, libbpf-dev, clang and bpftool");
}

int xdp_attach(struct xdp *x, const char *name, bool promiscuous,
	       struct fault *f)
{
	(void)x;
	(void)promiscuous;
	return fault_set(f, -ENOTSUP, "%s: no XDP", name);
}

struct src *xdp_source(struct xdp *x)
{
	(void)x;
	return NULL;
}

int xdp_set(struct xdp *x, const struct telemetry_thresholds *th)
{
	(void)x;
	(void)th;
	return -ENOTSUP;
}

int xdp_tick(struct xdp *x)
{
	(void)x;
	return -ENOTSUP;
}

void xdp_stop(struct xdp *x)
{
	(void)x;
}

int xdp_flush(struct xdp *x)
{
	(void)x;
	return -ENOTSUP;
}

const void *xdp_counters(struct xdp *x)
{
	return x;
}

void xdp_close(struct xdp *x)
{
	(void)x;
}
