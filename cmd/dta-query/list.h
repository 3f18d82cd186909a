/* SPDX-License-Identifier: BSD-2-Clause */
/* list.h - all entries of lists, for who does not print them. */
#ifndef QUERY_LIST_H
#define QUERY_LIST_H

#include "options.h"

/* Calls take() with every entry that the lists of some tables keep. target: its
 * number in t. */
void list_each(const struct opts *o, struct places *p, const struct targets *t,
	       void (*take)(void *ctx, unsigned target, const uint8_t *entry),
	       void *ctx);

#endif
