/* SPDX-License-Identifier: BSD-2-Clause */
/* stats.c - dta-translate's rows of --stats: the ledger, and what became of
 * what was sent. */
#include "run.h"

enum {
	ACKED,
	NOT_ACKED,
	WAITING,
	COLUMNS,
};

static const struct cli_stats_column columns[COLUMNS] = {
	[ACKED] = {"acked", NULL, false, LEDGER_DONE},
	[NOT_ACKED] = {"not_acked", NULL, false, LEDGER_LOSS},
	[WAITING] = {"waiting", "waiting", true},
};

static void read_columns(void *ctx, uint64_t *value)
{
	const struct run *r = ctx;
	struct road_account a;

	value[ACKED] = value[NOT_ACKED] = value[WAITING] = CLI_STATS_UNKNOWN;
	if (!road_account(r->road, &a))
		return;
	value[ACKED] = a.acked;
	value[NOT_ACKED] = a.sent - a.acked - a.waiting;
	value[WAITING] = a.waiting;
}

struct cli_stats *run_open_stats(struct run *r)
{
	const struct cli_stats_more more = {columns, COLUMNS, read_columns, r};

	return cli_stats_open(&translate_ledger, r->o.live.stats_ns,
			      r->o.format, &more);
}
