/* SPDX-License-Identifier: BSD-2-Clause */
/* prometheus_none.c - prometheus.c in a build without libmicrohttpd. */
#include "export/driver.h"

const struct export_scheme export_prometheus = {
	.scheme = "prometheus",
	.missing = "libmicrohttpd; install libmicrohttpd-dev",
};
