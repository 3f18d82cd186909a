/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replies.h - rows of another dta-query (CSV, values in hexadecimal) as
 * replies. They come from another machine: nothing in them is believed unseen.
 */
#ifndef QUERY_REPLIES_H
#define QUERY_REPLIES_H

#include "ask.h"

enum {
	REPLIES_COLUMNS = 16,
};

/* What the columns are, whatever their order. */
struct replies_format {
	uint8_t column[REPLIES_COLUMNS];
	unsigned columns;
};

/* Cuts a CSV line into its cells, in place; how many, or -1. */
int replies_cells(char *line, char **cell);

/* Digits, "" for 0; up to max. */
bool replies_number(const char *text, uint64_t max, uint64_t *out);

/* len bytes in hexadecimal. */
bool replies_hex(const char *text, uint8_t *out, size_t len);

/* Lines are taken apart in place. 0, or -EBADMSG: not a header. */
int replies_header(struct replies_format *f, char *line);

/* A row about this key; false if it is not. */
bool replies_row(const struct replies_format *f, const struct table *t,
		 char *line, const char *key, struct reply *r);

#endif
