/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/ledger.h"

bool ledger_balanced(const struct ledger *l, const void *ctr)
{
	uint64_t in = 0, out = 0;

	for (unsigned i = 0; i < l->n; i++) {
		if (l->fields[i].role == LEDGER_IN)
			in += ledger_get(l, ctr, i);
		else if (l->fields[i].role != LEDGER_NOTE)
			out += ledger_get(l, ctr, i);
	}
	return in == out;
}

void ledger_add(const struct ledger *l, void *to, const void *from)
{
	for (unsigned i = 0; i < l->n; i++)
		*(uint64_t *)((char *)to +
			      l->fields[i].offset) += ledger_get(l, from, i);
}
