/* SPDX-License-Identifier: BSD-2-Clause */
#include "int_collect.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/table.h"

/* Flows are what they last were, all else is one after the other; in a log all
 * that is told of a flow is in one place. */
static const struct export_rule rules[] = {
	{"int_event", EXPORT_EVENT, NULL, "{flow}"},
	{"int_value", EXPORT_EVENT, NULL, "{flow}"},
	{"int_snapshot", EXPORT_EVENT, NULL, "{flow}"},
	{"int_flow", EXPORT_STATE, "flow:{flow}", "{flow}"},
	{"int_hop", EXPORT_STATE, "hop:{flow}:{node}", "{flow}"},
	{"int_distribution", EXPORT_STATE,
	 "distribution:{metric}:{node}:{path_id}"},
	{"int_bin", EXPORT_STATE, "bin:{metric}:{node}:{path_id}:{low}"},
};

/* Rows that are asked for go to the screen, all to databases, events and flows
 * to DTA. */
static struct row_sink *tee(const struct outlets *out, const struct opts *o,
			    enum rows_kind kind)
{
	struct row_sink *to[3], *s;
	unsigned n = 0;

	if (o->rows >> kind & 1)
		to[n++] = out->screen;
	if (out->dta && (kind == ROWS_EVENT || kind == ROWS_FLOW))
		to[n++] = out->dta;
	if (out->databases)
		to[n++] = out->databases;
	if (!n)
		return NULL;
	if (!(s = tee_open(to, n)))
		cli_fail("out of memory");
	return s;
}

/* For the queue 0 is its default. */
static uint64_t end_of(const struct opts *o)
{
	return o->end_ns == UINT64_MAX ? 0
	       : o->end_ns	       ? o->end_ns
				       : QUEUE_NO_TIME;
}

static void open_databases(struct outlets *out, const struct opts *o)
{
	struct export_options eo = {
		.queue = {.bytes = o->queue,
			  .spool = o->spool,
			  .spool_size = o->spool_size,
			  .end_ns = end_of(o)},
		.rules = rules,
		.n_rules = sizeof(rules) / sizeof(rules[0]),
	};

	out->list.hold = o->read && !o->drop;
	for (unsigned i = 0; i < o->n_exports; i++)
		databases_add(&out->list, "--export", o->export[i], &eo);
	out->databases = databases_all(&out->list);
}

void outlets_open(struct outlets *out, const struct opts *o)
{
	struct fault f = {0};

	open_databases(out, o);
	out->dta_name = o->dta;
	if (o->dta && dta_open(&out->dta, o->dta, &f) < 0)
		cli_fault(o->dta, &f);
	if (!(out->screen = cli_stream(o->format)))
		cli_fail("out of memory");
	for (int i = 0; i < ROWS_KINDS; i++)
		out->tee[i] = tee(out, o, (enum rows_kind)i);
	_Static_assert(sizeof(out->sinks) == sizeof(out->tee), "one each");
	memcpy(&out->sinks, out->tee, sizeof(out->sinks));
}

void outlets_look(struct outlets *out)
{
	databases_look(&out->list);
}

int outlets_end(struct outlets *out)
{
	int screen = out->screen->flush(out->screen);
	int dta = out->dta ? out->dta->flush(out->dta) : 0;
	struct fault f;

	if (screen < 0) {
		fault_set(&f, screen, "%s", strerror(-screen));
		cli_warn_fault(cli_stdout, &f);
	}
	if (dta < 0)
		cli_warn("%s: %s", cli_file(out->dta_name), strerror(-dta));
	return databases_end(&out->list) < 0 || screen < 0 || dta < 0 ? -1 : 0;
}

void outlets_ledgers(struct outlets *out, enum row_format fmt)
{
	if (out->dta)
		cli_ledger(&dta_ledger, dta_counters(out->dta), fmt);
	databases_ledgers(&out->list, fmt);
}

void outlets_close(struct outlets *out)
{
	for (int i = 0; i < ROWS_KINDS; i++)
		if (out->tee[i])
			out->tee[i]->close(out->tee[i]);
	out->screen->close(out->screen);
	if (out->databases)
		out->databases->close(out->databases);
	if (out->dta)
		out->dta->close(out->dta);
	databases_close(&out->list);
}
