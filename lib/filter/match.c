/* SPDX-License-Identifier: BSD-2-Clause */
/* match.c - whether an expression is true of a view. */
#include <string.h>

#include "filter/private.h"
#include "wire/proto.h"

/* clang-format off */
#define FIELD(counter, role) LEDGER_FIELD(struct filter_ledger, counter, role)
static const struct ledger_field ledger_fields[] = {
	FIELD(views, LEDGER_IN),
	FIELD(matched, LEDGER_DONE),
	FIELD(others, LEDGER_HARMLESS),
};
#undef FIELD
LEDGER_COMPLETE(ledger_fields, struct filter_ledger);
/* clang-format on */

const struct ledger filter_ledger = {"filter", "views", ledger_fields,
				     sizeof(ledger_fields) /
					     sizeof(ledger_fields[0])};

/* A hop of a view: the reporter's own, or one of the stack; plan NULL: none. */
struct hop {
	const struct int_plan *plan;
	const uint8_t *data;
	bool own;
};

static bool compare(uint64_t v, enum op op, uint64_t with)
{
	switch (op) {
	case OP_EQ:
		return v == with;
	case OP_NE:
		return v != with;
	case OP_LT:
		return v < with;
	case OP_LE:
		return v <= with;
	case OP_GT:
		return v > with;
	default:
		return v >= with;
	}
}

static unsigned hops_of(const struct int_view *v)
{
	return (unsigned)v->own.n + v->stack.n;
}

static struct hop hop_at(const struct int_view *v, unsigned i)
{
	if (i < v->own.n)
		return (struct hop){v->own.plan, int_hop(&v->own, i), true};
	i -= v->own.n;
	return (struct hop){v->stack.plan, int_hop(&v->stack, i), false};
}

static bool hop_number(const struct hop *h, enum int_field field, uint64_t *n)
{
	return h->plan && int_get(h->plan, h->data, field, n);
}

/* The reporter's own metadata need not say who it is. */
static bool node_number(const struct int_view *v, const struct hop *h,
			uint64_t *n)
{
	if (hop_number(h, INT_NODE, n))
		return true;
	*n = v->from.node;
	return h->own && v->from.has_node;
}

static bool latency_of(const struct int_view *v, uint64_t *sum)
{
	bool told = false;
	uint64_t n;

	*sum = 0;
	for (unsigned i = 0; i < hops_of(v); i++) {
		struct hop h = hop_at(v, i);

		if (!hop_number(&h, INT_LATENCY, &n))
			continue;
		*sum += n;
		told = true;
	}
	return told;
}

static bool number(const struct known *k, const struct int_view *v,
		   const struct hop *h, uint64_t *n)
{
	switch (k->of) {
	case OF_HOP:
		return hop_number(h, k->what, n);
	case OF_FLAG:
		*n = !!(v->flags & k->what);
		return true;
	case OF_HOPS:
		*n = hops_of(v);
		return true;
	case OF_LEN:
		*n = v->ip_len;
		return v->ip_len;
	case OF_LATENCY:
		return latency_of(v, n);
	case OF_HW_ID:
		*n = v->from.hw_id;
		return v->from.report;
	case OF_REPORTER:
		*n = v->from.node;
		return v->from.has_node;
	default:
		*n = v->domain;
		return true;
	}
}

static bool in_net(const uint8_t *addr, const struct expr *e)
{
	unsigned whole = e->bits / 8, rest = e->bits % 8;
	uint8_t mask = (uint8_t)(0xff << (8 - rest));

	return !memcmp(addr, e->ip, whole) &&
	       (!rest || !((addr[whole] ^ e->ip[whole]) & mask));
}

static uint8_t version_of(const struct int_view *v)
{
	return v->key_len == KEY_FLOW4_LEN   ? 4
	       : v->key_len == KEY_FLOW6_LEN ? 6
					     : 0;
}

static bool net_matches(const struct expr *e, const struct int_view *v)
{
	unsigned len = e->version == 4 ? KEY_IP4_LEN : KEY_IP6_LEN;

	if (version_of(v) != e->version)
		return false;
	return (e->side != SIDE_DST && in_net(v->key, e)) ||
	       (e->side != SIDE_SRC && in_net(v->key + len, e));
}

static bool port_matches(const struct expr *e, const struct int_view *v)
{
	const uint8_t *p = v->key + v->key_len - KEY_FLOW_REST;

	if (!v->key_len)
		return false;
	return (e->side != SIDE_DST && be16_load(p) == e->value) ||
	       (e->side != SIDE_SRC && be16_load(p + 2) == e->value);
}

static bool with_any_hop(const struct expr *e, const struct int_view *v);

static bool with_hop(const struct expr *e, const struct int_view *v,
		     const struct hop *h)
{
	uint64_t n;

	switch (e->kind) {
	case EXPR_NOT:
		return !with_any_hop(e->a, v);
	case EXPR_AND:
		return with_hop(e->a, v, h) && with_hop(e->b, v, h);
	case EXPR_OR:
		return with_hop(e->a, v, h) || with_hop(e->b, v, h);
	case EXPR_NODE:
		return node_number(v, h, &n) && n == e->value;
	case EXPR_NET:
		return net_matches(e, v);
	case EXPR_PORT:
		return port_matches(e, v);
	case EXPR_PROTO:
		return v->key_len && v->key[v->key_len - 1] == e->value;
	case EXPR_VERSION:
		return version_of(v) == e->value;
	default:
		return number(e->known, v, h, &n) &&
		       compare(n, e->op, e->value);
	}
}

static bool with_any_hop(const struct expr *e, const struct int_view *v)
{
	static const struct hop none;
	unsigned n = hops_of(v);

	if (!n)
		return with_hop(e, v, &none);
	for (unsigned i = 0; i < n; i++) {
		struct hop h = hop_at(v, i);

		if (with_hop(e, v, &h))
			return true;
	}
	return false;
}

bool expr_match(const struct expr *e, const struct int_view *v)
{
	return with_any_hop(e, v);
}
