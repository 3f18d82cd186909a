/* SPDX-License-Identifier: BSD-2-Clause */
/* prometheus_none.c - in place of prometheus.c without libmicrohttpd. */
#include <errno.h>

#include "export/private.h"

static int none_open(void **out, struct url *u, const struct export_options *o,
		     struct stop *stop, struct fault *f)
{
	(void)out;
	(void)u;
	(void)o;
	(void)stop;
	return fault_set(f, -ENOTSUP,
			 "built without libmicrohttpd; install "
			 "libmicrohttpd-dev, and make again");
}

const struct export_scheme export_prometheus = {"prometheus", none_open, {0}};
