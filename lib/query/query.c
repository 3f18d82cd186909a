/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query.c - looks up keys: finds the units that may hold a key, loads them, and
 * applies a rule to their values. Key-Write first, then paths, inspection,
 * keys of all kinds; lists at the end. load.c says how full tables are.
 */
#include "query/query.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/zero.h"
#include "base/fence.h"

enum {
	SUM_LEN = 4,	    /* bytes of the checksum before a value */
	HOP_LEN = 4,	    /* bytes of a hop in a chunk */
	COPIES_UNKNOWN = 4, /* slots to read, if the rule does not say */
	VALUES_ROOM = 16384,
};

/* Loads len bytes once; 8 aligned ones by one instruction. 0 or -errno. */
static inline int view_load(const struct table_view *v, uint64_t offset,
			    void *buf, size_t len)
{
	if (!v->mem)
		return memory_load(v, offset, buf, len);
	if (len == 8 && !(((uintptr_t)v->mem + offset) & 7)) {
		uint64_t w = __atomic_load_n(
			(const uint64_t *)(v->mem + offset), __ATOMIC_ACQUIRE);

		memcpy(buf, &w, sizeof(w));
	} else {
		memcpy(buf, v->mem + offset, len);
	}
	return 0;
}

const char *const query_answers[] = {
	[QUERY_FOUND] = "found",
	[QUERY_NOT_FOUND] = "not_found",
	[QUERY_AMBIGUOUS] = "ambiguous",
	[QUERY_UNREADABLE] = "unreadable",
};

int query_policy_parse(const char *text, struct query_rule *r)
{
	static const char *const name[QUERY_POLICIES] = {
		[QUERY_PLURALITY] = "plurality",
		[QUERY_FIRST] = "first",
		[QUERY_CONSENSUS] = "consensus:",
		[QUERY_UNIQUE] = "unique",
	};

	for (unsigned p = 0; p < QUERY_POLICIES; p++) {
		size_t len = strlen(name[p]);

		if (strncmp(text, name[p], len) != 0)
			continue;
		text += len;
		if (p != QUERY_CONSENSUS) {
			if (*text)
				return -EINVAL;
		} else if (*text < '2' || *text > '0' + HASH_COPIES ||
			   text[1]) {
			return -EINVAL;
		} else {
			r->threshold = (uint8_t)(*text - '0');
		}
		r->policy = (uint8_t)p;
		return 0;
	}
	return -EINVAL;
}

/* A checksum as it is stored: big-endian, but little-endian by DTA/0. */
static inline uint32_t sum_in_memory(const struct table *t, uint32_t sum)
{
	return t->hash == HASH_DTA0 ? htole32(sum) : htobe32(sum);
}

/* The index of the slot, chunk or counter of a key's copy. */
static uint64_t copy_unit(const struct table *t, unsigned copy,
			  const uint8_t *key)
{
	enum hash_family f = (enum hash_family)t->hash;
	uint32_t hash = t->kind == TABLE_POSTCARD
				? hash_chunk(f, copy, key, t->key_len)
				: hash_slot(f, copy, key, t->key_len);

	return hash_mod(hash, t->units);
}

/* The matching copies of one key, and what the rule makes of them. */
struct verdict {
	enum query_answer answer;
	uint8_t matched, agreed, unreadable;
	const uint8_t *value;
};

/* Most values are 4 bytes long. */
static inline bool same_value(const uint8_t *a, const uint8_t *b, size_t len)
{
	return len == 4 ? !memcmp(a, b, 4) : !memcmp(a, b, len);
}

static struct verdict apply_rule(const uint8_t *const *value, unsigned n,
				 size_t len, const struct query_rule *rule)
{
	struct verdict v = {
		.answer = QUERY_NOT_FOUND,
		.matched = (uint8_t)n,
	};
	unsigned best = 0, ties = 0, need = 1;

	if (!n)
		return v;
	for (unsigned i = 0; i < n; i++) {
		unsigned agree = 0;
		bool seen = false;

		for (unsigned k = 0; k < n; k++) {
			bool equal = same_value(value[i], value[k], len);

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
	v.answer = ties || best < need ? QUERY_AMBIGUOUS : QUERY_FOUND;
	return v;
}

/* Whether an earlier copy of the key has this unit: it must not vote twice. */
static inline bool is_repeated(const uint64_t *unit, unsigned copy)
{
	for (unsigned c = 0; c < copy; c++)
		if (unit[c] == unit[copy])
			return true;
	return false;
}

/* The slots of a batch of keys, and the keys' checksums as they are stored. */
struct batch_slots {
	uint64_t offset[HASH_COPIES][QUERY_BATCH];
	uint64_t word[HASH_COPIES][QUERY_BATCH]; /* slots, if of 8 bytes */
	uint32_t sum[QUERY_BATCH];
};

static void find_slots(struct batch_slots *s, const struct table_view *v,
		       unsigned copies, const uint8_t *const *keys, size_t n)
{
	const struct table *t = v->t;
	const struct hash_units units = hash_units_of(t->units);
	bool prefetch = v->mem && prefetch_here() == PREFETCH_L2;
	uint32_t hash[HASH_COPIES][QUERY_BATCH];
	uint32_t *const row[HASH_COPIES] = {hash[0], hash[1], hash[2], hash[3]};

	hash_slots((enum hash_family)t->hash, copies, keys, t->key_len, n, row,
		   s->sum);
	for (size_t i = 0; i < n; i++)
		s->sum[i] = sum_in_memory(t, s->sum[i]);
	for (unsigned c = 0; c < copies; c++)
		for (size_t i = 0; i < n; i++) {
			s->offset[c][i] = table_unit(
				t, hash_mod_of(hash[c][i], units));
			if (prefetch)
				prefetch_l2(v->mem + s->offset[c][i]);
		}
}

/* Loads all slots of a batch in a loop that does nothing else, so that as many
 * loads are under way as the machine allows. */
static inline __attribute__((always_inline)) void
load_words(struct batch_slots *s, const struct table_view *v, unsigned copies,
	   size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned c = 0; c < copies; c++)
			s->word[c][i] = __atomic_load_n(
				(const uint64_t *)(v->mem + s->offset[c][i]),
				__ATOMIC_RELAXED);
}

/* For longer slots: brings their cache lines in before they are copied. */
static void touch_slots(const struct batch_slots *s, const struct table_view *v,
			unsigned copies, size_t n)
{
	size_t len = SUM_LEN + (size_t)v->t->value_len;

	for (size_t i = 0; i < n && v->mem; i++)
		for (unsigned c = 0; c < copies; c++) {
			const volatile uint8_t *p = v->mem + s->offset[c][i];

			for (size_t at = 0; at < len; at += 64)
				(void)p[at];
			(void)p[len - 1];
		}
}

/* Copies the slots of key i, and applies the rule to their values. */
static struct verdict judge_slots(const struct batch_slots *s,
				  const struct table_view *v, unsigned copies,
				  const struct query_rule *rule, size_t i,
				  uint8_t *value)
{
	const struct table *t = v->t;
	uint8_t copy[HASH_COPIES][SUM_LEN + TABLE_VALUE_MAX];
	const uint8_t *match[HASH_COPIES] = {NULL};
	uint64_t slot[HASH_COPIES];
	struct verdict verdict;
	unsigned m = 0, unreadable = 0;

	for (unsigned c = 0; c < copies; c++) {
		slot[c] = s->offset[c][i];
		if (is_repeated(slot, c))
			continue;
		if (view_load(v, slot[c], copy[c],
			      SUM_LEN + (size_t)t->value_len) < 0)
			unreadable++;
		else if (!memcmp(copy[c], &s->sum[i], SUM_LEN))
			match[m++] = copy[c] + SUM_LEN;
	}
	verdict = apply_rule(match, m, t->value_len, rule);
	verdict.unreadable = (uint8_t)unreadable;
	if (verdict.value)
		memcpy(value, verdict.value, t->value_len);
	if (!m && unreadable)
		verdict.answer = QUERY_UNREADABLE;
	return verdict;
}

static inline struct verdict unanimous(const uint8_t *value, unsigned n,
				       const struct query_rule *rule)
{
	bool enough = rule->policy != QUERY_CONSENSUS || n >= rule->threshold;

	return (struct verdict){enough ? QUERY_FOUND : QUERY_AMBIGUOUS,
				(uint8_t)n, (uint8_t)n, 0, value};
}

/* judge_slots() for slots of 8 bytes, which nearly always agree. */
static inline __attribute__((always_inline)) struct verdict
judge_words(const struct batch_slots *s, unsigned copies,
	    const struct query_rule *rule, size_t i)
{
	const uint8_t *match[HASH_COPIES];
	uint64_t slot[HASH_COPIES], differ = 0;
	unsigned m = 0;

	for (unsigned c = 0; c < copies; c++) {
		slot[c] = s->offset[c][i];
		if (memcmp(&s->word[c][i], &s->sum[i], SUM_LEN) != 0 ||
		    is_repeated(slot, c))
			continue;
		match[m] = (const uint8_t *)&s->word[c][i] + SUM_LEN;
		differ |= (uint64_t)!same_value(match[m++], match[0], 4);
	}
	if (!m)
		return (struct verdict){.answer = QUERY_NOT_FOUND};
	return differ ? apply_rule(match, m, 4, rule)
		      : unanimous(match[0], m, rule);
}

static inline __attribute__((always_inline)) void
answer_words(struct query_keywrite_answers *out, struct batch_slots *s,
	     const struct table_view *v, const struct query_rule *rule,
	     unsigned copies, size_t n)
{
	load_words(s, v, copies, n);
	for (size_t i = 0; i < n; i++) {
		struct verdict verdict = judge_words(s, copies, rule, i);

		out->answer[i] = (uint8_t)verdict.answer;
		out->matched[i] = verdict.matched;
		out->agreed[i] = verdict.agreed;
		if (verdict.value)
			memcpy(out->value + 4 * i, verdict.value, 4);
	}
	memset(out->unreadable, 0, n);
}

static void answer_slots(struct query_keywrite_answers *out,
			 const struct batch_slots *s,
			 const struct table_view *v,
			 const struct query_rule *rule, size_t n)
{
	size_t len = v->t->value_len;

	touch_slots(s, v, rule->copies, n);
	for (size_t i = 0; i < n; i++) {
		struct verdict verdict = judge_slots(s, v, rule->copies, rule,
						     i, out->value + i * len);

		out->answer[i] = (uint8_t)verdict.answer;
		out->matched[i] = verdict.matched;
		out->agreed[i] = verdict.agreed;
		out->unreadable[i] = verdict.unreadable;
	}
}

void query_keywrite(struct query_keywrite_answers *out,
		    const struct table_view *v, const struct query_rule *rule,
		    const uint8_t *const *keys, size_t n)
{
	struct batch_slots s;

	find_slots(&s, v, rule->copies, keys, n);
	if (!v->mem || v->t->stride != 8 || v->t->value_len != 4)
		answer_slots(out, &s, v, rule, n);
	else if (rule->copies == 2) /* a constant, so that loops unroll */
		answer_words(out, &s, v, rule, 2, n);
	else if (rule->copies == 1)
		answer_words(out, &s, v, rule, 1, n);
	else
		answer_words(out, &s, v, rule, rule->copies, n);
}

/* A chunk with the hops' checksums removed by XOR. */
struct chunk {
	uint32_t value[HASH_HOPS];
	uint8_t known; /* bit i: hop i holds a value that it may have */
	uint8_t blank; /* bit i: hop i is blank */
	bool zero;     /* the chunk was never written */
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

static bool is_value(const struct table_view *v, uint32_t x)
{
	if (x < v->t->value_min || x > v->t->value_max)
		return false;
	return !v->values || in_set(v->values, v->t->values, x);
}

/* Length of a valid path: hops with values, then only blank ones; or 0. */
static unsigned valid_hops(const struct chunk *c, unsigned hops)
{
	unsigned all = (1u << hops) - 1;
	unsigned len = (unsigned)__builtin_ctz(~(unsigned)c->known);

	return (c->known | c->blank) == all && c->known == (1u << len) - 1 ? len
									   : 0;
}

/* The checksums with which a key's hops are XORed. */
static void hop_masks(uint32_t mask[HASH_HOPS], const struct table *t,
		      const uint8_t *key)
{
	for (unsigned i = 0; i < t->hops; i++)
		mask[i] = hash_hop((enum hash_family)t->hash, i, key,
				   t->key_len);
}

static int chunk_load(struct chunk *c, const struct table_view *v,
		      uint64_t unit, const uint32_t *mask)
{
	const struct table *t = v->t;
	size_t len = (size_t)t->hops * HOP_LEN;
	uint32_t raw[HASH_HOPS];
	int rc = view_load(v, table_unit(t, unit), raw, len);

	if (rc < 0)
		return rc;
	*c = (struct chunk){.zero = is_zero((const uint8_t *)raw, len)};
	for (unsigned i = 0; i < t->hops; i++) {
		uint32_t x = be32toh(raw[i]) ^ mask[i];

		c->value[i] = x;
		/* The published system leaves missing hops zero (DTA/0). */
		if (x == TABLE_BLANK || (t->hash == HASH_DTA0 && !raw[i]))
			c->blank |= (uint8_t)(1u << i);
		else if (is_value(v, x))
			c->known |= (uint8_t)(1u << i);
	}
	return 0;
}

/* Whether two chunks have the same values in hops that both know. */
static bool chunks_agree(const struct chunk *a, const struct chunk *b,
			 unsigned hops)
{
	for (unsigned i = 0; i < hops; i++)
		if ((a->known & b->known) >> i & 1 &&
		    a->value[i] != b->value[i])
			return false;
	return true;
}

static void set_path(struct query_path *out, const struct chunk *c,
		     unsigned len)
{
	out->len = (uint8_t)len;
	out->holes = (uint8_t)(~(unsigned)c->known & ((1u << len) - 1));
	memcpy(out->value, c->value, sizeof(out->value));
}

/* All valid chunks must hold the same path. */
static void judge_valid(struct query_path *out, const struct chunk *chunk,
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
			out->answer = QUERY_FOUND;
			set_path(out, first, len);
		} else if (len != first_len ||
			   !chunks_agree(first, &chunk[i], hops)) {
			out->answer = QUERY_AMBIGUOUS;
			continue;
		}
		out->agreed++;
	}
}

/* Merges the hops of chunks with holes, unless they contradict each other. */
static void judge_partial(struct query_path *out, const struct chunk *chunk,
			  unsigned n, unsigned hops)
{
	unsigned least = hops > 1 ? 2 : 1;
	struct chunk merged = {.known = 0};

	for (unsigned i = 0; i < n; i++) {
		const struct chunk *c = &chunk[i];

		if ((unsigned)__builtin_popcount(c->known) < least)
			continue;
		if (!chunks_agree(&merged, c, hops)) {
			out->answer = QUERY_AMBIGUOUS;
			return;
		}
		for (unsigned h = 0; h < hops; h++)
			if (c->known >> h & 1)
				merged.value[h] = c->value[h];
		merged.known |= c->known;
		out->agreed++;
	}
	if (!merged.known)
		return;
	out->answer = QUERY_FOUND;
	set_path(out, &merged, 32u - (unsigned)__builtin_clz(merged.known));
}

static void lookup_path(struct query_path *out, const struct table_view *v,
			const struct query_rule *rule, const uint8_t *key)
{
	const struct table *t = v->t;
	struct chunk chunk[HASH_COPIES];
	uint64_t unit[HASH_COPIES];
	uint32_t mask[HASH_HOPS];
	unsigned n = 0, unreadable = 0;

	hop_masks(mask, t, key);
	for (unsigned c = 0; c < rule->copies; c++) {
		unit[c] = copy_unit(t, c, key);
		if (is_repeated(unit, c))
			continue;
		if (chunk_load(&chunk[n], v, unit[c], mask) < 0)
			unreadable++;
		else
			n++;
	}
	*out = (struct query_path){.answer = QUERY_NOT_FOUND,
				   .unreadable = (uint8_t)unreadable};
	judge_valid(out, chunk, n, t->hops);
	if (!out->valid && rule->partial)
		judge_partial(out, chunk, n, t->hops);
	if (out->answer == QUERY_NOT_FOUND && unreadable)
		out->answer = QUERY_UNREADABLE;
}

const char *const query_unit_states[] = {
	[QUERY_UNIT_EMPTY] = "nothing",
	[QUERY_UNIT_KEY] = "this_key",
	[QUERY_UNIT_OTHER] = "another_key",
	[QUERY_UNIT_REPEATED] = "repeated",
	[QUERY_UNIT_UNREADABLE] = "unreadable",
};

static void inspect_slot(struct query_unit *u, const struct table_view *v,
			 const uint8_t *key)
{
	const struct table *t = v->t;
	size_t len = SUM_LEN + (size_t)t->value_len;
	uint8_t slot[SUM_LEN + TABLE_VALUE_MAX];
	uint32_t sum;

	if (view_load(v, table_unit(t, u->unit), slot, len) < 0) {
		u->holds = QUERY_UNIT_UNREADABLE;
		return;
	}
	sum = sum_in_memory(
		t, hash_checksum((enum hash_family)t->hash, key, t->key_len));
	memcpy(u->sum, slot, SUM_LEN);
	memcpy(u->value, slot + SUM_LEN, t->value_len);
	u->holds = !memcmp(slot, &sum, SUM_LEN) ? QUERY_UNIT_KEY
		   : is_zero(slot, len)		? QUERY_UNIT_EMPTY
						: QUERY_UNIT_OTHER;
}

static void inspect_chunk(struct query_unit *u, const struct table_view *v,
			  const uint8_t *key)
{
	uint32_t mask[HASH_HOPS];
	struct chunk c;

	hop_masks(mask, v->t, key);
	if (chunk_load(&c, v, u->unit, mask) < 0) {
		u->holds = QUERY_UNIT_UNREADABLE;
		return;
	}
	memcpy(u->hop, c.value, sizeof(u->hop));
	u->known = c.known;
	u->holds = c.zero			? QUERY_UNIT_EMPTY
		   : valid_hops(&c, v->t->hops) ? QUERY_UNIT_KEY
						: QUERY_UNIT_OTHER;
}

void query_inspect(struct query_unit *out, const struct table_view *v,
		   unsigned n, const uint8_t *key)
{
	uint64_t unit[HASH_COPIES];

	for (unsigned c = 0; c < n; c++) {
		struct query_unit *u = &out[c];

		unit[c] = copy_unit(v->t, c, key);
		*u = (struct query_unit){.unit = unit[c]};
		if (is_repeated(unit, c))
			u->holds = QUERY_UNIT_REPEATED;
		else if (v->t->kind == TABLE_KEYWRITE)
			inspect_slot(u, v, key);
		else if (v->t->kind == TABLE_POSTCARD)
			inspect_chunk(u, v, key);
		else if (view_load(v, table_unit(v->t, u->unit), &u->count,
				   sizeof(u->count)) < 0)
			u->holds = QUERY_UNIT_UNREADABLE;
		else
			u->holds = u->count ? QUERY_UNIT_KEY : QUERY_UNIT_EMPTY;
	}
}

/* In rounds of as many keys as there is room for values. */
static void lookup_keywrite(const struct table_view *v,
			    const struct query_rule *rule,
			    const uint8_t *const *keys, size_t n,
			    struct query_reply *const *reply)
{
	size_t len = v->t->value_len, most = VALUES_ROOM / len;
	uint8_t values[VALUES_ROOM];
	struct query_keywrite_answers a;

	a.value = values;
	most = most < QUERY_BATCH ? most : QUERY_BATCH;
	for (size_t from = 0; from < n; from += most) {
		size_t some = n - from < most ? n - from : most;

		query_keywrite(&a, v, rule, keys + from, some);
		for (size_t i = 0; i < some; i++) {
			struct query_reply *out = reply[from + i];

			out->answer = (enum query_answer)a.answer[i];
			out->agreed = a.agreed[i];
			out->matched = a.matched[i];
			out->unreadable |= a.unreadable[i] > 0;
			if (a.matched[i])
				memcpy(out->value, values + i * len, len);
		}
	}
}

/* The minimum of the copies' counters. */
static void lookup_count(struct query_reply *out, const struct table_view *v,
			 unsigned copies, const uint8_t *key)
{
	int rc = 0;

	out->count = UINT64_MAX;
	for (unsigned c = 0; c < copies && !rc; c++) {
		uint64_t unit = copy_unit(v->t, c, key), n = 0;

		rc = view_load(v, table_unit(v->t, unit), &n, sizeof(n));
		if (n < out->count)
			out->count = n;
	}
	out->answer = rc < 0	   ? QUERY_UNREADABLE
		      : out->count ? QUERY_FOUND
				   : QUERY_NOT_FOUND;
}

static void lookup_keys(const struct table_view *v,
			const struct query_rule *rule,
			const uint8_t *const *keys, size_t n,
			struct query_reply *const *reply)
{
	if (v->t->kind == TABLE_KEYWRITE) {
		lookup_keywrite(v, rule, keys, n, reply);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct query_reply *out = reply[i];

		if (table_counts(v->t)) {
			lookup_count(out, v, rule->copies, keys[i]);
			continue;
		}
		lookup_path(&out->path, v, rule, keys[i]);
		out->answer = out->path.answer;
		out->agreed = out->path.agreed;
		out->unreadable |= out->path.unreadable > 0;
	}
}

void query_keys(const struct table_view *v, const struct query_rule *rule,
		const uint8_t *const *keys, size_t n,
		struct query_reply *const *reply)
{
	struct query_rule r = *rule;

	if (!r.copies)
		r.copies = table_counts(v->t) ? v->t->copies : COPIES_UNKNOWN;
	for (size_t i = 0; i < n; i++)
		reply[i]->copies = r.copies;
	if (v->mem || !v->memory->far) {
		lookup_keys(v, &r, keys, n, reply);
		return;
	}
	/* Where the slots of a key are does not depend on what is in them. */
	memory_plan(v->memory);
	lookup_keys(v, &r, keys, n, reply);
	memory_fetch(v->memory);
	lookup_keys(v, &r, keys, n, reply);
	memory_done(v->memory);
}

/* --- lists: rings that are being written while they are read -------------- */

static bool is_far(const struct table_view *v)
{
	return !v->mem && v->memory->far;
}

enum {
	/* Bytes of a ring to read at once: what caches hold; from far. */
	CACHED_READ = 64 << 10,
	FAR_READ = 16 << 20,
};

uint64_t query_list_at_once(const struct table_view *v, uint64_t n)
{
	uint64_t most = is_far(v) ? FAR_READ / v->t->stride
				  : CACHED_READ / v->t->value_len;

	return n < most ? n : most;
}

int query_list_count(uint64_t *out, const struct table_view *v, uint32_t list)
{
	uint64_t be;
	int rc = view_load(v, table_head(v->t, list), &be, sizeof(be));

	if (rc < 0)
		return rc;
	*out = be64toh(be);
	return 0;
}

/* Copies n entries from ring position at on; they do not wrap. */
static int copy_run(const struct table_view *v, uint32_t list, uint64_t at,
		    uint8_t *buf, uint64_t n)
{
	const struct table *t = v->t;
	uint64_t offset = table_entry(t, list, at);

	if (t->stride == t->value_len)
		return view_load(v, offset, buf, n * t->stride);
	for (uint64_t i = 0; i < n; i++) {
		int rc = view_load(v, offset + i * t->stride,
				   buf + i * t->value_len, t->value_len);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The published system stores each word of an entry byte-swapped. */
static void unswap_words(const struct table *t, uint8_t *buf, uint64_t n)
{
	if (t->hash != HASH_DTA0 || t->value_len % 4)
		return;
	for (uint64_t i = 0; i < n * t->value_len; i += 4) {
		uint32_t w;

		memcpy(&w, buf + i, sizeof(w));
		w = __builtin_bswap32(w);
		memcpy(buf + i, &w, sizeof(w));
	}
}

/* Reads n far entries in one round trip, and removes their padding. */
static int fetch_entries(const struct table_view *v, uint32_t list,
			 uint64_t first, uint8_t *buf, uint64_t n)
{
	const struct table *t = v->t;
	bool packed = t->stride == t->value_len;
	uint64_t at = first % t->units, head = t->units - at;
	uint8_t *raw = packed ? buf : malloc((size_t)(n * t->stride));
	struct memory_read r[2];
	int rc;

	if (!raw)
		return -ENOMEM;
	head = head < n ? head : n;
	r[0] = (struct memory_read){
		.t = t,
		.epoch = v->epoch,
		.offset = table_entry(t, list, at),
		.length = (size_t)(head * t->stride),
		.to = raw,
	};
	r[1] = r[0];
	r[1].offset = table_entry(t, list, 0);
	r[1].length = (size_t)((n - head) * t->stride);
	r[1].to = raw + head * t->stride;
	rc = memory_read(v->memory, r, head < n ? 2 : 1);
	if (packed)
		return rc;
	for (uint64_t i = 0; i < n && !rc; i++)
		memcpy(buf + i * t->value_len, raw + i * t->stride,
		       t->value_len);
	free(raw);
	return rc;
}

/* Copies n entries from number first on, across the ring's end if need be. */
static int copy_entries(const struct table_view *v, uint32_t list,
			uint64_t first, uint8_t *buf, uint64_t n)
{
	const struct table *t = v->t;
	uint64_t at = first % t->units, head = t->units - at;
	int rc;

	if (!n)
		return 0;
	if (is_far(v))
		return fetch_entries(v, list, first, buf, n);
	if (n <= head)
		return copy_run(v, list, at, buf, n);
	rc = copy_run(v, list, at, buf, head);
	return rc < 0 ? rc
		      : copy_run(v, list, 0, buf + head * t->value_len,
				 n - head);
}

/*
 * Copies n entries, or those before the first one that cannot be read because a
 * block of a snapshot is damaged. Returns their number, or -errno if it is 0.
 */
static int64_t copy_readable(const struct table_view *v, uint32_t list,
			     uint64_t first, uint8_t *buf, uint64_t n)
{
	size_t len = v->t->value_len;
	uint64_t i = 0;
	int rc = copy_entries(v, list, first, buf, n);

	if (!rc)
		return (int64_t)n;
	if (is_far(v)) /* no part of it can be read */
		return rc;
	while (i < n &&
	       !(rc = copy_entries(v, list, first + i, buf + i * len, 1)))
		i++;
	return i ? (int64_t)i : rc;
}

int64_t query_list_read(const struct table_view *v, uint32_t list,
			uint64_t from, void *buf, uint64_t max, uint64_t *next,
			uint64_t *lost)
{
	const struct table *t = v->t;
	uint64_t count, start, gone = 0;
	int64_t n;

	*next = from;
	*lost = 0;
	if (list >= t->lists)
		return -EINVAL;
	if ((n = query_list_count(&count, v, list)) < 0)
		return n;
	start = query_list_oldest(t, count);
	if (from > start)
		start = from < count ? from : count;
	else
		*lost = start - from;
	n = copy_readable(v, list, start, buf,
			  count - start < max ? count - start : max);
	*next = n < 0 ? start + 1 : start + (uint64_t)n;
	if (n < 0)
		return n;
	fence_loads();
	/* Entries that may have been overwritten meanwhile are lost. */
	if (query_list_count(&count, v, list) == 0 &&
	    query_list_oldest(t, count) > start)
		gone = query_list_oldest(t, count) - start;
	gone = gone < (uint64_t)n ? gone : (uint64_t)n;
	n -= (int64_t)gone;
	*lost += gone;
	if (gone)
		memmove(buf, (uint8_t *)buf + gone * t->value_len,
			(uint64_t)n * t->value_len);
	unswap_words(t, buf, (uint64_t)n);
	return n;
}
