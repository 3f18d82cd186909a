/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * euler.h - INT-path's plan: the fewest trails that cover every link between
 * switches once (Pan et al., INFOCOM 2019). A connected graph of 2m vertices of
 * odd degree falls into m trails, one of none into one circuit.
 */
#ifndef NETSIM_EULER_H
#define NETSIM_EULER_H

#include "netsim/fabric.h"

struct euler_trail {
	uint32_t first, len; /* in ports[] */
};

struct euler {
	struct euler_trail *trail;
	uint32_t trails;
	uint32_t *port; /* through which each hop is left, trail by trail */
	uint32_t ports; /* one for each link */
	uint32_t odd;	/* switches of odd degree */
};

/* By Hierholzer's algorithm. 0 or -ENOMEM. */
int euler_plan(struct euler *e, const struct fabric *f);
void euler_fini(struct euler *e);

#endif
