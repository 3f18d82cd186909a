/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * remote_list.h - the lists of a collector on another machine: rows of
 * dta-query list there, one run for all lists, or one for each that was named.
 */
#ifndef QUERY_REMOTE_LIST_H
#define QUERY_REMOTE_LIST_H

#include "remote.h"

/* A row of list, or of list --count-only. */
struct remote_row {
	uint32_t list;
	uint64_t index, epoch;
	uint64_t written, kept, lost;
	uint8_t value[TABLE_VALUE_MAX];
};

/*
 * The next row of a list, in the epochs [from, until] of t; 1, 0 behind the
 * last, or -errno with the reason. Rows of lists are to be asked for in the
 * order of o: ascending, or as they are named. It stays the next one until
 * remote_list_take().
 */
int remote_list_peek(struct remote *r, const struct opts *o,
		     const struct table *t, uint64_t from, uint64_t until,
		     uint32_t list, const struct remote_row **row,
		     struct fault *f);
void remote_list_take(struct remote *r);

struct listings;
void listings_close(struct listings *l); /* NULL is fine */

#endif
