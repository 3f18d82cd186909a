/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/rows.h"

enum {
	I_TIME,
	I_PORTS,
	I_COVERED,
	I_COVERAGE,
	I_PACKETS,
	I_LABELS,
	I_LATE,
	I_ODD,
	I_MISSING,
	I_SILENT,
	I_RAISED,
	I_S_MAX,
	I_OBSERVED,
	I_SKIPPED,
};

static const struct row_field interval_fields[] = {
	[I_TIME] = {"time", ROW_TIME, 20, ROW_WHEN},
	[I_PORTS] = {"ports", ROW_U64, 6, .spare = 1},
	[I_COVERED] = {"covered", ROW_U64, 7, .spare = 1},
	[I_COVERAGE] = {"coverage", ROW_F64, 8, ROW_VALUE, "%"},
	[I_PACKETS] = {"packets", ROW_U64, 8},
	[I_LABELS] = {"labels", ROW_U64, 8},
	[I_LATE] = {"late", ROW_U64, 5, .spare = 1},
	[I_ODD] = {"odd", ROW_U64, 4, .spare = 1},
	[I_MISSING] = {"missing", ROW_U64, 7},
	[I_SILENT] = {"silent", ROW_U64, 6},
	[I_RAISED] = {"raised", ROW_U64, 6, .spare = 1},
	[I_S_MAX] = {"s_max", ROW_U64, 5, .spare = 1},
	[I_OBSERVED] = {"observed", ROW_U64, 11, ROW_VALUE, "ns", .spare = 1},
	[I_SKIPPED] = {"skipped", ROW_U64, 7, .spare = 1},
};

enum {
	D_TIME,
	D_DEVICE,
	D_PORT,
	D_S_BEFORE,
	D_S,
	D_REASON,
	D_SILENT_FOR,
	D_LOST,
};

static const struct row_field decision_fields[] = {
	[D_TIME] = {"time", ROW_TIME, 20, ROW_WHEN},
	[D_DEVICE] = {"device", ROW_U64, 6, ROW_TAG},
	[D_PORT] = {"port", ROW_U64, 5, ROW_TAG},
	[D_S_BEFORE] = {"s_before", ROW_U64, 8},
	[D_S] = {"s", ROW_U64, 3},
	[D_REASON] = {"reason", ROW_STR, 6},
	[D_SILENT_FOR] = {"silent_for", ROW_U64, 11, ROW_VALUE, "ns",
			  .spare = 1},
	[D_LOST] = {"lost", ROW_U64, 5},
};

enum {
	S_TIME,
	S_DEVICE,
	S_PORT,
	S_EVENT,
	S_SINCE,
	S_SILENT_FOR,
};

static const struct row_field silence_fields[] = {
	[S_TIME] = {"time", ROW_TIME, 20, ROW_WHEN},
	[S_DEVICE] = {"device", ROW_U64, 6, ROW_TAG},
	[S_PORT] = {"port", ROW_U64, 5, ROW_TAG},
	[S_EVENT] = {"event", ROW_STR, 6, ROW_TAG},
	[S_SINCE] = {"since", ROW_TIME, 20, .spare = 1},
	[S_SILENT_FOR] = {"silent_for", ROW_U64, 11, ROW_VALUE, "ns"},
};

enum {
	P_TIME,
	P_DEVICE,
	P_PORT,
	P_INGRESS,
	P_LATENCY,
	P_QUEUE,
	P_LABEL_TIME,
	P_NUMBER,
	P_LABELS,
	P_LATE,
	P_LOST,
	P_S,
	P_SILENT,
	P_QUEUE_MAX,
	P_RESETS,
};

static const struct row_field port_fields[] = {
	[P_TIME] = {"time", ROW_TIME, 20, ROW_WHEN},
	[P_DEVICE] = {"device", ROW_U64, 6, ROW_TAG},
	[P_PORT] = {"port", ROW_U64, 5, ROW_TAG},
	[P_INGRESS] = {"ingress", ROW_U64, 7, .spare = 1},
	[P_LATENCY] = {"latency", ROW_U64, 9, ROW_VALUE, "ns"},
	[P_QUEUE] = {"queue", ROW_U64, 6},
	[P_LABEL_TIME] = {"label_time", ROW_U64, 16, ROW_VALUE, "us",
			  .spare = 1},
	[P_NUMBER] = {"number", ROW_U64, 8, .spare = 1},
	[P_LABELS] = {"labels", ROW_U64, 8},
	[P_LATE] = {"late", ROW_U64, 5, .spare = 1},
	[P_LOST] = {"lost", ROW_U64, 5},
	[P_S] = {"s", ROW_U64, 3, .spare = 1},
	[P_SILENT] = {"silent", ROW_BOOL, 6, .spare = 1},
	[P_QUEUE_MAX] = {"queue_max", ROW_U64, 9, .spare = 1},
	[P_RESETS] = {"resets", ROW_U64, 6, .spare = 1},
};

enum {
	H_TIME,
	H_FLOW,
	H_HOP,
	H_HOPS,
	H_DEVICE,
	H_INGRESS,
	H_PORT,
	H_LATENCY,
	H_LATENCY_SUM,
	H_QUEUE,
	H_LABEL_TIME,
};

static const struct row_field hop_fields[] = {
	[H_TIME] = {"time", ROW_TIME, 20, ROW_WHEN},
	[H_FLOW] = {"flow", ROW_STR, 40, ROW_TAG},
	[H_HOP] = {"hop", ROW_U64, 3, ROW_TAG},
	[H_HOPS] = {"hops", ROW_U64, 4, .spare = 1},
	[H_DEVICE] = {"device", ROW_U64, 6, ROW_TAG},
	[H_INGRESS] = {"ingress", ROW_U64, 7, .spare = 1},
	[H_PORT] = {"port", ROW_U64, 5},
	[H_LATENCY] = {"latency", ROW_U64, 9, ROW_VALUE, "ns"},
	[H_LATENCY_SUM] = {"latency_sum", ROW_U64, 11, ROW_VALUE, "ns",
			   .spare = 1},
	[H_QUEUE] = {"queue", ROW_U64, 6, .spare = 1},
	[H_LABEL_TIME] = {"label_time", ROW_U64, 16, ROW_VALUE, "us",
			  .spare = 1},
};

#define SCHEMA(name, fields)                                                   \
	{                                                                      \
		name, fields, sizeof(fields) / sizeof((fields)[0])             \
	}

const struct schema label_schema[LABEL_ROWS] = {
	[LABEL_ROWS_INTERVAL] = SCHEMA("label_interval", interval_fields),
	[LABEL_ROWS_DECISION] = SCHEMA("label_decision", decision_fields),
	[LABEL_ROWS_SILENCE] = SCHEMA("label_silence", silence_fields),
	[LABEL_ROWS_PORT] = SCHEMA("label_port", port_fields),
	[LABEL_ROWS_HOP] = SCHEMA("label_hop", hop_fields),
};

static const char *const reasons[] = {
	[LABEL_SILENT] = "silent",
	[LABEL_HEARD] = "heard",
	[LABEL_RESET] = "reset",
	[LABEL_FORGOTTEN] = "forgotten",
};

static void set(struct row_batch *b, unsigned field, uint64_t v)
{
	row_batch_set(b, field, ROW_U64)->u64 = v;
}

static void set_time(struct row_batch *b, unsigned field, uint64_t ns)
{
	row_batch_set(b, field, ROW_TIME)->i64 = (int64_t)ns;
}

void label_row_interval(struct row_batch *b, const struct label_interval_sum *s)
{
	set_time(b, I_TIME, s->end_ns);
	set(b, I_PORTS, s->ports);
	set(b, I_COVERED, s->covered);
	if (s->ports)
		row_batch_set(b, I_COVERAGE, ROW_F64)->f64 = 100. * s->covered /
							     s->ports;
	set(b, I_PACKETS, s->packets);
	set(b, I_LABELS, s->labels);
	set(b, I_LATE, s->late);
	set(b, I_ODD, s->odd);
	set(b, I_MISSING, s->missing);
	set(b, I_SILENT, s->silent);
	set(b, I_RAISED, s->raised);
	set(b, I_S_MAX, s->s_most);
	set(b, I_OBSERVED, s->observed_ns);
	set(b, I_SKIPPED, s->skipped);
}

void label_row_decision(struct row_batch *b, const struct label_decision *d)
{
	const struct label_record *r = d->port;

	set_time(b, D_TIME, d->now_ns);
	set(b, D_DEVICE, r->device);
	set(b, D_PORT, r->out);
	set(b, D_S_BEFORE, d->from);
	set(b, D_S, r->s);
	row_batch_str(b, D_REASON, reasons[d->reason]);
	set(b, D_SILENT_FOR, d->now_ns - r->seen_ns);
	set(b, D_LOST, d->lost);
}

void label_row_silence(struct row_batch *b, const struct label_record *r,
		       enum label_reason event, uint64_t now_ns,
		       uint64_t since_ns)
{
	set_time(b, S_TIME, now_ns);
	set(b, S_DEVICE, r->device);
	set(b, S_PORT, r->out);
	row_batch_str(b, S_EVENT, reasons[event]);
	set_time(b, S_SINCE, since_ns);
	set(b, S_SILENT_FOR, now_ns - since_ns);
}

void label_row_port(struct row_batch *b, const struct label_record *r)
{
	set_time(b, P_TIME, r->seen_ns);
	set(b, P_DEVICE, r->device);
	set(b, P_PORT, r->out);
	set(b, P_INGRESS, r->in);
	set(b, P_LATENCY, r->latency_ns);
	set(b, P_QUEUE, r->queue);
	set(b, P_LABEL_TIME, r->time_us);
	if (r->number)
		set(b, P_NUMBER, r->number);
	set(b, P_LABELS, r->labels);
	set(b, P_LATE, r->late);
	if (r->number)
		set(b, P_LOST, label_lost(r));
	set(b, P_S, r->s);
	row_batch_set(b, P_SILENT, ROW_BOOL)->u64 = r->silent;
	set(b, P_QUEUE_MAX, r->queue_most);
	set(b, P_RESETS, r->resets);
}

void label_row_hop(struct row_batch *b, const struct label_path *p, unsigned i)
{
	enum key_type type = p->key_len == KEY_FLOW4_LEN ? KEY_FLOW4
							 : KEY_FLOW6;
	const struct label_item *hop = &p->hop[i];
	char flow[KEY_TEXT_MAX];
	uint64_t sum = 0;

	for (unsigned k = 0; k <= i; k++)
		sum += p->hop[k].latency_ns;
	key_format(flow, type, p->key, p->key_len);
	set_time(b, H_TIME, p->seen_ns);
	row_batch_str(b, H_FLOW, flow);
	set(b, H_HOP, i + 1);
	set(b, H_HOPS, p->n);
	set(b, H_DEVICE, hop->device);
	set(b, H_INGRESS, hop->in);
	set(b, H_PORT, hop->out);
	set(b, H_LATENCY, hop->latency_ns);
	set(b, H_LATENCY_SUM, sum);
	set(b, H_QUEUE, hop->queue);
	set(b, H_LABEL_TIME, hop->time_us);
}
