/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths out of postcard chunks (dta.md 3, DTA section 4). */
#include <endian.h>

#include "query/query.h"
#include "query/view.h"

enum {
	ENTRY_LEN = 4,
};

/* A chunk with its hop checksums taken off. */
struct chunk {
	uint32_t value[HASH_HOPS];
	uint8_t known; /* bit i: hop i holds a value of V */
	uint8_t blank; /* bit i: hop i is blank */
};

static bool in_set(const uint32_t *set, uint64_t n, uint32_t v)
{
	uint64_t low = 0;

	while (n > 1) {
		uint64_t half = n / 2;

		if (set[low + half] <= v)
			low += half;
		n -= half;
	}
	return set[low] == v;
}

static bool is_value(const struct view *v, uint32_t x)
{
	if (x < v->t->value_min || x > v->t->value_max)
		return false;
	return !v->values || in_set(v->values, v->t->values, x);
}

/* Hops in front that hold values, if the rest is blank; else 0. */
static unsigned valid_hops(const struct chunk *c, unsigned hops)
{
	unsigned all = (1u << hops) - 1;
	unsigned len = (unsigned)__builtin_ctz(~(unsigned)c->known);

	return (c->known | c->blank) == all && c->known == (1u << len) - 1 ? len
									   : 0;
}

static int chunk_load(struct chunk *c, const struct view *v, unsigned copy,
		      const uint8_t *key, const uint32_t *mask)
{
	const struct table *t = v->t;
	enum hash_family family = (enum hash_family)t->hash;
	uint64_t unit = hash_mod(hash_chunk(family, copy, key, t->key_len),
				 t->units);
	uint32_t raw[HASH_HOPS];
	int rc = view_load(v, table_unit(t, unit), raw,
			   (size_t)t->hops * ENTRY_LEN);

	if (rc < 0)
		return rc;
	c->known = c->blank = 0;
	for (unsigned i = 0; i < t->hops; i++) {
		uint32_t x = be32toh(raw[i]) ^ mask[i];

		c->value[i] = x;
		/* The published system leaves missing hops zero. */
		if (x == TABLE_BLANK || (family == HASH_DTA0 && !raw[i]))
			c->blank |= (uint8_t)(1u << i);
		else if (is_value(v, x))
			c->known |= (uint8_t)(1u << i);
	}
	return 0;
}

int path_look(struct looked *out, const struct view *v, unsigned copy,
	      const uint8_t *key)
{
	const struct table *t = v->t;
	uint32_t mask[HASH_HOPS];
	struct chunk c = {.known = 0};
	int rc;

	for (unsigned i = 0; i < t->hops; i++)
		mask[i] = hash_hop((enum hash_family)t->hash, i, key,
				   t->key_len);
	rc = chunk_load(&c, v, copy, key, mask);
	if (rc < 0)
		return rc;
	memcpy(out->hop, c.value, sizeof(out->hop));
	out->known = c.known;
	out->path = valid_hops(&c, t->hops) > 0;
	return 0;
}

/* Whether two chunks hold the same values where both hold any. */
static bool agree(const struct chunk *a, const struct chunk *b, unsigned hops)
{
	for (unsigned i = 0; i < hops; i++)
		if ((a->known & b->known) >> i & 1 &&
		    a->value[i] != b->value[i])
			return false;
	return true;
}

static void answer_with(struct path_answer *out, const struct chunk *c,
			unsigned len)
{
	out->len = (uint8_t)len;
	out->holes = (uint8_t)(~(unsigned)c->known & ((1u << len) - 1));
	memcpy(out->value, c->value, sizeof(out->value));
}

/* All valid chunks must say the same. */
static void judge_valid(struct path_answer *out, const struct chunk *chunk,
			unsigned n, unsigned hops)
{
	unsigned first_len = 0;
	const struct chunk *first = NULL;

	for (unsigned i = 0; i < n; i++) {
		unsigned len = valid_hops(&chunk[i], hops);

		if (!len)
			continue;
		out->valid++;
		if (!first) {
			first = &chunk[i];
			first_len = len;
			out->answer = ANSWER_FOUND;
			answer_with(out, first, len);
		} else if (len != first_len || !agree(first, &chunk[i], hops)) {
			out->answer = ANSWER_AMBIGUOUS;
			continue;
		}
		out->agreed++;
	}
}

/* Chunks with holes: together, if they do not contradict each other. */
static void judge_partial(struct path_answer *out, const struct chunk *chunk,
			  unsigned n, unsigned hops)
{
	unsigned least = hops > 1 ? 2 : 1;
	struct chunk sum = {.known = 0};

	for (unsigned i = 0; i < n; i++) {
		const struct chunk *c = &chunk[i];

		if ((unsigned)__builtin_popcount(c->known) < least)
			continue;
		if (!agree(&sum, c, hops)) {
			out->answer = ANSWER_AMBIGUOUS;
			return;
		}
		for (unsigned h = 0; h < hops; h++)
			if (c->known >> h & 1)
				sum.value[h] = c->value[h];
		sum.known |= c->known;
		out->agreed++;
	}
	if (!sum.known)
		return;
	out->answer = ANSWER_FOUND;
	answer_with(out, &sum, 32u - (unsigned)__builtin_clz(sum.known));
}

void path_query(struct path_answer *out, const struct view *v,
		const struct query_rule *rule, const uint8_t *key)
{
	const struct table *t = v->t;
	struct chunk chunk[HASH_COPIES];
	uint64_t unit[HASH_COPIES];
	uint32_t mask[HASH_HOPS];
	unsigned n = 0, tried = 0, unreadable = 0;

	for (unsigned i = 0; i < t->hops; i++)
		mask[i] = hash_hop((enum hash_family)t->hash, i, key,
				   t->key_len);
	for (unsigned c = 0; c < rule->copies; c++) {
		bool repeated = false;

		unit[tried] = hash_mod(hash_chunk((enum hash_family)t->hash, c,
						  key, t->key_len),
				       t->units);
		for (unsigned i = 0; i < tried; i++)
			repeated |= unit[i] == unit[tried];
		if (repeated)
			continue;
		tried++;
		if (chunk_load(&chunk[n], v, c, key, mask) < 0)
			unreadable++;
		else
			n++;
	}
	*out = (struct path_answer){.answer = ANSWER_NOT_FOUND,
				    .unreadable = (uint8_t)unreadable};
	judge_valid(out, chunk, n, t->hops);
	if (!out->valid && rule->partial)
		judge_partial(out, chunk, n, t->hops);
	if (out->answer == ANSWER_NOT_FOUND && unreadable)
		out->answer = ANSWER_UNREADABLE;
}
