/* SPDX-License-Identifier: BSD-2-Clause */
#include "outlets.h"

#include <string.h>

#include "cli/cli.h"
#include "dta.h"
#include "export/export.h"
#include "row/tee.h"

/* Flows are what they last were, all else is one after the other. */
static const struct export_rule rules[] = {
	{"int_flow", EXPORT_STATE, "flow:{flow}"},
	{"int_hop", EXPORT_STATE, "hop:{flow}:{node}"},
	{"int_distribution", EXPORT_STATE,
	 "distribution:{metric}:{node}:{path_id}"},
	{"int_bin", EXPORT_STATE, "bin:{metric}:{node}:{path_id}:{low}"},
};

/* names=intcollector: the measurements of wire-facts 5.4, of live values and
 * events alike. */
static const char *const value_name[][2] = {{"value", "value"}, {NULL, NULL}};

static const struct line_names intcollector[] = {
	{"int_value",
	 "{metric},{flow},sw_id={node},port_id={egress},queue_id={queue}",
	 value_name},
	{"int_event",
	 "{metric},{flow},sw_id={node},port_id={egress},queue_id={queue}",
	 value_name},
};

static const struct export_names names[] = {
	{"intcollector", intcollector, 2},
};

/* Rows that are asked for go to the screen, all to databases, events and flows
 * to DTA. */
static struct row_sink *tee(const struct outlets *out, const struct opts *o,
			    enum row_choice kind)
{
	struct row_sink *to[EXPORTS_MAX + 2], *s;
	unsigned n = 0;

	if (o->rows >> kind & 1)
		to[n++] = out->screen;
	if (out->dta && (kind == ROWS_EVENT || kind == ROWS_FLOW))
		to[n++] = out->dta;
	for (unsigned i = 0; i < out->n; i++)
		to[n++] = out->database[i];
	if (!n)
		return NULL;
	if (!(s = tee_open(to, n)))
		cli_fail("out of memory");
	return s;
}

static void share_out(struct outlets *out, const struct opts *o)
{
	struct telemetry_sinks *to = &out->sinks;
	struct row_sink **sink[ROWS_CHOICES] = {
		[ROWS_EVENT] = &to->event,
		[ROWS_VALUE] = &to->value,
		[ROWS_FLOW] = &to->flow,
		[ROWS_HOP] = &to->hop,
		[ROWS_DISTRIBUTION] = &to->distribution,
		[ROWS_BIN] = &to->bin,
	};

	for (int i = 0; i < ROWS_CHOICES; i++)
		*sink[i] = out->tee[i] = tee(out, o, (enum row_choice)i);
}

static void open_databases(struct outlets *out, const struct opts *o)
{
	struct export_options eo = {
		.queue = {.bytes = o->queue,
			  .spool = o->spool,
			  .spool_size = o->spool_size,
			  .end_ns = o->end_ns},
		.rules = rules,
		.n_rules = sizeof(rules) / sizeof(rules[0]),
		.names = names,
		.n_names = sizeof(names) / sizeof(names[0]),
	};
	struct fault f = {0};

	for (unsigned i = 0; i < o->n_exports; i++)
		if (export_open(&out->database[i], o->export[i], &eo, &f) < 0)
			cli_refuse("--export: %s", f.text);
	out->n = o->n_exports;
	out->url = o->export;
}

void outlets_open(struct outlets *out, const struct opts *o)
{
	struct fault f = {0};

	open_databases(out, o);
	out->dta_name = o->dta;
	if (o->dta && dta_open(&out->dta, o->dta, &f) < 0)
		cli_fault(o->dta, &f);
	if (!(out->screen = stream_sink_mixed(stdout, o->format, true)))
		cli_fail("out of memory");
	share_out(out, o);
}

int outlets_end(struct outlets *out)
{
	int status = out->screen->flush(out->screen) < 0 ? -1 : 0;

	int rc = out->dta ? out->dta->flush(out->dta) : 0;

	if (rc < 0) {
		cli_warn("%s: %s", out->dta_name, strerror(-rc));
		status = -1;
	}
	for (unsigned i = 0; i < out->n; i++) {
		struct queue_status st;

		if (queue_end(out->database[i]) == 0)
			continue;
		queue_status(out->database[i], &st);
		cli_warn("%s: %s", out->url[i],
			 st.why.text[0] ? st.why.text
					: "not all rows could be sent");
		status = -1;
	}
	return status;
}

void outlets_ledgers(struct outlets *out, enum row_format fmt)
{
	if (out->dta)
		cli_ledger(&dta_ledger, dta_counters(out->dta), fmt);
	for (unsigned i = 0; i < out->n; i++) {
		struct queue_status st;

		queue_status(out->database[i], &st);
		cli_ledger(&queue_ledger, &st.ledger, fmt);
	}
}

void outlets_close(struct outlets *out)
{
	for (int i = 0; i < ROWS_CHOICES; i++)
		if (out->tee[i])
			out->tee[i]->close(out->tee[i]);
	out->screen->close(out->screen);
	if (out->dta)
		out->dta->close(out->dta);
	for (unsigned i = 0; i < out->n; i++)
		out->database[i]->close(out->database[i]);
}
