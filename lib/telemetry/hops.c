/* SPDX-License-Identifier: BSD-2-Clause */
/* hops.c - the hops of a record; paths; the hops that a flow keeps. */

#include "base/rng.h"
#include "telemetry/private.h"

bool path_loops(const uint64_t *nodes, unsigned n)
{
	/* A Bloom filter first: most paths have no loop. */
	uint64_t filter = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t bit = 1ULL << (rng_mix(nodes[i]) & 63);
		bool maybe = filter & bit;

		filter |= bit;
		if (nodes[i] == NODE_UNKNOWN)
			continue;
		for (unsigned k = 0; maybe && k < i; k++)
			if (nodes[k] == nodes[i])
				return true;
	}
	return false;
}

uint64_t path_hash(const uint64_t *nodes, unsigned n)
{
	uint64_t h = rng_mix(n);

	for (unsigned i = 0; i < n; i++)
		h = rng_mix(h ^ nodes[i]);
	return h;
}

enum {
	SECOND_NS = 1000000000,
};

static const struct ready_layout *find_layout(struct layout_cache *cache,
					      const struct int_layout *layout)
{
	struct ready_layout *m;

	if (hop_fields_match(&cache->latest->fields, layout))
		return cache->latest;
	m = &cache->layout[rng_mix((uintptr_t)layout->words ^ layout->bitmap) %
			   LAYOUTS_KEPT];
	if (!hop_fields_match(&m->fields, layout)) {
		hop_fields_set(&m->fields, layout);
		simd_layout_init(&m->simd, &m->fields);
	}
	return cache->latest = m;
}

/* Whether the reporter's own metadata are a hop: not if it has pushed them on
 * the stack as well. */
static bool adds_hop(const struct record_hops *rh)
{
	return !rh->stacked ||
	       record_hop_node(rh, rh->stacked) == NODE_UNKNOWN ||
	       record_hop_node(rh, rh->stacked) !=
		       record_hop_node(rh, rh->stacked - 1);
}

void record_hops_init(struct layout_cache *cache, struct record_hops *rh,
		      const struct int_record *v)
{
	*rh = (struct record_hops){.v = v, .reporter = NODE_UNKNOWN};
	if (v->from.has_node)
		rh->reporter = v->from.node;
	if (v->own.layout && v->own.n) {
		if (!hop_fields_match(&cache->own, v->own.layout))
			hop_fields_set(&cache->own, v->own.layout);
		rh->own = &cache->own;
	}
	if (v->stack.layout && v->stack.n) {
		rh->stack = &find_layout(cache, v->stack.layout)->fields;
		rh->n = rh->stacked = v->stack.n;
	}
	if (rh->own)
		rh->n += adds_hop(rh);
}

uint64_t record_hop_node(const struct record_hops *rh, unsigned i)
{
	const struct hop_fields *f = record_hop_fields(rh, i);

	if (i == rh->stacked && f->node.width == FIELD_NONE)
		return rh->reporter;
	return field_node(&f->node, record_hop(rh, i));
}

uint32_t record_hop_key(struct telemetry *t, const struct record_hops *rh,
			unsigned i)
{
	const struct hop_fields *f = record_hop_fields(rh, i);
	uint32_t id[FIELD_IDS];

	for (unsigned k = 0; k < FIELD_IDS; k++)
		id[k] = field_id(&f->id[k], record_hop(rh, i));
	return telemetry_hop_key(t, record_hop_node(rh, i), id);
}

bool record_hop_is_at(const struct record_hops *rh, unsigned i,
		      const struct hop_key *p)
{
	const struct hop_fields *f = record_hop_fields(rh, i);
	const uint8_t *hop = record_hop(rh, i);

	if (record_hop_node(rh, i) != p->node_id)
		return false;
	for (unsigned k = 0; k < FIELD_IDS; k++)
		if (field_id(&f->id[k], hop) != p->id[k])
			return false;
	return true;
}

/* later - earlier, two raw values of a time field, in ns. */
static bool time_difference(struct telemetry *t, const struct hop_field *f,
			    uint64_t later, uint64_t earlier, uint64_t *ns)
{
	uint64_t by = (later - earlier) & f->mask;

	if (by > f->mask / 2) {
		t->ledger.skewed++;
		return false;
	}
	*ns = int_scaled(by, f->scale);
	return true;
}

/* The time of an IOAM node (RFC 9197, 4.4.2.3 and 4.4.2.4). */
static bool ioam_time(const struct hop_fields *f, const uint8_t *hop,
		      uint64_t *ns)
{
	bool one, two;
	uint64_t s = field_raw(&f->seconds, hop, &one);

	*ns = s * SECOND_NS + field_number(&f->fraction, hop, &two);
	return one && two;
}

static bool ioam_time_between(struct telemetry *t, const struct hop_fields *f,
			      const uint8_t *from, const uint8_t *to,
			      uint64_t *ns)
{
	static const struct hop_field whole = {.mask = UINT64_MAX, .scale = 1};
	uint64_t a, b;

	return ioam_time(f, from, &a) && ioam_time(f, to, &b) &&
	       time_difference(t, &whole, b, a, ns);
}

bool record_hop_latency(struct telemetry *t, const struct record_hops *rh,
			unsigned i, uint64_t *ns)
{
	const struct int_from *from = &rh->v->from;
	const struct hop_fields *f = record_hop_fields(rh, i);
	const uint8_t *hop = record_hop(rh, i);
	bool in, out;
	uint64_t a, b;

	if (f->egress_time.width) {
		a = field_raw(&f->ingress_time, hop, &in);
		b = field_raw(&f->egress_time, hop, &out);
		/* Reports 0.5 and 1.0 have it in their headers. */
		if (!in && i == rh->stacked && from->has_time &&
		    f->egress_time.mask == UINT32_MAX) {
			a = from->time;
			in = true;
		}
		return in && out &&
		       time_difference(t, &f->egress_time, b, a, ns);
	}
	/* IOAM has one time for each node: the latency is that to the next. */
	return f->seconds.width && i + 1 < rh->stacked &&
	       ioam_time_between(t, f, hop, record_hop(rh, i + 1), ns);
}

bool record_path_latency(struct telemetry *t, const struct record_hops *rh,
			 uint64_t *ns)
{
	const struct hop_fields *first = record_hop_fields(rh, 0);
	const struct hop_fields *last = record_hop_fields(rh, rh->n - 1);
	const uint8_t *from = record_hop(rh, 0),
		      *to = record_hop(rh, rh->n - 1);
	bool in, out;
	uint64_t a, b;

	if (first->ingress_time.width && last->egress_time.width &&
	    first->ingress_time.mask == last->egress_time.mask) {
		a = field_raw(&first->ingress_time, from, &in);
		b = field_raw(&last->egress_time, to, &out);
		return in && out &&
		       time_difference(t, &last->egress_time, b, a, ns);
	}
	return first->seconds.width && first == last && rh->n > 1 &&
	       ioam_time_between(t, first, from, to, ns);
}

void track_dist(struct telemetry *t, struct node *n, enum metric m)
{
	struct dist *d;

	if (n->dist[m] != t->dist_none || n->id == NODE_UNKNOWN)
		return;
	d = dists_new(&t->dists);
	if (d)
		n->dist[m] = d;
}

static unsigned kept_path_hops(const struct flow_entry *f)
{
	return f->kept < f->hops ? f->kept : f->hops;
}

struct nodes telemetry_flow_path(const struct telemetry *t,
				 struct flow_entry *f, uint64_t *room)
{
	unsigned n = kept_path_hops(f);

	if (f->path)
		return (struct nodes){path_nodes(&t->paths, f->path),
				      t->paths.path[f->path].n};
	for (unsigned i = 0; i < n; i++) {
		uint32_t hop_key = flow_hop(&t->flows, f, i)->hop_key;

		room[i] = hop_key ? t->objects.hop_key[hop_key].node_id
				  : NODE_UNKNOWN;
	}
	return (struct nodes){room, n};
}

/* Whether the flow's path is this one, as far as it is known. */
static bool same_nodes(const struct telemetry *t, struct flow_entry *f,
		       struct nodes now)
{
	unsigned kept = kept_path_hops(f);

	if (f->hops != now.n)
		return false;
	if (f->path)
		return !memcmp(path_nodes(&t->paths, f->path), now.at,
			       now.n * sizeof(*now.at));
	for (unsigned i = 0; i < kept; i++) {
		uint32_t hop_key = flow_hop(&t->flows, f, i)->hop_key;

		if (hop_key && t->objects.hop_key[hop_key].node_id != now.at[i])
			return false;
	}
	return true;
}

/* The flow's first hop, from number i on, of the node; f->kept: none. */
static unsigned find_flow_hop(const struct telemetry *t, struct flow_entry *f,
			      unsigned i, uint64_t node)
{
	for (; i < f->kept; i++)
		if (t->objects.hop_key[flow_hop(&t->flows, f, i)->hop_key]
			    .node_id == node)
			break;
	return i;
}

/* Clears the last hop for reuse, if it is not on the path before hop i. */
static bool clear_last_hop(struct telemetry *t, struct flow_entry *f,
			   unsigned i)
{
	t->ledger.forgotten++;
	if (i >= f->kept)
		return false;
	*flow_hop(&t->flows, f, f->kept - 1) = (struct flow_hop){0};
	*flow_rare(&t->flows, f, f->kept - 1) = (struct flow_rare){0};
	return true;
}

/* Makes the flow's hop i one of the node; false: there is no room. */
static bool set_path_hop(struct telemetry *t, struct flow_entry *f, unsigned i,
			 uint64_t node)
{
	unsigned k = find_flow_hop(t, f, i, node);

	if (k == f->kept) {
		if (!flow_add_hop(&t->flows, f) && !clear_last_hop(t, f, i))
			return false;
		k = f->kept - 1u;
	}
	if (k != i)
		flow_swap_hops(&t->flows, f, i, k);
	return true;
}

static void put_path_events(struct telemetry *t, const struct flow_entry *f,
			    struct nodes old, struct nodes now)
{
	struct telemetry_event event = telemetry_event_of_flow(f, METRIC_PATH);

	event.path = now;
	event.old_path = old;
	telemetry_event_put(t, old.n ? EVENT_PATH_CHANGE : EVENT_NEW_KEY,
			    &event);
	event.old_path = (struct nodes){0};
	if (f->path ? t->paths.path[f->path].loop : path_loops(now.at, now.n))
		telemetry_event_put(t, EVENT_LOOP, &event);
}

uint32_t path_number(struct telemetry *t, struct nodes now)
{
	struct paths *ps = &t->paths;
	struct path key = {.hash = path_hash(now.at, now.n),
			   .n = (uint16_t)now.n};
	size_t len = now.n * sizeof(*now.at);
	struct path *p;
	bool fresh;
	uint32_t nr;

	if (ps->nodes_used + now.n > ps->table.max * PATH_NODES)
		ps->table.max = ps->table.used; /* it is full */
	nr = key_table_get(&ps->table, key.hash, &key, &fresh);
	p = &ps->path[nr];
	if (!fresh) {
		if (!nr || !memcmp(path_nodes(ps, nr), now.at, len))
			return nr;
		ps->table.no_room++; /* another path has this hash */
		return 0;
	}
	p->at = ps->nodes_used;
	p->loop = path_loops(now.at, now.n);
	memcpy(ps->nodes + p->at, now.at, len);
	ps->nodes_used += now.n;
	if (!(p->dist = dists_new(&t->dists)))
		p->dist = t->dist_none;
	return nr;
}

static void change_path(struct telemetry *t, struct flow_entry *f,
			struct nodes now)
{
	uint64_t room[PATH_NODES_MAX];
	struct nodes old = telemetry_flow_path(t, f, room);

	for (unsigned i = 0; i < kept_path_hops(f); i++)
		flow_hop(&t->flows, f, i)->flags |= FLOW_HOP_ACTIVE;
	for (unsigned i = 0; i < now.n; i++)
		if (!set_path_hop(t, f, i, now.at[i]))
			break;
	f->hops = (uint16_t)now.n;
	f->path = path_number(t, now);
	put_path_events(t, f, old, now);
}

/* The node of a hop may change from unknown, for want of room, to a new one,
 * while values are within the range: that node needs a distribution, too. */
static void set_hop_key(struct telemetry *t, struct flow_hop *h, uint32_t key)
{
	h->hop_key = key & 0xffffff;
	if (h->flags & THRESHOLD_KNOWN)
		track_dist(t, t->objects.hop_key[h->hop_key].node,
			   METRIC_HOP_LATENCY);
}

void track_path(struct telemetry *t, struct flow_entry *f,
		const struct record_hops *rh)
{
	uint64_t at[PATH_NODES_MAX];
	struct nodes now = {at, rh->n};

	for (unsigned i = 0; i < now.n; i++)
		at[i] = record_hop_node(rh, i);
	if (!same_nodes(t, f, now))
		change_path(t, f, now);
	for (unsigned i = 0; i < kept_path_hops(f); i++) {
		struct flow_hop *h = flow_hop(&t->flows, f, i);

		if (!record_hop_is_at(rh, i, &t->objects.hop_key[h->hop_key]))
			set_hop_key(t, h, record_hop_key(t, rh, i));
	}
}

int track_hop(struct telemetry *t, struct flow_entry *f,
	      const struct record_hops *rh, unsigned i)
{
	unsigned k = find_flow_hop(t, f, 0, record_hop_node(rh, i));
	struct flow_hop *h;

	if (k == f->kept && !flow_add_hop(&t->flows, f)) {
		t->ledger.forgotten++;
		return -1;
	}
	h = flow_hop(&t->flows, f, k);
	h->flags |= FLOW_HOP_ACTIVE;
	if (!record_hop_is_at(rh, i, &t->objects.hop_key[h->hop_key]))
		set_hop_key(t, h, record_hop_key(t, rh, i));
	return (int)k;
}
