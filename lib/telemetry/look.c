/* SPDX-License-Identifier: BSD-2-Clause */
/* look.c - what the sink keeps, for who shows it. */
#include "telemetry/track.h"

uint32_t telemetry_looks(const struct telemetry *t, enum look kind)
{
	switch (kind) {
	case LOOK_FLOW:
		return t->flows.used;
	case LOOK_NODE:
		return (uint32_t)t->objects.counters.nodes;
	case LOOK_OBJECT:
		return (uint32_t)t->objects.counters.objects;
	default:
		return t->paths.used;
	}
}

struct flow_entry *look_flow(const struct telemetry *t, uint32_t i)
{
	struct flow_entry *f;

	if (i >= t->flows.used)
		return NULL;
	f = flows_entry(&t->flows, i + 1);
	return f->key_len ? f : NULL;
}

struct nodes look_flow_path(const struct telemetry *t, struct flow_entry *f,
			    uint64_t *room)
{
	return track_nodes(t, f, room);
}

const struct place *look_flow_hop(const struct telemetry *t,
				  struct flow_entry *f, unsigned k,
				  const struct meter *of[METRIC_OF_HOP])
{
	const struct flow_hop *h = flow_hop(&t->flows, f, k);
	const struct flow_wide *w = flow_wide(&t->flows, f, k);

	for (unsigned m = 0; m < FLOW_METERS; m++)
		of[m] = &h->meter[m];
	for (unsigned m = 0; m < FLOW_WIDE; m++)
		of[FLOW_METERS + m] = w ? &w->meter[m] : NULL;
	return h->place ? &t->objects.place[h->place] : NULL;
}

const struct node *look_node(const struct telemetry *t, uint32_t i)
{
	return i < t->objects.counters.nodes ? &t->objects.node[i + 1] : NULL;
}

static const struct dist *some(const struct telemetry *t, const struct dist *d)
{
	return d == t->none ? NULL : d;
}

const struct dist *look_node_dist(const struct telemetry *t,
				  const struct node *n, enum metric m)
{
	return some(t, n->dist[m]);
}

const struct object *look_object(const struct telemetry *t, uint32_t i)
{
	return i < t->objects.counters.objects ? &t->objects.object[i] : NULL;
}

bool look_path(const struct telemetry *t, uint32_t i, struct path_look *out)
{
	const struct path *p = &t->paths.path[i + 1];

	if (i >= t->paths.used)
		return false;
	*out = (struct path_look){{path_nodes(&t->paths, i + 1), p->n},
				  p->loop,
				  some(t, p->dist)};
	return true;
}
