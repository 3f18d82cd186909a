/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * csv.h - reports out of rows of CSV: keys, values and times of somebody's own,
 * or what dta-query -o csv wrote, or a truth file.
 */
#ifndef DTA_GEN_CSV_H
#define DTA_GEN_CSV_H

#include "gen.h"

/* Stands for the rows where a workload is asked for: "csv". */
extern const struct workload csv_workload;

struct csv_input;

/* Opens g->o.from and reads its header; f names what is wrong with them. */
int csv_open(struct csv_input **out, struct gen *g, struct fault *f);
void csv_close(struct csv_input *c); /* NULL is fine */

/* The next rows: 1, 0 at the end, -EINTR, or another -errno and f. Those that
 * are none are told; the tenth is the end. */
int csv_next(struct csv_input *c, struct fault *f);

/* Bytes of the file that were read, and all of them (0: a pipe). */
uint64_t csv_done(const struct csv_input *c);
uint64_t csv_size(const struct csv_input *c);

#endif
