/* SPDX-License-Identifier: BSD-2-Clause */
#include "asking/verifiers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "asking/askers.h"
#include "team/relay.h"

struct verifier {
	struct places places;
	struct verify v;
	struct verify_part *part;
	struct verify_range range;
};

struct verifiers {
	struct relay relay;
	const struct verify *v;
	struct verify_walk walk; /* in turn of taking */
	bool over;		 /* the same */
	struct verifier *verifier[ASKERS_MAX];
};

static bool take(void *ctx, unsigned worker)
{
	struct verifiers *c = ctx;

	c->over = c->over || *c->v->stop ||
		  !verify_walk_next(&c->walk, &c->verifier[worker]->range);
	return !c->over;
}

static void carry(void *ctx, unsigned worker, uint64_t batch, bool any)
{
	struct verifiers *c = ctx;
	struct verifier *own = c->verifier[worker];

	if (!any) {
		relay_skip(&c->relay, batch);
		return;
	}
	verify_part_ask(own->part, &own->range); /* on this machine: it works */
	if (!c->v->miss)
		verify_part_judge(own->part);
	relay_wait(&c->relay, 0, batch);
	if (c->v->miss)
		verify_part_judge(own->part);
	relay_pass(&c->relay, 0);
}

static int verifier_open(struct verifiers *c, unsigned worker,
			 const struct verifiers_options *o,
			 const struct truth_table *tt, struct verify_at at,
			 struct fault *f)
{
	struct verifier *own = calloc(1, sizeof(*own));
	int rc;

	c->verifier[worker] = own;
	if (!own)
		return fault_set(f, -ENOMEM, "out of memory");
	rc = places_open(&own->places, o->from, f);
	if (rc < 0)
		return rc;
	own->v = *c->v;
	own->v.places = &own->places;
	rc = verify_part_open(&own->part, &own->v, tt, at);
	return rc < 0 ? fault_set(f, rc, "%s: %s", tt->t->name,
				  rc == -ENOENT ? "it was made anew"
						: strerror(-rc))
		      : 0;
}

static void close_all(struct verifiers *c, unsigned workers, struct score *s)
{
	for (unsigned i = 0; i < workers; i++) {
		struct verifier *own = c->verifier[i];

		if (!own)
			continue;
		if (own->part)
			score_add(s, verify_part_score(own->part));
		verify_part_close(own->part);
		places_close(&own->places);
		free(own);
	}
	free(c);
}

static int by_several(const struct verifiers_options *o, const struct verify *v,
		      const struct truth_table *tt, struct score *s,
		      struct fault *f)
{
	struct verifiers *c = aligned_alloc(TEAM_LINE, sizeof(*c));
	const struct relay_options ro = {.workers = o->workers,
					 .steps = 1,
					 .take = take,
					 .carry = carry,
					 .ctx = c};
	int rc = 0;

	if (!c)
		return fault_set(f, -ENOMEM, "out of memory");
	memset(c, 0, sizeof(*c));
	c->v = v;
	verify_walk_open(&c->walk, tt);
	for (unsigned i = 0; i < o->workers && !rc; i++)
		rc = verifier_open(c, i, o, tt, verify_at(v->places, tt->t), f);
	if (!rc)
		rc = relay_open(&c->relay, &ro, f);
	if (!rc) {
		while (take(c, 0))
			relay_go(&c->relay, true);
		relay_close(&c->relay);
	}
	close_all(c, o->workers, s);
	return rc;
}

int verifiers_table(const struct verifiers_options *o, const struct verify *v,
		    const struct truth_table *tt, struct score *s,
		    struct fault *f)
{
	int rc;

	if (o->workers > 1 && tt->t->kind != TABLE_APPEND)
		return by_several(o, v, tt, s, f);
	rc = verify_table(v, tt, s);
	return rc < 0 ? fault_set(f, rc, "%s: %s", tt->t->name, strerror(-rc))
		      : 0;
}
