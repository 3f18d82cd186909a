/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.h - the tables that packets are meant for: of a region, a ticket or a
 * layout, or none.
 */
#ifndef DUMP_TABLES_H
#define DUMP_TABLES_H

#include "dump.h"
#include "op/ticket.h"
#include "wire/roce.h"

struct tables {
	unsigned n;
	bool addresses; /* where they lie is known, too */
	struct ticket ticket;
};

/* By o's --region, --ticket, --layout. Exits on failure. */
void tables_open(struct tables *t, const struct opts *o);
void tables_close(struct tables *t);

/*
 * The table that a report is for; NULL if there is none, or none are known.
 * DTA/0 names no table: the first that fits takes it.
 */
const struct table *tables_of_report(const struct tables *t,
				     const struct dta_report *r, bool dta0);

/*
 * The table whose memory an operation hits: R_Key and bounds fit; NULL if none.
 * *offset: from the table's start.
 */
const struct table *tables_of_write(const struct tables *t,
				    const struct roce *r, uint64_t *offset);

#endif
