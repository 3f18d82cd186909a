/* SPDX-License-Identifier: BSD-2-Clause */
#include "asking/askers.h"

#include <errno.h>
#include <stdlib.h>

#include "team/relay.h"

struct asker {
	struct places places;
	struct targets targets;
	struct keys keys;
	struct reply reply[QUERY_BATCH];
};

struct askers {
	struct relay relay;
	const struct askers_options *o;
	bool over;     /* in turn of taking: the keys' end */
	bool hopeless; /* in turn of showing: nothing more is wanted */
	struct asker *asker[ASKERS_MAX];
};

static void ask_target(struct asker *a, const struct query_rule *rule,
		       const struct target *t)
{
	struct ask ask = {.places = &a->places, .rule = *rule};
	const uint8_t *key[QUERY_BATCH];
	struct reply *reply[QUERY_BATCH];
	size_t n = 0;

	for (size_t i = 0; i < a->keys.n; i++) {
		if (a->keys.asked[i].target != t)
			continue;
		key[n] = a->keys.asked[i].key;
		reply[n++] = &a->reply[i];
	}
	if (n)
		ask_keys(&ask, t, key, n, reply);
}

static void ask_share(struct askers *c, unsigned worker)
{
	struct asker *a = c->asker[worker];

	while (keys_next(&a->keys)) {
		for (unsigned i = 0; i < a->targets.n; i++)
			ask_target(a, &c->o->rule, &a->targets.target[i]);
		c->o->answers(c->o->ctx, worker, &a->keys, a->reply);
	}
}

static bool take_share(struct askers *c, unsigned worker, bool wait)
{
	int rc = c->over ? 0
			 : keys_share(c->o->keys, &c->asker[worker]->keys,
				      wait);

	c->over = !rc || *c->o->stop;
	return rc > 0;
}

static bool take(void *ctx, unsigned worker)
{
	return take_share(ctx, worker, false);
}

/* In turn. */
static void show(struct askers *c, unsigned worker)
{
	const struct keys *share = &c->asker[worker]->keys;

	if (!c->hopeless && !keys_told(c->o->keys, share))
		__atomic_store_n(&c->hopeless, true, __ATOMIC_RELAXED);
	c->o->show(c->o->ctx, worker, !c->o->keys->lines.regular, c->hopeless);
	if (!c->hopeless)
		keys_check(c->o->keys, share);
}

static void carry(void *ctx, unsigned worker, uint64_t batch, bool any)
{
	struct askers *c = ctx;

	if (!any) {
		relay_skip(&c->relay, batch);
		return;
	}
	ask_share(c, worker);
	relay_wait(&c->relay, 0, batch);
	show(c, worker);
	relay_pass(&c->relay, 0);
}

static int asker_open(struct askers *c, unsigned worker, struct fault *f)
{
	const struct askers_options *o = c->o;
	struct asker *a = calloc(1, sizeof(*a));
	int rc;

	c->asker[worker] = a;
	if (!a)
		return fault_set(f, -ENOMEM, "out of memory");
	rc = places_open(&a->places, o->from, f);
	if (!rc)
		rc = targets_pick(&a->targets, &a->places, o->kind, o->table,
				  f);
	if (rc < 0)
		return rc;
	if (keys_share_open(&a->keys, &a->targets) < 0)
		return fault_set(f, -ENOMEM, "out of memory");
	o->begin(o->ctx, worker, &a->targets);
	return 0;
}

static void close_all(struct askers *c)
{
	for (unsigned i = 0; i < c->o->workers; i++) {
		if (!c->asker[i])
			continue;
		keys_share_close(&c->asker[i]->keys);
		places_close(&c->asker[i]->places);
		free(c->asker[i]);
	}
	free(c);
}

static bool is_hopeless(const struct askers *c)
{
	return __atomic_load_n(&c->hopeless, __ATOMIC_RELAXED);
}

/*
 * Who reads a pipe alone waits for more; the others look. Before it does, all
 * that was taken is shown: it may be the end of it.
 */
static bool take_first(struct askers *c)
{
	if (take_share(c, 0, false))
		return true;
	relay_rest(&c->relay);
	return !is_hopeless(c) && take_share(c, 0, true);
}

static void go_on(struct askers *c)
{
	while (!c->over && !*c->o->stop && !is_hopeless(c))
		relay_go(&c->relay, take_first(c));
}

int askers_run(const struct askers_options *o, struct fault *f)
{
	struct askers *c = aligned_alloc(TEAM_LINE, sizeof(*c));
	struct relay_options relay = {.workers = o->workers,
				      .steps = 1,
				      .take = take,
				      .carry = carry,
				      .ctx = c};
	int rc = 0;

	if (!c)
		return fault_set(f, -ENOMEM, "out of memory");
	*c = (struct askers){.o = o};
	for (unsigned i = 0; i < o->workers && !rc; i++)
		rc = asker_open(c, i, f);
	if (!rc)
		rc = relay_open(&c->relay, &relay, f);
	if (!rc) {
		go_on(c);
		relay_close(&c->relay);
	}
	close_all(c);
	return rc;
}
