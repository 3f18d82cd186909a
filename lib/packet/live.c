/* SPDX-License-Identifier: BSD-2-Clause */
/* live.c - network interfaces as sources and sinks. */
#include <errno.h>

#include "packet/pkt.h"

int src_open_live(struct src **out, const char *name,
		  const struct live_options *o, struct fault *f)
{
	(void)out;
	(void)o;
	return fault_set(f, -ENOTSUP, "%s: not built", name);
}

int snk_open_live(struct snk **out, const char *name,
		  const struct live_options *o, struct fault *f)
{
	(void)out;
	(void)o;
	return fault_set(f, -ENOTSUP, "%s: not built", name);
}
