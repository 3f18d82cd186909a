/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bins.h - shapes of distributions, from the command line:
 *
 *	METRIC=FROM:TO:N	N bins of one width from FROM to below TO; where
 *				they do not divide the range it ends later
 *	METRIC=log		as it is by default
 *	METRIC=none		no distribution
 */
#ifndef INT_COLLECT_BINS_H
#define INT_COLLECT_BINS_H

#include "base/fault.h"
#include "measure/dist.h"
#include "measure/metric.h"

struct bins {
	uint32_t set; /* 1 << metric; others are as they are by default */
	struct dist_shape shape[METRIC_NUMBERS]; /* bins 0: none */
};

/* One of them. 0, or -EINVAL with why: what it is not. */
int bins_read(struct bins *b, const char *text, struct fault *why);

/* To all metrics' shapes. */
void bins_use(const struct bins *b, struct dist_shape shape[METRIC_NUMBERS]);

#endif
