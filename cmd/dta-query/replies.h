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

/* Lines are taken apart in place. 0, or -EBADMSG: not a header. */
int replies_header(struct replies_format *f, char *line);

/* A row about this key; false if it is not. */
bool replies_row(const struct replies_format *f, const struct table *t,
		 char *line, const char *key, struct reply *r);

#endif
