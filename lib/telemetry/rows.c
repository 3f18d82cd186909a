/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.c - schemas; names of events and metrics; makes rows of values. */
#include "telemetry/rows.h"

#include <errno.h>
#include <string.h>

/* A row's fields are set in the order of its schema. */

static const struct row_field event_fields[] = {
	{"time", ROW_TIME, 20, ROW_WHEN},
	{"event", ROW_STR, 11, ROW_TAG},
	{"metric", ROW_STR, 21, ROW_TAG},
	{"node", ROW_U64, 6, ROW_TAG},
	{"port", ROW_U64, 5, ROW_TAG},
	{"queue", ROW_U64, 5, ROW_TAG},
	{"buffer", ROW_U64, 6, ROW_TAG, .spare = true},
	{"hw_id", ROW_U64, 5, ROW_TAG, .spare = true},
	{"flow", ROW_STR, 36, .flow = 1},
	{"value", ROW_U64, 10},
	{"reference", ROW_U64, 10, .spare = 1},
	{"threshold", ROW_U64, 10, .spare = 1},
	{"path", ROW_LIST, 12, .spare = true},
	{"old_path", ROW_LIST, 0, .spare = 1},
	{"ingress_port", ROW_U64, 12, ROW_TAG, .spare = 1},
};

static const struct row_field value_fields[] = {
	{"time", ROW_TIME, 20, ROW_WHEN},
	{"metric", ROW_STR, 21, ROW_TAG},
	{"node", ROW_U64, 6, ROW_TAG},
	{"port", ROW_U64, 5, ROW_TAG},
	{"queue", ROW_U64, 5, ROW_TAG},
	{"buffer", ROW_U64, 6, ROW_TAG, .spare = true},
	{"flow", ROW_STR, 36, .flow = 1},
	{"value", ROW_U64, 10},
	{"path", ROW_LIST, 0, .spare = true},
};

static const struct row_field flow_fields[] = {
	{"time", ROW_TIME, 20, ROW_WHEN},
	{"reason", ROW_STR, 7, ROW_TAG, .spare = 1},
	{"flow", ROW_STR, 36, .flow = 1},
	{"packets", ROW_U64, 8},
	{"bytes", ROW_U64, 10, ROW_VALUE, "bytes"},
	{"first", ROW_TIME, 20, .spare = 1},
	{"last", ROW_TIME, 20, .spare = 1},
	{"flow_latency", ROW_U64, 12, ROW_VALUE, "ns"},
	{"flow_latency_mean", ROW_F64, 17, ROW_VALUE, "ns", .spare = 1},
	{"flow_latency_max", ROW_U64, 16, ROW_VALUE, "ns", .spare = 1},
	{"path", ROW_LIST, 0, .spare = 1},
};

static const struct row_field hop_fields[] = {
	{"time", ROW_TIME, 20, ROW_WHEN},
	{"flow", ROW_STR, 36, .flow = 1},
	{"hop", ROW_U64, 3},
	{"node", ROW_U64, 6, ROW_TAG},
	{"port", ROW_U64, 5, ROW_TAG},
	{"queue", ROW_U64, 5, ROW_TAG},
	{"hop_latency", ROW_U64, 11, ROW_VALUE, "ns"},
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

static const double quantiles[] = {0.5, 0.9, 0.99, 0.999};

static const struct row_field distribution_fields[] = {
	{"time", ROW_TIME, 20, ROW_WHEN},
	{"metric", ROW_STR, 16, ROW_TAG},
	{"node", ROW_U64, 6, ROW_TAG},
	{"path_id", ROW_U64, 10, ROW_TAG, .spare = 1},
	{"path", ROW_LIST, 12, .spare = true},
	{"samples", ROW_U64, 9},
	{"p50_low", ROW_U64, 10, .spare = 1},
	{"p50_high", ROW_U64, 10},
	{"p90_low", ROW_U64, 10, .spare = 1},
	{"p90_high", ROW_U64, 10, .spare = 1},
	{"p99_low", ROW_U64, 10, .spare = 1},
	{"p99_high", ROW_U64, 10},
	{"p999_low", ROW_U64, 10, .spare = 1},
	{"p999_high", ROW_U64, 10, .spare = 1},
};

static const struct row_field bin_fields[] = {
	{"time", ROW_TIME, 20, ROW_WHEN}, {"metric", ROW_STR, 16, ROW_TAG},
	{"node", ROW_U64, 6, ROW_TAG},	  {"path_id", ROW_U64, 10, ROW_TAG},
	{"low", ROW_U64, 10, ROW_TAG},	  {"high", ROW_U64, 10},
	{"count", ROW_U64, 10},
};

static const struct row_field snapshot_fields[] = {
	{"time", ROW_TIME, 20, ROW_WHEN},
	{"node", ROW_U64, 6, ROW_TAG},
	{"schema", ROW_U64, 8, ROW_TAG, .spare = true},
	{"namespace", ROW_U64, 9, ROW_TAG, .spare = true},
	{"flow", ROW_STR, 36, .flow = 1},
	{"hop", ROW_U64, 3},
	{"data", ROW_BYTES, 8},
};

#define FIELDS(f) f, sizeof(f) / sizeof((f)[0])

const struct schema telemetry_schemas[ROWS_KINDS] = {
	[ROWS_EVENT] = {"int_event", FIELDS(event_fields)},
	[ROWS_VALUE] = {"int_value", FIELDS(value_fields)},
	[ROWS_FLOW] = {"int_flow", FIELDS(flow_fields)},
	[ROWS_HOP] = {"int_hop", FIELDS(hop_fields)},
	[ROWS_DISTRIBUTION] = {"int_distribution", FIELDS(distribution_fields)},
	[ROWS_BIN] = {"int_bin", FIELDS(bin_fields)},
	[ROWS_SNAPSHOT] = {"int_snapshot", FIELDS(snapshot_fields)},
};

const struct telemetry_event telemetry_event_none = {.metric = -1,
						     .node = NODE_UNKNOWN,
						     .egress = ID_UNKNOWN,
						     .queue = ID_UNKNOWN,
						     .buffer = ID_UNKNOWN,
						     .hw_id = -1,
						     .ingress = ID_UNKNOWN};

const char *const rows_kind_names[ROWS_KINDS + 1] = {
	"event", "value", "flow", "hop", "distribution", "bin", "snapshot",
};

const char *const event_names[EVENTS + 1] = {
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

int event_of(const char *name)
{
	return find_name(event_names, EVENTS, name);
}

const char *metric_name(enum metric m)
{
	return metrics[m];
}

int metric_of(const char *name)
{
	return find_name(metrics, METRICS, name);
}

int telemetry_rows_open(struct telemetry_rows *rs,
			const struct telemetry_sinks *s, unsigned batch_rows)
{
	*rs = (struct telemetry_rows){0};
	for (unsigned i = 0; i < ROWS_KINDS; i++) {
		if (!s->of[i])
			continue;
		if (!(rs->of[i] = rows_open(s->of[i], &telemetry_schemas[i],
					    batch_rows))) {
			telemetry_rows_close(rs);
			return -ENOMEM;
		}
	}
	return 0;
}

static void end_row(struct telemetry_rows *rs, struct rows *r)
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

void rows_set_nodes(struct row_batch *b, unsigned field, struct nodes nodes)
{
	uint64_t list[PATH_NODES_MAX];

	if (!nodes.n)
		return;
	for (unsigned i = 0; i < nodes.n; i++)
		list[i] = nodes.at[i] == NODE_UNKNOWN ? UINT32_MAX
						      : nodes.at[i];
	row_batch_list(b, field, list, nodes.n);
}

static void set_node(struct rows *r, unsigned field, uint64_t node)
{
	if (node != NODE_UNKNOWN)
		row_u64(r, field, node);
}

static void set_id(struct rows *r, unsigned field, uint32_t id)
{
	if (id != ID_UNKNOWN)
		row_u64(r, field, id);
}

static void set_value(struct rows *r, unsigned field, bool has, uint64_t v)
{
	if (has)
		row_u64(r, field, v);
}

/* From field i on, without the flow. Returns the next field. */
static unsigned set_metric_key(struct rows *r, unsigned i,
			       const struct telemetry_event *event)
{
	if (event->metric >= 0)
		row_str(r, i, metric_name((enum metric)event->metric));
	set_node(r, i + 1, event->node);
	set_id(r, i + 2, event->egress);
	set_id(r, i + 3, event->queue);
	set_id(r, i + 4, event->buffer);
	return i + 5;
}

void telemetry_row_event(struct telemetry_rows *rs,
			 const struct telemetry_event *event)
{
	struct rows *r = rs->of[ROWS_EVENT];
	unsigned i = 0;

	if (!r)
		return;
	row_time(r, i++, (int64_t)event->ts_ns);
	row_str(r, i++, event_names[event->kind]);
	i = set_metric_key(r, i, event);
	set_value(r, i++, event->hw_id >= 0, (uint64_t)event->hw_id);
	row_batch_flow(&r->b, i++, event->key, event->key_len);
	set_value(r, i++, event->has_value, event->value);
	set_value(r, i++, event->has_reference, event->reference);
	set_value(r, i++, event->has_threshold, event->threshold);
	rows_set_nodes(&r->b, i++, event->path);
	rows_set_nodes(&r->b, i++, event->old_path);
	set_id(r, i, event->ingress);
	end_row(rs, r);
}

void telemetry_row_value(struct telemetry_rows *rs,
			 const struct telemetry_event *event)
{
	struct rows *r = rs->of[ROWS_VALUE];
	unsigned i = 0;

	if (!r)
		return;
	row_time(r, i++, (int64_t)event->ts_ns);
	i = set_metric_key(r, i, event);
	row_batch_flow(&r->b, i++, event->key, event->key_len);
	set_value(r, i++, event->has_value, event->value);
	rows_set_nodes(&r->b, i, event->path);
	end_row(rs, r);
}

/* Sets two fields: the latest value and the mean. */
static void set_meter(struct rows *r, unsigned field, const struct meter *m)
{
	if (!m->n)
		return;
	row_u64(r, field, m->latest);
	row_f64(r, field + 1, (double)m->sum / m->n);
}

void telemetry_row_flow(struct telemetry_rows *rs, uint64_t ts_ns,
			const struct flow_entry *f, enum flow_leave why,
			struct nodes path)
{
	static const char *const reason[] = {
		[FLOW_EVICTED] = "evicted",
		[FLOW_EXPIRED] = "expired",
		[FLOW_FLUSHED] = "flushed",
	};
	struct rows *r = rs->of[ROWS_FLOW];
	unsigned i = 0;

	if (!r)
		return;
	row_time(r, i++, (int64_t)ts_ns);
	row_str(r, i++, reason[why]);
	row_batch_flow(&r->b, i++, f->key, f->key_len);
	row_u64(r, i++, f->packets);
	row_u64(r, i++, f->bytes);
	row_time(r, i++, (int64_t)f->first_ns);
	row_time(r, i++, (int64_t)f->last_ns);
	set_meter(r, i, &f->latency);
	set_value(r, i + 2, f->latency.n, f->latency_max);
	rows_set_nodes(&r->b, i + 3, path);
	end_row(rs, r);
}

void telemetry_row_hop(struct telemetry_rows *rs, uint64_t ts_ns,
		       const struct flow_entry *f, unsigned hop,
		       const struct hop_key *at, const struct flow_hop *h,
		       const struct flow_rare *rare)
{
	struct rows *r = rs->of[ROWS_HOP];
	unsigned i = 0;

	row_time(r, i++, (int64_t)ts_ns);
	row_batch_flow(&r->b, i++, f->key, f->key_len);
	set_value(r, i++, hop, hop);
	set_node(r, i++, at->node_id);
	set_id(r, i++, at->id[FIELD_EGRESS]);
	set_id(r, i++, at->id[FIELD_QUEUE]);
	for (unsigned m = 0; m < FLOW_METERS; m++, i += 2)
		set_meter(r, i, &h->meter[m]);
	for (unsigned m = 0; m < FLOW_RARE_METERS; m++, i += 2)
		set_meter(r, i, &rare->meter[m]);
	end_row(rs, r);
}

void telemetry_row_snapshot(struct telemetry_rows *rs,
			    const struct int_record *v, unsigned hop,
			    uint64_t node, uint32_t schema, const uint8_t *data,
			    size_t len)
{
	struct rows *r = rs->of[ROWS_SNAPSHOT];
	unsigned i = 0;

	row_time(r, i++, (int64_t)v->ts_ns);
	set_node(r, i++, node);
	row_u64(r, i++, schema);
	row_u64(r, i++, v->domain);
	row_batch_flow(&r->b, i++, v->key, v->key_len);
	row_u64(r, i++, hop);
	row_bytes(r, i, data, len);
	end_row(rs, r);
}

/* Sets time, metric, node, and the path's id: the low half of its hash. Returns
 * the next field. */
static unsigned set_distribution(struct rows *r, uint64_t ts_ns, enum metric m,
				 uint64_t node, struct nodes path)
{
	row_time(r, 0, (int64_t)ts_ns);
	row_str(r, 1, metric_name(m));
	set_node(r, 2, node);
	if (path.n)
		row_u64(r, 3, (uint32_t)path_hash(path.at, path.n));
	return 4;
}

void telemetry_row_distribution(struct telemetry_rows *rs, uint64_t ts_ns,
				enum metric m, uint64_t node, struct nodes path,
				const struct dist *d)
{
	struct rows *r = rs->of[ROWS_BIN];
	uint32_t low, high;
	unsigned i;

	for (uint32_t bin = 0; r && bin < DIST_BINS; bin++) {
		if (!d->count[bin])
			continue;
		dist_bounds(bin, &low, &high);
		i = set_distribution(r, ts_ns, m, node, path);
		row_u64(r, i++, low);
		row_u64(r, i++, high);
		row_u64(r, i, d->count[bin]);
		end_row(rs, r);
	}
	if (!(r = rs->of[ROWS_DISTRIBUTION]))
		return;
	i = set_distribution(r, ts_ns, m, node, path);
	rows_set_nodes(&r->b, i++, path);
	row_u64(r, i++, dist_samples(d));
	for (unsigned q = 0; q < sizeof(quantiles) / sizeof(quantiles[0]) &&
			     dist_quantile(d, quantiles[q], &low, &high);
	     q++) {
		row_u64(r, i++, low);
		row_u64(r, i++, high);
	}
	end_row(rs, r);
}
