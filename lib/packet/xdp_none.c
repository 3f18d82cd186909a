/* SPDX-License-Identifier: BSD-2-Clause */
/* xdp_none.c - in place of xdp*.c where libxdp was not there to build with. */
#include <errno.h>

#include "packet/private.h"

int xdp_src_open(struct src **out, const struct iface *i,
		 const struct live_options *o, struct fault *f)
{
	(void)out;
	(void)o;
	return fault_set(f, -ENOTSUP,
			 "%s: AF_XDP was not built in: it wants libxdp-dev "
			 "and libbpf-dev",
			 i->name);
}
