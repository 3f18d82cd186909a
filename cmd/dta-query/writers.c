/* SPDX-License-Identifier: BSD-2-Clause */
#include "writers.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/page.h"
#include "ledger/page.h"

struct writers {
	const char *region;
	unsigned n;
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

/* "12 dropped (bad_table 9)", of one stage. */
static size_t put_drops(char *text, size_t room, const struct ledger_page *p,
			unsigned stage)
{
	const struct ledger_counter *worst = NULL;
	uint64_t drops = 0;

	for (unsigned i = 0; i < p->counters; i++) {
		const struct ledger_counter *c = &p->counter[i];

		if (c->stage != stage || c->role != LEDGER_DROP || c->level)
			continue; /* what may fall is under way */
		drops += c->value;
		if (!worst || c->value > worst->value)
			worst = c;
	}
	if (!drops)
		return (size_t)snprintf(text, room, ", none dropped");
	return (size_t)snprintf(text, room, ", %llu dropped (%s %llu)",
				(unsigned long long)drops, worst->name,
				(unsigned long long)worst->value);
}

/* What never came in: notes, not drops. */
static size_t put_lost(char *text, size_t room, const struct ledger_page *p,
		       unsigned stage)
{
	size_t n = 0;

	for (unsigned i = 0; i < p->counters && n < room; i++) {
		const struct ledger_counter *c = &p->counter[i];
		uint64_t lost = ledger_page_lost(p, i);

		if (c->stage != stage || !lost)
			continue;
		n += (size_t)snprintf(text + n, room - n, ", %llu %s%s",
				      (unsigned long long)lost, c->name,
				      strcmp(c->name, "missing")
					      ? ""
					      : " (they never came in)");
	}
	return n;
}

static uint64_t received(const struct ledger_page *p, unsigned stage,
			 bool *there)
{
	for (unsigned i = 0; i < p->counters; i++)
		if (p->counter[i].stage == stage &&
		    p->counter[i].role == LEDGER_IN) {
			*there = true;
			return p->counter[i].value;
		}
	*there = false;
	return 0;
}

/* What an interface lost before its program saw it, or did not take from it. */
static void tell_interface(const struct ledger_page *p, unsigned stage)
{
	uint64_t kernel = 0, unsent = 0;

	for (unsigned i = 0; i < p->counters; i++) {
		const struct ledger_counter *c = &p->counter[i];

		if (c->stage == stage && !strcmp(c->name, "kernel_drops"))
			kernel += c->value;
		else if (c->stage == stage && !strcmp(c->name, "unsent"))
			unsent += c->value;
	}
	if (kernel || unsent)
		cli_warn("%s (PID %u): its interface has lost %llu packets on "
			 "the way in (kernel_drops), and %llu on the way out "
			 "(unsent)",
			 p->program, p->pid, (unsigned long long)kernel,
			 (unsigned long long)unsent);
}

static void tell(const struct ledger_page *p)
{
	for (unsigned s = 0; s < p->stages; s++) {
		char text[256];
		bool there;
		uint64_t in = received(p, s, &there);
		size_t n;

		if (!strcmp(p->stage[s].name, "interface"))
			tell_interface(p, s);
		if (!there)
			continue;
		n = put_lost(text, sizeof(text), p, s);
		if (n < sizeof(text))
			put_drops(text + n, sizeof(text) - n, p, s);
		cli_warn("%s (PID %u) writes this region; %s: %llu %s came in"
			 "%s",
			 p->program, p->pid, p->stage[s].name,
			 (unsigned long long)in, p->stage[s].unit, text);
	}
}

static void look(void *ctx, const char *name)
{
	struct writers *w = ctx;
	struct ledger_owner owner;

	if (ledger_page_read(&w->page, &owner, cli_page_dir(), name) < 0 ||
	    !*w->page.region ||
	    strcmp(bare(w->page.region), bare(w->region)) != 0)
		return;
	w->n++;
	tell(&w->page);
}

void writers_tell(const char *region)
{
	static struct writers w;

	w.region = region;
	w.n = 0;
	ledger_pages(cli_page_dir(), look, &w);
	if (!w.n)
		cli_warn("nobody here writes region %s now; what was lost or "
			 "dropped, the ledgers of its writers told at their "
			 "ends",
			 region);
}
