/* SPDX-License-Identifier: BSD-2-Clause */
/* kafka_none.c - in place of kafka.c in a build without librdkafka. */
#include "export/driver.h"

const struct export_scheme export_kafka = {
	.scheme = "kafka", .missing = "librdkafka; install librdkafka-dev"};
