/* SPDX-License-Identifier: BSD-2-Clause */
/* size.h - the table that follows from what is asked for. */
#ifndef DTA_PLAN_SIZE_H
#define DTA_PLAN_SIZE_H

#include "options.h"

/* A table of a size: what of it was asked for, and what follows. */
struct size {
	double load;
	uint64_t slots, flows; /* 0: not known */
};

/* The table of a load, or of what was asked for if load is below 0. Exits if
 * there can be none. */
struct size size_of(const struct opts *o, double load);

/* Bytes from one slot or chunk to the next: as a collector lays them out. */
uint64_t size_slot(const struct opts *o);

/* The chance that a foreign slot, or chunk, passes for the key's own. */
double size_pass(const struct opts *o);

/* The load at which so many copies give the wanted success. */
double size_load_for(const struct opts *o, unsigned copies);

/* The number of copies that wants least memory for the wanted success, and that
 * with the highest success at a load. */
unsigned size_best_for(const struct opts *o);
unsigned size_best_at(const struct opts *o, double load);

#endif
