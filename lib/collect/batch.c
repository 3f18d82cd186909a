/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/frames.h"
#include "measure/flows.h"

enum {
	ITEMS = 2048, /* room for so many, to begin with */
	/* What the intake wants. */
	VIEWS_SIZE = INTAKE_VIEWS * sizeof(struct int_view),
};

_Static_assert((int)VIEWS_SIZE <= (int)ARENA_CHUNK, "views");

static int fail(struct batch *b, int error)
{
	if (!b->error)
		b->error = error;
	return error;
}

/* Room for n items. */
static int grow(struct batch *b, size_t n)
{
	struct telemetry_item *item = realloc(b->item, n * sizeof(*item));
	struct batch_look *look;
	uint32_t *which;
	uint8_t *shard;

	if (!item)
		return -ENOMEM;
	b->item = item;
	if (!(which = realloc(b->which, n * sizeof(*which))))
		return -ENOMEM;
	b->which = which;
	if (!(look = realloc(b->look, n * sizeof(*look))))
		return -ENOMEM;
	b->look = look;
	if (!(shard = realloc(b->shard, n)))
		return -ENOMEM;
	b->shard = shard;
	b->room = n;
	return 0;
}

/* Where the hops begin, of those that are not equally long. */
static int keep_at(struct batch *b, struct int_hops *h)
{
	size_t size = h->n * sizeof(*h->at);
	uint16_t *at = arena_room(&b->beside, size);

	if (!at)
		return -ENOMEM;
	memcpy(at, h->at, size);
	arena_take(&b->beside, size);
	h->at = at;
	return 0;
}

/* What of a view does not last as long as its frame does. */
static int keep(struct batch *b, struct int_view *v)
{
	if (v->stack.plan &&
	    !(v->stack.plan = plans_keep(&b->plans, v->stack.plan)))
		return -ENOMEM;
	if (v->own.plan && !(v->own.plan = plans_keep(&b->plans, v->own.plan)))
		return -ENOMEM;
	return v->stack.at ? keep_at(b, &v->stack) : 0;
}

/* Views without a flow are anybody's. */
static unsigned shard_of(const struct batch *b, const struct telemetry_item *it)
{
	if (!b->shards || it->bare)
		return BATCH_SHARDS;
	return it->view->key_len
		       ? telemetry_shard_of(b->whole, it->hash, b->shards)
		       : (unsigned)(b->n % b->shards);
}

static int add(struct batch *b, const struct int_view *v, bool bare)
{
	uint64_t was_ns = b->n ? b->item[b->n - 1].now_ns : 0;
	struct telemetry_item *it;

	if (b->n == b->room && grow(b, 2 * b->room))
		return -ENOMEM;
	it = &b->item[b->n];
	*it = (struct telemetry_item){.view = v,
				      .now_ns = v->ts_ns > was_ns ? v->ts_ns
								  : was_ns,
				      .bare = bare};
	if (v->key_len)
		it->hash = flows_hash(v->key, v->key_len);
	b->shard[b->n++] = (uint8_t)shard_of(b, it);
	return 0;
}

/* A filter leaves some out: numbers of reports that come are no sequence. */
static bool is_wanted(struct batch *b, struct int_view *v)
{
	bool matched;

	if (!b->filter)
		return true;
	matched = expr_match(b->filter, v);
	b->filtered.views++;
	b->filtered.matched += matched;
	b->filtered.others += !matched;
	v->from.numbered = false;
	return matched;
}

static int views(void *ctx, const struct int_view *v, size_t n)
{
	struct batch *b = ctx;
	struct int_view *own = b->room_views;
	int rc = 0;

	(void)v; /* they are there */
	if (b->error)
		return b->error;
	for (size_t i = 0; i < n && !rc; i++) {
		if (!is_wanted(b, &own[i]))
			continue;
		rc = keep(b, &own[i]);
		if (!rc)
			rc = add(b, &own[i], false);
	}
	arena_take(&b->views, n * sizeof(*own));
	return rc;
}

static struct int_view *room(void *ctx)
{
	struct batch *b = ctx;
	struct int_view *v = arena_room(&b->views, VIEWS_SIZE);

	if (v)
		b->room_views = v;
	else
		fail(b, -ENOMEM); /* and nothing is used */
	return b->room_views;
}

static int number(void *ctx, uint64_t ts_ns, const struct int_from *from)
{
	struct batch *b = ctx;
	struct int_view *v;

	if (b->filter)
		return 0;
	/* Not among the views: the intake has its room for the next ones. */
	v = arena_room(&b->beside, sizeof(*v));
	if (!v)
		return fail(b, -ENOMEM);
	arena_take(&b->beside, sizeof(*v));
	*v = (struct int_view){.ts_ns = ts_ns, .from = *from};
	return add(b, v, true);
}

int batch_open(struct batch *b, const struct batch_options *o)
{
	struct intake_options io = {.profile = o->profile,
				    .views = views,
				    .room = room,
				    .number = number,
				    .ctx = b};

	*b = (struct batch){
		.filter = o->filter, .whole = o->whole, .shards = o->shards};
	plans_init(&b->plans);
	if (o->forward)
		io.out = b->frames = frames_open();
	if (grow(b, ITEMS) || !room(b) || (o->forward && !b->frames) ||
	    intake_open(&b->in, &io) < 0) {
		batch_close(b);
		return -ENOMEM;
	}
	return 0;
}

void batch_close(struct batch *b)
{
	intake_close(b->in);
	snk_close(b->frames);
	arena_fini(&b->views);
	arena_fini(&b->beside);
	plans_fini(&b->plans);
	free(b->item);
	free(b->which);
	free(b->look);
	free(b->shard);
	*b = (struct batch){0};
}

/* Numbers of items by shard, each in order. */
static void divide(struct batch *b)
{
	uint32_t at[BATCH_SHARDS + 1] = {0}, sum = 0;

	for (size_t i = 0; i < b->n; i++)
		at[b->shard[i]]++;
	for (unsigned s = 0; s <= BATCH_SHARDS; s++) {
		b->first[s] = sum;
		sum += at[s];
		at[s] = b->first[s];
	}
	for (size_t i = 0; i < b->n; i++)
		b->which[at[b->shard[i]]++] = (uint32_t)i;
}

void batch_none(struct batch *b)
{
	b->n = b->looks = 0;
	b->error = 0;
	divide(b);
}

void batch_look(struct batch *b, const struct pkt *pkts, size_t n)
{
	int rc;

	b->n = b->looks = 0;
	b->error = 0;
	arena_begin(&b->views);
	arena_begin(&b->beside);
	plans_begin(&b->plans);
	rc = intake_take(b->in, pkts, n);
	if (rc)
		fail(b, rc);
	if (b->error)
		b->n = 0;
	divide(b);
}

void batch_time(struct batch *b, uint64_t *now_ns, uint64_t *keep_ns)
{
	if (!b->n)
		return;
	for (size_t i = 0; i < b->n && b->item[i].now_ns < *now_ns; i++)
		b->item[i].now_ns = *now_ns;
	if (b->item[b->n - 1].now_ns < *keep_ns) {
		*now_ns = b->item[b->n - 1].now_ns;
		return;
	}
	for (size_t i = 0; i < b->n; i++)
		if (telemetry_time(now_ns, keep_ns, b->item[i].now_ns))
			b->look[b->looks++] = (struct batch_look){
				(uint32_t)i, b->item[i].now_ns};
}

int batch_pass(struct batch *b, struct snk *out)
{
	return frames_pass(b->frames, out);
}
