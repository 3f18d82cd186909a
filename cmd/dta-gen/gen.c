/* SPDX-License-Identifier: BSD-2-Clause */
/* gen.c - the ledger of a run. */
#include "gen.h"

static const struct ledger_field fields[] = {
	{"packets", offsetof(struct gen_ledger, traffic.packets), LEDGER_IN},
	{"used", offsetof(struct gen_ledger, used), LEDGER_DONE},
	{"not_ip", offsetof(struct gen_ledger, traffic.not_ip),
	 LEDGER_HARMLESS},
	{"malformed", offsetof(struct gen_ledger, traffic.malformed),
	 LEDGER_LOSS},
	{"fragments", offsetof(struct gen_ledger, fragments), LEDGER_HARMLESS},
	{"not_tcp", offsetof(struct gen_ledger, not_tcp), LEDGER_HARMLESS},
	{"ipv6", offsetof(struct gen_ledger, ipv6), LEDGER_HARMLESS},
	{"reports", offsetof(struct gen_ledger, reports), LEDGER_NOTE},
	{"report_bytes", offsetof(struct gen_ledger, report_bytes),
	 LEDGER_NOTE},
	{"retransmissions", offsetof(struct gen_ledger, work.retransmissions),
	 LEDGER_NOTE},
	{"evicted", offsetof(struct gen_ledger, traffic.evicted), LEDGER_NOTE},
	{"uncounted", offsetof(struct gen_ledger, work.uncounted), LEDGER_NOTE},
	{"backoffs", offsetof(struct gen_ledger, backoffs), LEDGER_NOTE},
};

static const struct ledger_field rows[] = {
	{"rows", offsetof(struct gen_ledger, traffic.packets), LEDGER_IN},
	{"used", offsetof(struct gen_ledger, used), LEDGER_DONE},
	{"unanswered", offsetof(struct gen_ledger, unanswered), LEDGER_LOSS},
	{"malformed", offsetof(struct gen_ledger, traffic.malformed),
	 LEDGER_LOSS},
	{"reports", offsetof(struct gen_ledger, reports), LEDGER_NOTE},
	{"report_bytes", offsetof(struct gen_ledger, report_bytes),
	 LEDGER_NOTE},
	{"backoffs", offsetof(struct gen_ledger, backoffs), LEDGER_NOTE},
};

/* Traffic has no answers. */
_Static_assert(sizeof(fields) / sizeof(fields[0]) + 1 ==
		       sizeof(struct gen_ledger) / sizeof(uint64_t),
	       "a counter has no name");

const struct ledger gen_ledger = {
	.stage = "gen",
	.unit = "packets",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

const struct ledger gen_rows_ledger = {
	.stage = "gen",
	.unit = "rows",
	.fields = rows,
	.n = sizeof(rows) / sizeof(rows[0]),
};
