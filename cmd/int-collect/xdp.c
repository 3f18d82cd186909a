/* SPDX-License-Identifier: BSD-2-Clause */
#include "xdp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "live/fast.h"
#include "measure/fields.h"
#include "measure/paths.h"

_Static_assert(
	(int)FAST_HOP_LATENCY == (int)METRIC_HOP_LATENCY &&
		(int)FAST_QUEUE_OCCUPANCY == (int)METRIC_QUEUE_OCCUPANCY &&
		(int)FAST_LINK_UTILIZATION == (int)METRIC_LINK_UTILIZATION &&
		(int)FAST_QUEUE_CONGESTION == (int)METRIC_QUEUE_CONGESTION &&
		(int)FAST_BUFFER_OCCUPANCY == (int)METRIC_BUFFER_OCCUPANCY &&
		(int)FAST_FLOW_LATENCY == (int)METRIC_FLOW_LATENCY &&
		(int)FAST_NUMBERS == (int)METRIC_NUMBERS,
	"metrics have the same numbers in the kernel");
_Static_assert(sizeof(struct fast_threshold) == sizeof(struct threshold),
	       "thresholds are the same in the kernel");

enum {
	PUSH = 10,    /* s, as telemetry_defaults() */
	IDLE = 60,    /* s */
	GATHER = 256, /* rows */
};

#define SECOND 1000000000ULL

struct xdp {
	struct int_fast *fast;
	struct telemetry *t; /* of what comes up whole */
	struct telemetry_rows rows;
	unsigned kinds; /* of events that are told */
	uint64_t push_ns, idle_ns, push_due, idle_due;
	struct fast_counters counters;
};

static void tell(struct xdp *x, enum telemetry_kind kind, struct telling *what)
{
	what->kind = (uint8_t)kind;
	if (x->kinds >> kind & 1)
		row_event(&x->rows, what);
}

static void set_flow(struct telling *what, const struct fast_flow_key *k)
{
	if (!k->len || k->len > FAST_KEY)
		return;
	what->key = k->key;
	what->key_len = k->len;
}

static void set_place(struct telling *what, const struct fast_number *n)
{
	if (n->node != METRIC_NONE)
		what->node = n->node;
	what->egress = n->egress;
	if (n->metric == METRIC_BUFFER_OCCUPANCY)
		what->buffer = n->id;
	else
		what->queue = n->id;
}

/* One value, which may be several events: as event_judge() tells them. */
static void tell_number(struct xdp *x, const struct fast_number *n,
			struct telling *what)
{
	static const uint8_t kind[] = {EVENT_NEW_KEY, EVENT_CHANGE, EVENT_RISE,
				       EVENT_FALL};
	const uint64_t passed[] = {0, n->threshold.change, n->threshold.high,
				   n->threshold.low};

	what->metric = (int8_t)n->metric;
	set_flow(what, &n->flow);
	set_place(what, n);
	what->has_value = true;
	what->value = n->value;
	if (n->record.kinds & FAST_VALUE)
		row_value(&x->rows, what);
	what->has_reference = n->referred;
	what->reference = n->reference;
	for (unsigned i = 0; i < sizeof(kind); i++) {
		if (!(n->record.kinds >> i & 1))
			continue;
		what->threshold = passed[i];
		what->has_threshold = kind[i] != EVENT_NEW_KEY;
		tell(x, kind[i], what);
	}
}

static void tell_path(struct xdp *x, const struct fast_path *p,
		      struct telling *what)
{
	uint64_t at[FAST_NODES];

	if (p->n + p->old > FAST_NODES)
		return;
	for (unsigned i = 0; i < p->n + p->old; i++)
		at[i] = p->node[i];
	what->metric = METRIC_PATH;
	set_flow(what, &p->flow);
	what->path = (struct nodes){at, p->n};
	if (p->record.kinds & FAST_VALUE) {
		row_value(&x->rows, what);
		return;
	}
	what->old_path = (struct nodes){at + p->n, p->old};
	tell(x, p->record.kinds & FAST_NEW ? EVENT_NEW_KEY : EVENT_PATH_CHANGE,
	     what);
	what->old_path = (struct nodes){0};
	if (path_loops(at, p->n))
		tell(x, EVENT_LOOP, what);
}

static void tell_run(struct xdp *x, const struct fast_run *r, uint64_t ts_ns)
{
	const struct int_from from = {.report = true,
				      .has_node = true,
				      .node = r->node,
				      .hw_id = (uint8_t)r->hw_id,
				      .sequence_bits = (uint8_t)r->bits,
				      .sequence = r->first};

	telemetry_numbers(x->t, ts_ns, &from, r->n, r->anew);
}

static void told(void *ctx, const struct fast_record *r, size_t len,
		 uint64_t ts_ns)
{
	struct telling what = telling_nothing;

	what.ts_ns = ts_ns;
	if (r->type == FAST_NUMBER && len >= sizeof(struct fast_number))
		tell_number(ctx, (const struct fast_number *)r, &what);
	else if (r->type == FAST_PATH &&
		 len >= offsetof(struct fast_path, node))
		tell_path(ctx, (const struct fast_path *)r, &what);
	else if (r->type == FAST_RUN && len >= sizeof(struct fast_run))
		tell_run(ctx, (const struct fast_run *)r, ts_ns);
}

static void on_run(void *ctx, const struct fast_run *r)
{
	tell_run(ctx, r, clock_wall_ns());
}

static bool is_narrow(uint64_t node)
{
	return node < UINT32_MAX || node == NODE_UNKNOWN;
}

static bool say_path(struct xdp *x, const struct fast_flow_key *flow,
		     struct nodes path)
{
	uint32_t node[FAST_HOPS];

	if (!path.n || path.n > FAST_HOPS)
		return false;
	for (unsigned i = 0; i < path.n; i++) {
		if (!is_narrow(path.at[i]))
			return false;
		node[i] = (uint32_t)path.at[i];
	}
	return int_fast_say_path(x->fast, flow, node, path.n) == 0;
}

bool xdp_judge(void *ctx, const struct telling *what)
{
	struct xdp *x = *(struct xdp **)ctx;
	bool buffer = what->metric == METRIC_BUFFER_OCCUPANCY;
	struct fast_saying say = {
		.metric = (uint32_t)what->metric,
		.node = (uint32_t)what->node,
		.egress = what->egress,
		.id = buffer ? what->buffer : what->queue,
		.value = (uint32_t)what->value,
	};
	struct fast_flow_key flow = {0};

	if (!x || !is_narrow(what->node) || what->key_len > FAST_KEY)
		return false;
	flow.len = what->key_len;
	if (flow.len)
		memcpy(flow.key, what->key, flow.len);
	if (what->metric == METRIC_PATH)
		return say_path(x, &flow, what->path);
	return int_fast_say(x->fast, what->key_len ? &flow : NULL, &say) == 0;
}

int xdp_judge_all(struct xdp *x)
{
	return int_fast_judge(x->fast);
}

static int set_nodes(struct xdp *x, const struct fast_threshold *all,
		     const struct telemetry_thresholds *th)
{
	struct int_fast_threshold *node = calloc(th->nodes + 1, sizeof(*node));
	int rc;

	if (!node)
		return -ENOMEM;
	for (unsigned i = 0; i < th->nodes; i++) {
		node[i].node = th->node[i].node;
		node[i].metric = th->node[i].metric;
		memcpy(&node[i].threshold, &th->node[i].threshold,
		       sizeof(node[i].threshold));
	}
	rc = int_fast_set(x->fast, all, node, th->nodes);
	free(node);
	return rc;
}

int xdp_set(struct xdp *x, const struct telemetry_thresholds *th)
{
	struct fast_threshold all[FAST_NUMBERS];

	memcpy(all, th->all, sizeof(all));
	return set_nodes(x, all, th);
}

struct xdp *xdp_open(const struct opts *o, const struct int_profile *p,
		     const struct telemetry_thresholds *th,
		     const struct telemetry_sinks *sinks, struct telemetry *t,
		     struct src **s)
{
	const struct int_fast_options fo = {.profile = p};
	struct xdp *x = calloc(1, sizeof(*x));
	struct fault f = {0};
	int rc;

	if (!x || telemetry_rows_open(&x->rows, sinks, GATHER) < 0)
		cli_fail("out of memory");
	x->t = t;
	x->kinds = o->events;
	x->push_ns = o->push_ns != UINT64_MAX ? o->push_ns : PUSH * SECOND;
	x->idle_ns = o->flow_idle_ns != UINT64_MAX ? o->flow_idle_ns
						   : IDLE * SECOND;
	x->push_due = clock_ns() + x->push_ns;
	x->idle_due = clock_ns() + x->idle_ns;
	if (int_fast_open(&x->fast, &fo, &f) < 0)
		cli_fault(o->live.name, &f);
	if ((rc = xdp_set(x, th)) < 0)
		cli_fail("%s: thresholds: %s", o->live.name, strerror(-rc));
	rc = src_open_fast(s, x->fast, o->live.name,
			   o->live.options.promiscuous, told, x, &f);
	if (rc < 0)
		cli_fault(o->live.name, &f);
	if (!o->quiet)
		cli_warn("%s: %s", o->live.name, src_kind(*s));
	return x;
}

struct leaving {
	struct xdp *x;
	enum flow_leaves why;
	uint64_t epoch_ns; /* the clock less CLOCK_MONOTONIC */
};

static void tell_flow(void *ctx, const struct int_fast_flow *f)
{
	const struct leaving *l = ctx;
	uint64_t at[FAST_HOPS];
	struct flow_entry e = {
		.key_len = f->key.len,
		.packets = f->flow.packets,
		.bytes = f->flow.bytes,
		.first_ns = f->flow.first_ns + l->epoch_ns,
		.last_ns = f->flow.last_ns + l->epoch_ns,
	};

	memcpy(e.key, f->key.key, FAST_KEY);
	for (unsigned i = 0; i < f->n; i++)
		at[i] = f->node[i];
	if (!e.packets)
		return; /* they came up whole */
	row_flow(&l->x->rows, clock_wall_ns(), &e, l->why,
		 (struct nodes){at, f->n});
}

static void leave(struct xdp *x, enum flow_leaves why, uint64_t since_ns)
{
	struct leaving l = {x, why, clock_wall_ns() - clock_ns()};

	int_fast_flows(x->fast, since_ns, tell_flow, &l);
}

int xdp_tick(struct xdp *x)
{
	uint64_t now = clock_ns();

	if (x->push_ns && now >= x->push_due) {
		int_fast_push(x->fast);
		x->push_due = now + x->push_ns;
	}
	if (x->idle_ns && now >= x->idle_due) {
		leave(x, FLOW_EXPIRED, now - x->idle_ns);
		x->idle_due = now + x->idle_ns / 2;
	}
	return telemetry_rows_flush(&x->rows);
}

void xdp_stop(struct xdp *x)
{
	int_fast_detach(x->fast);
}

int xdp_flush(struct xdp *x)
{
	int_fast_runs(x->fast, on_run, x);
	leave(x, FLOW_FLUSHED, UINT64_MAX);
	return telemetry_rows_flush(&x->rows);
}

const void *xdp_counters(struct xdp *x, uint64_t *received)
{
	int_fast_counters(x->fast, &x->counters);
	*received = x->counters.frames;
	return &x->counters;
}

void xdp_ledger(struct xdp *x, enum row_format fmt)
{
	uint64_t received;

	cli_ledger(&int_fast_ledger, xdp_counters(x, &received), fmt);
}

void xdp_close(struct xdp *x)
{
	if (!x)
		return;
	telemetry_rows_close(&x->rows);
	int_fast_close(x->fast);
	free(x);
}
