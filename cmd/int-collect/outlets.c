/* SPDX-License-Identifier: BSD-2-Clause */
#include "outlets.h"

#include <string.h>

#include "cli/cli.h"
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

static struct row_sink *tee(struct row_sink *const *to, unsigned n)
{
	struct row_sink *s = tee_open(to, n);

	if (!s)
		cli_fail("out of memory");
	return s;
}

/* Measurements that are asked for go to the screen, all to databases. */
static void share_out(struct outlets *out, const struct opts *o)
{
	struct row_sink **sink[ROWS_CHOICES] = {
		[ROWS_EVENT] = &out->sinks.event,
		[ROWS_VALUE] = &out->sinks.value,
		[ROWS_FLOW] = &out->sinks.flow,
		[ROWS_HOP] = &out->sinks.hop,
		[ROWS_DISTRIBUTION] = &out->sinks.distribution,
		[ROWS_BIN] = &out->sinks.bin,
	};

	for (int i = 0; i < ROWS_CHOICES; i++) {
		bool shown = o->rows >> i & 1;

		*sink[i] = shown ? out->both : out->tee;
	}
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
	struct row_sink *both[2];

	open_databases(out, o);
	if (!(out->screen = stream_sink_open(stdout, o->format, true)))
		cli_fail("out of memory");
	if (out->n)
		out->tee = tee(out->database, out->n);
	both[0] = out->screen;
	both[1] = out->tee;
	out->both = tee(both, out->tee ? 2 : 1);
	share_out(out, o);
}

int outlets_end(struct outlets *out)
{
	int status = out->screen->flush(out->screen) < 0 ? -1 : 0;

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
	for (unsigned i = 0; i < out->n; i++) {
		struct queue_status st;

		queue_status(out->database[i], &st);
		cli_ledger(&queue_ledger, &st.ledger, fmt);
	}
}

void outlets_close(struct outlets *out)
{
	out->both->close(out->both);
	if (out->tee)
		out->tee->close(out->tee);
	out->screen->close(out->screen);
	for (unsigned i = 0; i < out->n; i++)
		out->database[i]->close(out->database[i]);
}
