/* SPDX-License-Identifier: BSD-2-Clause */
/* kafka_none.c - in place of kafka.c in a build without librdkafka. */
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
			 "built without librdkafka; install "
			 "librdkafka-dev, and make again");
}

const struct export_scheme export_kafka = {"kafka", none_open, {0}};
