/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * csv.h - a line of CSV (RFC 4180), cut into its fields where it lies. A field
 * in quotes may hold commas, and quotes written twice; none spans lines.
 */
#ifndef ROW_CSV_H
#define ROW_CSV_H

#include <stddef.h>

enum {
	CSV_FIELDS_MAX = 256, /* that a header is looked at */
};

/*
 * The first max fields of a line, which is used up. Returns how many there are;
 * -EINVAL: a quote is not closed, or something is behind one that is.
 */
int csv_split(char *line, char **field, int max);

/* The number of the field that is this name, or -1. */
int csv_find(char *const *field, int n, const char *name);

#endif
