/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verifiers.h - a table against a truth, by several cores as by one.
 *
 * Workers take some keys in turn, and ask in places of their own, all at once.
 * Where each answer is told (v->miss), that is done in turn, too.
 */
#ifndef ASKING_VERIFIERS_H
#define ASKING_VERIFIERS_H

#include "places/verify.h"

struct verifiers_options {
	unsigned workers; /* 0, 1: the caller alone; up to ASKERS_MAX */
	/* On this machine, as for askers.h. */
	const struct places_options *from;
};

/* verify_table(). 0 or -errno with f set; -EIO: see v->places->gone. */
int verifiers_table(const struct verifiers_options *o, const struct verify *v,
		    const struct truth_table *tt, struct score *s,
		    struct fault *f);

#endif
