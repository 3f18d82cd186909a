/* SPDX-License-Identifier: BSD-2-Clause */
/* sources.h - what is asked: opened, and watched, for a program that exits. */
#ifndef QUERY_SOURCES_H
#define QUERY_SOURCES_H

#include "options.h"

/* Opens what o names. Exits with a message on failure. o outlives it. */
void sources_open(struct places *p, struct opts *o);

/* Exits if the only source can no longer be read. */
void sources_check(const struct places *p);

/* The tables of a kind, or the one that is named. Exits if there are none. */
void sources_pick(struct targets *out, const struct places *p, int kind,
		  const char *name);

#endif
