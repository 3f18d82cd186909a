/* SPDX-License-Identifier: BSD-2-Clause */
/* telemetry_rig.h - views made by hand for the INT sink, and the rows it makes
 * of them, kept to be looked at. */
#ifndef TESTS_UNIT_TELEMETRY_RIG_H
#define TESTS_UNIT_TELEMETRY_RIG_H

#include <stdlib.h>
#include <string.h>

#include "telemetry/sink.h"
#include "test.h"
#include "net/key.h"

/* INT 2.1, and 0.5 where it has other words. */
static const struct int_word rig_words[16] = {
	[0] = {4, {{INT_NODE, 0, 4, 0}}},
	[1] = {4, {{INT_INGRESS, 0, 2, 0}, {INT_EGRESS, 2, 2, 0}}},
	[2] = {4, {{INT_LATENCY, 0, 4, 0}}},
	[3] = {4, {{INT_QUEUE, 0, 1, 0}, {INT_OCCUPANCY, 1, 3, 0}}},
	[4] = {8, {{INT_INGRESS_TIME, 0, 8, 0}}},
	[5] = {8, {{INT_EGRESS_TIME, 0, 8, 0}}},
	[7] = {4, {{INT_UTILIZATION, 0, 4, 0}}},
	[8] = {4, {{INT_BUFFER, 0, 1, 0}, {INT_BUFFER_OCCUPANCY, 1, 3, 0}}},
};

static const struct int_word rig_words05[16] = {
	[0] = {4, {{INT_NODE, 0, 4, 0}}},
	[1] = {4, {{INT_INGRESS, 0, 2, 0}, {INT_EGRESS, 2, 2, 0}}},
	[2] = {4, {{INT_LATENCY, 0, 4, 0}}},
	[3] = {4, {{INT_QUEUE, 0, 1, 0}, {INT_OCCUPANCY, 1, 3, 0}}},
	[4] = {4, {{INT_INGRESS_TIME, 0, 4, 0}}},
	[5] = {4, {{INT_EGRESS_TIME, 0, 4, 0}}},
	[6] = {4, {{INT_QUEUE, 0, 1, 0}, {INT_CONGESTION, 1, 3, 0}}},
	[7] = {4, {{INT_UTILIZATION, 0, 4, 0}}},
};

enum {
	RIG_NODE = 0x8000,
	RIG_PORTS = 0x4000,
	RIG_LATENCY = 0x2000,
	RIG_QUEUE = 0x1000,
	RIG_TIMES = 0x0c00,
	RIG_CONGESTION = 0x0200, /* of rig_words05 */
	RIG_UTILIZATION = 0x0100,
	RIG_BUFFER = 0x0080,
	RIG_HOPS = 256,
};

/* What a node says; NA in an id or a metric: all ones. */
struct rig_hop {
	uint64_t field[INT_FIELDS];
};

/* A view and its bytes. */
struct rig_view {
	struct int_record v;
	uint8_t stack[RIG_HOPS * 48], own[48];
};

static inline void rig_put(uint8_t *p, const struct int_layout *layout,
			   const struct rig_hop *h)
{
	memset(p, 0, layout->len);
	for (unsigned f = 0; f < INT_FIELDS; f++) {
		const struct int_part *part = &layout->part[f];

		if (!(layout->has & 1U << f))
			continue;
		for (unsigned i = 0; i < part->len; i++)
			p[part->at + i] = (uint8_t)(h->field[f] >>
						    8 * (part->len - 1 - i));
		if (h->field[f] == UINT32_MAX) /* not available */
			memset(p + part->word, 0xff, part->word_len);
	}
}

/* hops: the source's first. */
static inline void rig_make(struct rig_view *rv, uint64_t ts_ns, uint32_t flow,
			    const struct int_layout *layout,
			    const struct rig_hop *hops, unsigned n)
{
	memset(&rv->v, 0, sizeof(rv->v));
	rv->v.ts_ns = ts_ns;
	rv->v.key_len = KEY_FLOW4_LEN;
	rv->v.ip_len = 100;
	be32_store(rv->v.key, 0x0a000000 | flow);
	be32_store(rv->v.key + 4, 0x0a800001);
	be16_store(rv->v.key + 8, 1000);
	be16_store(rv->v.key + 10, 80);
	rv->v.key[12] = 6;
	rv->v.stack = (struct int_hops){.layout = n ? layout : NULL,
					.data = rv->stack,
					.len = layout->len,
					.n = (uint8_t)n};
	for (unsigned i = 0; i < n; i++)
		rig_put(rv->stack + (size_t)(n - 1 - i) * layout->len, layout,
			&hops[i]);
}

/* A report's number, and what its reporter says of itself, or NULL. */
static inline void rig_report(struct rig_view *rv, uint32_t node,
			      uint32_t sequence,
			      const struct int_layout *layout,
			      const struct rig_hop *own)
{
	rv->v.from = (struct int_from){.report = true,
				       .numbered = true,
				       .has_node = true,
				       .node = node,
				       .version = 2,
				       .sequence = sequence,
				       .sequence_bits = 22};
	if (!own)
		return;
	rv->v.own = (struct int_hops){
		.layout = layout, .data = rv->own, .len = layout->len, .n = 1};
	rig_put(rv->own, layout, own);
}

enum {
	RIG_LIST = 16,
};

/* A row: numbers that are null are -1, texts "". */
struct rig_row {
	char measurement[20], event[16], metric[24], flow[64], reason[12];
	int64_t ts, node, egress, queue, buffer, hw_id;
	int64_t value, reference, threshold, packets, hop, samples;
	int64_t latency, occupancy, flow_latency, count, low, high;
	double latency_mean, flow_latency_mean;
	uint64_t path[RIG_LIST], old_path[RIG_LIST];
	unsigned path_n, old_path_n;
};

struct rig_sink {
	struct row_sink sink;
	struct rig_row *row;
	size_t n, room;
};

static inline void rig_text(char *to, size_t size, const struct row_batch *b,
			    const struct row_cell *c)
{
	if (c->kind == ROW_STR)
		snprintf(to, size, "%s", (const char *)b->bytes + c->at);
}

static inline void rig_list(uint64_t *to, unsigned *n,
			    const struct row_batch *b, const struct row_cell *c)
{
	if (c->kind != ROW_LIST)
		return;
	*n = c->len;
	memcpy(to, b->bytes + c->at,
	       (c->len < RIG_LIST ? c->len : RIG_LIST) * sizeof(*to));
}

static inline void rig_number(struct rig_row *r, const char *name,
			      const struct row_cell *c)
{
	const struct {
		const char *name;
		int64_t *to;
	} at[] = {
		{"time", &r->ts},
		{"node", &r->node},
		{"port", &r->egress},
		{"queue", &r->queue},
		{"buffer", &r->buffer},
		{"hw_id", &r->hw_id},
		{"value", &r->value},
		{"reference", &r->reference},
		{"threshold", &r->threshold},
		{"packets", &r->packets},
		{"hop", &r->hop},
		{"samples", &r->samples},
		{"hop_latency", &r->latency},
		{"queue_occupancy", &r->occupancy},
		{"flow_latency", &r->flow_latency},
		{"count", &r->count},
		{"low", &r->low},
		{"high", &r->high},
	};

	for (unsigned i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		if (!strcmp(name, at[i].name))
			*at[i].to = c->kind == ROW_NULL ? -1 : c->i64;
	if (c->kind == ROW_F64 && !strcmp(name, "hop_latency_mean"))
		r->latency_mean = c->f64;
	if (c->kind == ROW_F64 && !strcmp(name, "flow_latency_mean"))
		r->flow_latency_mean = c->f64;
}

static inline void rig_cell(struct rig_row *r, const char *name,
			    const struct row_batch *b, const struct row_cell *c)
{
	if (!strcmp(name, "event"))
		rig_text(r->event, sizeof(r->event), b, c);
	else if (!strcmp(name, "metric"))
		rig_text(r->metric, sizeof(r->metric), b, c);
	else if (!strcmp(name, "flow"))
		rig_text(r->flow, sizeof(r->flow), b, c);
	else if (!strcmp(name, "reason"))
		rig_text(r->reason, sizeof(r->reason), b, c);
	else if (!strcmp(name, "path"))
		rig_list(r->path, &r->path_n, b, c);
	else if (!strcmp(name, "old_path"))
		rig_list(r->old_path, &r->old_path_n, b, c);
	else
		rig_number(r, name, c);
}

static inline int rig_take(struct row_sink *sink, struct row_batch *b)
{
	struct rig_sink *s = (struct rig_sink *)sink;

	for (unsigned i = 0; i < b->rows; i++) {
		struct rig_row *r;

		if (s->n == s->room) {
			s->room = s->room ? 2 * s->room : 1024;
			s->row = realloc(s->row, s->room * sizeof(*s->row));
			if (!s->row)
				abort();
		}
		r = &s->row[s->n++];
		memset(r, 0, sizeof(*r));
		snprintf(r->measurement, sizeof(r->measurement), "%s",
			 b->schema->name);
		for (unsigned k = 0; k < b->schema->n; k++)
			rig_cell(r, b->schema->fields[k].name, b,
				 row_batch_cell(b, i, k));
	}
	return 0;
}

static inline int rig_nothing(struct row_sink *sink)
{
	(void)sink;
	return 0;
}

/* The sink under test, small, with everything that it tells. */
struct rig {
	struct telemetry *t;
	struct telemetry_options o;
	struct telemetry_thresholds th;
	struct rig_sink out;
	struct telemetry_sinks sinks;
};

static inline void rig_init(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	telemetry_defaults(&rig->o);
	rig->o.flows.rows = 1024;
	rig->o.flows.buckets = 4;
	rig->o.batch_rows = 1;
	rig->o.push_ns = 0;
	rig->o.flows.idle_ns = 0;
	for (unsigned m = 0; m < NUMERIC_METRICS; m++)
		rig->th.all[m].change = THRESHOLD_OFF;
	rig->out.sink = (struct row_sink){rig_take, rig_nothing, rig_nothing};
	for (unsigned i = 0; i < ROWS_KINDS; i++)
		rig->sinks.of[i] = &rig->out.sink;
}

static inline void rig_open(struct rig *rig)
{
	if (telemetry_open(&rig->t, &rig->o, &rig->th, &rig->sinks))
		abort();
}

static inline void rig_close(struct rig *rig)
{
	telemetry_close(rig->t);
	free(rig->out.row);
	rig->out = (struct rig_sink){rig->out.sink};
}

/* Whether a hop has told its latency, as the first of its node. */
static inline bool rig_has_key(const struct telemetry *t, struct flow_entry *f,
			       unsigned k)
{
	const struct meter *of[HOP_METRICS], *first[HOP_METRICS];
	const struct hop_key *p = telemetry_flow_hop(t, f, k, of), *before;

	for (unsigned i = 0; p && i < k; i++) {
		before = telemetry_flow_hop(t, f, i, first);
		if (before && before->node_id == p->node_id &&
		    first[METRIC_HOP_LATENCY]->n)
			return false;
	}
	return p && of[METRIC_HOP_LATENCY]->n;
}

/* Live metric keys: K of INTCollector, section V-B2. */
static inline uint64_t rig_keys(const struct telemetry *t)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < telemetry_items(t, TELEMETRY_PORT); i++)
		n += telemetry_port_at(t, i) != NULL;
	for (uint32_t i = 0; i < telemetry_items(t, TELEMETRY_FLOW); i++) {
		struct flow_entry *f = telemetry_flow_at(t, i);

		if (!f)
			continue;
		n += (f->hops > 0) + (f->latency.n > 0);
		for (unsigned k = 0; k < f->kept; k++)
			n += rig_has_key(t, f, k);
	}
	return n;
}

/* How many rows there are of a measurement, an event, a metric; NULL: any. */
static inline unsigned rig_count(const struct rig *rig, const char *measurement,
				 const char *event, const char *metric)
{
	unsigned n = 0;

	for (size_t i = 0; i < rig->out.n; i++) {
		const struct rig_row *r = &rig->out.row[i];

		n += (!measurement || !strcmp(r->measurement, measurement)) &&
		     (!event || !strcmp(r->event, event)) &&
		     (!metric || !strcmp(r->metric, metric));
	}
	return n;
}

/* The last of them; all null if there is none. */
static inline const struct rig_row *rig_last(const struct rig *rig,
					     const char *measurement,
					     const char *event,
					     const char *metric)
{
	static const struct rig_row none = {.value = -1, .node = -1};

	for (size_t i = rig->out.n; i; i--) {
		const struct rig_row *r = &rig->out.row[i - 1];

		if ((!measurement || !strcmp(r->measurement, measurement)) &&
		    (!event || !strcmp(r->event, event)) &&
		    (!metric || !strcmp(r->metric, metric)))
			return r;
	}
	return &none;
}

/* A hop that tells ids 1 and 2, occupancy 30 and utilization 40. */
static inline struct rig_hop rig_hop_of(uint64_t node, uint64_t latency)
{
	struct rig_hop h = {0};

	h.field[INT_NODE] = node;
	h.field[INT_EGRESS] = 1;
	h.field[INT_LATENCY] = latency;
	h.field[INT_QUEUE] = 2;
	h.field[INT_OCCUPANCY] = 30;
	h.field[INT_UTILIZATION] = 40;
	return h;
}

/* A packet along some nodes, each with the same latency. */
static inline void rig_send(struct rig *rig, const struct int_layout *layout,
			    uint64_t ts, uint32_t flow, const uint64_t *node,
			    unsigned n, uint64_t latency)
{
	static struct rig_view rv;
	struct rig_hop hop[RIG_HOPS];

	for (unsigned i = 0; i < n; i++)
		hop[i] = rig_hop_of(node[i], latency);
	rig_make(&rv, ts, flow, layout, hop, n);
	TEST(!telemetry_add_records(rig->t, &rv.v, 1));
}

#endif
