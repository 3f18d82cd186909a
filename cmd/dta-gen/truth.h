/* SPDX-License-Identifier: BSD-2-Clause */
/* truth.h - what was reported, as rows of CSV; truth.c tells which. */
#ifndef DTA_GEN_TRUTH_H
#define DTA_GEN_TRUTH_H

#include "gen.h"
#include "wire/dta.h"

void truth_header(FILE *f);
/* err: of its rows, -errno. Returns the first; stdout is flushed alone. */
int truth_close(FILE *f, int err);
/* A row to g->truth; an error goes to g->truth_err. */
void truth_row(struct gen *g, const struct dta_report *r, enum key_type type);

#endif
