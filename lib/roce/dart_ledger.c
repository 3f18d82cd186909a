/* SPDX-License-Identifier: BSD-2-Clause */
/* dart_ledger.c - the counters of DART's road, by name. */
#include "roce/dart_out.h"

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct dart_ledger, packets, LEDGER_IN),
	LEDGER_FIELD(struct dart_ledger, sent, LEDGER_DONE),
	LEDGER_FIELD(struct dart_ledger, lost, LEDGER_LOSS),
	LEDGER_FIELD(struct dart_ledger, resyncs, LEDGER_NOTE),
};

LEDGER_COMPLETE(fields, struct dart_ledger);

const struct ledger dart_ledger = {
	.stage = "dart",
	.unit = "packets",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};
