/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * values.h - the columns that show values: one for each part of a value, as
 * --as or the layouts of the tables say (query/show.h).
 */
#ifndef DTA_QUERY_VALUES_H
#define DTA_QUERY_VALUES_H

#include "query/sources.h"
#include "query/show.h"

enum { VALUES_FIELDS = 16 }; /* fields at most of the schema to be expanded */

struct values {
	unsigned at;	/* the first field of a value */
	unsigned shift; /* fields of a value, less one */
	struct row_field field[VALUES_FIELDS + SHOW_COLUMNS];
	struct schema schema;
	struct show_columns shown;
	struct show_scratch room;
	const struct query_targets *targets;
	struct show show[TABLE_MAX]; /* of each target */
	uint8_t column[TABLE_MAX][SHOW_PARTS];
};

/* Makes v->schema: s with the columns of values in place of its field `at'. as:
 * of --as, or NULL. text: for people. Exits if there are too many columns. */
void values_open(struct values *v, const struct schema *s, unsigned at,
		 const struct show *as, bool text,
		 const struct query_targets *t);

/* The index in v->schema of a field of the schema that was expanded. */
static inline unsigned values_field(const struct values *v, unsigned field)
{
	return field > v->at ? field + v->shift : field;
}

void values_set(struct values *v, struct rows *rows,
		const struct query_target *t, const uint8_t *value);

#endif
