/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.c - the rows: each function sets the fields in their schema's order. */
#include "label/rows.h"

static const struct row_field interval_fields[] = {
	{"time", ROW_TIME, 20, ROW_WHEN},
	{"ports", ROW_U64, 6, .spare = 1},
	{"covered", ROW_U64, 7, .spare = 1},
	{"coverage", ROW_F64, 8, ROW_VALUE, "ratio"},
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
	{"node", ROW_U64, 6, ROW_TAG},
	{"port", ROW_U64, 5, ROW_TAG},
	{"s_before", ROW_U64, 8},
	{"s", ROW_U64, 3},
	{"reason", ROW_STR, 6},
	{"silent_for", ROW_U64, 11, ROW_VALUE, "ns", .spare = 1},
	{"lost", ROW_U64, 5},
};

static const struct row_field silence_fields[] = {
	{"time", ROW_TIME, 20, ROW_WHEN},
	{"node", ROW_U64, 6, ROW_TAG},
	{"port", ROW_U64, 5, ROW_TAG},
	{"event", ROW_STR, 6, ROW_TAG},
	{"since", ROW_TIME, 20, .spare = 1},
	{"silent_for", ROW_U64, 11, ROW_VALUE, "ns"},
};

static const struct row_field port_fields[] = {
	{"time", ROW_TIME, 20, ROW_WHEN},
	{"node", ROW_U64, 6, ROW_TAG},
	{"port", ROW_U64, 5, ROW_TAG},
	{"ingress_port", ROW_U64, 12, .spare = 1},
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
	{"flow", ROW_STR, 40, ROW_TAG, .flow = 1},
	{"hop", ROW_U64, 3, ROW_TAG},
	{"hops", ROW_U64, 4, .spare = 1},
	{"node", ROW_U64, 6, ROW_TAG},
	{"ingress_port", ROW_U64, 12, .spare = 1},
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

/* Sets n fields that follow each other. */
static void set_u64s(struct row_batch *b, unsigned field, const uint64_t *v,
		     unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		row_batch_set(b, field + i, ROW_U64)->u64 = v[i];
}

void label_row_interval(struct row_batch *b, const struct label_interval_sum *s)
{
	const uint64_t ports[] = {s->ports, s->covered};
	const uint64_t rest[] = {s->packets,	 s->labels, s->late,   s->odd,
				 s->missing,	 s->silent, s->raised, s->s_max,
				 s->observed_ns, s->skipped};

	row_batch_time(b, 0, s->end_ns);
	set_u64s(b, 1, ports, 2);
	if (s->ports)
		row_batch_set(b, 3, ROW_F64)->f64 = (double)s->covered /
						    s->ports;
	set_u64s(b, 4, rest, 10);
}

void label_row_decision(struct row_batch *b, const struct label_decision *d)
{
	const struct label_record *r = d->port;
	const uint64_t what[] = {r->device, r->out, d->from, r->s};
	const uint64_t why[] = {d->now_ns - r->seen_ns, d->lost};

	row_batch_time(b, 0, d->now_ns);
	set_u64s(b, 1, what, 4);
	row_batch_str(b, 5, reasons[d->reason]);
	set_u64s(b, 6, why, 2);
}

void label_row_silence(struct row_batch *b, const struct label_record *r,
		       enum label_reason event, uint64_t now_ns,
		       uint64_t since_ns)
{
	const uint64_t port[] = {r->device, r->out}, ns = now_ns - since_ns;

	row_batch_time(b, 0, now_ns);
	set_u64s(b, 1, port, 2);
	row_batch_str(b, 3, reasons[event]);
	row_batch_time(b, 4, since_ns);
	set_u64s(b, 5, &ns, 1);
}

void label_row_port(struct row_batch *b, const struct label_record *r)
{
	const uint64_t state[] = {r->device,	 r->out,   r->in,
				  r->latency_ns, r->queue, r->time_us};
	const uint64_t number = r->number, lost = label_lost(r), s = r->s;
	const uint64_t labels[] = {r->labels, r->late};
	const uint64_t rest[] = {r->queue_max, r->resets};

	row_batch_time(b, 0, r->seen_ns);
	set_u64s(b, 1, state, 6);
	if (number)
		set_u64s(b, 7, &number, 1);
	set_u64s(b, 8, labels, 2);
	if (number)
		set_u64s(b, 10, &lost, 1);
	set_u64s(b, 11, &s, 1);
	row_batch_set(b, 12, ROW_BOOL)->u64 = r->silent;
	set_u64s(b, 13, rest, 2);
}

void label_row_hop(struct row_batch *b, const struct label_path *p, unsigned i)
{
	const struct label_item *hop = &p->hop[i];
	uint64_t v[] = {i + 1,	 p->n,	     hop->device,
			hop->in, hop->out,   hop->latency_ns,
			0,	 hop->queue, hop->time_us};

	for (unsigned k = 0; k <= i; k++) /* latency_sum */
		v[6] += p->hop[k].latency_ns;
	row_batch_time(b, 0, p->seen_ns);
	row_batch_flow(b, 1, p->key, p->key_len);
	set_u64s(b, 2, v, 9);
}
