/* SPDX-License-Identifier: BSD-2-Clause */
/* Key-Write and Key-Increment: slots that hashes of the key name. */
#include <endian.h>
#include <errno.h>

#include "query/query.h"
#include "query/view.h"
#include "store/prefetch.h"

enum {
	SUM_LEN = 4, /* the checksum before a value */
};

/* The checksum as it lies in memory: big-endian, or the published system's. */
static inline uint32_t sum_in_memory(const struct table *t, uint32_t sum)
{
	return t->hash == HASH_DTA0 ? htole32(sum) : htobe32(sum);
}

void keywrite_sum(uint8_t out[SUM_LEN], const struct table *t,
		  const uint8_t *key)
{
	uint32_t sum = sum_in_memory(
		t, hash_checksum((enum hash_family)t->hash, key, t->key_len));

	memcpy(out, &sum, SUM_LEN);
}

/* The matching copies of one key, and what the rule makes of them. */
struct verdict {
	enum answer answer;
	uint8_t agreed;
	const uint8_t *value;
};

/* Most values are 4 bytes long. */
static inline bool same(const uint8_t *a, const uint8_t *b, size_t len)
{
	return len == 4 ? !memcmp(a, b, 4) : !memcmp(a, b, len);
}

static struct verdict judge(const uint8_t *const *value, unsigned n, size_t len,
			    const struct query_rule *rule)
{
	struct verdict v = {.answer = ANSWER_NOT_FOUND};
	unsigned best = 0, ties = 0, need = 1;

	if (!n)
		return v;
	for (unsigned i = 0; i < n; i++) {
		unsigned agree = 0;
		bool seen = false;

		for (unsigned k = 0; k < n; k++) {
			bool equal = same(value[i], value[k], len);

			agree += equal;
			seen |= equal && k < i;
		}
		if (seen || (rule->policy == QUERY_FIRST && i))
			continue;
		if (agree > best) {
			best = agree;
			ties = 0;
			v.value = value[i];
		} else if (agree == best) {
			ties++;
		}
	}
	if (rule->policy == QUERY_UNIQUE)
		need = n;
	else if (rule->policy == QUERY_CONSENSUS)
		need = rule->threshold;
	v.agreed = (uint8_t)best;
	v.answer = ties || best < need ? ANSWER_AMBIGUOUS : ANSWER_FOUND;
	return v;
}

/* Whether an earlier copy has this slot: it would vote twice. */
static inline bool repeated(const uint64_t *slot, unsigned copy)
{
	for (unsigned c = 0; c < copy; c++)
		if (slot[c] == slot[copy])
			return true;
	return false;
}

void keywrite_query(struct keywrite_answer *out, const struct view *v,
		    const struct query_rule *rule, const uint8_t *key)
{
	const struct table *t = v->t;
	uint8_t copy[HASH_COPIES][SUM_LEN + TABLE_VALUE_MAX];
	const uint8_t *match[HASH_COPIES];
	uint64_t slot[HASH_COPIES];
	uint32_t want = sum_in_memory(
		t, hash_checksum((enum hash_family)t->hash, key, t->key_len));
	unsigned n = 0, unreadable = 0;
	struct verdict verdict;

	for (unsigned c = 0; c < rule->copies; c++) {
		slot[c] = hash_mod(hash_slot((enum hash_family)t->hash, c, key,
					     t->key_len),
				   t->units);
		if (repeated(slot, c))
			continue;
		if (view_load(v, table_unit(t, slot[c]), copy[c],
			      SUM_LEN + (size_t)t->value_len) < 0)
			unreadable++;
		else if (!memcmp(copy[c], &want, SUM_LEN))
			match[n++] = copy[c] + SUM_LEN;
	}
	verdict = judge(match, n, t->value_len, rule);
	out->answer = verdict.answer;
	out->matched = (uint8_t)n;
	out->agreed = verdict.agreed;
	out->unreadable = (uint8_t)unreadable;
	if (verdict.value)
		memcpy(out->value, verdict.value, t->value_len);
	if (!n && unreadable)
		out->answer = ANSWER_UNREADABLE;
}

/* Where the keys of a batch may be, and their checksums as they lie there. */
struct found {
	uint64_t offset[HASH_COPIES][QUERY_BATCH];
	uint64_t word[HASH_COPIES][QUERY_BATCH]; /* slots of 8 bytes: they */
	uint32_t sum[QUERY_BATCH];
};

static void find_slots(struct found *f, const struct view *v, unsigned copies,
		       const uint8_t *const *keys, size_t n)
{
	const struct table *t = v->t;
	const struct hash_units units = hash_units_of(t->units);
	bool ask = prefetch_here() == PREFETCH_L2;
	uint32_t hash[HASH_COPIES][QUERY_BATCH];
	uint32_t *const row[HASH_COPIES] = {hash[0], hash[1], hash[2], hash[3]};

	hash_slots((enum hash_family)t->hash, copies, keys, t->key_len, n, row,
		   f->sum);
	for (size_t i = 0; i < n; i++)
		f->sum[i] = sum_in_memory(t, f->sum[i]);
	for (unsigned c = 0; c < copies; c++)
		for (size_t i = 0; i < n; i++) {
			f->offset[c][i] = table_unit(
				t, hash_mod_of(hash[c][i], units));
			if (ask)
				prefetch_l2(v->mem + f->offset[c][i]);
		}
}

/*
 * All slots of a batch in one dense loop, so that as many loads are under way
 * as the machine can have; judging between the loads leaves room for fewer.
 */
static inline __attribute__((always_inline)) void
load_words(struct found *f, const struct view *v, unsigned copies, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned c = 0; c < copies; c++)
			f->word[c][i] = __atomic_load_n(
				(const uint64_t *)(v->mem + f->offset[c][i]),
				__ATOMIC_RELAXED);
}

/* Longer slots: each line is touched, to be near when copied. */
static void touch_slots(const struct found *f, const struct view *v,
			unsigned copies, size_t n)
{
	size_t len = SUM_LEN + (size_t)v->t->value_len;

	for (size_t i = 0; i < n; i++)
		for (unsigned c = 0; c < copies; c++) {
			const volatile uint8_t *p = v->mem + f->offset[c][i];

			for (size_t at = 0; at < len; at += 64)
				(void)p[at];
			(void)p[len - 1];
		}
}

/* Any slot: copied once, then judged. */
static struct verdict judge_slots(const struct found *f, const struct view *v,
				  unsigned copies,
				  const struct query_rule *rule, size_t i,
				  uint8_t *value)
{
	const struct table *t = v->t;
	uint8_t copy[HASH_COPIES][SUM_LEN + TABLE_VALUE_MAX];
	const uint8_t *match[HASH_COPIES];
	uint64_t slot[HASH_COPIES];
	struct verdict verdict;
	unsigned m = 0;

	for (unsigned c = 0; c < copies; c++) {
		slot[c] = f->offset[c][i];
		if (repeated(slot, c))
			continue;
		view_load(v, slot[c], copy[c], SUM_LEN + (size_t)t->value_len);
		if (!memcmp(copy[c], &f->sum[i], SUM_LEN))
			match[m++] = copy[c] + SUM_LEN;
	}
	verdict = judge(match, m, t->value_len, rule);
	if (verdict.value)
		memcpy(value, verdict.value, t->value_len);
	return verdict;
}

/* What copies that all agree come to. */
static inline struct verdict unanimous(const uint8_t *value, unsigned n,
				       const struct query_rule *rule)
{
	bool enough = rule->policy != QUERY_CONSENSUS || n >= rule->threshold;

	return (struct verdict){enough ? ANSWER_FOUND : ANSWER_AMBIGUOUS,
				(uint8_t)n, value};
}

/* Slots of 8 bytes: nearly always they agree. */
static inline __attribute__((always_inline)) struct verdict
judge_words(const struct found *f, unsigned copies,
	    const struct query_rule *rule, size_t i)
{
	const uint8_t *match[HASH_COPIES];
	uint64_t slot[HASH_COPIES], differ = 0;
	unsigned m = 0;

	for (unsigned c = 0; c < copies; c++) {
		slot[c] = f->offset[c][i];
		if (memcmp(&f->word[c][i], &f->sum[i], SUM_LEN) != 0 ||
		    repeated(slot, c))
			continue;
		match[m] = (const uint8_t *)&f->word[c][i] + SUM_LEN;
		differ |= (uint64_t)!same(match[m++], match[0], 4);
	}
	if (!m)
		return (struct verdict){.answer = ANSWER_NOT_FOUND};
	return differ ? judge(match, m, 4, rule) : unanimous(match[0], m, rule);
}

/* What a batch's keys are asked by, and where the answers go. */
struct batch {
	struct found *found;
	const struct view *view;
	const struct query_rule *rule;
	uint8_t *answer, *agreed, *value;
};

static inline __attribute__((always_inline)) void
answer_copies(const struct batch *b, unsigned copies, size_t n)
{
	load_words(b->found, b->view, copies, n);
	for (size_t i = 0; i < n; i++) {
		struct verdict verdict = judge_words(b->found, copies, b->rule,
						     i);

		b->answer[i] = (uint8_t)verdict.answer;
		b->agreed[i] = verdict.agreed;
		if (verdict.value)
			memcpy(b->value + 4 * i, verdict.value, 4);
	}
}

/* The usual numbers of copies have loops of their own. */
static void answer_words(const struct batch *b, size_t n)
{
	if (b->rule->copies == 2)
		answer_copies(b, 2, n);
	else if (b->rule->copies == 1)
		answer_copies(b, 1, n);
	else
		answer_copies(b, b->rule->copies, n);
}

static void answer_slots(const struct batch *b, size_t n)
{
	size_t len = b->view->t->value_len;

	touch_slots(b->found, b->view, b->rule->copies, n);
	for (size_t i = 0; i < n; i++) {
		struct verdict verdict = judge_slots(b->found, b->view,
						     b->rule->copies, b->rule,
						     i, b->value + i * len);

		b->answer[i] = (uint8_t)verdict.answer;
		b->agreed[i] = verdict.agreed;
	}
}

void keywrite_query_batch(const struct view *v, const struct query_rule *rule,
			  const uint8_t *const *keys, size_t n, uint8_t *answer,
			  uint8_t *agreed, uint8_t *value)
{
	struct found f;
	struct batch b = {&f, v, rule, answer, agreed, value};

	find_slots(&f, v, rule->copies, keys, n);
	if (v->t->stride == 8 && v->t->value_len == 4)
		answer_words(&b, n);
	else
		answer_slots(&b, n);
}

int count_query(uint64_t *out, const struct view *v, unsigned copies,
		const uint8_t *key)
{
	const struct table *t = v->t;
	uint64_t least = UINT64_MAX;

	for (unsigned c = 0; c < copies; c++) {
		uint64_t n, slot = hash_mod(hash_slot((enum hash_family)t->hash,
						      c, key, t->key_len),
					    t->units);
		int rc = view_load(v, table_unit(t, slot), &n, sizeof(n));

		if (rc < 0)
			return rc;
		if (n < least)
			least = n;
	}
	*out = least;
	return 0;
}
