/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.h - what the controller tells, as rows: the measurements and fields of
 * int-label-ctl(1), ROWS. Latencies are ns, queues as the devices count them.
 */
#ifndef LABEL_ROWS_H
#define LABEL_ROWS_H

#include "label/control.h"
#include "row/row.h"

enum label_rows_kind {
	LABEL_ROWS_INTERVAL,
	LABEL_ROWS_DECISION,
	LABEL_ROWS_SILENCE,
	LABEL_ROWS_PORT,
	LABEL_ROWS_HOP,
	LABEL_ROWS,
};

#define LABEL_SCHEMA(name, fields)                                             \
	{                                                                      \
		name, fields, sizeof(fields) / sizeof((fields)[0])             \
	}

extern const struct schema label_schema[LABEL_ROWS];

/* Set the fields of a batch's row in hand, of that schema. */
void label_row_interval(struct row_batch *b,
			const struct label_interval_sum *s);
void label_row_decision(struct row_batch *b, const struct label_decision *d);
void label_row_silence(struct row_batch *b, const struct label_record *r,
		       enum label_reason event, uint64_t now_ns,
		       uint64_t since_ns);
void label_row_port(struct row_batch *b, const struct label_record *r);
/* Hop i of a path, from 0. */
void label_row_hop(struct row_batch *b, const struct label_path *p, unsigned i);

#endif
