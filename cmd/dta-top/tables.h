/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.h - what is seen, as rows: programs, losses, counters, regions. */
#ifndef DTA_TOP_TABLES_H
#define DTA_TOP_TABLES_H

#include "row/row.h"
#include "screen/browse.h"
#include "watch.h"

enum table_of {
	TABLE_PROGRAMS,
	TABLE_LOSSES, /* the counters by which something was lost */
	TABLE_COUNTERS,
	TABLE_REGIONS,
	TABLES,
};

extern const char *const table_names[]; /* NULL behind the last */

const struct schema *table_schema(unsigned table);
unsigned table_sort(unsigned table);
unsigned table_fixed(unsigned table);
uint32_t table_size(const struct watch *w, unsigned table);
bool table_has(const struct watch *w, unsigned table, uint32_t i);
void table_row(const struct watch *w, unsigned table, uint32_t i,
	       struct row_batch *b);

#endif
