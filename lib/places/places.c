/* SPDX-License-Identifier: BSD-2-Clause */
#include "places/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/snapshot.h"
#include "store/region.h"
#include "verbs/verbs_reader.h"

static struct source *add_source(struct places *p, const char *name,
				 const char *path)
{
	struct source *s = &p->source[p->sources++];

	*s = (struct source){.name = name, .path = path};
	return s;
}

static int open_region(struct places *p, const char *name, struct fault *f)
{
	struct source *s = add_source(p, "region", name);
	struct fault why = {""};
	struct region *r;
	int rc = region_open(&r, name, false, &why);

	if (rc < 0)
		return fault_of(f, rc, name, &why);
	s->memory = region_memory(r);
	s->live = true;
	return 0;
}

static int open_snapshot(struct places *p, const char *path, struct fault *f)
{
	struct source *s = add_source(p, path, path);
	struct snapshot *snapshot;
	struct fault why = {""};
	int rc = snapshot_open(&snapshot, path, &why);

	if (rc < 0)
		return fault_of(f, rc, path, &why);
	s->memory = snapshot_memory(snapshot);
	return 0;
}

bool places_fell(struct places *p, unsigned source)
{
	const struct source *s = &p->source[source];
	const char *why = memory_broken(s->memory);

	if (!why)
		return false;
	if (p->collectors)
		collectors_lose(p->collectors, source, why);
	else
		p->gone = why;
	return true;
}

/* The epochs that a source has now; false if it cannot be read any more. */
static bool renew(struct places *p, unsigned source)
{
	return memory_renew(p->source[source].memory) == 0 ||
	       !places_fell(p, source);
}

static void add_place(struct places *p, struct place at)
{
	for (unsigned i = 0; p->collectors && i < p->n; i++)
		if (p->place[i].source == at.source &&
		    p->place[i].epoch == at.epoch)
			return; /* a generation's last epoch, the next's first
				 */
	p->place[p->n++] = at;
}

/* Adds the epochs of source i within these bounds, unless they are there. */
static void add_epochs(void *ctx, unsigned i, uint64_t from, uint64_t until)
{
	struct places *p = ctx;
	struct source *s = &p->source[i];

	if (from < p->only.from)
		from = p->only.from;
	if (until > p->only.until)
		until = p->only.until;
	if (!s->memory || (!s->fresh && !renew(p, i)))
		return;
	s->fresh = s->memory->far;
	s->oldest = s->memory->oldest;
	s->newest = s->memory->newest;
	if (until > s->newest)
		until = s->newest;
	if (from < s->oldest)
		from = s->oldest;
	for (uint64_t e = until; e && e >= from; e--)
		add_place(p, (struct place){i, e});
}

static void list_places(struct places *p)
{
	p->n = 0;
	for (unsigned i = 0; i < p->sources; i++) {
		p->source[i].fresh = false;
		add_epochs(p, i, 0, UINT64_MAX);
	}
}

static int open_sources(struct places *p, const struct places_options *o,
			struct fault *f)
{
	int rc = 0;

	if (o->cluster.cluster)
		return collectors_open(&p->collectors, p->source, &p->sources,
				       &o->cluster, f);
	if (o->verbs) {
		struct source *s = add_source(p, "region", o->verbs);

		s->live = true;
		rc = verbs_memory(&s->memory, o->verbs, o->cluster.stop, f);
	} else if (o->region) {
		rc = open_region(p, o->region, f);
	}
	for (unsigned i = 0; i < o->snapshots && !rc; i++)
		rc = open_snapshot(p, o->snapshot[i], f);
	return rc;
}

int places_open(struct places *p, const struct places_options *o,
		struct fault *f)
{
	const struct source *first = &p->source[0];
	int rc;

	*p = (struct places){.only = o->only};
	rc = open_sources(p, o, f);
	if (rc < 0)
		return rc;
	p->place = calloc(p->sources * REGION_EPOCHS_MAX, sizeof(p->place[0]));
	if (!p->place)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	list_places(p);
	if (p->gone)
		return fault_set(f, -EIO, "%s: %s", first->path, p->gone);
	if (!p->collectors && !p->n)
		return fault_set(f, -ENOENT, "no epoch %s: %s has %llu to %llu",
				 o->only.text, first->path,
				 (unsigned long long)first->oldest,
				 (unsigned long long)first->newest);
	return 0;
}

bool places_only(struct places *p, struct epochs only)
{
	p->only = only;
	list_places(p);
	return p->collectors || p->n > 0;
}

void places_of_key(struct places *p, const uint8_t *key, size_t len)
{
	unsigned lost;

	if (!p->collectors)
		return;
	do { /* one may turn out to be lost: its mirror may do */
		lost = collectors_lost(p->collectors);
		p->n = 0;
		collectors_of_key(p->collectors, key, len, add_epochs, p);
	} while (lost != collectors_lost(p->collectors));
}

void places_close(struct places *p)
{
	for (unsigned i = 0; i < p->sources; i++)
		memory_close(p->source[i].memory);
	collectors_close(p->collectors);
	free(p->place);
}

void places_refresh(struct places *p)
{
	struct source *s = &p->source[0];

	if (p->collectors) {
		for (unsigned i = 0; i < p->sources; i++)
			p->source[i].fresh = false;
		return;
	}
	renew(p, 0);
	if (s->memory->newest == s->newest && s->memory->oldest == s->oldest)
		return;
	list_places(p);
}

bool places_stale(struct places *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		unsigned source = p->place[i].source;
		const struct source *s = &p->source[source];

		if (!s->live || (i && source == p->place[i - 1].source))
			continue;
		if (!renew(p, source) || s->memory->oldest > s->oldest)
			return true;
	}
	return false;
}

bool place_stale(struct places *p, unsigned place)
{
	const struct place *at = &p->place[place];
	const struct source *s = &p->source[at->source];

	return s->live &&
	       (!renew(p, at->source) || s->memory->oldest > at->epoch);
}

bool place_repeats(const struct places *p, unsigned place)
{
	const struct place *at = &p->place[place];
	const struct source *first = &p->source[0];

	return !p->collectors && at->source && first->live &&
	       at->epoch >= first->oldest && at->epoch <= first->newest;
}

bool places_incomplete(const struct places *p)
{
	return p->collectors && collectors_incomplete(p->collectors);
}

unsigned source_tables(const struct source *s)
{
	return s->memory ? s->memory->tables : 0;
}

const struct table *source_table(const struct source *s, unsigned i)
{
	return &s->memory->table[i];
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

int targets_pick(struct targets *out, const struct places *p, int kind,
		 const char *name, struct fault *f)
{
	struct fault why = {""};

	out->n = 0;
	for (unsigned i = 0; i < p->sources; i++) {
		const struct source *s = &p->source[i];
		const struct table *t;

		if (name && !out->n) {
			t = s->memory
				    ? table_pick(s->memory->table,
						 s->memory->tables, kind, name,
						 *why.text ? NULL : &why)
				    : NULL;
			if (t)
				add_target(out, p, i, t);
		}
		for (unsigned k = 0; !name && k < source_tables(s); k++) {
			t = source_table(s, k);
			if (t->kind == kind)
				add_target(out, p, i, t);
		}
	}
	if (out->n)
		return 0;
	return name ? fault_set(f, -ENOENT, "%s", why.text)
		    : fault_set(f, -ENOENT, "%s: no %s table",
				p->source[0].path,
				table_kind_name((uint8_t)kind));
}

bool target_view(struct view *out, const struct places *p,
		 const struct target *t, unsigned place)
{
	const struct place *at = &p->place[place];
	const struct table *in = t->in[at->source];

	if (in)
		memory_view(out, p->source[at->source].memory, in, at->epoch);
	return in != NULL;
}
