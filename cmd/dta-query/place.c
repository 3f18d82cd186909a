/* SPDX-License-Identifier: BSD-2-Clause */
#include "place.h"

#include "crew.h"
#include "reach.h"
#include "remote.h"

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

static void open_reach(struct places *p, const char *address)
{
	struct source *s = &p->source[p->sources++];
	struct fault f = {0};

	s->name = "region";
	s->path = address;
	if (reach_open(&s->reach, &s->region, address, &f) < 0)
		cli_fail("%s", f.text);
}

static void open_snapshot(struct places *p, const char *path)
{
	struct source *s = &p->source[p->sources++];
	struct fault f = {0};

	s->name = s->path = path;
	if (snapshot_open(&s->snapshot, path, &f) < 0)
		cli_fault(path, &f);
}

bool places_fell(struct places *p, unsigned source)
{
	const struct source *s = &p->source[source];
	const char *why = s->reach ? reach_broken(s->reach) : NULL;

	if (!why)
		return false;
	if (!p->crew)
		cli_fail("%s: %s", s->path, why);
	crew_lose(p, source, why);
	return true;
}

/* The epochs that a source has now; false if it cannot be read any more. */
static bool renew(struct places *p, unsigned source)
{
	if (!p->source[source].reach)
		return true;
	reach_renew(p->source[source].reach);
	return !places_fell(p, source);
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

static void add_place(struct places *p, struct place at)
{
	for (unsigned i = 0; p->crew && i < p->n; i++)
		if (p->place[i].source == at.source &&
		    p->place[i].epoch == at.epoch)
			return; /* a generation's last epoch, the next's first
				 */
	p->place = realloc(p->place, (p->n + 1) * sizeof(p->place[0]));
	if (!p->place)
		cli_fail("out of memory");
	p->place[p->n++] = at;
}

/* Epochs on another machine, as far as they are not there: a generation's last
 * is the first of the next, which came before. */
static void add_remote(struct places *p, unsigned i, uint64_t from,
		       uint64_t until)
{
	for (unsigned k = 0; k < p->n; k++) {
		const struct place *at = &p->place[k];

		if (at->source == i && at->from <= until && at->from > from)
			until = at->from - 1;
		else if (at->source == i && at->from <= from &&
			 at->epoch >= until)
			return;
		else if (at->source == i && at->from <= from &&
			 at->epoch >= from)
			from = at->epoch + 1;
	}
	if (from <= until)
		add_place(p, (struct place){i, until, from});
}

void places_add(struct places *p, unsigned i, uint64_t from, uint64_t until)
{
	struct source *s = &p->source[i];
	uint64_t newest;

	if (from < p->only.from)
		from = p->only.from;
	if (until > p->only.until)
		until = p->only.until;
	if (s->remote) {
		add_remote(p, i, from, until);
		return;
	}
	if (!renew(p, i))
		return;
	s->oldest = source_oldest(s);
	newest = source_newest(s);
	if (newest < s->oldest) /* rotated between the two loads */
		s->oldest = newest;
	if (until > newest)
		until = newest;
	if (from < s->oldest)
		from = s->oldest;
	for (uint64_t e = until; e && e >= from; e--)
		add_place(p, (struct place){i, e, 0});
}

static void list_places(struct places *p)
{
	p->n = 0;
	for (unsigned i = 0; i < p->sources; i++) {
		places_add(p, i, 0, UINT64_MAX);
		if (p->source[i].region) {
			p->oldest = p->source[i].oldest;
			p->newest = source_newest(&p->source[i]);
		}
	}
}

void places_open(struct places *p, const struct opts *o)
{
	*p = (struct places){.only = o->epochs};
	if (o->cluster) {
		crew_open(p, o);
		return;
	}
	if (o->verbs)
		open_reach(p, o->verbs);
	else if (o->region)
		open_region(p, o->region);
	for (unsigned i = 0; i < o->snapshots; i++)
		open_snapshot(p, o->snapshot[i]);
	list_places(p);
	if (!p->n)
		cli_fail("no epoch %s: %s has %llu to %llu", o->epochs.text,
			 p->source[0].path,
			 (unsigned long long)source_oldest(&p->source[0]),
			 (unsigned long long)source_newest(&p->source[0]));
}

bool places_only(struct places *p, struct epochs only)
{
	p->only = only;
	if (p->crew) {
		crew_all(p);
		return true;
	}
	list_places(p);
	return p->n > 0;
}

void places_of_key(struct places *p, const uint8_t *key, size_t len)
{
	if (p->crew)
		crew_of_key(p, key, len);
}

void places_close(struct places *p)
{
	for (unsigned i = 0; i < p->sources; i++) {
		reach_close(p->source[i].reach);
		region_close(p->source[i].region);
		remote_close(p->source[i].remote);
		if (p->source[i].snapshot)
			snapshot_close(p->source[i].snapshot);
	}
	crew_close(p->crew);
	free(p->place);
}

bool places_refresh(struct places *p)
{
	const struct region *r = p->source[0].region;

	if (p->crew || !r)
		return false;
	renew(p, 0);
	if (region_epoch(r) == p->newest && region_oldest(r) == p->oldest)
		return false;
	list_places(p);
	return true;
}

bool places_stale(struct places *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		unsigned source = p->place[i].source;
		const struct source *s = &p->source[source];

		if (!s->region || (i && source == p->place[i - 1].source))
			continue;
		if (!renew(p, source) || region_oldest(s->region) > s->oldest)
			return true;
	}
	return false;
}

bool place_stale(struct places *p, unsigned place)
{
	const struct place *at = &p->place[place];
	const struct region *r = p->source[at->source].region;

	return r && (!renew(p, at->source) || region_oldest(r) > at->epoch);
}

bool place_repeats(const struct places *p, unsigned place)
{
	const struct place *at = &p->place[place];

	return !p->crew && at->source && p->source[0].region &&
	       at->epoch >= p->oldest && at->epoch <= p->newest;
}

unsigned source_tables(const struct source *s)
{
	if (s->remote)
		return remote_tables(s->remote);
	return s->region     ? region_tables(s->region)
	       : s->snapshot ? snapshot_tables(s->snapshot)
			     : 0;
}

const struct table *source_table(const struct source *s, unsigned i)
{
	if (s->remote)
		return remote_table(s->remote, i);
	return s->region ? region_table(s->region, i)
			 : snapshot_table(s->snapshot, i);
}

static const struct table *pick(const struct source *s, int kind,
				const char *name, struct fault *f)
{
	if (s->remote)
		return table_pick(remote_table(s->remote, 0),
				  remote_tables(s->remote), kind, name, f);
	if (!s->region && !s->snapshot)
		return NULL;
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

	if (!in || s->remote)
		return false;
	if (s->reach)
		reach_view(out, s->reach, in, at->epoch);
	else if (s->region)
		*out = (struct view){
			.t = in,
			.values = region_values(s->region, in),
			.mem = region_read(s->region, in, at->epoch),
		};
	else
		snapshot_view(out, s->snapshot, in, at->epoch);
	return true;
}
