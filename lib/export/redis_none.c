/* SPDX-License-Identifier: BSD-2-Clause */
/* redis_none.c - in place of redis.c in a build without hiredis. */
#include "export/driver.h"

const struct export_scheme export_redis = {
	.scheme = "redis", .missing = "hiredis; install libhiredis-dev"};
