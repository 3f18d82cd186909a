/* SPDX-License-Identifier: BSD-2-Clause */
/* private.h - private to this room: the kinds of databases. */
#ifndef EXPORT_PRIVATE_H
#define EXPORT_PRIVATE_H

#include "export/export.h"
#include "export/url.h"
#include "export/driver.h"
#include "row/outbuf.h"

/* Of one try, if the URL does not say. */
#define EXPORT_TIMEOUT_NS UINT64_C(10000000000)

struct export_scheme {
	const char *scheme;
	/* Reads the URL's options. The URL, the options and stop outlive what
	 * it makes. 0 or -errno with f set. */
	int (*open)(void **out, struct url *u, const struct export_options *o,
		    struct export_stop *stop, struct fault *f);
	struct export_driver driver;
	const char *missing; /* what it was built without, in place of these */
};

extern const struct export_scheme export_influx, export_clickhouse,
	export_redis, export_kafka, export_prometheus, export_file;

#endif
