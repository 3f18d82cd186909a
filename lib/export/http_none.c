/* SPDX-License-Identifier: BSD-2-Clause */
/* http_none.c - in place of http*.c in a build without libcurl. */
#include "export/driver.h"

#define MISSING "libcurl; install libcurl4-openssl-dev"

const struct export_scheme export_influx = {.scheme = "influx",
					    .missing = MISSING};
const struct export_scheme export_clickhouse = {.scheme = "clickhouse",
						.missing = MISSING};
