/* SPDX-License-Identifier: BSD-2-Clause */
/* filter.c - fields that a filter can test; expressions, parsed by recursive
 * descent (filter.h has the grammar); whether one is true of a record. */
#include "telemetry/filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "net/key.h"
#include "net/proto.h"

/* What a test's number is taken from. */
enum number_source {
	FROM_HOP,
	FROM_FLAG,
	FROM_HOPS,
	FROM_LEN,
	FROM_LATENCY,
	FROM_HW_ID,
	FROM_REPORTER,
	FROM_DOMAIN,
	FROM_NODE,
	FROM_PROTO,
	FROM_VERSION,
};

struct filter_field {
	struct expr_field field;
	uint8_t source, which; /* enum number_source; int_field or int_flag */
};

enum kind {
	EXPR_NOT, /* a */
	EXPR_AND, /* a, b */
	EXPR_OR,
	EXPR_NET,    /* side, ip, bits, version */
	EXPR_PORT,   /* side, value */
	EXPR_FLOW,   /* version, key */
	EXPR_NUMBER, /* source, which, op, value */
};

enum side { SIDE_ANY, SIDE_SRC, SIDE_DST };

/* An operator is a set of these: the results of comparing that make it true. */
enum op {
	OP_LT = 1 << 0,
	OP_EQ = 1 << 1,
	OP_GT = 1 << 2,
};

struct expr {
	uint8_t kind, side, source, which, op, version, bits;
	uint8_t ip[16], key[KEY_FLOW6_LEN];
	uint64_t value;
	struct expr *a, *b;
};

/* clang-format off */
#define HOP(name_, unit_, field_, help_)                                       \
	{ { .name = "hop." name_, .unit = (unit_), .help = (help_) },          \
	  .source = FROM_HOP, .which = (field_) }
#define FLAG(name_, bit_, help_)                                               \
	{ { .name = (name_), .help = (help_), .flag = true },                  \
	  .source = FROM_FLAG, .which = (bit_) }

static const struct filter_field fields[] = {
	HOP("latency", "ns", INT_LATENCY, "time within the node"),
	HOP("ingress", NULL, INT_INGRESS, "interface it came in by"),
	HOP("egress", NULL, INT_EGRESS, "interface it went out by"),
	HOP("ingress2", NULL, INT_INGRESS2, "the same, level 2"),
	HOP("egress2", NULL, INT_EGRESS2, "the same, level 2"),
	HOP("queue", NULL, INT_QUEUE, "id of the queue"),
	HOP("occupancy", NULL, INT_OCCUPANCY, "of the queue"),
	HOP("congestion", NULL, INT_CONGESTION, "of the queue (INT 0.5)"),
	HOP("utilization", NULL, INT_UTILIZATION, "of the egress link"),
	HOP("buffer", NULL, INT_BUFFER, "id of the buffer"),
	HOP("buffer_occupancy", NULL, INT_BUFFER_OCCUPANCY, "of the buffer"),
	HOP("drop_reason", NULL, INT_DROP_REASON, "why it was dropped there"),
	HOP("hop_limit", NULL, INT_HOP_LIMIT, "IOAM: of the packet there"),
	{ {.name = "hops", .help = "nodes that say something"},
	  .source = FROM_HOPS },
	{ {.name = "len", .unit = "bytes", .help = "of the packet, from IP on"},
	  .source = FROM_LEN },
	{ {.name = "latency", .unit = "ns", .help = "sum of all nodes'"},
	  .source = FROM_LATENCY },
	{ {.name = "hw_id", .help = "of the reporter"}, .source = FROM_HW_ID },
	{ {.name = "reporter", .help = "node that reported"},
	  .source = FROM_REPORTER },
	{ {.name = "domain", .help = "Domain Specific ID, IOAM namespace"},
	  .source = FROM_DOMAIN },
	FLAG("dropped", INT_DROPPED, "the report says: dropped"),
	FLAG("congested", INT_CONGESTED, "its queue was congested"),
	FLAG("tracked", INT_TRACKED, "its flow is tracked"),
	FLAG("intermediate", INT_INTERMEDIATE, "report on the way"),
	FLAG("exceeded", INT_HOPS_EXCEEDED, "there was no room for all hops"),
	FLAG("mtu", INT_MTU_EXCEEDED, "a node had to be silent for the MTU"),
	FLAG("clone", INT_DISCARD, "to be discarded by the sink"),
};
/* clang-format on */

enum {
	FIELDS = sizeof(fields) / sizeof(fields[0]),
};

const struct expr_field *expr_field_at(unsigned i)
{
	return i < FIELDS ? &fields[i].field : NULL;
}

/* --- parsing ------------------------------------------------------------- */

enum {
	WORD_MAX = 64,
	PARTS_MAX = 1024, /* tests, ands, ors, nots, parentheses */
	IP4_BITS = 32,
	IP6_BITS = 128,
};

struct parser {
	const char *p;
	char word[WORD_MAX]; /* the current one; "": the end */
	unsigned parts;
	struct error *err;
	int rc;
};

static struct expr *fail(struct parser *s, const char *reason)
{
	if (!s->rc)
		s->rc = error_set(s->err, -EINVAL, "at '%s': %s",
				  s->word[0] ? s->word : "the end", reason);
	return NULL;
}

static unsigned flow_len(unsigned version)
{
	return version == 4 ? KEY_FLOW4_LEN : KEY_FLOW6_LEN;
}

static bool is_sign(char c)
{
	return c && strchr("()!=<>&|", c);
}

/* Signs of two characters. */
static bool is_pair(const char *p)
{
	return (p[1] == '=' && strchr("!=<>", p[0])) ||
	       (p[0] == p[1] && strchr("&|", p[0]));
}

static void next_word(struct parser *s)
{
	size_t n = 0;

	while (isspace((unsigned char)*s->p))
		s->p++;
	if (is_sign(*s->p))
		n = is_pair(s->p) ? 2 : 1;
	else
		while (s->p[n] && !isspace((unsigned char)s->p[n]) &&
		       !is_sign(s->p[n]))
			n++;
	if (n >= sizeof(s->word)) {
		n = sizeof(s->word) - 1;
		fail(s, "too long a word");
	}
	memcpy(s->word, s->p, n);
	s->word[n] = '\0';
	s->p += n;
}

static bool take_word(struct parser *s, const char *a, const char *b)
{
	if (s->rc || (strcmp(s->word, a) != 0 && (!b || strcmp(s->word, b))))
		return false;
	next_word(s);
	return true;
}

/* Counts a part of the expression; true: there are too many. */
static bool add_part(struct parser *s)
{
	return ++s->parts > PARTS_MAX && !fail(s, "too long an expression");
}

static struct expr *new_expr(struct parser *s, enum kind kind)
{
	struct expr *e = add_part(s) ? NULL : calloc(1, sizeof(*e));

	if (e)
		e->kind = (uint8_t)kind;
	else if (!s->rc)
		s->rc = error_set(s->err, -ENOMEM, "out of memory");
	return e;
}

/* Returns e; after an error it frees e and returns NULL. */
static struct expr *unless_failed(struct parser *s, struct expr *e)
{
	if (!s->rc)
		return e;
	expr_free(e);
	return NULL;
}

/* "ADDRESS[/BITS]"; has_bits: /BITS may follow. */
static struct expr *parse_net(struct parser *s, bool has_bits)
{
	struct expr *e = new_expr(s, EXPR_NET);
	char *slash = has_bits ? strchr(s->word, '/') : NULL;
	uint64_t bits, all;

	if (!e)
		return NULL;
	if (slash)
		*slash = '\0';
	e->version = text_ip(e->ip, s->word);
	all = e->version == 4 ? IP4_BITS : IP6_BITS;
	bits = all;
	if (!e->version)
		fail(s, "an address is wanted");
	else if (slash && !text_u64(&bits, slash + 1, all))
		fail(s, "a net has up to 32 bits, of IPv6 128");
	else
		next_word(s);
	e->bits = (uint8_t)bits;
	return unless_failed(s, e);
}

static bool take_op(struct parser *s, uint8_t *op)
{
	static const struct {
		const char *sign, *other;
		uint8_t op;
	} ops[] = {
		{"=", "==", OP_EQ}, {"!=", NULL, OP_LT | OP_GT},
		{"<", NULL, OP_LT}, {"<=", NULL, OP_LT | OP_EQ},
		{">", NULL, OP_GT}, {">=", NULL, OP_GT | OP_EQ},
	};

	for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (take_word(s, ops[i].sign, ops[i].other)) {
			*op = ops[i].op;
			return true;
		}
	return false;
}

static uint64_t parse_value(struct parser *s, const struct filter_field *k)
{
	bool time = k->field.unit && !strcmp(k->field.unit, "ns");
	uint64_t n = 0;

	if (text_number(&n, s->word, UINT64_MAX) ||
	    (time ? text_duration_ns(&n, s->word)
		  : text_size(&n, s->word) == 0))
		next_word(s);
	else
		fail(s, time ? "a number of ns is wanted, or a time: 50us"
			     : "a number is wanted");
	return n;
}

static struct expr *parse_field(struct parser *s)
{
	const struct filter_field *k = fields;
	struct expr *e;

	while (k < fields + FIELDS && strcmp(k->field.name, s->word) != 0)
		k++;
	if (k == fields + FIELDS)
		return fail(s, s->word[0] ? "there is no such test or field"
					  : "a test is wanted");
	if (!(e = new_expr(s, EXPR_NUMBER)))
		return NULL;
	next_word(s);
	e->source = k->source;
	e->which = k->which;
	e->op = OP_LT | OP_GT; /* a flag is not 0 */
	if (!k->field.flag && !take_op(s, &e->op))
		fail(s, "=, !=, <, <=, > or >= is wanted");
	else if (!k->field.flag)
		e->value = parse_value(s, k);
	return unless_failed(s, e);
}

/* Tests without an operator. */
static const struct test_word {
	const char *word;
	uint8_t kind, source; /* enum kind, enum number_source */
	uint64_t value;	      /* or the highest one, if a number follows */
	const char *want; /* message if none follows; NULL: none need follow */
} test_words[] = {
	{"host", EXPR_NET, 0, 0, NULL},
	{"net", EXPR_NET, 0, 0, NULL},
	{"port", EXPR_PORT, 0, UINT16_MAX, "a port is wanted, 0 to 65535"},
	{"node", EXPR_NUMBER, FROM_NODE, UINT64_MAX,
	 "the id of a node is wanted"},
	{"proto", EXPR_NUMBER, FROM_PROTO, UINT8_MAX,
	 "a protocol's number is wanted"},
	{"tcp", EXPR_NUMBER, FROM_PROTO, NET_PROTO_TCP, NULL},
	{"udp", EXPR_NUMBER, FROM_PROTO, NET_PROTO_UDP, NULL},
	{"icmp", EXPR_NUMBER, FROM_PROTO, NET_PROTO_ICMP, NULL},
	{"ip", EXPR_NUMBER, FROM_VERSION, 4, NULL},
	{"ip6", EXPR_NUMBER, FROM_VERSION, 6, NULL},
};

static struct expr *parse_test(struct parser *s)
{
	enum side side = take_word(s, "src", NULL)   ? SIDE_SRC
			 : take_word(s, "dst", NULL) ? SIDE_DST
						     : SIDE_ANY;
	const struct test_word *w = test_words;
	const struct test_word *end = w + sizeof(test_words) / sizeof(*w);
	struct expr *e;

	while (w < end && strcmp(s->word, w->word) != 0)
		w++;
	if (side != SIDE_ANY && (w == end || w->kind == EXPR_NUMBER))
		return fail(s, "host, net or port is wanted");
	if (w == end)
		return parse_field(s);
	next_word(s);
	e = w->kind == EXPR_NET ? parse_net(s, !strcmp(w->word, "net"))
				: new_expr(s, (enum kind)w->kind);
	if (!e)
		return NULL;
	e->side = (uint8_t)side;
	e->source = w->source;
	e->op = OP_EQ;
	e->value = w->value;
	if (w->want && !text_number(&e->value, s->word, w->value))
		fail(s, w->want);
	else if (w->want)
		next_word(s);
	return unless_failed(s, e);
}

/* A flow as rows have it. In it, > is no sign: the word in hand was only the
 * first half. */
static struct expr *parse_flow(struct parser *s)
{
	const char *from = s->p - strlen(s->word);
	size_t n = strcspn(from, " \t\n()&|");
	struct expr *e = new_expr(s, EXPR_FLOW);
	char text[KEY_TEXT_MAX];

	if (!e)
		return NULL;
	snprintf(text, sizeof(text), "%.*s", n < sizeof(text) ? (int)n : 0,
		 from);
	e->version = *text == '[' ? 6 : 4;
	if (key_parse(e->key, e->version == 4 ? KEY_FLOW4 : KEY_FLOW6,
		      flow_len(e->version), text) < 0)
		fail(s, "a flow is ADDRESS:PORT>ADDRESS:PORT/PROTOCOL");
	s->p = from + n;
	next_word(s);
	return unless_failed(s, e);
}

static struct expr *parse_or(struct parser *s);

static struct expr *parse_single(struct parser *s)
{
	struct expr *e;

	if (take_word(s, "not", "!")) {
		if ((e = new_expr(s, EXPR_NOT)))
			e->a = parse_single(s);
	} else if (take_word(s, "(", NULL)) {
		e = add_part(s) ? NULL : parse_or(s);
		if (!take_word(s, ")", NULL))
			fail(s, ") is wanted, and or or");
	} else if (strchr(s->word, ':')) {
		e = parse_flow(s);
	} else {
		e = parse_test(s);
	}
	return unless_failed(s, e);
}

/* One part, or several joined by the same word. */
static struct expr *parse_joined(struct parser *s, enum kind kind,
				 const char *word, const char *sign,
				 struct expr *(*part)(struct parser *))
{
	struct expr *e = part(s);

	while (take_word(s, word, sign)) {
		struct expr *both = new_expr(s, kind);

		if (!both)
			break;
		both->a = e;
		both->b = part(s);
		e = both;
	}
	return unless_failed(s, e);
}

static struct expr *parse_and(struct parser *s)
{
	return parse_joined(s, EXPR_AND, "and", "&&", parse_single);
}

static struct expr *parse_or(struct parser *s)
{
	return parse_joined(s, EXPR_OR, "or", "||", parse_and);
}

int expr_parse(struct expr **out, const char *text, struct error *err)
{
	struct parser s = {.p = text, .err = err};
	struct expr *e;

	next_word(&s);
	e = parse_or(&s);
	if (e && s.word[0]) {
		fail(&s, "and or or is wanted");
		e = unless_failed(&s, e);
	}
	if (e)
		*out = e;
	return s.rc;
}

void expr_free(struct expr *e)
{
	if (!e)
		return;
	expr_free(e->a);
	expr_free(e->b);
	free(e);
}

/* --- matching ------------------------------------------------------------ */

static const struct ledger_field ledger_fields[] = {
	LEDGER_FIELD(struct filter_ledger, views, LEDGER_IN),
	LEDGER_FIELD(struct filter_ledger, matched, LEDGER_DONE),
	LEDGER_FIELD(struct filter_ledger, others, LEDGER_HARMLESS),
};

LEDGER_COMPLETE(ledger_fields, struct filter_ledger);

const struct ledger filter_ledger = {"filter", "views", ledger_fields,
				     sizeof(ledger_fields) /
					     sizeof(ledger_fields[0])};

/* A hop of a record: the reporter's own, or one of the stack; layout NULL:
 * none. */
struct hop {
	const struct int_layout *layout;
	const uint8_t *data;
	bool own;
};

static unsigned hops_of(const struct int_record *v)
{
	return (unsigned)v->own.n + v->stack.n;
}

static struct hop hop_at(const struct int_record *v, unsigned i)
{
	if (i < v->own.n)
		return (struct hop){v->own.layout, int_hop(&v->own, i), true};
	i -= v->own.n;
	return (struct hop){v->stack.layout, int_hop(&v->stack, i), false};
}

static bool hop_number(const struct hop *h, enum int_field field, uint64_t *n)
{
	return h->layout && int_get(h->layout, h->data, field, n);
}

static bool latency_of(const struct int_record *v, uint64_t *sum)
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

static uint8_t version_of(const struct int_record *v)
{
	return v->key_len == KEY_FLOW4_LEN   ? 4
	       : v->key_len == KEY_FLOW6_LEN ? 6
					     : 0;
}

static bool record_number(const struct expr *e, const struct int_record *v,
			  const struct hop *h, uint64_t *n)
{
	switch (e->source) {
	case FROM_HOP:
		return hop_number(h, e->which, n);
	case FROM_FLAG:
		*n = !!(v->flags & e->which);
		return true;
	case FROM_HOPS:
		*n = hops_of(v);
		return true;
	case FROM_LEN:
		*n = v->ip_len;
		return v->ip_len;
	case FROM_LATENCY:
		return latency_of(v, n);
	case FROM_HW_ID:
		*n = v->from.hw_id;
		return v->from.report;
	case FROM_NODE: /* a reporter's own metadata may lack its node */
		if (hop_number(h, INT_NODE, n))
			return true;
		*n = v->from.node;
		return h->own && v->from.has_node;
	case FROM_REPORTER:
		*n = v->from.node;
		return v->from.has_node;
	case FROM_PROTO:
		*n = v->key_len ? v->key[v->key_len - 1] : 0;
		return v->key_len;
	case FROM_VERSION:
		*n = version_of(v);
		return true;
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

static bool net_matches(const struct expr *e, const struct int_record *v)
{
	unsigned len = e->version == 4 ? KEY_IP4_LEN : KEY_IP6_LEN;

	if (version_of(v) != e->version)
		return false;
	return (e->side != SIDE_DST && in_net(v->key, e)) ||
	       (e->side != SIDE_SRC && in_net(v->key + len, e));
}

static bool port_matches(const struct expr *e, const struct int_record *v)
{
	const uint8_t *p = v->key + v->key_len - KEY_FLOW_REST;

	if (!v->key_len)
		return false;
	return (e->side != SIDE_DST && be16_load(p) == e->value) ||
	       (e->side != SIDE_SRC && be16_load(p + 2) == e->value);
}

static bool matches_hop(const struct expr *e, const struct int_record *v,
			const struct hop *h)
{
	uint64_t n;

	switch (e->kind) {
	case EXPR_NOT:
		return !expr_match(e->a, v);
	case EXPR_AND:
		return matches_hop(e->a, v, h) && matches_hop(e->b, v, h);
	case EXPR_OR:
		return matches_hop(e->a, v, h) || matches_hop(e->b, v, h);
	case EXPR_NET:
		return net_matches(e, v);
	case EXPR_PORT:
		return port_matches(e, v);
	case EXPR_FLOW:
		return v->key_len == flow_len(e->version) &&
		       !memcmp(v->key, e->key, v->key_len);
	default:
		return record_number(e, v, h, &n) &&
		       e->op & (n < e->value   ? OP_LT
				: n > e->value ? OP_GT
					       : OP_EQ);
	}
}

bool expr_match(const struct expr *e, const struct int_record *v)
{
	static const struct hop none;
	unsigned n = hops_of(v);

	if (!n)
		return matches_hop(e, v, &none);
	for (unsigned i = 0; i < n; i++) {
		struct hop h = hop_at(v, i);

		if (matches_hop(e, v, &h))
			return true;
	}
	return false;
}
