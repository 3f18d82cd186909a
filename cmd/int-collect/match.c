/* SPDX-License-Identifier: BSD-2-Clause */
#include "match.h"

#include <stdlib.h>
#include <string.h>

#include "measure/paths.h"

/* Hops as on the wire, each field in words of its own. */
static const struct int_word words[] = {
	{8, {{INT_NODE, 0, 8, 0}}},
	{8, {{INT_EGRESS, 0, 8, 0}}},
	{8, {{INT_QUEUE, 0, 8, 0}}},
	{8, {{INT_BUFFER, 0, 8, 0}}},
	{8, {{INT_LATENCY, 0, 8, 0}}},
	{8, {{INT_OCCUPANCY, 0, 8, 0}}},
	{8, {{INT_UTILIZATION, 0, 8, 0}}},
	{8, {{INT_CONGESTION, 0, 8, 0}}},
	{8, {{INT_BUFFER_OCCUPANCY, 0, 8, 0}}},
};

enum {
	WORDS = sizeof(words) / sizeof(words[0]),
	HOP_LEN = 8 * WORDS,
	HOPS_MAX = 255, /* of struct int_hops */
};

static const uint8_t field_of[METRIC_OF_HOP] = {
	[METRIC_HOP_LATENCY] = INT_LATENCY,
	[METRIC_QUEUE_OCCUPANCY] = INT_OCCUPANCY,
	[METRIC_LINK_UTILIZATION] = INT_UTILIZATION,
	[METRIC_QUEUE_CONGESTION] = INT_CONGESTION,
	[METRIC_BUFFER_OCCUPANCY] = INT_BUFFER_OCCUPANCY,
};

struct match {
	struct int_plan plan;
	struct int_view view;
	unsigned n;
	uint8_t hop[HOPS_MAX][HOP_LEN]; /* from the last on: they end there */
	uint32_t has;			/* of the hop in hand */
	uint64_t value[INT_FIELDS];
};

struct match *match_open(void)
{
	struct match *m = calloc(1, sizeof(*m));

	if (m)
		int_plan_of(&m->plan, words, WORDS, (1U << WORDS) - 1);
	return m;
}

void match_close(struct match *m)
{
	free(m);
}

static void set(struct match *m, enum int_field field, uint64_t v)
{
	m->has |= 1U << field;
	m->value[field] = v;
}

static void set_id(struct match *m, enum int_field field, uint32_t id)
{
	if (id != METRIC_NONE)
		set(m, field, id);
}

/* The hop in hand is the next one: a stack has its last node first. */
static void end_hop(struct match *m)
{
	if (m->n < HOPS_MAX)
		int_put(m->hop[HOPS_MAX - ++m->n], &m->plan, m->has, m->value);
	m->has = 0;
}

static void set_place(struct match *m, const struct place *p)
{
	set(m, INT_NODE, p->node_id); /* unknown is all ones: not told */
	set_id(m, INT_EGRESS, p->id[FIELD_EGRESS]);
	set_id(m, INT_QUEUE, p->id[FIELD_QUEUE]);
	set_id(m, INT_BUFFER, p->id[FIELD_BUFFER]);
}

static void of_flow(struct match *m, const struct lookup *l, uint32_t i)
{
	struct flow_entry *f = look_flow(l->t, i);
	unsigned hops = flow_hops_now(f);

	m->view.key_len = f->key_len;
	memcpy(m->view.key, f->key, f->key_len);
	for (unsigned k = 0; k < hops; k++) {
		const struct meter *of[METRIC_OF_HOP];
		const struct place *p = look_flow_hop(l->t, f, k, of);

		if (p)
			set_place(m, p);
		for (unsigned j = 0; j < METRIC_OF_HOP; j++)
			if (of[j] && of[j]->n)
				set(m, field_of[j], of[j]->latest);
		end_hop(m);
	}
}

static void of_node(struct match *m, const struct lookup *l, uint32_t i)
{
	const struct node *n = look_node(l->t, i);
	const struct dist *d = look_node_dist(l->t, n, METRIC_HOP_LATENCY);
	uint32_t low, high;

	set(m, INT_NODE, n->id);
	if (d && dist_quantile(d, 0.5, &low, &high))
		set(m, INT_LATENCY, low);
	for (unsigned j = 1; i < l->nodes && j < METRIC_OF_HOP; j++)
		if (l->now[i].n[j])
			set(m, field_of[j], l->now[i].value[j]);
	end_hop(m);
}

static void of_object(struct match *m, const struct lookup *l, uint32_t i)
{
	const struct object *o = look_object(l->t, i);

	set(m, INT_NODE, o->node->id);
	set_id(m, INT_EGRESS, o->egress);
	set_id(m, o->metric == METRIC_BUFFER_OCCUPANCY ? INT_BUFFER : INT_QUEUE,
	       o->id);
	set(m, field_of[o->metric], o->latest);
	end_hop(m);
}

static void of_path(struct match *m, const struct lookup *l, uint32_t i)
{
	struct path_look p;

	if (!look_path(l->t, i, &p))
		return;
	for (unsigned k = 0; k < p.nodes.n; k++) {
		set(m, INT_NODE, p.nodes.at[k]);
		end_hop(m);
	}
}

bool match_is(struct match *m, const struct expr *e, const struct lookup *l,
	      enum table which, uint32_t i)
{
	static void (*const of[TABLES])(struct match *, const struct lookup *,
					uint32_t) = {
		[TABLE_FLOWS] = of_flow,    [TABLE_NODES] = of_node,
		[TABLE_QUEUES] = of_object, [TABLE_LINKS] = of_object,
		[TABLE_PATHS] = of_path,
	};

	m->view = (struct int_view){0};
	m->n = 0;
	of[which](m, l, i);
	m->view.stack = (struct int_hops){.plan = &m->plan,
					  .data = m->hop[HOPS_MAX - m->n],
					  .len = HOP_LEN,
					  .n = (uint8_t)m->n};
	return expr_match(e, &m->view);
}
