/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/rows.h"

#include <errno.h>
#include <string.h>

#include "telemetry/flows.h"

enum {
	E_TIME,
	E_EVENT,
	E_METRIC,
	E_NODE,
	E_EGRESS,
	E_QUEUE,
	E_BUFFER,
	E_HW_ID,
	E_FLOW,
	E_VALUE,
	E_REFERENCE,
	E_THRESHOLD,
	E_PATH,
	E_OLD_PATH,
	E_INGRESS,
};

static const struct row_field event_fields[] = {
	[E_TIME] = {"time", ROW_TIME, 20, ROW_WHEN},
	[E_EVENT] = {"event", ROW_STR, 11, ROW_TAG},
	[E_METRIC] = {"metric", ROW_STR, 21, ROW_TAG},
	[E_NODE] = {"node", ROW_U64, 6, ROW_TAG},
	[E_EGRESS] = {"egress", ROW_U64, 6, ROW_TAG},
	[E_QUEUE] = {"queue", ROW_U64, 5, ROW_TAG},
	[E_BUFFER] = {"buffer", ROW_U64, 6, ROW_TAG, .spare = true},
	[E_HW_ID] = {"hw_id", ROW_U64, 5, ROW_TAG, .spare = true},
	[E_FLOW] = {"flow", ROW_STR, 36},
	[E_VALUE] = {"value", ROW_U64, 10},
	[E_REFERENCE] = {"reference", ROW_U64, 10, .spare = 1},
	[E_THRESHOLD] = {"threshold", ROW_U64, 10, .spare = 1},
	[E_PATH] = {"path", ROW_LIST, 12, .spare = true},
	[E_OLD_PATH] = {"old_path", ROW_LIST, 0, .spare = 1},
	[E_INGRESS] = {"ingress", ROW_U64, 7, ROW_TAG, .spare = 1},
};

enum {
	V_TIME,
	V_METRIC,
	V_NODE,
	V_EGRESS,
	V_QUEUE,
	V_BUFFER,
	V_FLOW,
	V_VALUE,
	V_PATH,
};

static const struct row_field value_fields[] = {
	[V_TIME] = {"time", ROW_TIME, 20, ROW_WHEN},
	[V_METRIC] = {"metric", ROW_STR, 21, ROW_TAG},
	[V_NODE] = {"node", ROW_U64, 6, ROW_TAG},
	[V_EGRESS] = {"egress", ROW_U64, 6, ROW_TAG},
	[V_QUEUE] = {"queue", ROW_U64, 5, ROW_TAG},
	[V_BUFFER] = {"buffer", ROW_U64, 6, ROW_TAG, .spare = true},
	[V_FLOW] = {"flow", ROW_STR, 36},
	[V_VALUE] = {"value", ROW_U64, 10},
	[V_PATH] = {"path", ROW_LIST, 0, .spare = true},
};

enum {
	F_TIME,
	F_REASON,
	F_FLOW,
	F_PACKETS,
	F_BYTES,
	F_FIRST,
	F_LAST,
	F_LATENCY,
	F_LATENCY_MEAN,
	F_PATH,
};

static const struct row_field flow_fields[] = {
	[F_TIME] = {"time", ROW_TIME, 20, ROW_WHEN},
	[F_REASON] = {"reason", ROW_STR, 7, ROW_TAG, .spare = 1},
	[F_FLOW] = {"flow", ROW_STR, 36},
	[F_PACKETS] = {"packets", ROW_U64, 8},
	[F_BYTES] = {"bytes", ROW_U64, 10, ROW_VALUE, "bytes"},
	[F_FIRST] = {"first", ROW_TIME, 20, .spare = 1},
	[F_LAST] = {"last", ROW_TIME, 20, .spare = 1},
	[F_LATENCY] = {"flow_latency", ROW_U64, 12, ROW_VALUE, "ns"},
	[F_LATENCY_MEAN] = {"flow_latency_mean", ROW_F64, 17, ROW_VALUE, "ns",
			    .spare = 1},
	[F_PATH] = {"path", ROW_LIST, 0, .spare = 1},
};

/* Metrics follow, each with its mean, in their order. */
enum {
	H_TIME,
	H_FLOW,
	H_HOP,
	H_NODE,
	H_EGRESS,
	H_QUEUE,
	H_METRICS,
};

static const struct row_field hop_fields[] = {
	[H_TIME] = {"time", ROW_TIME, 20, ROW_WHEN},
	[H_FLOW] = {"flow", ROW_STR, 36},
	[H_HOP] = {"hop", ROW_U64, 3},
	[H_NODE] = {"node", ROW_U64, 6, ROW_TAG},
	[H_EGRESS] = {"egress", ROW_U64, 6, ROW_TAG},
	[H_QUEUE] = {"queue", ROW_U64, 5, ROW_TAG},
	[H_METRICS] = {"hop_latency", ROW_U64, 11, ROW_VALUE, "ns"},
	{"hop_latency_mean", ROW_F64, 16, ROW_VALUE, "ns", .spare = 1},
	{"queue_occupancy", ROW_U64, 15},
	{"queue_occupancy_mean", ROW_F64, 20, .spare = 1},
	{"link_utilization", ROW_U64, 16, .spare = 1},
	{"link_utilization_mean", ROW_F64, 21, .spare = 1},
	{"queue_congestion", ROW_U64, 16, .spare = 1},
	{"queue_congestion_mean", ROW_F64, 21, .spare = 1},
	{"buffer_occupancy", ROW_U64, 16, .spare = 1},
	{"buffer_occupancy_mean", ROW_F64, 21, .spare = 1},
};

enum {
	D_TIME,
	D_METRIC,
	D_NODE,
	D_PATH_ID,
	D_PATH,
	D_SAMPLES,
	D_QUANTILES, /* each low and high */
};

static const double quantiles[] = {0.5, 0.9, 0.99, 0.999};

static const struct row_field distribution_fields[] = {
	[D_TIME] = {"time", ROW_TIME, 20, ROW_WHEN},
	[D_METRIC] = {"metric", ROW_STR, 16, ROW_TAG},
	[D_NODE] = {"node", ROW_U64, 6, ROW_TAG},
	[D_PATH_ID] = {"path_id", ROW_U64, 10, ROW_TAG, .spare = 1},
	[D_PATH] = {"path", ROW_LIST, 12, .spare = true},
	[D_SAMPLES] = {"samples", ROW_U64, 9},
	[D_QUANTILES] = {"p50_low", ROW_U64, 10, .spare = 1},
	{"p50_high", ROW_U64, 10},
	{"p90_low", ROW_U64, 10, .spare = 1},
	{"p90_high", ROW_U64, 10, .spare = 1},
	{"p99_low", ROW_U64, 10, .spare = 1},
	{"p99_high", ROW_U64, 10},
	{"p999_low", ROW_U64, 10, .spare = 1},
	{"p999_high", ROW_U64, 10, .spare = 1},
};

enum {
	B_TIME,
	B_METRIC,
	B_NODE,
	B_PATH_ID,
	B_LOW,
	B_HIGH,
	B_COUNT,
};

static const struct row_field bin_fields[] = {
	[B_TIME] = {"time", ROW_TIME, 20, ROW_WHEN},
	[B_METRIC] = {"metric", ROW_STR, 16, ROW_TAG},
	[B_NODE] = {"node", ROW_U64, 6, ROW_TAG},
	[B_PATH_ID] = {"path_id", ROW_U64, 10, ROW_TAG},
	[B_LOW] = {"low", ROW_U64, 10, ROW_TAG},
	[B_HIGH] = {"high", ROW_U64, 10},
	[B_COUNT] = {"count", ROW_U64, 10},
};

enum {
	T_TIME,
	T_NODE,
	T_SCHEMA,
	T_NAMESPACE,
	T_FLOW,
	T_HOP,
	T_DATA,
};

static const struct row_field snapshot_fields[] = {
	[T_TIME] = {"time", ROW_TIME, 20, ROW_WHEN},
	[T_NODE] = {"node", ROW_U64, 6, ROW_TAG},
	[T_SCHEMA] = {"schema", ROW_U64, 8, ROW_TAG, .spare = true},
	[T_NAMESPACE] = {"namespace", ROW_U64, 9, ROW_TAG, .spare = true},
	[T_FLOW] = {"flow", ROW_STR, 36},
	[T_HOP] = {"hop", ROW_U64, 3},
	[T_DATA] = {"data", ROW_BYTES, 8},
};

#define FIELDS(f) f, sizeof(f) / sizeof((f)[0])

static const struct schema schemas[ROWS_KINDS] = {
	[ROWS_EVENT] = {"int_event", FIELDS(event_fields)},
	[ROWS_VALUE] = {"int_value", FIELDS(value_fields)},
	[ROWS_FLOW] = {"int_flow", FIELDS(flow_fields)},
	[ROWS_HOP] = {"int_hop", FIELDS(hop_fields)},
	[ROWS_DISTRIBUTION] = {"int_distribution", FIELDS(distribution_fields)},
	[ROWS_BIN] = {"int_bin", FIELDS(bin_fields)},
	[ROWS_SNAPSHOT] = {"int_snapshot", FIELDS(snapshot_fields)},
};

const struct telemetry_event telemetry_event_none = {
	.metric = -1,
	.node = NODE_UNKNOWN,
	.egress = METRIC_NONE,
	.queue = METRIC_NONE,
	.buffer = METRIC_NONE,
	.hw_id = -1,
	.ingress = METRIC_NONE,
};

static const char *const kinds[EVENTS] = {
	[EVENT_NEW_KEY] = "new_key",
	[EVENT_CHANGE] = "change",
	[EVENT_RISE] = "rise",
	[EVENT_FALL] = "fall",
	[EVENT_PATH_CHANGE] = "path_change",
	[EVENT_LOOP] = "loop",
	[EVENT_REPORT_LOSS] = "report_loss",
	[EVENT_RESTART] = "restart",
	[EVENT_DROP] = "drop",
};

static const char *const metrics[METRICS] = {
	[METRIC_HOP_LATENCY] = "hop_latency",
	[METRIC_QUEUE_OCCUPANCY] = "queue_occupancy",
	[METRIC_LINK_UTILIZATION] = "link_utilization",
	[METRIC_QUEUE_CONGESTION] = "queue_congestion",
	[METRIC_BUFFER_OCCUPANCY] = "buffer_occupancy",
	[METRIC_FLOW_LATENCY] = "flow_latency",
	[METRIC_PATH] = "path",
	[METRIC_FLOW_QUEUE_OCCUPANCY] = "flow_queue_occupancy",
	[METRIC_FLOW_LINK_UTILIZATION] = "flow_link_utilization",
	[METRIC_FLOW_QUEUE_CONGESTION] = "flow_queue_congestion",
	[METRIC_FLOW_BUFFER_OCCUPANCY] = "flow_buffer_occupancy",
};

static int find_name(const char *const *names, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

const char *event_name(enum telemetry_kind k)
{
	return kinds[k];
}

int event_of(const char *name)
{
	return find_name(kinds, EVENTS, name);
}

const char *metric_name(enum metric m)
{
	return metrics[m];
}

int metric_of(const char *name)
{
	return find_name(metrics, METRICS, name);
}

const char *rows_kind_name(enum rows_kind k)
{
	return schemas[k].name + strlen("int_");
}

int telemetry_rows_open(struct telemetry_rows *rs,
			const struct telemetry_sinks *s, unsigned gather)
{
	struct row_sink *to[ROWS_KINDS];

	_Static_assert(sizeof(to) == sizeof(*s), "a sink for each kind");
	memcpy(to, s, sizeof(to));
	*rs = (struct telemetry_rows){0};
	for (unsigned i = 0; i < ROWS_KINDS; i++) {
		if (!to[i])
			continue;
		if (!(rs->of[i] = rows_open(to[i], &schemas[i], gather))) {
			telemetry_rows_close(rs);
			return -ENOMEM;
		}
	}
	return 0;
}

static void end(struct telemetry_rows *rs, struct rows *r)
{
	int rc = row_end(r);

	if (!rs->err)
		rs->err = rc;
}

int telemetry_rows_flush(struct telemetry_rows *rs)
{
	for (unsigned i = 0; i < ROWS_KINDS; i++) {
		int rc = rs->of[i] ? rows_flush(rs->of[i]) : 0;

		if (!rs->err)
			rs->err = rc;
	}
	return rs->err;
}

void telemetry_rows_close(struct telemetry_rows *rs)
{
	for (unsigned i = 0; i < ROWS_KINDS; i++)
		rows_close(rs->of[i]);
	*rs = (struct telemetry_rows){0};
}

static void set_nodes(struct rows *r, unsigned field, struct nodes nodes)
{
	uint64_t list[PATH_NODES_MAX];

	if (!nodes.n)
		return;
	for (unsigned i = 0; i < nodes.n; i++)
		list[i] = rows_node(nodes.at[i]);
	row_list(r, field, list, nodes.n);
}

static void set_flow(struct rows *r, unsigned field, const uint8_t *key,
		     uint8_t len)
{
	char text[KEY_TEXT_MAX];

	key_format(text, len == KEY_FLOW4_LEN ? KEY_FLOW4 : KEY_FLOW6, key,
		   len);
	row_str(r, field, text);
}

static void set_node(struct rows *r, unsigned field, uint64_t node)
{
	if (node != NODE_UNKNOWN)
		row_u64(r, field, node);
}

static void set_id(struct rows *r, unsigned field, uint32_t id)
{
	if (id != METRIC_NONE)
		row_u64(r, field, id);
}

/* metric to flow have one order in events and values. */
static void set_subject(struct rows *r, unsigned metric, unsigned flow,
			const struct telemetry_event *what)
{
	if (what->metric >= 0)
		row_str(r, metric, metric_name((enum metric)what->metric));
	set_node(r, metric + V_NODE - V_METRIC, what->node);
	set_id(r, metric + V_EGRESS - V_METRIC, what->egress);
	set_id(r, metric + V_QUEUE - V_METRIC, what->queue);
	set_id(r, metric + V_BUFFER - V_METRIC, what->buffer);
	if (what->key)
		set_flow(r, flow, what->key, what->key_len);
}

void telemetry_row_event(struct telemetry_rows *rs,
			 const struct telemetry_event *what)
{
	struct rows *r = rs->of[ROWS_EVENT];

	if (!r)
		return;
	row_time(r, E_TIME, (int64_t)what->ts_ns);
	row_str(r, E_EVENT, event_name((enum telemetry_kind)what->kind));
	set_subject(r, E_METRIC, E_FLOW, what);
	if (what->hw_id >= 0)
		row_u64(r, E_HW_ID, (uint64_t)what->hw_id);
	if (what->has_value)
		row_u64(r, E_VALUE, what->value);
	if (what->has_reference)
		row_u64(r, E_REFERENCE, what->reference);
	if (what->has_threshold)
		row_u64(r, E_THRESHOLD, what->threshold);
	set_nodes(r, E_PATH, what->path);
	set_nodes(r, E_OLD_PATH, what->old_path);
	set_id(r, E_INGRESS, what->ingress);
	end(rs, r);
}

void telemetry_row_value(struct telemetry_rows *rs,
			 const struct telemetry_event *what)
{
	struct rows *r = rs->of[ROWS_VALUE];

	if (!r)
		return;
	row_time(r, V_TIME, (int64_t)what->ts_ns);
	set_subject(r, V_METRIC, V_FLOW, what);
	if (what->has_value)
		row_u64(r, V_VALUE, what->value);
	set_nodes(r, V_PATH, what->path);
	end(rs, r);
}

/* A number and behind it its mean. */
static void set_meter(struct rows *r, unsigned field, const struct meter *m)
{
	if (!m->n)
		return;
	row_u64(r, field, m->latest);
	row_f64(r, field + 1, (double)m->sum / m->n);
}

void telemetry_row_flow(struct telemetry_rows *rs, uint64_t ts_ns,
			const struct flow_entry *f, enum flow_leaves why,
			struct nodes path)
{
	static const char *const reason[] = {
		[FLOW_EVICTED] = "evicted",
		[FLOW_EXPIRED] = "expired",
		[FLOW_FLUSHED] = "flushed",
	};
	struct rows *r = rs->of[ROWS_FLOW];

	if (!r)
		return;
	row_time(r, F_TIME, (int64_t)ts_ns);
	row_str(r, F_REASON, reason[why]);
	set_flow(r, F_FLOW, f->key, f->key_len);
	row_u64(r, F_PACKETS, f->packets);
	row_u64(r, F_BYTES, f->bytes);
	row_time(r, F_FIRST, (int64_t)f->first_ns);
	row_time(r, F_LAST, (int64_t)f->last_ns);
	set_meter(r, F_LATENCY, &f->latency);
	set_nodes(r, F_PATH, path);
	end(rs, r);
}

void telemetry_row_hop(struct telemetry_rows *rs, uint64_t ts_ns,
		       const struct flow_entry *f, unsigned hop, uint64_t node,
		       uint32_t egress, uint32_t queue,
		       const struct flow_hop *h, const struct flow_wide *wide)
{
	struct rows *r = rs->of[ROWS_HOP];

	if (!r)
		return;
	row_time(r, H_TIME, (int64_t)ts_ns);
	set_flow(r, H_FLOW, f->key, f->key_len);
	if (hop)
		row_u64(r, H_HOP, hop);
	set_node(r, H_NODE, node);
	set_id(r, H_EGRESS, egress);
	set_id(r, H_QUEUE, queue);
	for (unsigned m = 0; m < FLOW_METERS; m++)
		set_meter(r, H_METRICS + 2 * m, &h->meter[m]);
	for (unsigned m = 0; m < FLOW_WIDE; m++)
		set_meter(r, H_METRICS + 2 * (FLOW_METERS + m),
			  &wide->meter[m]);
	end(rs, r);
}

void telemetry_row_snapshot(struct telemetry_rows *rs,
			    const struct int_record *v, unsigned hop,
			    uint64_t node, uint32_t schema, const uint8_t *data,
			    size_t len)
{
	struct rows *r = rs->of[ROWS_SNAPSHOT];

	row_time(r, T_TIME, (int64_t)v->ts_ns);
	set_node(r, T_NODE, node);
	row_u64(r, T_SCHEMA, schema);
	row_u64(r, T_NAMESPACE, v->domain);
	if (v->key_len)
		set_flow(r, T_FLOW, v->key, v->key_len);
	row_u64(r, T_HOP, hop);
	row_bytes(r, T_DATA, data, len);
	end(rs, r);
}

/* The low half of what the nodes of a path hash to. */
static void set_path_id(struct rows *r, unsigned field, struct nodes path)
{
	if (path.n)
		row_u64(r, field, (uint32_t)path_hash(path.at, path.n));
}

static void row_bins(struct telemetry_rows *rs, uint64_t ts_ns, enum metric m,
		     uint64_t node, struct nodes path, const struct dist *d)
{
	struct rows *r = rs->of[ROWS_BIN];

	for (uint32_t bin = 0; r && bin < DIST_BINS; bin++) {
		uint32_t low, high;

		if (!d->count[bin])
			continue;
		dist_bounds(bin, &low, &high);
		row_time(r, B_TIME, (int64_t)ts_ns);
		row_str(r, B_METRIC, metric_name(m));
		set_node(r, B_NODE, node);
		set_path_id(r, B_PATH_ID, path);
		row_u64(r, B_LOW, low);
		row_u64(r, B_HIGH, high);
		row_u64(r, B_COUNT, d->count[bin]);
		end(rs, r);
	}
}

void telemetry_row_distribution(struct telemetry_rows *rs, uint64_t ts_ns,
				enum metric m, uint64_t node, struct nodes path,
				const struct dist *d)
{
	struct rows *r = rs->of[ROWS_DISTRIBUTION];

	row_bins(rs, ts_ns, m, node, path, d);
	if (!r)
		return;
	row_time(r, D_TIME, (int64_t)ts_ns);
	row_str(r, D_METRIC, metric_name(m));
	set_node(r, D_NODE, node);
	set_path_id(r, D_PATH_ID, path);
	set_nodes(r, D_PATH, path);
	row_u64(r, D_SAMPLES, dist_samples(d));
	for (unsigned i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]);
	     i++) {
		uint32_t low, high;

		if (!dist_quantile(d, quantiles[i], &low, &high))
			break;
		row_u64(r, D_QUANTILES + 2 * i, low);
		row_u64(r, D_QUANTILES + 2 * i + 1, high);
	}
	end(rs, r);
}
