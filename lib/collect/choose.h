/* SPDX-License-Identifier: BSD-2-Clause */
/* choose.h - views that a filter lets through, on one core and on several. */
#ifndef COLLECT_CHOOSE_H
#define COLLECT_CHOOSE_H

#include <stddef.h>

#include "filter/filter.h"

/* Moves them to the front, in their order, and counts all. Some are left out:
 * numbers of reports that come are no sequence, and not to be looked at.
 * Without a filter (NULL) nothing changes. Returns how many there are. */
size_t choose_views(const struct expr *filter, struct filter_ledger *ledger,
		    struct int_view *v, size_t n);

#endif
