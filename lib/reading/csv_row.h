/* SPDX-License-Identifier: BSD-2-Clause */
/* csv_row.h - a row of CSV: the report, or the postcards, that it tells of. */
#ifndef READING_CSV_ROW_H
#define READING_CSV_ROW_H

#include "reading/csv_columns.h"
#include "wire/key.h"

enum {
	CSV_HOPS = 15, /* that a report can name (dta.md 1.1) */
};

struct csv_row {
	const struct csv_table *table;
	uint16_t id;	      /* the report's table field */
	uint8_t key[KEY_MAX]; /* append: the list */
	uint8_t value[TABLE_VALUE_MAX];
	size_t len;
	uint8_t copies;
	unsigned path_len;
	bool has_time;
	uint64_t ts_ns;
	/* postcards */
	unsigned hops;
	uint8_t hop[CSV_HOPS];
	uint32_t card[CSV_HOPS];
};

/*
 * Reads one. 1; 0: it tells of nothing (an answer that was not found); or
 * -EINVAL and what is wrong.
 */
int csv_row_read(struct csv_row *r, const struct csv_columns *c,
		 char *const *field, int n, struct fault *f);

#endif
