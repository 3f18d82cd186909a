/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/batch.h"

#include <errno.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "collect/choose.h"
#include "collect/frames.h"
#include "measure/flows.h"
#include "team/turn.h"

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

/* An array of so many bytes; where there is no memory, as it was. */
static void *more(void *array, size_t size, int *error)
{
	void *p = realloc(array, size);

	if (p)
		return p;
	*error = -ENOMEM;
	return array;
}

/* Room for n items. */
static int grow(struct batch *b, size_t n)
{
	int rc = 0;

	b->item = more(b->item, n * sizeof(*b->item), &rc);
	b->number = more(b->number, n * sizeof(*b->number), &rc);
	b->run = more(b->run, n * sizeof(*b->run), &rc);
	b->look = more(b->look, n * sizeof(*b->look), &rc);
	if (!rc)
		b->room = n;
	return rc;
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
	    !(v->stack.plan = plans_keep(&b->plans, v->stack.plan, &b->beside)))
		return -ENOMEM;
	if (v->own.plan &&
	    !(v->own.plan = plans_keep(&b->plans, v->own.plan, &b->beside)))
		return -ENOMEM;
	return v->stack.at ? keep_at(b, &v->stack) : 0;
}

/* Views without a flow are anybody's. */
static unsigned shard_of(const struct batch *b, const struct int_view *v,
			 uint64_t hash)
{
	return v->key_len ? telemetry_shard_of(b->whole, hash, b->shards)
			  : (unsigned)(b->n % b->shards);
}

/* It is longer than a share, or its reporter is asked for: where it does not
 * have the path, and of drops. */
static bool is_long(const struct batch *b, const struct int_view *v)
{
	return !b->shards || v->key_len > KEY_FLOW4_LEN || v->own.n ||
	       v->stack.at || !v->stack.n || v->flags & INT_DROPPED;
}

static struct batch_item *another(struct batch *b, uint64_t ts_ns)
{
	uint64_t was_ns = b->n ? b->item[b->n - 1].now_ns : 0;

	if (b->n == b->room && grow(b, 2 * b->room))
		return NULL;
	b->item[b->n] = (struct batch_item){
		.ts_ns = ts_ns, .now_ns = ts_ns > was_ns ? ts_ns : was_ns};
	return &b->item[b->n];
}

/* As reporter_is(). */
static bool run_is(const struct telemetry_run *run, const struct int_from *from)
{
	return run->from.node == from->node && run->from.hw_id == from->hw_id &&
	       run->from.has_node == from->has_node;
}

/* A reporter's run; of numbers as wide as these, which wrap alike. One that has
 * several cannot be judged run by run. */
static struct telemetry_run *run_of(struct batch *b,
				    const struct int_from *from)
{
	uint64_t i = rng_mix((uint64_t)from->node << 8 | from->hw_id);
	struct telemetry_run *run;
	uint32_t *slot;

	for (;; i++) {
		slot = &b->run_slot[i % BATCH_RUN_SLOTS];
		if (!*slot)
			break;
		run = &b->run[*slot - 1];
		if (!run_is(run, from))
			continue;
		if (run->from.sequence_bits == from->sequence_bits)
			return run;
		b->runs_broken = true;
	}
	b->run[b->runs] = (struct telemetry_run){.from = *from};
	if (b->runs < BATCH_RUN_SLOTS / 2)
		*slot = (uint32_t)b->runs + 1;
	else
		b->runs_broken = true; /* too many: one each */
	return &b->run[b->runs++];
}

/* Of the latest item. */
static void add_number(struct batch *b, const struct int_from *from)
{
	struct telemetry_run *run = run_of(b, from);

	b->runs_broken |= from->sequence != run->from.sequence + run->n;
	run->n++;
	b->number[b->numbers++] = (struct batch_number){
		(uint32_t)b->n, from->sequence, (uint32_t)(run - b->run)};
}

/* Room for more of a shard's: on lines of its own. */
static int grow_part(struct batch_shares *p)
{
	size_t room = p->room ? 2 * p->room : ITEMS;
	struct batch_share *share = aligned_alloc(TEAM_LINE,
						  room * sizeof(*share));

	if (!share)
		return -ENOMEM;
	if (p->n)
		memcpy(share, p->share, p->n * sizeof(*share));
	free(p->share);
	p->share = share;
	p->room = room;
	return 0;
}

/*
 * To its core, mostly another: past the caches, of which that one's has the
 * line from the batch before; to get it from there takes longer than all else
 * here.
 */
static inline void send(struct batch_share *to, const struct batch_share *line)
{
#ifdef __x86_64__
	const __m128i *from = (const void *)line;
	__m128i *at = (void *)to;

	for (unsigned i = 0; i < sizeof(*line) / sizeof(*at); i++)
		_mm_stream_si128(&at[i], _mm_load_si128(&from[i]));
#else
	*to = *line;
#endif
}

/* What was sent is there, for who sees what is written behind this. */
static inline void sent(void)
{
#ifdef __x86_64__
	_mm_sfence();
#endif
}

static inline void write_share(struct batch_share *to, const struct int_view *v,
			       uint64_t hash, uint32_t item, bool kept,
			       bool late)
{
	to->ts_ns = v->ts_ns;
	to->hash = hash;
	to->item = item;
	to->kept = (uint8_t)((late ? BATCH_LATE : 0) | (kept ? BATCH_KEPT : 0));
	if (kept) {
		to->view = v;
		return;
	}
	to->plan = v->stack.plan;
	to->data = v->stack.data;
	to->len = v->stack.len;
	to->hops = v->stack.n;
	to->flags = v->flags;
	to->ip_len = v->ip_len;
	to->key_len = v->key_len;
	memcpy(to->key, v->key, sizeof(to->key));
}

/* The latest item to its shard. */
static int hand_over(struct batch *b, const struct int_view *v)
{
	uint64_t hash = v->key_len ? flows_hash(v->key, v->key_len) : 0;
	const struct batch_item *it = &b->item[b->n];
	bool late = it->now_ns > v->ts_ns;
	struct batch_shares *p = &b->part[shard_of(b, v, hash)];
	struct batch_share line = {0};

	if (p->n == p->room && grow_part(p))
		return -ENOMEM;
	write_share(&line, v, hash, (uint32_t)b->n, it->view, late);
	send(&p->share[p->n++], &line);
	return 0;
}

void batch_view(const struct batch_share *share, struct int_view *out)
{
	if (share->kept & BATCH_KEPT) {
		*out = *share->view;
		return;
	}
	out->ts_ns = share->ts_ns;
	out->flags = share->flags;
	out->key_len = share->key_len;
	memcpy(out->key, share->key, sizeof(share->key));
	out->ip_len = share->ip_len;
	/* What the sink does not ask for of such a view. */
	out->format = INT_MD;
	out->from = (struct int_from){.report = false};
	out->domain = out->domain_bits = out->source_len = 0;
	out->source = NULL;
	out->own = (struct int_hops){.plan = NULL};
	out->stack = (struct int_hops){.plan = share->plan,
				       .data = share->data,
				       .len = share->len,
				       .n = share->hops};
}

static int add(struct batch *b, const struct int_view *v, bool kept)
{
	struct batch_item *it = another(b, v->ts_ns);

	if (!it)
		return -ENOMEM;
	it->view = kept ? v : NULL;
	if (v->from.numbered)
		add_number(b, &v->from);
	if (b->shards && hand_over(b, v))
		return -ENOMEM;
	b->n++;
	return 0;
}

static int views(void *ctx, const struct int_view *v, size_t n)
{
	struct batch *b = ctx;
	struct int_view *own = b->room_views;
	bool any = false;
	int rc = 0;

	(void)v; /* they are there */
	if (b->error)
		return b->error;
	n = choose_views(b->filter, &b->filtered, own, n);
	for (size_t i = 0; i < n && !rc; i++) {
		bool kept = is_long(b, &own[i]);

		any |= kept;
		b->snapshots |= own[i].stack.at != NULL;
		rc = keep(b, &own[i]);
		if (!rc)
			rc = add(b, &own[i], kept);
	}
	if (any)
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

	if (b->filter) /* choose.h */
		return 0;
	if (!another(b, ts_ns))
		return fail(b, -ENOMEM);
	add_number(b, from);
	b->n++;
	return 0;
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
	free(b->item);
	free(b->number);
	free(b->run);
	free(b->look);
	for (unsigned i = 0; i < TELEMETRY_SHARDS_MAX; i++)
		free(b->part[i].share);
	*b = (struct batch){0};
}

static void forget(struct batch *b)
{
	b->n = b->numbers = b->looks = 0;
	b->snapshots = b->runs_broken = false;
	b->runs = 0;
	memset(b->run_slot, 0, sizeof(b->run_slot));
	for (unsigned i = 0; i < b->shards; i++)
		b->part[i].n = 0;
}

void batch_none(struct batch *b)
{
	forget(b);
	b->error = 0;
}

void batch_look(struct batch *b, const struct pkt *pkts, size_t n)
{
	int rc;

	forget(b);
	b->error = 0;
	arena_begin(&b->views);
	arena_begin(&b->beside);
	plans_begin(&b->plans);
	rc = intake_take(b->in, pkts, n);
	sent();
	if (rc)
		fail(b, rc);
	if (b->error)
		forget(b);
}

void batch_time(struct batch *b, uint64_t *now_ns, uint64_t *keep_ns)
{
	b->from_ns = *now_ns;
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
