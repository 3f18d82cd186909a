/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schema.h - what a kind of row is: a measurement's name, and its fields. Names
 * are a public interface: they change only with a major version.
 */
#ifndef ROW_SCHEMA_H
#define ROW_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

enum row_type {
	ROW_STR, /* UTF-8 text */
	ROW_U64,
	ROW_I64,
	ROW_F64,   /* 6 significant digits ("%.6g"), from a million to 10^15
		      all before the point; null if not finite */
	ROW_BYTES, /* hexadecimal text */
	ROW_BOOL,  /* true, false */
	ROW_LIST,  /* uint64_t: 1,2,3 in text and CSV, an array in NDJSON */
	ROW_TIME,  /* int64_t, ns since 1970-01-01 UTC: seconds, a point, nine
		      digits; a string in NDJSON, for no double holds it */
};

/* What a field is to a database. */
enum row_role {
	ROW_VALUE,
	ROW_TAG,  /* tells rows apart, of few different values: indexed */
	ROW_WHEN, /* the row's time; at most one, of ROW_TIME */
};

struct row_field {
	const char *name; /* letters, digits, underscores */
	uint8_t type;	  /* enum row_type */
	uint8_t width;	  /* of the text column, at least; numbers are
			     right-aligned */
	uint8_t role;	  /* enum row_role */
	const char *unit; /* "bytes", "ns"; NULL: a number, or no number */
	const char *good; /* as text: any other value is something wrong, for
			     who shows it to people; NULL: none is */
	bool spare;	  /* it goes first where there is no room for all */
};

struct schema {
	const char *name; /* of the measurement: letters, digits, underscores */
	const struct row_field *fields;
	unsigned n;
};

#endif
