/* SPDX-License-Identifier: BSD-2-Clause */
/* parse.c - expressions, read: by recursive descent, filter.h has the grammar.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "filter/private.h"
#include "wire/proto.h"

enum {
	WORD_MAX = 64,
	DEPTH_MAX = 64, /* of parentheses and nots */
	PARTS_MAX = 1024,
	IP4_BITS = 32,
	IP6_BITS = 128,
};

struct parser {
	const char *p;
	char word[WORD_MAX]; /* the one in hand; "": the end */
	unsigned depth, parts;
	struct fault *f;
	int err;
};

static struct expr *fail(struct parser *s, const char *reason)
{
	if (!s->err)
		s->err = fault_set(s->f, -EINVAL, "at '%s': %s",
				   s->word[0] ? s->word : "the end", reason);
	return NULL;
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

static void next(struct parser *s)
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

static bool is(const struct parser *s, const char *a, const char *b)
{
	return !strcmp(s->word, a) || (b && !strcmp(s->word, b));
}

static bool take(struct parser *s, const char *a, const char *b)
{
	bool yes = !s->err && is(s, a, b);

	if (yes)
		next(s);
	return yes;
}

static struct expr *make(struct parser *s, enum kind kind)
{
	struct expr *e = NULL;

	if (++s->parts > PARTS_MAX)
		return fail(s, "too long an expression");
	if ((e = calloc(1, sizeof(*e))))
		e->kind = (uint8_t)kind;
	else if (!s->err)
		s->err = fault_set(s->f, -ENOMEM, "out of memory");
	return e;
}

/* e, if nothing has been wrong. */
static struct expr *made(struct parser *s, struct expr *e)
{
	if (!s->err)
		return e;
	expr_free(e);
	return NULL;
}

static uint64_t number(struct parser *s, uint64_t max, const char *want)
{
	uint64_t n = 0;

	if (!text_number(&n, s->word, max))
		fail(s, want);
	else
		next(s);
	return n;
}

static struct expr *numbered(struct parser *s, enum kind kind, uint64_t max,
			     const char *want)
{
	struct expr *e = make(s, kind);

	if (e)
		e->value = number(s, max, want);
	return made(s, e);
}

static struct expr *fixed(struct parser *s, enum kind kind, uint64_t value)
{
	struct expr *e = make(s, kind);

	if (e)
		e->value = value;
	return e;
}

/* "ADDRESS[/BITS]", BITS only of nets. */
static struct expr *net(struct parser *s, bool has_bits)
{
	struct expr *e = make(s, EXPR_NET);
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
		next(s);
	e->bits = (uint8_t)bits;
	return made(s, e);
}

static struct expr *address(struct parser *s, enum side side)
{
	struct expr *e = NULL;

	if (take(s, "host", NULL))
		e = net(s, false);
	else if (take(s, "net", NULL))
		e = net(s, true);
	else if (take(s, "port", NULL))
		e = numbered(s, EXPR_PORT, UINT16_MAX,
			     "a port is wanted, 0 to 65535");
	else
		fail(s, "host, net or port is wanted");
	if (e)
		e->side = (uint8_t)side;
	return e;
}

static bool take_op(struct parser *s, enum op *op)
{
	static const char *const ops[] = {
		[OP_EQ] = "=",	[OP_NE] = "!=", [OP_LT] = "<",
		[OP_LE] = "<=", [OP_GT] = ">",	[OP_GE] = ">="};

	for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (take(s, ops[i], i == OP_EQ ? "==" : NULL)) {
			*op = (enum op)i;
			return true;
		}
	return false;
}

static uint64_t value_of(struct parser *s, const struct known *k)
{
	bool time = k->field.unit && !strcmp(k->field.unit, "ns");
	uint64_t n = 0;

	if (text_number(&n, s->word, UINT64_MAX) ||
	    (time ? text_duration_ns(&n, s->word)
		  : text_size(&n, s->word) == 0))
		next(s);
	else
		fail(s, time ? "a number of ns is wanted, or a time: 50us"
			     : "a number is wanted");
	return n;
}

static struct expr *field(struct parser *s)
{
	const struct known *k = known_find(s->word);
	struct expr *e;
	enum op op = OP_NE;

	if (!k)
		return fail(s, s->word[0] ? "there is no such test or field"
					  : "a test is wanted");
	if (!(e = make(s, EXPR_FIELD)))
		return NULL;
	next(s);
	e->known = k;
	if (!k->field.flag && !take_op(s, &op))
		fail(s, "=, !=, <, <=, > or >= is wanted");
	else if (!k->field.flag)
		e->value = value_of(s, k);
	e->op = (uint8_t)op;
	return made(s, e);
}

static struct expr *test(struct parser *s)
{
	if (take(s, "node", NULL))
		return numbered(s, EXPR_NODE, UINT64_MAX,
				"the id of a node is wanted");
	if (take(s, "src", NULL))
		return address(s, SIDE_SRC);
	if (take(s, "dst", NULL))
		return address(s, SIDE_DST);
	if (is(s, "host", "net") || is(s, "port", NULL))
		return address(s, SIDE_ANY);
	if (take(s, "proto", NULL))
		return numbered(s, EXPR_PROTO, UINT8_MAX,
				"a protocol's number is wanted");
	if (take(s, "tcp", NULL))
		return fixed(s, EXPR_PROTO, NET_PROTO_TCP);
	if (take(s, "udp", NULL))
		return fixed(s, EXPR_PROTO, NET_PROTO_UDP);
	if (take(s, "icmp", NULL))
		return fixed(s, EXPR_PROTO, NET_PROTO_ICMP);
	if (take(s, "ip", NULL))
		return fixed(s, EXPR_VERSION, 4);
	if (take(s, "ip6", NULL))
		return fixed(s, EXPR_VERSION, 6);
	return field(s);
}

static struct expr *alternatives(struct parser *s);

static struct expr *single(struct parser *s)
{
	struct expr *e;

	if (++s->depth > DEPTH_MAX)
		return fail(s, "too many parentheses and nots");
	if (take(s, "not", "!")) {
		if ((e = make(s, EXPR_NOT)))
			e->a = single(s);
	} else if (take(s, "(", NULL)) {
		e = alternatives(s);
		if (!take(s, ")", NULL))
			fail(s, ") is wanted, and or or");
	} else {
		e = test(s);
	}
	s->depth--;
	return made(s, e);
}

/* One or several, joined by the same word. */
static struct expr *joined(struct parser *s, enum kind kind, const char *word,
			   const char *sign,
			   struct expr *(*part)(struct parser *))
{
	struct expr *e = part(s);

	while (take(s, word, sign)) {
		struct expr *both = make(s, kind);

		if (!both)
			break;
		both->a = e;
		both->b = part(s);
		e = both;
	}
	return made(s, e);
}

static struct expr *conjunction(struct parser *s)
{
	return joined(s, EXPR_AND, "and", "&&", single);
}

static struct expr *alternatives(struct parser *s)
{
	return joined(s, EXPR_OR, "or", "||", conjunction);
}

int expr_parse(struct expr **out, const char *text, struct fault *f)
{
	struct parser s = {.p = text, .f = f};
	struct expr *e;

	next(&s);
	e = alternatives(&s);
	if (e && s.word[0]) {
		fail(&s, "and or or is wanted");
		e = made(&s, e);
	}
	if (e)
		*out = e;
	return s.err;
}

void expr_free(struct expr *e)
{
	if (!e)
		return;
	expr_free(e->a);
	expr_free(e->b);
	free(e);
}
