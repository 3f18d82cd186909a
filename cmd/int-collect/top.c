/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * top.c - int-collect --top. Tables and their rows:
 *
 * flows   top_flow   flow cache: latest and mean latency from end to end; of
 *                    each metric the highest of the latest values of its hops
 * nodes   top_node   switches: quantiles of all values; of queues, links and
 *                    buffers also the highest of their latest values
 * queues  top_queue  queues and buffers: the latest value, and the reference
 *                    (telemetry/threshold.h)
 * links   top_link   the same of links
 * paths   top_path   quantiles of the latency from end to end
 */
/* clang-format on */
#include "int_collect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/cli.h"
#include "telemetry/flows.h"

enum table {
	TABLE_FLOWS,
	TABLE_NODES,
	TABLE_QUEUES,
	TABLE_LINKS,
	TABLE_PATHS,
	TABLES,
};

const char *const table_names[] = {"flows", "nodes", "queues",
				   "links", "paths", NULL};

/* The ports of a node, by metric. */
struct node_now {
	uint32_t value[HOP_METRICS]; /* the highest of their latest values */
	uint32_t n[HOP_METRICS];     /* how many ports */
};

/* The sink's counters at a time, or their rates. */
struct counts {
	uint64_t at_ns, views, hops, events;
};

struct top {
	const struct opts *o;
	struct telemetry *t;
	struct node_now *now; /* by telemetry_node_at()'s number */
	uint32_t nodes;	      /* of now[] */
	struct browse *browse;
	struct counts before, rate;
	struct databases *databases;
	struct cli_loop *loop;
};

enum {
	F_FLOW,
	F_PACKETS,
	F_BYTES,
	F_LATENCY,
	F_LATENCY_MEAN,
	F_METRIC, /* HOP_METRICS columns */
	F_HOPS = F_METRIC + HOP_METRICS,
	F_FIRST,
	F_LAST,
	F_PATH,
};

static const struct row_field flow_fields[] = {
	[F_FLOW] = {"flow", ROW_STR, 36, .flow = 1},
	[F_PACKETS] = {"packets", ROW_U64, 8},
	[F_BYTES] = {"bytes", ROW_U64, 10, ROW_VALUE, "bytes"},
	[F_LATENCY] = {"flow_latency", ROW_U64, 12, ROW_VALUE, "ns"},
	[F_LATENCY_MEAN] = {"flow_latency_mean", ROW_F64, 17, ROW_VALUE, "ns",
			    .spare = 1},
	[F_METRIC] = {"hop_latency", ROW_U64, 11, ROW_VALUE, "ns"},
	{"queue_occupancy", ROW_U64, 15, .spare = 1},
	{"link_utilization", ROW_U64, 16, .spare = 1},
	{"queue_congestion", ROW_U64, 16, .spare = 1},
	{"buffer_occupancy", ROW_U64, 16, .spare = 1},
	[F_HOPS] = {"hops", ROW_U64, 4, .spare = 1},
	[F_FIRST] = {"first", ROW_TIME, 20, .spare = 1},
	[F_LAST] = {"last", ROW_TIME, 20, .spare = 1},
	[F_PATH] = {"path", ROW_LIST, 0, .spare = 1},
};

enum {
	N_NODE,
	N_SAMPLES,
	N_LATENCY, /* two quantiles */
	N_QUEUES = N_LATENCY + 2,
	N_METRIC, /* of each other metric: value, two quantiles */
};

static const struct row_field node_fields[] = {
	[N_NODE] = {"node", ROW_U64, 6, ROW_TAG},
	[N_SAMPLES] = {"samples", ROW_U64, 9},
	[N_LATENCY] = {"hop_latency_p50", ROW_U64, 15, ROW_VALUE, "ns"},
	{"hop_latency_p99", ROW_U64, 15, ROW_VALUE, "ns"},
	[N_QUEUES] = {"queues", ROW_U64, 6},
	[N_METRIC] = {"queue_occupancy", ROW_U64, 15, .spare = 1},
	{"queue_occupancy_p50", ROW_U64, 19, .spare = 1},
	{"queue_occupancy_p99", ROW_U64, 19, .spare = 1},
	{"link_utilization", ROW_U64, 16, .spare = 1},
	{"link_utilization_p50", ROW_U64, 20, .spare = 1},
	{"link_utilization_p99", ROW_U64, 20, .spare = 1},
	{"queue_congestion", ROW_U64, 16, .spare = 1},
	{"queue_congestion_p50", ROW_U64, 20, .spare = 1},
	{"queue_congestion_p99", ROW_U64, 20, .spare = 1},
	{"buffer_occupancy", ROW_U64, 16, .spare = 1},
	{"buffer_occupancy_p50", ROW_U64, 20, .spare = 1},
	{"buffer_occupancy_p99", ROW_U64, 20, .spare = 1},
};

enum {
	Q_NODE,
	Q_EGRESS,
	Q_QUEUE,
	Q_BUFFER,
	Q_METRIC,
	Q_VALUE,
	Q_REFERENCE,
	Q_RISEN,
	Q_LAST,
};

static const struct row_field queue_fields[] = {
	[Q_NODE] = {"node", ROW_U64, 6, ROW_TAG},
	[Q_EGRESS] = {"port", ROW_U64, 5, ROW_TAG},
	[Q_QUEUE] = {"queue", ROW_U64, 5, ROW_TAG},
	[Q_BUFFER] = {"buffer", ROW_U64, 6, ROW_TAG},
	[Q_METRIC] = {"metric", ROW_STR, 16, ROW_TAG},
	[Q_VALUE] = {"value", ROW_U64, 10},
	[Q_REFERENCE] = {"reference", ROW_U64, 10, .spare = 1},
	[Q_RISEN] = {"risen", ROW_BOOL, 5, .spare = 1},
	[Q_LAST] = {"last", ROW_TIME, 20, .spare = 1},
};

static const struct row_field link_fields[] = {
	{"node", ROW_U64, 6, ROW_TAG},
	{"port", ROW_U64, 5, ROW_TAG},
	{"link_utilization", ROW_U64, 16},
	{"reference", ROW_U64, 10, .spare = 1},
	{"risen", ROW_BOOL, 5, .spare = 1},
	{"last", ROW_TIME, 20},
};

/* The columns of links, as those of queues. */
static const uint8_t link_columns[] = {Q_NODE,	    Q_EGRESS, Q_VALUE,
				       Q_REFERENCE, Q_RISEN,  Q_LAST};

enum {
	P_PATH_ID,
	P_SAMPLES,
	P_QUANTILES,
	P_HOPS = P_QUANTILES + 3,
	P_LOOP,
	P_PATH,
};

static const struct row_field path_fields[] = {
	[P_PATH_ID] = {"path_id", ROW_U64, 10, ROW_TAG},
	[P_SAMPLES] = {"samples", ROW_U64, 9},
	[P_QUANTILES] = {"flow_latency_p50", ROW_U64, 16, ROW_VALUE, "ns",
			 .spare = 1},
	{"flow_latency_p90", ROW_U64, 16, ROW_VALUE, "ns", .spare = 1},
	{"flow_latency_p99", ROW_U64, 16, ROW_VALUE, "ns"},
	[P_HOPS] = {"hops", ROW_U64, 4, .spare = 1},
	[P_LOOP] = {"loop", ROW_BOOL, 5, .spare = 1},
	[P_PATH] = {"path", ROW_LIST, 0, .spare = 1},
};

static void put_id(struct row_batch *b, unsigned column, uint32_t id)
{
	if (id != ID_UNKNOWN)
		row_batch_u64(b, column, id);
}

/* The low end of the bin, as the high end may be above the largest value. */
static void put_quantile(struct row_batch *b, unsigned column,
			 const struct dist *d, double q)
{
	uint32_t low, high;

	if (d && dist_quantile(d, q, &low, &high))
		row_batch_u64(b, column, low);
}

/* Puts the highest of the latest values of the hops. */
static void put_highest(const struct top *top, struct flow_entry *f,
			enum metric m, struct row_batch *b, unsigned column)
{
	const struct meter *meter[HOP_METRICS];
	/* Those of the path, or all if it is not known. */
	unsigned hops = f->hops && f->hops < f->kept ? f->hops : f->kept;
	uint32_t most = 0;
	bool any = false;

	for (unsigned k = 0; k < hops; k++) {
		if (!telemetry_flow_hop(top->t, f, k, meter) || !meter[m]->n)
			continue;
		any = true;
		most = meter[m]->latest > most ? meter[m]->latest : most;
	}
	if (any)
		row_batch_u64(b, column, most);
}

static void put_flow(const struct top *top, uint32_t i, unsigned column,
		     struct row_batch *b)
{
	struct flow_entry *f = telemetry_flow_at(top->t, i);
	uint64_t room[PATH_NODES_MAX];

	if (column == F_FLOW)
		row_batch_flow(b, column, f->key, f->key_len);
	else if (column == F_PACKETS)
		row_batch_u64(b, column, f->packets);
	else if (column == F_BYTES)
		row_batch_u64(b, column, f->bytes);
	else if (column == F_LATENCY && f->latency.n)
		row_batch_u64(b, column, f->latency.latest);
	else if (column == F_LATENCY_MEAN && f->latency.n)
		row_batch_set(b, column, ROW_F64)->f64 =
			(double)f->latency.sum / f->latency.n;
	else if (column >= F_METRIC && column < F_HOPS)
		put_highest(top, f, (enum metric)(column - F_METRIC), b,
			    column);
	else if (column == F_HOPS && f->hops)
		row_batch_u64(b, column, f->hops);
	else if (column == F_FIRST || column == F_LAST)
		row_batch_time(b, column,
			       column == F_FIRST ? f->first_ns : f->last_ns);
	else if (column == F_PATH)
		rows_set_nodes(b, column, telemetry_flow_path(top->t, f, room));
}

static void put_node(const struct top *top, uint32_t i, unsigned column,
		     struct row_batch *b)
{
	const struct node *n = telemetry_node_at(top->t, i);
	unsigned m = column < N_METRIC ? 0 : 1 + (column - N_METRIC) / 3;
	const struct dist *d = telemetry_node_dist(top->t, n, (enum metric)m);
	unsigned part = m ? (column - N_METRIC) % 3 : 0;

	if (column == N_NODE && n->id != NODE_UNKNOWN)
		row_batch_u64(b, column, n->id);
	else if (column == N_SAMPLES)
		row_batch_u64(b, column, d ? dist_samples(d) : 0);
	else if (column == N_LATENCY || part == 1)
		put_quantile(b, column, d, 0.5);
	else if (column == N_LATENCY + 1 || part == 2)
		put_quantile(b, column, d, 0.99);
	else if (column == N_QUEUES && i < top->nodes)
		row_batch_u64(b, column, top->now[i].n[METRIC_QUEUE_OCCUPANCY]);
	else if (m && i < top->nodes && top->now[i].n[m])
		row_batch_u64(b, column, top->now[i].value[m]);
}

/* Puts a value of a port, as column `field' of queues, into a column. */
static void put_port(const struct port_state *o, unsigned field,
		     unsigned column, struct row_batch *b)
{
	bool buffer = o->metric == METRIC_BUFFER_OCCUPANCY;

	if (field == Q_NODE && o->node->id != NODE_UNKNOWN)
		row_batch_u64(b, column, o->node->id);
	else if (field == Q_EGRESS)
		put_id(b, column, o->egress);
	else if (field == (buffer ? Q_BUFFER : Q_QUEUE))
		put_id(b, column, o->id);
	else if (field == Q_METRIC)
		row_batch_str(b, column, metric_name((enum metric)o->metric));
	else if (field == Q_VALUE)
		row_batch_u64(b, column, o->latest);
	else if (field == Q_REFERENCE)
		row_batch_u64(b, column, o->watch.ref);
	else if (field == Q_RISEN)
		row_batch_set(b, column, ROW_BOOL)->u64 = !!(o->flags &
							     THRESHOLD_RISEN);
	else if (field == Q_LAST)
		row_batch_time(b, column, o->last_ns);
}

static void put_queue(const struct top *top, uint32_t i, unsigned column,
		      struct row_batch *b)
{
	put_port(telemetry_port_at(top->t, i), column, column, b);
}

static void put_link(const struct top *top, uint32_t i, unsigned column,
		     struct row_batch *b)
{
	put_port(telemetry_port_at(top->t, i), link_columns[column], column, b);
}

static void put_path_column(const struct top *top, uint32_t i, unsigned column,
			    struct row_batch *b)
{
	static const double quantile[] = {0.5, 0.9, 0.99};
	struct telemetry_path p;

	if (!telemetry_path_at(top->t, i, &p))
		return;
	if (column == P_PATH_ID)
		row_batch_u64(b, column,
			      (uint32_t)path_hash(p.nodes.at, p.nodes.n));
	else if (column == P_SAMPLES)
		row_batch_u64(b, column,
			      p.latency ? dist_samples(p.latency) : 0);
	else if (column < P_HOPS)
		put_quantile(b, column, p.latency,
			     quantile[column - P_QUANTILES]);
	else if (column == P_HOPS)
		row_batch_u64(b, column, p.nodes.n);
	else if (column == P_LOOP)
		row_batch_set(b, column, ROW_BOOL)->u64 = p.loop;
	else
		rows_set_nodes(b, column, p.nodes);
}

static const struct {
	enum telemetry_item item;
	void (*put)(const struct top *top, uint32_t i, unsigned column,
		    struct row_batch *b);
} tables[TABLES] = {
	[TABLE_FLOWS] = {TELEMETRY_FLOW, put_flow},
	[TABLE_NODES] = {TELEMETRY_NODE, put_node},
	[TABLE_QUEUES] = {TELEMETRY_PORT, put_queue},
	[TABLE_LINKS] = {TELEMETRY_PORT, put_link},
	[TABLE_PATHS] = {TELEMETRY_PATH, put_path_column},
};

#define SCHEMA(name, fields)                                                   \
	&(const struct schema)                                                 \
	{                                                                      \
		name, fields, sizeof(fields) / sizeof((fields)[0])             \
	}

static const struct browse_table shown[TABLES] = {
	[TABLE_FLOWS] = {SCHEMA("top_flow", flow_fields), "packets", 1},
	[TABLE_NODES] = {SCHEMA("top_node", node_fields), "hop_latency_p99", 1},
	[TABLE_QUEUES] = {SCHEMA("top_queue", queue_fields), "value", 4},
	[TABLE_LINKS] = {SCHEMA("top_link", link_fields), "link_utilization",
			 2},
	[TABLE_PATHS] = {SCHEMA("top_path", path_fields), "samples", 1},
};

/* --- the functions of struct browse_tables -------------------------------- */

static uint32_t table_size(void *ctx, unsigned table)
{
	return telemetry_items(((struct top *)ctx)->t, tables[table].item);
}

static bool table_has(void *ctx, unsigned table, uint32_t i)
{
	const struct port_state *o;
	const struct top *top = ctx;

	if (table == TABLE_FLOWS)
		return telemetry_flow_at(top->t, i);
	if (table != TABLE_QUEUES && table != TABLE_LINKS)
		return i < table_size(ctx, table);
	o = telemetry_port_at(top->t, i);
	return o &&
	       (o->metric == METRIC_LINK_UTILIZATION) == (table == TABLE_LINKS);
}

/* Sums up the ports of each node. */
static int begin_round(void *ctx)
{
	struct top *top = ctx;
	uint32_t nodes = telemetry_items(top->t, TELEMETRY_NODE);
	uint32_t ports = telemetry_items(top->t, TELEMETRY_PORT);
	const struct node *first = telemetry_node_at(top->t, 0);
	struct node_now *now;

	if (nodes > top->nodes) {
		if (!(now = realloc(top->now, nodes * sizeof(*now))))
			return -ENOMEM;
		top->now = now;
		top->nodes = nodes;
	}
	if (nodes)
		memset(top->now, 0, nodes * sizeof(*top->now));
	for (uint32_t i = 0; i < ports; i++) {
		const struct port_state *o = telemetry_port_at(top->t, i);
		struct node_now *n;

		if (o->node < first || o->node >= first + nodes)
			continue; /* there was no room for its node */
		n = &top->now[o->node - first];
		n->n[o->metric]++;
		if (o->latest > n->value[o->metric])
			n->value[o->metric] = o->latest;
	}
	return 0;
}

/* If only flows are asked for, to sort by: the key, not its text. */
static void put_row(void *ctx, unsigned table, uint32_t i, unsigned only,
		    struct row_batch *b)
{
	const struct top *top = ctx;
	const struct flow_entry *f;

	if (table == TABLE_FLOWS && only == F_FLOW) {
		f = telemetry_flow_at(top->t, i);
		row_batch_bytes(b, F_FLOW, f->key, f->key_len);
		return;
	}
	for (unsigned c = 0; c < shown[table].schema->n; c++)
		if (only == BROWSE_ALL || only == c)
			tables[table].put(top, i, c, b);
}

static void set_rates(struct top *top)
{
	const struct telemetry_ledger *l = telemetry_counters(top->t);
	struct counts now = {clock_ns(), l->views, l->hops, l->events};
	uint64_t ns = now.at_ns - top->before.at_ns;
	double seconds = (double)ns / 1e9;

	if (ns < top->o->top.every_ns / 2 + 1)
		return; /* drawn early, because of a key press */
	top->rate = (struct counts){
		.views = (uint64_t)((double)(now.views - top->before.views) /
				    seconds),
		.hops = (uint64_t)((double)(now.hops - top->before.hops) /
				   seconds),
		.events = (uint64_t)((double)(now.events - top->before.events) /
				     seconds),
	};
	top->before = now;
}

static void draw_head(void *ctx, unsigned table, bool ended,
		      char line[2][BROWSE_LINE])
{
	const struct top *top = ctx;
	const struct telemetry_ledger *l = telemetry_counters(top->t);
	const struct flows_ledger *f = telemetry_flows(top->t);
	const char *from = top->o->read ? top->o->read : top->o->live.name;

	set_rates(ctx);
	snprintf(line[0], BROWSE_LINE,
		 "int-collect %s: %s%s; a second: %" PRIu64 " views, %" PRIu64
		 " hops, %" PRIu64 " events",
		 from, table_names[table], ended ? ", the input has ended" : "",
		 top->rate.views, top->rate.hops, top->rate.events);
	snprintf(line[1], BROWSE_LINE,
		 "views %" PRIu64 " = %" PRIu64 " used + %" PRIu64
		 " empty; events %" PRIu64 "; reports lost %" PRIu64
		 "; flows %" PRIu64 " = %" PRIu64 " live + %" PRIu64
		 " evicted + %" PRIu64 " expired",
		 l->views, l->used, l->empty, l->events, l->reports_lost,
		 f->created, f->live, f->evicted, f->expired);
}

static const struct browse_tables browsed = {.names = table_names,
					     .table = shown,
					     .begin = begin_round,
					     .size = table_size,
					     .has = table_has,
					     .row = put_row,
					     .head = draw_head};

struct top *top_open(const struct opts *o, struct telemetry *t,
		     struct databases *databases, struct cli_loop *loop)
{
	struct top *top = cli_allocated(calloc(1, sizeof(*top)));

	top->o = o;
	top->t = t;
	top->databases = databases;
	top->loop = loop;
	top->before.at_ns = clock_ns();
	top->browse = browse_open(&browsed, top, &o->top, o->format);
	return top;
}

bool top_turn(struct top *top, bool idle)
{
	return browse_update(top->browse, idle);
}

static void look_while_browsing(void *ctx)
{
	struct top *top = ctx;

	databases_warn(top->databases);
	cli_loop_housekeeping(top->loop);
}

int top_end(struct top *top)
{
	return browse_end(top->browse, look_while_browsing);
}

void top_close(struct top *top)
{
	if (!top)
		return;
	browse_close(top->browse);
	free(top->now);
	free(top);
}
