/* SPDX-License-Identifier: BSD-2-Clause */
/* values.h - metrics and their values, as a person writes them. */
#ifndef INT_COLLECT_VALUES_H
#define INT_COLLECT_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* A metric that is a number; ends: also those from METRIC_FLOW_QUEUE_OCCUPANCY
 * on. -EINVAL: why says which there are. */
int number_metric(const char *name, bool ends, struct fault *why);

/* A value of it, below UINT32_MAX: a number, of latencies also a time. 0 or
 * -EINVAL. */
int value_of(uint32_t *out, int metric, const char *text);

#endif
