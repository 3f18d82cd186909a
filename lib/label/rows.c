/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.c - the rows: each function sets the fields in their schema's order. */
#include "label/rows.h"

static const struct row_field interval_fields[] = {
	{"time", ROW_TIME, 20, ROW_WHEN},
	{"ports", ROW_U64, 6, .spare = 1},
	{"covered", ROW_U64, 7, .spare = 1},
	{"coverage", ROW_F64, 8, ROW_VALUE, "%"},
	{"packets", ROW_U64, 8},
	{"labels", ROW_U64, 8},
	{"late", ROW_U64, 5, .spare = 1},
	{"odd", ROW_U64, 4, .spare = 1},
	{"missing", ROW_U64, 7},
	{"silent", ROW_U64, 6},
	{"raised", ROW_U64, 6, .spare = 1},
	{"s_max", ROW_U64, 5, .spare = 1},
	{"observed", ROW_U64, 11, ROW_VALUE, "ns", .spare = 1},
	{"skipped", ROW_U64, 7, .spare = 1},
};

static const struct row_field decision_fields[] = {
	{"time", ROW_TIME, 20, ROW_WHEN},
	{"device", ROW_U64, 6, ROW_TAG},
	{"port", ROW_U64, 5, ROW_TAG},
	{"s_before", ROW_U64, 8},
	{"s", ROW_U64, 3},
	{"reason", ROW_STR, 6},
	{"silent_for", ROW_U64, 11, ROW_VALUE, "ns", .spare = 1},
	{"lost", ROW_U64, 5},
};

static const struct row_field silence_fields[] = {
	{"time", ROW_TIME, 20, ROW_WHEN},
	{"device", ROW_U64, 6, ROW_TAG},
	{"port", ROW_U64, 5, ROW_TAG},
	{"event", ROW_STR, 6, ROW_TAG},
	{"since", ROW_TIME, 20, .spare = 1},
	{"silent_for", ROW_U64, 11, ROW_VALUE, "ns"},
};

static const struct row_field port_fields[] = {
	{"time", ROW_TIME, 20, ROW_WHEN},
	{"device", ROW_U64, 6, ROW_TAG},
	{"port", ROW_U64, 5, ROW_TAG},
	{"ingress", ROW_U64, 7, .spare = 1},
	{"latency", ROW_U64, 9, ROW_VALUE, "ns"},
	{"queue", ROW_U64, 6},
	{"label_time", ROW_U64, 16, ROW_VALUE, "us", .spare = 1},
	{"number", ROW_U64, 8, .spare = 1},
	{"labels", ROW_U64, 8},
	{"late", ROW_U64, 5, .spare = 1},
	{"lost", ROW_U64, 5},
	{"s", ROW_U64, 3, .spare = 1},
	{"silent", ROW_BOOL, 6, .spare = 1},
	{"queue_max", ROW_U64, 9, .spare = 1},
	{"resets", ROW_U64, 6, .spare = 1},
};

static const struct row_field hop_fields[] = {
	{"time", ROW_TIME, 20, ROW_WHEN},
	{"flow", ROW_STR, 40, ROW_TAG},
	{"hop", ROW_U64, 3, ROW_TAG},
	{"hops", ROW_U64, 4, .spare = 1},
	{"device", ROW_U64, 6, ROW_TAG},
	{"ingress", ROW_U64, 7, .spare = 1},
	{"port", ROW_U64, 5},
	{"latency", ROW_U64, 9, ROW_VALUE, "ns"},
	{"latency_sum", ROW_U64, 11, ROW_VALUE, "ns", .spare = 1},
	{"queue", ROW_U64, 6, .spare = 1},
	{"label_time", ROW_U64, 16, ROW_VALUE, "us", .spare = 1},
};

const struct schema label_schema[LABEL_ROWS] = {
	[LABEL_ROWS_INTERVAL] = LABEL_SCHEMA("label_interval", interval_fields),
	[LABEL_ROWS_DECISION] = LABEL_SCHEMA("label_decision", decision_fields),
	[LABEL_ROWS_SILENCE] = LABEL_SCHEMA("label_silence", silence_fields),
	[LABEL_ROWS_PORT] = LABEL_SCHEMA("label_port", port_fields),
	[LABEL_ROWS_HOP] = LABEL_SCHEMA("label_hop", hop_fields),
};

static const char *const reasons[] = {
	[LABEL_SILENT] = "silent",
	[LABEL_HEARD] = "heard",
	[LABEL_RESET] = "reset",
	[LABEL_FORGOTTEN] = "forgotten",
};

static void set_u64(struct row_batch *b, unsigned field, uint64_t v)
{
	row_batch_set(b, field, ROW_U64)->u64 = v;
}

static void set_if(struct row_batch *b, unsigned field, bool known, uint64_t v)
{
	if (known)
		set_u64(b, field, v);
}

static void set_time(struct row_batch *b, unsigned field, uint64_t ns)
{
	row_batch_set(b, field, ROW_TIME)->i64 = (int64_t)ns;
}

void label_row_interval(struct row_batch *b, const struct label_interval_sum *s)
{
	unsigned f = 0;

	set_time(b, f++, s->end_ns);
	set_u64(b, f++, s->ports);
	set_u64(b, f++, s->covered);
	if (s->ports)
		row_batch_set(b, f, ROW_F64)->f64 = 100. * s->covered /
						    s->ports;
	f++;
	set_u64(b, f++, s->packets);
	set_u64(b, f++, s->labels);
	set_u64(b, f++, s->late);
	set_u64(b, f++, s->odd);
	set_u64(b, f++, s->missing);
	set_u64(b, f++, s->silent);
	set_u64(b, f++, s->raised);
	set_u64(b, f++, s->s_most);
	set_u64(b, f++, s->observed_ns);
	set_u64(b, f++, s->skipped);
}

void label_row_decision(struct row_batch *b, const struct label_decision *d)
{
	const struct label_record *r = d->port;
	unsigned f = 0;

	set_time(b, f++, d->now_ns);
	set_u64(b, f++, r->device);
	set_u64(b, f++, r->out);
	set_u64(b, f++, d->from);
	set_u64(b, f++, r->s);
	row_batch_str(b, f++, reasons[d->reason]);
	set_u64(b, f++, d->now_ns - r->seen_ns);
	set_u64(b, f++, d->lost);
}

void label_row_silence(struct row_batch *b, const struct label_record *r,
		       enum label_reason event, uint64_t now_ns,
		       uint64_t since_ns)
{
	unsigned f = 0;

	set_time(b, f++, now_ns);
	set_u64(b, f++, r->device);
	set_u64(b, f++, r->out);
	row_batch_str(b, f++, reasons[event]);
	set_time(b, f++, since_ns);
	set_u64(b, f++, now_ns - since_ns);
}

void label_row_port(struct row_batch *b, const struct label_record *r)
{
	unsigned f = 0;

	set_time(b, f++, r->seen_ns);
	set_u64(b, f++, r->device);
	set_u64(b, f++, r->out);
	set_u64(b, f++, r->in);
	set_u64(b, f++, r->latency_ns);
	set_u64(b, f++, r->queue);
	set_u64(b, f++, r->time_us);
	set_if(b, f++, r->number, r->number);
	set_u64(b, f++, r->labels);
	set_u64(b, f++, r->late);
	set_if(b, f++, r->number, label_lost(r));
	set_u64(b, f++, r->s);
	row_batch_set(b, f++, ROW_BOOL)->u64 = r->silent;
	set_u64(b, f++, r->queue_most);
	set_u64(b, f++, r->resets);
}

void label_row_hop(struct row_batch *b, const struct label_path *p, unsigned i)
{
	enum key_type type = p->key_len == KEY_FLOW4_LEN ? KEY_FLOW4
							 : KEY_FLOW6;
	const struct label_item *hop = &p->hop[i];
	char flow[KEY_TEXT_MAX];
	uint64_t sum = 0;
	unsigned f = 0;

	for (unsigned k = 0; k <= i; k++)
		sum += p->hop[k].latency_ns;
	key_format(flow, type, p->key, p->key_len);
	set_time(b, f++, p->seen_ns);
	row_batch_str(b, f++, flow);
	set_u64(b, f++, i + 1);
	set_u64(b, f++, p->n);
	set_u64(b, f++, hop->device);
	set_u64(b, f++, hop->in);
	set_u64(b, f++, hop->out);
	set_u64(b, f++, hop->latency_ns);
	set_u64(b, f++, sum);
	set_u64(b, f++, hop->queue);
	set_u64(b, f++, hop->time_us);
}
