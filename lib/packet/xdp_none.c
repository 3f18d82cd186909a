/* SPDX-License-Identifier: BSD-2-Clause */
/* xdp_none.c - for a build without libxdp, libbpf, clang or bpftool. */
#include <errno.h>

#include "packet/live_private.h"

static int missing(const struct iface *i, struct error *err)
{
	return error_set(err, -ENOTSUP,
			 "%s: AF_XDP was not built in: it wants libxdp-dev, "
			 "libbpf-dev, clang and bpftool",
			 i->name);
}

int xdp_src_open(struct src **out, const struct iface *i,
		 const struct live_options *o, struct error *err)
{
	(void)out;
	(void)o;
	return missing(i, err);
}

int xdp_snk_open(struct snk **out, const struct iface *i, struct error *err)
{
	(void)out;
	return missing(i, err);
}
