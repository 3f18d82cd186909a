/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * values.h - the columns of values in rows: one for each part of a value, as
 * --as or the layouts of the tables say.
 */
#ifndef DTA_QUERY_VALUES_H
#define DTA_QUERY_VALUES_H

#include "query/sources.h"
#include "query/show.h"

enum {
	VALUES_FIELDS = 16, /* of a schema, at most, before they are put in */
};

struct values {
	unsigned at;	/* the field that they begin at */
	unsigned shift; /* so many columns more than one */
	struct row_field field[VALUES_FIELDS + SHOW_COLUMNS];
	struct schema schema;
	struct show_columns shown;
	struct show_scratch room;
	const struct query_targets *targets;
	struct show show[TABLE_MAX]; /* of each target */
	uint8_t column[TABLE_MAX][SHOW_PARTS];
};

/* The schema with columns in the place of its field at. told: --as, or NULL.
 * text: for people. Exits if they are too many. */
void values_open(struct values *v, const struct schema *s, unsigned at,
		 const struct show *told, bool text,
		 const struct query_targets *t);

/* A field of the schema that it was, in rows of what it is now. */
static inline unsigned values_field(const struct values *v, unsigned field)
{
	return field > v->at ? field + v->shift : field;
}

void values_set(struct values *v, struct rows *rows,
		const struct query_target *t, const uint8_t *value);

#endif
