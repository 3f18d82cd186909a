/* SPDX-License-Identifier: BSD-2-Clause */
#include "ioam/ioam.h"

#include <string.h>

#include "ioam/private.h"
#include "wire/net.h"

/* RFC 9197, section 4.4.2. */
void ioam_words(struct int_word words[IOAM_BITS], uint32_t fraction)
{
	static const struct int_word all[IOAM_BITS] = {
		{4, {{INT_HOP_LIMIT, 0, 1}, {INT_NODE, 1, 3, 1, true}}},
		{4,
		 {{INT_INGRESS, 0, 2, 1, true}, {INT_EGRESS, 2, 2, 1, true}}},
		{4, {{INT_TIME_SECONDS, 0, 4}}},
		{4, {{INT_TIME_FRACTION, 0, 4}}},
		{4, {{INT_LATENCY, 0, 4}}},
		{4, {{INT_NAMESPACE_DATA, 0, 4}}},
		{4, {{INT_OCCUPANCY, 0, 4}}},
		{.len = 4}, /* checksum complement */
		{8, {{INT_HOP_LIMIT, 0, 1}, {INT_NODE, 1, 7, 1, true}}},
		{8,
		 {{INT_INGRESS, 0, 4, 1, true}, {INT_EGRESS, 4, 4, 1, true}}},
		{8, {{INT_NAMESPACE_DATA, 0, 8}}},
		{4, {{INT_BUFFER_OCCUPANCY, 0, 4}}},
	};

	memcpy(words, all, sizeof(all));
	words[3].part[0].scale = fraction ? fraction : 1000;
}

void ioam_init(struct ioam_decoder *d, const struct int_profile *profile)
{
	ioam_words(d->words, profile->ioam_fraction);
	int_plans_init(&d->plans, d->words, IOAM_BITS);
}

void ioam_begin(struct ioam_reader *r, struct ioam_decoder *d,
		const uint8_t *frame, size_t len)
{
	struct cur c = cur_of(frame, len);
	const uint8_t *at, *ip;
	size_t payload;

	*r = (struct ioam_reader){
		.d = d, .frame = frame, .len = len, .next = NET_PROTO_NONE};
	if (net_eth_skip(&c, &at) != NET_ETHERTYPE_IP6)
		return;
	ip = cur_take(&c, NET_IP6_LEN);
	if (!ip || ip[0] >> 4 != 6)
		return;
	payload = be16_load(ip + NET_IP6_AT_LEN);
	r->ip = ip;
	r->next = ip[NET_IP6_AT_NEXT];
	r->p = c.p;
	r->end = payload < cur_left(&c) ? c.p + payload : c.end;
}

/* Steps over an extension header, into its options if it has some. False: there
 * is none that options could be in or behind. */
static bool enter(struct ioam_reader *r)
{
	const uint8_t *p = r->p;
	size_t left = (size_t)(r->end - p);
	size_t len = ioam_extension(r->next, p, left);
	bool options = ioam_has_options(r->next);

	r->next = NET_PROTO_NONE;
	if (!len)
		return false;
	r->cut = len > left;
	if (r->cut)
		len = left;
	else
		r->next = p[0];
	r->header = p;
	r->p = p + len;
	r->option = options ? p + NET_IP6_OPTIONS_AT : r->p;
	r->options_end = r->p;
	return true;
}

/* The next option of IOAM and its length, 0 if it is not all there. NULL: there
 * are no more. */
static const uint8_t *find(struct ioam_reader *r, size_t *len)
{
	const uint8_t *p;
	size_t left;

	for (;;) {
		p = r->option;
		left = (size_t)(r->options_end - p);
		if (!left) {
			if (!enter(r))
				return NULL;
			continue;
		}
		*len = ioam_option_len(p, left);
		r->option = *len ? p + *len : r->options_end;
		if (ioam_is_option(*p))
			return p;
	}
}

static void set_flow(const struct ioam_reader *r, struct int_view *v)
{
	const uint8_t *ip = r->ip, *end = r->frame + r->len;
	struct cur c = cur_of(ip, (size_t)(end - ip));
	struct net_ip outer;

	v->key_len = 0;
	v->ip_len = 0;
	if (net_ip_decode(&outer, NET_ETHERTYPE_IP6, &c) != 0)
		return;
	if (outer.protocol == NET_PROTO_IP6 ||
	    outer.protocol == NET_PROTO_IP4) {
		int_view_ip(v, outer.l4.p, cur_left(&outer.l4));
		return;
	}
	int_view_net(v, &outer);
	if (v->key_len)
		v->ip_len -= (uint32_t)ioam_share(
			ip[NET_IP6_AT_NEXT], ip + NET_IP6_LEN,
			(size_t)(r->end - ip - NET_IP6_LEN));
}

/* Where each node begins, if snapshots are among them. */
static enum ioam_reason place_opaque(struct ioam *t, size_t node, size_t len)
{
	struct int_hops *h = &t->view.stack;
	size_t at = 0;

	h->n = 0;
	h->at = t->at;
	while (at < len) {
		if (node + IOAM_SNAPSHOT_LEN > len - at)
			return IOAM_NODES;
		t->at[h->n++] = (uint16_t)at;
		at += node;
		at += IOAM_SNAPSHOT_LEN + h->data[at] * 4u;
	}
	return at == len ? IOAM_OK : IOAM_NODES;
}

static enum ioam_reason place(struct ioam *t, size_t len)
{
	struct int_hops *h = &t->view.stack;

	if (t->opaque)
		return place_opaque(t, h->len, len);
	if (h->len ? len % h->len : len)
		return IOAM_NODES;
	h->n = h->len ? (uint8_t)(len / h->len) : 0;
	return IOAM_OK;
}

static void set_bitmap(struct ioam *t, struct ioam_decoder *d, uint32_t bitmap)
{
	struct int_view *v = &t->view;
	const struct int_plan *plan;

	plan = int_plans_get(&d->plans,
			     bitmap & ~(uint32_t)(IOAM_OPAQUE | IOAM_UNUSED));
	t->opaque = bitmap & IOAM_OPAQUE;
	v->stack = (struct int_hops){.plan = plan, .len = plan->len};
	if (plan->reserved || bitmap & IOAM_UNUSED)
		v->flags |= INT_RESERVED;
}

/* From the trace's header on. */
static enum ioam_reason trace(struct ioam *t, struct ioam_decoder *d,
			      const uint8_t *p, size_t len)
{
	struct int_view *v = &t->view;
	unsigned lengths;
	size_t free;

	if (len < IOAM_TRACE_LEN || len % 4)
		return IOAM_LENGTH;
	lengths = be16_load(p + IOAM_TRACE_AT_LENGTHS);
	t->flags = lengths >> IOAM_FLAGS_SHIFT & 15;
	t->remaining = lengths & IOAM_REMAINING_MASK;
	v->domain = be16_load(p);
	v->flags = t->flags & IOAM_OVERFLOW ? INT_HOPS_EXCEEDED : 0;
	set_bitmap(t, d, be24_load(p + IOAM_TRACE_AT_BITMAP));
	if (v->stack.len != (lengths >> IOAM_NODE_LEN_SHIFT) * 4)
		return IOAM_NODE_LENGTH;
	free = t->type == IOAM_PREALLOCATED ? t->remaining * 4u : 0;
	len -= IOAM_TRACE_LEN;
	if (free > len)
		return IOAM_REMAINING;
	v->stack.data = p + IOAM_TRACE_LEN + free;
	return place(t, len - free);
}

/* RFC 9326, section 3.2: each of the optional fields is there if its bit is. */
static enum ioam_reason direct(struct ioam *t, struct ioam_decoder *d,
			       const uint8_t *p, size_t len)
{
	struct cur c = cur_of(p, len);
	const uint8_t *head = cur_take(&c, IOAM_DIRECT_LEN);

	if (!head)
		return IOAM_LENGTH;
	t->has_flow = head[IOAM_DIRECT_AT_MORE] & IOAM_DIRECT_FLOW;
	t->has_sequence = head[IOAM_DIRECT_AT_MORE] & IOAM_DIRECT_SEQUENCE;
	if (t->has_flow)
		t->flow = cur_be32(&c);
	if (t->has_sequence)
		t->sequence = cur_be32(&c);
	if (!cur_ok(&c))
		return IOAM_LENGTH;
	t->view.domain = be16_load(head);
	set_bitmap(t, d, be24_load(head + IOAM_TRACE_AT_BITMAP));
	return IOAM_OK;
}

enum ioam_reason ioam_next(struct ioam_reader *r, struct ioam *out)
{
	enum ioam_reason why = IOAM_TYPE;
	const uint8_t *p;
	size_t len = 0;

	if (!r->ip || !(p = find(r, &len)))
		return IOAM_END;
	if (!len && r->cut)
		return IOAM_TRUNCATED;
	if (len < IOAM_LEN)
		return IOAM_LENGTH;
	memset(out, 0, offsetof(struct ioam, at));
	out->view.format = INT_IOAM;
	out->type = p[IOAM_AT_TYPE];
	out->ip = r->ip;
	out->header = r->header;
	out->option = p;
	out->option_len = len;
	if (out->type <= IOAM_INCREMENTAL)
		why = trace(out, r->d, p + IOAM_LEN, len - IOAM_LEN);
	else if (out->type == IOAM_DIRECT)
		why = direct(out, r->d, p + IOAM_LEN, len - IOAM_LEN);
	if (why == IOAM_OK)
		set_flow(r, &out->view);
	return why;
}

struct ioam_snapshot ioam_snapshot_of(const struct int_hops *h, unsigned i)
{
	const uint8_t *p = int_hop(h, i) + h->len;

	return (struct ioam_snapshot){
		.schema = be24_load(p + 1),
		.data = p + IOAM_SNAPSHOT_LEN,
		.len = p[0] * 4u,
	};
}
