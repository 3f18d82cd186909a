/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/ledger.h"

const char *ledger_role_name(unsigned role)
{
	static const char *const names[] = {"in", "done", "loss", "harmless",
					    "note"};

	return role <= LEDGER_NOTE ? names[role] : "?";
}

uint64_t ledger_rest(const struct ledger *l, const void *ctr)
{
	uint64_t rest = 0;

	for (unsigned i = 0; i < l->n; i++) {
		uint64_t v = ledger_get(l, ctr, i);

		if (l->fields[i].role == LEDGER_IN)
			rest += v;
		else if (l->fields[i].role != LEDGER_NOTE &&
			 !l->fields[i].before)
			rest -= v;
	}
	return rest;
}

bool ledger_balanced(const struct ledger *l, const void *ctr)
{
	bool has_in = false; /* else there is no sum */

	for (unsigned i = 0; i < l->n; i++)
		has_in = has_in || l->fields[i].role == LEDGER_IN;
	return !has_in || ledger_rest(l, ctr) == 0;
}

const char *ledger_largest_loss(const struct ledger *l, const void *ctr,
				uint64_t *value)
{
	const char *worst = "";

	*value = 0;
	for (unsigned i = 0; i < l->n; i++) {
		uint64_t v = ledger_get(l, ctr, i);

		if ((l->fields[i].role != LEDGER_LOSS &&
		     l->fields[i].role != LEDGER_HARMLESS) ||
		    l->fields[i].before || v <= *value)
			continue;
		*value = v;
		worst = l->fields[i].name;
	}
	return worst;
}

void ledger_add(const struct ledger *l, void *to, const void *from)
{
	for (unsigned i = 0; i < l->n; i++)
		*(uint64_t *)((char *)to +
			      l->fields[i].offset) += ledger_get(l, from, i);
}
