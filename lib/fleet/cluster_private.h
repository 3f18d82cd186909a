/* SPDX-License-Identifier: BSD-2-Clause */
/* cluster_private.h - between cluster_read.c and cluster.c. */
#ifndef FLEET_CLUSTER_PRIVATE_H
#define FLEET_CLUSTER_PRIVATE_H

#include <stddef.h>

#include "fleet/cluster.h"

/* Members as they are written, kept until all collectors are known. */
struct cluster_listed {
	unsigned generation;
	uint16_t first, last; /* ids */
	uint64_t epoch;	      /* 0: the generation's */
};

struct cluster_members {
	uint64_t epoch[CLUSTER_GENERATIONS]; /* 0: not said */
	struct cluster_listed *listed;
	size_t n;
};

/* Judges a whole file and makes its generations. */
int cluster_make(struct cluster *c, const struct cluster_members *m,
		 struct fault *f);

#endif
