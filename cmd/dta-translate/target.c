/* SPDX-License-Identifier: BSD-2-Clause */
/* target.c - opens the region or the ticket that operations go to. */
#include "target.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "store/layout.h"

/*
 * One -T TABLE:FIELD=VALUE. Only what the translator alone decides can be
 * changed: another geometry would miss the slots that queries read.
 */
static void apply(struct target *g, const char *setting)
{
	static const char *const may[] = {"copies", "batch",	"flush",
					  "cache",  "sequence", "immediate"};
	const char *colon = strchr(setting, ':'), *equals;
	struct fault f = {0};
	struct table *t;
	char name[TABLE_NAME_MAX], field[32];
	bool known = false;
	unsigned batch;

	equals = colon ? strchr(colon, '=') : NULL;
	if (!equals || colon - setting >= (int)sizeof(name) ||
	    equals - colon - 1 >= (int)sizeof(field))
		cli_refuse("-T: '%s' is not TABLE:FIELD=VALUE", setting);
	snprintf(name, sizeof(name), "%.*s", (int)(colon - setting), setting);
	snprintf(field, sizeof(field), "%.*s", (int)(equals - colon - 1),
		 colon + 1);
	for (unsigned i = 0; i < sizeof(may) / sizeof(may[0]); i++)
		known = known || !strcmp(field, may[i]);
	if (!known)
		cli_refuse("-T: '%s' cannot be changed here, only copies, "
			   "batch, flush, cache, sequence, immediate",
			   field);
	t = (struct table *)table_pick(g->table, g->n, 0, name, &f);
	if (!t)
		cli_fail("-T %s: %s", setting, f.text);
	batch = t->batch;
	if (layout_set(t, field, equals + 1, &f) < 0)
		cli_refuse("-T %s: %s", setting, f.text);
	/* Readers stay a batch away from what may be overwritten: query.h. */
	if (t->batch > batch)
		cli_refuse("-T %s: readers of this table reckon with batches "
			   "of %u at most",
			   setting, batch);
}

static void open_local(struct target *g, const struct opts *o)
{
	struct fault f = {0};

	if (region_open(&g->region, o->region, true, &f) < 0)
		cli_fault(o->region, &f);
	if (local_open(&g->local, g->region, &f) < 0)
		cli_fault(o->region, &f);
	g->road = local_road(g->local);
	g->n = region_tables(g->region);
	for (unsigned i = 0; i < g->n; i++)
		g->table[i] = *region_table(g->region, i);
}

void target_open_packets(struct target *g, const struct opts *o)
{
	struct fault f = {0};
	int rc;

	g->name = o->write ? o->write : o->to ? o->to : o->live.name;
	if (o->write)
		rc = cli_snk_open(&g->packets, o->write, &f);
	else
		rc = snk_open_live(&g->packets, g->name, &o->live.options, &f);
	if (rc < 0)
		cli_fault(g->name, &f);
}

static void open_verbs(struct target *g, const struct opts *o)
{
	struct verbs_road_options vo = {.stop = &cli_stop, .warn = cli_tell};
	const struct ticket *t;
	struct fault f = {0};

	g->name = o->verbs;
	if (verbs_road_open(&g->verbs, o->verbs, &vo, &f) < 0)
		cli_fault(o->verbs, &f);
	g->road = verbs_road(g->verbs);
	t = verbs_road_ticket(g->verbs);
	g->n = t->n;
	memcpy(g->table, t->table, g->n * sizeof(g->table[0]));
}

unsigned target_roces(const struct target *g, struct roce_out **out)
{
	return g->fleet ? fleet_roces(g->fleet, out) : 0;
}

/* Takes the tickets that were written anew, and says which are refused. Returns
 * how many were taken. */
static unsigned take_tickets(struct target *g, const struct opts *o)
{
	struct fault f = {0};
	unsigned n = 0;
	int rc;

	while ((rc = fleet_look(g->fleet, clock_ns(), &f))) {
		n += rc > 0;
		if (rc != FLEET_RENEWED || !o->quiet)
			cli_warn("%s", f.text);
	}
	while (fleet_refusal(g->fleet, &f))
		cli_warn("%s", f.text);
	return n;
}

/* What SIGHUP has found, if it was not a ticket to be taken. */
static void say_why_not(const struct target *g, const struct opts *o)
{
	struct ticket_stamp now = ticket_stamp(o->ticket);
	struct roce_out *roce[FLEET_MAX];

	target_roces(g, roce);
	if (!now.inode)
		cli_warn("SIGHUP: %s: there is no such file any more: the old "
			 "ticket stays",
			 o->ticket);
	else if (ticket_stamp_is(&now, &roce_out_ticket(roce[0])->stamp) &&
		 !o->quiet)
		cli_warn("SIGHUP: %s: still the same ticket", o->ticket);
}

void target_look(struct target *g, const struct opts *o)
{
	bool asked = cli_hangup, file = false;

	cli_hangup = 0;
	if (asked && g->fleet)
		file = fleet_look_again(g->fleet);
	if (asked && o->cluster)
		target_reread_cluster(g, o);
	else if (asked && !file)
		cli_warn("SIGHUP: there is nothing to read again");
	if (g->fleet && !take_tickets(g, o) && asked && file && o->ticket)
		say_why_not(g, o);
}

static void sum_requests(struct target *g)
{
	struct roce_out *roce[FLEET_MAX];
	unsigned n = target_roces(g, roce);

	if (g->fleet)
		g->dart = fleet_dart(g->fleet, &g->darts);
	g->requests = (struct requester_ledger){0};
	for (unsigned i = 0; i < n; i++) {
		struct requester_ledger l = roce_out_ledger(roce[i]);

		ledger_add(&requester_ledger, &g->requests, &l);
	}
}

void target_report(struct target *g, enum row_format format)
{
	if (g->verbs) {
		verbs_road_settle(g->verbs);
		g->posted = *verbs_road_counters(g->verbs);
	}
	if (!g->closed)
		sum_requests(g);
	if (g->heard)
		cli_ledger(&requester_ledger, &g->requests, format);
	if (g->dart)
		cli_ledger(&dart_ledger, &g->darts, format);
	if (g->posted.tickets)
		cli_ledger(&verbs_road_ledger, &g->posted, format);
}

static int close_verbs(struct target *g)
{
	int rc = verbs_road_settle(g->verbs);

	g->posted = *verbs_road_counters(g->verbs);
	verbs_road_close(g->verbs);
	g->verbs = NULL;
	return rc;
}

int target_close(struct target *g)
{
	int rc = 0;

	if (g->verbs)
		rc = close_verbs(g);

	if (g->local)
		local_close(g->local);
	region_close(g->region);
	sum_requests(g);
	g->closed = true;
	fleet_close(g->fleet);
	cluster_fini(&g->cluster);
	cluster_fini(&g->next);
	if (g->packets)
		rc = snk_close(g->packets);
	return rc;
}

void target_open(struct target *g, const struct opts *o)
{
	if (o->cluster)
		target_open_cluster(g, o);
	else if (o->region)
		open_local(g, o);
	else if (o->verbs)
		open_verbs(g, o);
	else
		target_open_ticket(g, o);
	for (unsigned i = 0; i < o->settings; i++)
		apply(g, o->setting[i]);
}
