/* SPDX-License-Identifier: BSD-2-Clause */
/* look.c - regions: each is opened anew, as somebody may have made another one
 * of its name. */
#include "look.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "query/load.h"

enum {
	SAMPLE = 10000, /* units of a table that are looked at */
};

void speed_set(struct speed *s, uint64_t from_ns, uint64_t to_ns, uint64_t was,
	       uint64_t is)
{
	double much = (double)(int64_t)(is - was);

	if (to_ns <= from_ns)
		return;
	s->known = true;
	s->per_s = much * 1e9 / (double)(to_ns - from_ns);
	minute_add(&s->minute, from_ns, to_ns, much > 0 ? much : 0);
}

bool look_is_region(const char *a, const char *b)
{
	return *a && !strcmp(a + (*a == '/'), b + (*b == '/'));
}

bool look_age(const struct seen_region *r, uint64_t *age_ns)
{
	uint64_t now = clock_wall_ns();

	*age_ns = now - r->began_ns;
	return r->began_ns && r->began_ns <= now;
}

static void note_levels(struct seen_region *s)
{
	uint64_t age_ns, now = clock_ns();

	if (look_age(s, &age_ns))
		minute_level(&s->ages, now, (double)age_ns);
	if (!isnan(s->fill))
		minute_level(&s->fills, now, s->fill);
}

static double fill_of(struct region *r)
{
	struct memory *m = region_memory(r);
	double fill = NAN;

	for (unsigned i = 0; i < m->tables; i++) {
		struct view v;
		double share;

		memory_view(&v, m, &m->table[i], m->newest);
		share = load_sample(&v, SAMPLE);
		if (isnan(fill) || share > fill)
			fill = share;
	}
	return fill;
}

/* By its path; made, if it is new. */
static struct seen_region *find(struct watch *w, const char *path,
				const char *name)
{
	struct seen_region **at = &w->regions, *s;

	for (; (s = *at); at = &s->next)
		if (!strcmp(s->path, path))
			return s;
	if (!(s = calloc(1, sizeof(*s))))
		cli_fail("out of memory");
	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(s->path, sizeof(s->path), "%s", path);
	*at = s;
	w->n_regions++;
	return s;
}

static void look_at(void *ctx, const char *path, const char *name)
{
	struct watch *w = ctx;
	struct region_writer one;
	struct seen_region *s;
	struct fault f;
	struct region *r;
	unsigned at = 0;

	if (region_look(&r, path, &f) < 0) {
		w->unseen++;
		if (w->tell_unseen)
			cli_warn_fault(path, &f);
		return;
	}
	s = find(w, region_path(r), name);
	s->met = true;
	s->size = region_size(r);
	s->tables = region_tables(r);
	s->epoch = region_epoch(r);
	s->began_ns = region_epoch_began(r);
	s->left_ns = region_left(r);
	for (s->writers = 0; region_writer(r, &at, &one);)
		s->writer[s->writers++] = one.pid;
	s->fill = fill_of(r);
	note_levels(s);
	region_close(r);
}

void look_regions(struct watch *w)
{
	struct seen_region **at = &w->regions, *s;

	w->unseen = 0;
	for (s = w->regions; s; s = s->next)
		s->met = false;
	if (w->region)
		look_at(w, w->region, w->region);
	else
		region_list(look_at, w);
	while ((s = *at)) {
		if (s->met) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		free(s);
		w->n_regions--;
	}
}

void look_fini(struct watch *w)
{
	struct seen_region *s;

	while ((s = w->regions)) {
		w->regions = s->next;
		free(s);
	}
}
