/* SPDX-License-Identifier: BSD-2-Clause */
/* The units that a key may be in, one by one: for who asks why. */
#include "base/zero.h"
#include "query/query.h"
#include "query/view.h"

enum {
	SUM_LEN = 4,
};

const char *look_name(enum look l)
{
	static const char *const name[] = {
		[LOOK_NOTHING] = "nothing",	  [LOOK_KEY] = "this_key",
		[LOOK_OTHER] = "another_key",	  [LOOK_REPEATED] = "repeated",
		[LOOK_UNREADABLE] = "unreadable",
	};

	return name[l];
}

static uint64_t unit_of(const struct table *t, unsigned copy,
			const uint8_t *key)
{
	enum hash_family f = (enum hash_family)t->hash;
	uint32_t hash = t->kind == TABLE_POSTCARD
				? hash_chunk(f, copy, key, t->key_len)
				: hash_slot(f, copy, key, t->key_len);

	return hash_mod(hash, t->units);
}

static bool is_repeated(const struct looked *out, unsigned copy)
{
	for (unsigned c = 0; c < copy; c++)
		if (out[c].unit == out[copy].unit)
			return true;
	return false;
}

static void look_at_slot(struct looked *l, const struct view *v,
			 const uint8_t *key)
{
	const struct table *t = v->t;
	size_t len = SUM_LEN + (size_t)t->value_len;
	uint8_t slot[SUM_LEN + TABLE_VALUE_MAX], want[SUM_LEN];

	if (view_load(v, table_unit(t, l->unit), slot, len) < 0) {
		l->holds = LOOK_UNREADABLE;
		return;
	}
	keywrite_sum(want, t, key);
	memcpy(l->sum, slot, SUM_LEN);
	memcpy(l->value, slot + SUM_LEN, t->value_len);
	l->holds = !memcmp(slot, want, SUM_LEN) ? LOOK_KEY
		   : is_zero(slot, len)		? LOOK_NOTHING
						: LOOK_OTHER;
}

static void look_at_counter(struct looked *l, const struct view *v)
{
	if (view_load(v, table_unit(v->t, l->unit), &l->count,
		      sizeof(l->count)) < 0)
		l->holds = LOOK_UNREADABLE;
	else
		l->holds = l->count ? LOOK_KEY : LOOK_NOTHING;
}

static void look_at_chunk(struct looked *l, const struct view *v, unsigned copy,
			  const uint8_t *key)
{
	uint8_t bytes[4 * HASH_HOPS];
	size_t len = 4u * v->t->hops;

	if (view_load(v, table_unit(v->t, l->unit), bytes, len) < 0 ||
	    path_look(l, v, copy, key) < 0)
		l->holds = LOOK_UNREADABLE;
	else
		l->holds = is_zero(bytes, len) ? LOOK_NOTHING
			   : l->path	       ? LOOK_KEY
					       : LOOK_OTHER;
}

void query_look(struct looked *out, const struct view *v, unsigned n,
		const uint8_t *key)
{
	for (unsigned c = 0; c < n; c++) {
		struct looked *l = &out[c];

		*l = (struct looked){.unit = unit_of(v->t, c, key)};
		if (is_repeated(out, c))
			l->holds = LOOK_REPEATED;
		else if (v->t->kind == TABLE_KEYWRITE)
			look_at_slot(l, v, key);
		else if (v->t->kind == TABLE_KEYINC)
			look_at_counter(l, v);
		else
			look_at_chunk(l, v, c, key);
	}
}
