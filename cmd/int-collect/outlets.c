/* SPDX-License-Identifier: BSD-2-Clause */
#include "outlets.h"

#include <inttypes.h>
#include <stdio.h>
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

/*
 * names=intcollector: as the published collector has them (wire-facts 5.4;
 * tu-nv/INTCollector, InDBClient.py): a measurement for each key, no tags. Its
 * ids of queues are without their port. What it does not have, buffers and
 * other events, has our names.
 */
#define ITS_FLOW "{flow:from}->{flow:to},proto={flow:proto}"

static const char *const told[] = {"new_key", "change", "path_change", NULL};
static const char *const its_value[][2] = {{"value", "value"}, {NULL, NULL}};
static const char *const its_latency[][2] = {{"value", "flow_latency"},
					     {NULL, NULL}};
static const char *const its_path[][2] = {{"path", "path"}, {NULL, NULL}};

#define WHEN(metric)                                                           \
	(const struct line_when[])                                             \
	{                                                                      \
		{"metric", (const char *const[]){metric, NULL}},               \
		{                                                              \
			NULL                                                   \
		}                                                              \
	}
#define WHEN_TOLD(metric)                                                      \
	(const struct line_when[])                                             \
	{                                                                      \
		{"metric", (const char *const[]){metric, NULL}},               \
			{"event", told},                                       \
		{                                                              \
			NULL                                                   \
		}                                                              \
	}
#define ITS(metric, name, fields)                                              \
	{"int_value", WHEN(metric), name, fields},                             \
	{                                                                      \
		"int_event", WHEN_TOLD(metric), name, fields                   \
	}

/* clang-format off */
static const struct line_names intcollector[] = {
	ITS("path", "flow_stat," ITS_FLOW, its_path),
	ITS("flow_latency", "flow_stat," ITS_FLOW, its_latency),
	ITS("hop_latency", "flow_hop_latency[," ITS_FLOW "],sw_id={node}",
	    its_value),
	ITS("link_utilization", "port_tx_utilize,sw_id={node},port_id={egress}",
	    its_value),
	ITS("queue_occupancy", "queue_occupancy,sw_id={node},queue_id={queue}",
	    its_value),
	ITS("queue_congestion",
	    "queue_congestion,sw_id={node},queue_id={queue}", its_value),
};
/* clang-format on */

static const struct export_names names[] = {
	{"intcollector", intcollector,
	 sizeof(intcollector) / sizeof(intcollector[0])},
};

/* Rows that are asked for go to the screen, all to databases, events and flows
 * to DTA. */
static struct row_sink *tee(const struct outlets *out, const struct opts *o,
			    enum row_choice kind)
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

/* Databases take rows in their own time: nobody waits for them before the end.
 */
static int no_wait(struct row_sink *s)
{
	(void)s;
	return 0;
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
		[ROWS_SNAPSHOT] = &to->snapshot,
	};

	for (int i = 0; i < ROWS_CHOICES; i++)
		*sink[i] = out->tee[i] = tee(out, o, (enum row_choice)i);
}

/* For the queue 0 is its default. */
static uint64_t end_of(const struct opts *o)
{
	return o->end_ns == UINT64_MAX ? 0
	       : o->end_ns	       ? o->end_ns
				       : QUEUE_NO_TIME;
}

/* Whether a signal came since the end began. */
static int stop_before;

static bool hurry(void)
{
	return cli_stop > stop_before;
}

static void open_databases(struct outlets *out, const struct opts *o)
{
	struct export_options eo = {
		.queue = {.bytes = o->queue,
			  .spool = o->spool,
			  .spool_size = o->spool_size,
			  .end_ns = end_of(o),
			  .hurry = hurry},
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
	if (out->n) {
		if (!(out->databases = tee_open(out->database, out->n)))
			cli_fail("out of memory");
		out->databases->flush = no_wait;
	}
	share_out(out, o);
}

enum {
	NAME_MAX_SHOWN = 256,
};

/* A URL as it may be seen: without user, password and options. */
static void show(char *out, size_t size, const char *url)
{
	char *place, *at;

	snprintf(out, size, "%.*s", (int)strcspn(url, "?"), url);
	place = strstr(out, "//");
	at = place ? strrchr(place, '@') : NULL;
	if (at)
		memmove(place + 2, at + 1, strlen(at));
}

void outlets_look(struct outlets *out)
{
	char name[NAME_MAX_SHOWN];

	for (unsigned i = 0; i < out->n; i++) {
		struct queue_status st;

		queue_status(out->database[i], &st);
		if (st.changes == out->changes[i])
			continue;
		out->changes[i] = st.changes;
		show(name, sizeof(name), out->url[i]);
		if (st.failing)
			cli_warn("%s: rows wait: %s", name, st.why.text);
		else
			cli_warn("%s: rows are taken again", name);
	}
}

static void warn_of(const char *url, uint64_t rows, const char *what,
		    const char *why)
{
	char name[NAME_MAX_SHOWN];

	if (!rows)
		return;
	show(name, sizeof(name), url);
	cli_warn("%s: %" PRIu64 " rows %s%s%s", name, rows, what,
		 *why ? ": " : "", why);
}

/* Says what became of rows that the database has not got. */
static int judge(const char *url, const struct queue_status *st)
{
	const struct queue_ledger *l = &st->ledger;

	warn_of(url, l->refused, "were refused", st->refusal.text);
	warn_of(url, l->full, "found no room in the queue", st->why.text);
	warn_of(url, l->damaged, "were damaged in the spool", "");
	warn_of(url, l->unsent, "could not be sent", st->why.text);
	warn_of(url, l->kept, "wait in the spool for the next run",
		st->why.text);
	return l->refused || l->full || l->damaged || l->unsent || l->kept;
}

int outlets_end(struct outlets *out)
{
	int status = out->screen->flush(out->screen) < 0 ? -1 : 0;
	int rc = out->dta ? out->dta->flush(out->dta) : 0;

	stop_before = cli_stop;
	if (rc < 0) {
		cli_warn("%s: %s", out->dta_name, strerror(-rc));
		status = -1;
	}
	for (unsigned i = 0; i < out->n; i++) {
		struct queue_status st;

		queue_end(out->database[i]);
		queue_status(out->database[i], &st);
		if (judge(out->url[i], &st))
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
	if (out->databases)
		out->databases->close(out->databases);
	if (out->dta)
		out->dta->close(out->dta);
	for (unsigned i = 0; i < out->n; i++)
		out->database[i]->close(out->database[i]);
}
