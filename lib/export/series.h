/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * series.h - the latest values of rows, by measurement and tags, as Prometheus
 * has them (private to this room; text format 0.0.4).
 *
 * A field of numbers is a gauge MEASUREMENT_FIELD, with its unit at the end, in
 * base units: ns, us, ms and s become seconds; one whose name ends in _total is
 * a counter. MEASUREMENT_rows_total counts the rows themselves. Tags are
 * labels. Series are bounded: the rows of any more are refused. A series that
 * no row has come of for a while is forgotten.
 *
 * Threads: one takes rows, any render.
 */
#ifndef EXPORT_SERIES_H
#define EXPORT_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "row/batch.h"

struct outbuf;
struct series;
struct series_form;

/* At most so many series; each forgotten after so long, 0: never. NULL: no
 * memory. */
struct series *series_open(uint64_t max, uint64_t expire_ns);

/* The rows of a schema, which outlives it; it lives as long as the series.
 * NULL: no memory. */
struct series_form *series_form(struct series *x, const struct schema *s);

/* now_ns of clock_ns(), which orders series in time. 0; -ENOSPC: of a series
 * that is one too many; or -ENOMEM. */
int series_take(struct series *x, struct series_form *m,
		const struct row_batch *b, unsigned row, uint64_t now_ns);

/* All metrics; with the counts of rows, or without. */
void series_render(struct series *x, struct outbuf *o, uint64_t now_ns,
		   bool rows);

void series_close(struct series *x); /* NULL is fine */

#endif
