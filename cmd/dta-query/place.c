/* SPDX-License-Identifier: BSD-2-Clause */
#include "place.h"

#include <stdlib.h>
#include <string.h>

static void open_region(struct places *p, const char *name)
{
	struct source *s = &p->source[p->sources++];
	struct fault f = {0};

	s->name = "region";
	s->path = name;
	if (region_open(&s->region, name, false, &f) < 0)
		cli_fault(name, &f);
}

static void open_snapshot(struct places *p, const char *path)
{
	struct source *s = &p->source[p->sources++];
	struct fault f = {0};

	s->name = s->path = path;
	if (snapshot_open(&s->snapshot, path, &f) < 0)
		cli_fault(path, &f);
}

static uint64_t source_oldest(const struct source *s)
{
	return s->region ? region_oldest(s->region)
			 : snapshot_oldest(s->snapshot);
}

static uint64_t source_newest(const struct source *s)
{
	return s->region ? region_epoch(s->region)
			 : snapshot_newest(s->snapshot);
}

static void list_places(struct places *p)
{
	p->n = 0;
	for (unsigned i = 0; i < p->sources; i++) {
		uint64_t oldest = source_oldest(&p->source[i]);
		uint64_t newest = source_newest(&p->source[i]);

		if (p->source[i].region) {
			p->oldest = oldest;
			p->newest = newest;
		}
		if (newest < oldest) /* rotated between the two loads */
			oldest = newest;
		if (p->only)
			newest = oldest = p->only >= oldest && p->only <= newest
						  ? p->only
						  : 0;
		for (uint64_t e = newest; e && e >= oldest; e--) {
			p->place = realloc(p->place,
					   (p->n + 1) * sizeof(p->place[0]));
			if (!p->place)
				cli_fail("out of memory");
			p->place[p->n++] = (struct place){i, e};
		}
	}
}

void places_open(struct places *p, const struct opts *o)
{
	*p = (struct places){.only = o->epoch};
	if (o->region)
		open_region(p, o->region);
	for (unsigned i = 0; i < o->snapshots; i++)
		open_snapshot(p, o->snapshot[i]);
	list_places(p);
	if (!p->n)
		cli_fail("no epoch %llu: %s has %llu to %llu",
			 (unsigned long long)o->epoch, p->source[0].path,
			 (unsigned long long)source_oldest(&p->source[0]),
			 (unsigned long long)source_newest(&p->source[0]));
}

bool places_only(struct places *p, uint64_t epoch)
{
	p->only = epoch;
	list_places(p);
	return p->n > 0;
}

void places_close(struct places *p)
{
	for (unsigned i = 0; i < p->sources; i++) {
		region_close(p->source[i].region);
		if (p->source[i].snapshot)
			snapshot_close(p->source[i].snapshot);
	}
	free(p->place);
}

bool places_refresh(struct places *p)
{
	const struct region *r = p->source[0].region;

	if (!r ||
	    (region_epoch(r) == p->newest && region_oldest(r) == p->oldest))
		return false;
	list_places(p);
	return true;
}

bool places_stale(const struct places *p)
{
	const struct region *r = p->source[0].region;

	return r && region_oldest(r) > p->oldest;
}

bool place_repeats(const struct places *p, unsigned place)
{
	const struct place *at = &p->place[place];

	return at->source && p->source[0].region && at->epoch >= p->oldest &&
	       at->epoch <= p->newest;
}

unsigned source_tables(const struct source *s)
{
	return s->region ? region_tables(s->region)
			 : snapshot_tables(s->snapshot);
}

const struct table *source_table(const struct source *s, unsigned i)
{
	return s->region ? region_table(s->region, i)
			 : snapshot_table(s->snapshot, i);
}

static const struct table *pick(const struct source *s, int kind,
				const char *name, struct fault *f)
{
	return s->region ? region_pick(s->region, kind, name, f)
			 : snapshot_pick(s->snapshot, kind, name, f);
}

static bool is_counterpart(const struct table *a, const struct table *b)
{
	return a->id == b->id && a->kind == b->kind &&
	       a->key_type == b->key_type && a->key_len == b->key_len &&
	       a->value_len == b->value_len;
}

void target_of(struct target *out, const struct places *p, unsigned source,
	       const struct table *t)
{
	*out = (struct target){.t = t};
	for (unsigned i = 0; i < p->sources; i++)
		for (unsigned k = 0; k < source_tables(&p->source[i]); k++) {
			const struct table *other = source_table(&p->source[i],
								 k);

			if (i == source ? other == t : is_counterpart(other, t))
				out->in[i] = other;
		}
}

static void add_target(struct targets *out, const struct places *p,
		       unsigned source, const struct table *t)
{
	for (unsigned i = 0; i < out->n; i++)
		if (out->target[i].in[source] == t)
			return; /* a counterpart */
	if (out->n < TABLE_MAX)
		target_of(&out->target[out->n++], p, source, t);
}

void targets_pick(struct targets *out, const struct places *p, int kind,
		  const char *name)
{
	struct fault f = {0};

	out->n = 0;
	for (unsigned i = 0; i < p->sources; i++) {
		const struct source *s = &p->source[i];
		const struct table *t;

		if (name && !out->n) {
			t = pick(s, kind, name, i ? NULL : &f);
			if (t)
				add_target(out, p, i, t);
		}
		for (unsigned k = 0; !name && k < source_tables(s); k++) {
			t = source_table(s, k);
			if (t->kind == kind)
				add_target(out, p, i, t);
		}
	}
	if (!out->n && name)
		cli_fail("%s", f.text);
	if (!out->n)
		cli_fail("%s: no %s table", p->source[0].path,
			 table_kind_name((uint8_t)kind));
}

bool target_view(struct view *out, const struct places *p,
		 const struct target *t, unsigned place)
{
	const struct place *at = &p->place[place];
	const struct source *s = &p->source[at->source];
	const struct table *in = t->in[at->source];

	if (!in)
		return false;
	if (s->region)
		*out = (struct view){
			.t = in,
			.values = region_values(s->region, in),
			.mem = region_read(s->region, in, at->epoch),
		};
	else
		snapshot_view(out, s->snapshot, in, at->epoch);
	return true;
}
