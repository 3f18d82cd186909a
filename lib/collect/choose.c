/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/choose.h"

size_t choose_views(const struct expr *filter, struct filter_ledger *ledger,
		    struct int_view *v, size_t n)
{
	size_t to = 0;

	if (!filter)
		return n;
	for (size_t i = 0; i < n; i++) {
		if (!expr_match(filter, &v[i]))
			continue;
		if (to < i)
			v[to] = v[i];
		v[to++].from.numbered = false;
	}
	ledger->views += n;
	ledger->matched += to;
	ledger->others += n - to;
	return to;
}
