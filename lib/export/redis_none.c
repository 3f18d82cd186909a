/* SPDX-License-Identifier: BSD-2-Clause */
/* redis_none.c - in place of redis.c in a build without hiredis. */
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
			 "built without hiredis; install "
			 "libhiredis-dev, and make again");
}

const struct export_scheme export_redis = {"redis", none_open, {0}};
