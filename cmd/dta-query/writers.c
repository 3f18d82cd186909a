/* SPDX-License-Identifier: BSD-2-Clause */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/page.h"
#include "ledger/page.h"

struct writers {
	const char *region;
	unsigned n, hidden;	 /* seen; that may not be read */
	struct ledger_page page; /* the one in hand */
};

/* A region's name, without the slash of shm_open(3), or out of its path. */
static const char *bare(const char *region)
{
	static const char dir[] = "/dev/shm/";

	if (!strncmp(region, dir, strlen(dir)))
		return region + strlen(dir);
	return region + (*region == '/');
}

/* Of one stage: what came in, if that is counted there, and what was lost. */
static void tell_stage(const struct ledger_page *p, unsigned stage)
{
	const struct ledger_counter *worst = NULL;
	const char *unit = p->stage[stage].unit;
	uint64_t in = 0, lost = 0;
	bool has_in = false;
	char text[128];

	for (unsigned i = 0; i < p->counters; i++) {
		const struct ledger_counter *c = &p->counter[i];

		if (c->stage != stage)
			continue;
		has_in |= c->role == LEDGER_IN;
		in += c->role == LEDGER_IN ? c->value : 0;
		if (c->role != LEDGER_LOSS)
			continue;
		lost += c->value;
		if (!worst || c->value > worst->value)
			worst = c;
	}
	if (!has_in && !lost)
		return;
	if (lost)
		snprintf(text, sizeof(text),
			 "%" PRIu64 "%s%s lost (%s %" PRIu64 ")", lost,
			 has_in ? "" : " ", has_in ? "" : unit, worst->name,
			 worst->value);
	if (has_in)
		cli_warn("%s (PID %u) writes this region; %s: %" PRIu64
			 " %s came in, %s",
			 p->program, p->pid, p->stage[stage].name, in, unit,
			 lost ? text : "none lost");
	else
		cli_warn("%s (PID %u) writes this region; %s: %s", p->program,
			 p->pid, p->stage[stage].name, text);
}

static void look(void *ctx, const char *name)
{
	struct writers *w = ctx;
	struct ledger_owner owner;
	int rc = ledger_page_read(&w->page, &owner, cli_page_dir(), name);

	w->hidden += rc == -EACCES;
	if (rc < 0 || !*w->page.region ||
	    strcmp(bare(w->page.region), bare(w->region)) != 0)
		return;
	w->n++;
	for (unsigned i = 0; i < w->page.stages; i++)
		tell_stage(&w->page, i);
}

void writers_tell(const char *region)
{
	static struct writers w;

	w.region = region;
	w.n = w.hidden = 0;
	ledger_pages(cli_page_dir(), look, &w);
	if (w.hidden)
		cli_warn("%u program%s may not be looked at (%s/dta-ledger-*): "
			 "whether they write region %s, and what they lost, "
			 "their user and root can ask",
			 w.hidden, text_s(w.hidden), cli_page_dir(), region);
	else if (!w.n)
		cli_warn("nobody here writes region %s now; what was lost, "
			 "the ledgers of its writers told at their ends",
			 region);
}
