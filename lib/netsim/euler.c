/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * euler.c - vertices of odd degree are joined in pairs by links that are not
 * there; the graph has circuits then, and each falls into trails where those
 * links are taken out.
 */
#include "netsim/euler.h"

#include <errno.h>
#include <stdlib.h>

/* An arc: from a node through a port, or, beyond the ports, along a link that
 * is not there. Arcs of a link are each other's twins. */
struct walk {
	const struct fabric *f;
	uint32_t *virtual; /* of a node: the other node, or FABRIC_NONE */
	uint32_t *next;	   /* of a node: the next place to try */
	bool *used;	   /* of a port: its link is */
	uint32_t *stack, *arc, depth;
	uint32_t *circuit, n; /* arcs in reverse: ports, or FABRIC_NONE */
};

static bool is_link(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->port[port].peer;

	return peer != FABRIC_NONE && peer < f->switch_ports;
}

static unsigned degree(const struct fabric *f, uint32_t node)
{
	const struct fabric_node *n = &f->node[node];
	unsigned d = 0;

	for (uint32_t i = 0; i < n->ports; i++)
		d += is_link(f, n->first + i);
	return d;
}

static uint32_t join_odd(struct walk *w)
{
	uint32_t odd = 0, last = FABRIC_NONE;

	for (uint32_t i = 0; i < w->f->switches; i++) {
		w->virtual[i] = FABRIC_NONE;
		if (degree(w->f, i) % 2 == 0)
			continue;
		if (odd++ % 2) {
			w->virtual[i] = last;
			w->virtual[last] = i;
		}
		last = i;
	}
	return odd;
}

/* The next unused arc of a node: *to is where it leads. False: none. */
static bool take_arc(struct walk *w, uint32_t node, uint32_t *to, uint32_t *arc)
{
	const struct fabric_node *n = &w->f->node[node];
	uint32_t other = w->virtual[node];

	if (other != FABRIC_NONE) {
		w->virtual[node] = w->virtual[other] = FABRIC_NONE;
		*to = other;
		*arc = FABRIC_NONE;
		return true;
	}
	while (w->next[node] < n->ports) {
		uint32_t port = n->first + w->next[node]++;

		if (!is_link(w->f, port) || w->used[port])
			continue;
		w->used[port] = w->used[w->f->port[port].peer] = true;
		*to = w->f->port[w->f->port[port].peer].node;
		*arc = port;
		return true;
	}
	return false;
}

/* A circuit from a node, all arcs that hang together with it; its arcs are
 * behind those before, the last one first. */
static void circuit(struct walk *w, uint32_t start)
{
	uint32_t to, arc;

	w->depth = 0;
	w->stack[w->depth] = start;
	w->arc[w->depth++] = FABRIC_NONE;
	while (w->depth) {
		if (take_arc(w, w->stack[w->depth - 1], &to, &arc)) {
			w->stack[w->depth] = to;
			w->arc[w->depth++] = arc;
		} else if (--w->depth) {
			w->circuit[w->n++] = w->arc[w->depth];
		}
	}
}

/*
 * Arcs of a circuit, last one first, as trails. It is begun behind a link that
 * is not there, if it has any, so that no trail is cut by where it began.
 */
static void cut(struct euler *e, const uint32_t *arc, uint32_t n)
{
	struct euler_trail *t = NULL;
	uint32_t from = 0;

	while (from < n && arc[n - 1 - from] != FABRIC_NONE)
		from++;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t a = arc[n - 1 - (from + i) % n];

		if (a == FABRIC_NONE) {
			t = NULL;
			continue;
		}
		if (!t) {
			t = &e->trail[e->trails++];
			*t = (struct euler_trail){e->ports, 0};
		}
		e->port[e->ports++] = a;
		t->len++;
	}
}

static bool room(struct walk *w, struct euler *e)
{
	uint32_t nodes = w->f->switches, arcs = w->f->switch_ports + nodes + 1;

	w->virtual = calloc(nodes, sizeof(*w->virtual));
	w->next = calloc(nodes, sizeof(*w->next));
	w->used = calloc(w->f->ports, sizeof(*w->used));
	w->stack = calloc(arcs, sizeof(*w->stack));
	w->arc = calloc(arcs, sizeof(*w->arc));
	w->circuit = calloc(arcs, sizeof(*w->circuit));
	e->port = calloc(arcs, sizeof(*e->port));
	e->trail = calloc(nodes, sizeof(*e->trail));
	return w->virtual && w->next && w->used && w->stack && w->arc &&
	       w->circuit && e->port && e->trail;
}

static void leave(struct walk *w)
{
	free(w->virtual);
	free(w->next);
	free(w->used);
	free(w->stack);
	free(w->arc);
	free(w->circuit);
}

int euler_plan(struct euler *e, const struct fabric *f)
{
	struct walk w = {.f = f};
	bool ok;

	*e = (struct euler){0};
	ok = room(&w, e);
	if (ok) {
		e->odd = join_odd(&w);
		for (uint32_t i = 0; i < f->switches; i++) {
			w.n = 0;
			circuit(&w, i);
			if (w.n)
				cut(e, w.circuit, w.n);
		}
	} else {
		euler_fini(e);
	}
	leave(&w);
	return ok ? 0 : -ENOMEM;
}

void euler_fini(struct euler *e)
{
	free(e->trail);
	free(e->port);
	*e = (struct euler){0};
}
