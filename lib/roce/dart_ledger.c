/* SPDX-License-Identifier: BSD-2-Clause */
/* dart_ledger.c - the counters of DART's road, by name. */
#include "roce/dart_out.h"

/* clang-format off */
#define COUNTER(name, role) \
	{ #name, offsetof(struct dart_ledger, name), role }

static const struct ledger_field fields[] = {
	COUNTER(packets, LEDGER_IN),
	COUNTER(sent, LEDGER_DONE),
	COUNTER(lost, LEDGER_DROP),
	COUNTER(resyncs, LEDGER_NOTE),
};
/* clang-format on */

_Static_assert(sizeof(fields) / sizeof(fields[0]) ==
		       sizeof(struct dart_ledger) / sizeof(uint64_t),
	       "a counter has no name");

const struct ledger dart_ledger = {
	.stage = "dart",
	.unit = "packets",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};
