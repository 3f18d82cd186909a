/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/train.h"

#ifdef __x86_64__

#include "telemetry/lanes.h"
#include "telemetry/take.h"

enum {
	TRAIN_HOPS = 16, /* of a path that is taken so */
};

/* A hop, as all views of the train have it. */
struct train_hop {
	uint64_t sum[8]; /* of the values, by metric */
	uint32_t ids[8]; /* what it says of itself, as struct place begins; 0
			    where it says nothing */
	uint32_t lo[8], width[8]; /* of the watches, by metric */
	struct dist *dist[METRIC_OF_HOP];
} __attribute__((aligned(64)));

struct train {
	struct telemetry *t;
	struct flow_entry *f;
	const struct fields *fields;
	const struct picks *p;
	struct dist *path; /* of latencies from end to end; NULL: none */
	uint64_t bytes;
	struct train_hop hop[TRAIN_HOPS];
	struct told told[2][TRAIN_HOPS]; /* one by the last view that is taken,
					    the other by the next one */
	unsigned next;			 /* of told[] */
};

/* The flow that was met last in its row; NULL: it was not this one, or it is
 * not to be taken so. */
static struct flow_entry *flow_of(const struct telemetry *t,
				  const struct int_view *v, size_t n,
				  uint64_t hash)
{
	const struct flow_bucket *first = flows_row(&t->flows, hash);
	struct flow_entry *f = flows_entry(&t->flows, first->at);

	/* Entry 0 is no flow, and has no hops. */
	if (!flow_is(f, v->key, v->key_len) || !f->hops ||
	    f->generation != t->generation || f->hops > t->flows.o.hops ||
	    f->hops > TRAIN_HOPS ||
	    f->packets % HALVE_PACKETS + n >= HALVE_PACKETS)
		return NULL;
	return f;
}

static const struct watch *watch_of(const struct flow_hop *h,
				    const struct place *p, unsigned m)
{
	return m == METRIC_HOP_LATENCY ? &h->watch : &p->object[m]->watch;
}

/* False: a place has an id that no hop of the plan tells. */
static bool begin_hop(struct train_hop *to, const struct picks *p,
		      const struct flow_hop *h, const struct place *place)
{
	uint32_t differ = 0;

	memcpy(to->ids, place, sizeof(to->ids));
	for (unsigned i = 0; i < 8; i++) {
		differ |= p->absent[i] & ~to->ids[i];
		to->ids[i] &= ~p->absent[i];
	}
	for (unsigned ms = p->present; ms; ms &= ms - 1) {
		unsigned m = (unsigned)__builtin_ctz(ms);
		const struct watch *w = watch_of(h, place, m);

		to->lo[m] = w->lo;
		to->width[m] = w->width;
		to->dist[m] = place->node->dist[m];
	}
	memset(to->sum, 0, sizeof(to->sum));
	return !differ;
}

static bool begin(struct train *tr)
{
	const struct objects *os = &tr->t->objects;
	const struct flow_hop *h = flow_hops(tr->f);

	tr->path = tr->f->path ? tr->t->paths.path[tr->f->path].dist : NULL;
	tr->bytes = 0;
	tr->next = 0;
	for (unsigned i = 0; i < tr->f->hops; i++)
		if (!begin_hop(&tr->hop[i], tr->p, &h[i],
			       &os->place[h[i].place]))
			return false;
	return true;
}

/* As the others, but for what is in its hops. */
static inline bool is_alike(const struct train *tr, const struct int_view *v)
{
	return v->ts_ns < tr->t->keep_ns && v->stack.plan &&
	       fields_are(tr->fields, v->stack.plan) && !v->stack.at &&
	       v->stack.n == tr->f->hops && !v->own.n &&
	       !(v->flags & TAKE_PARTIAL) && flow_is(tr->f, v->key, v->key_len);
}

/* What the hops tell, the source's first, and whether none of it is news.
 * *latency: the sum of theirs. */
VECTOR static bool read_hops(struct train *tr, const struct int_hops *stack,
			     uint64_t *latency)
{
	const struct picks *p = tr->p;
	const struct lanes lanes = lanes_of(&tr->t->lanes, p);
	const struct picking ids = picking_of(&p->ids);
	const __mmask64 bytes = p->bytes;
	struct told *told = tr->told[tr->next];
	const unsigned n = stack->n;
	const size_t len = stack->len;
	const uint8_t *at = stack->data + (n - 1) * len;
	__m256i differ = _mm256_setzero_si256(), far = differ;
	__m512i most = _mm512_setzero_si512();
	__m128i sum = _mm_setzero_si128();
	unsigned out = 0, others;

	for (unsigned i = 0; i < n; i++, at -= len) {
		const struct train_hop *h = &tr->hop[i];
		__m512i b = _mm512_maskz_loadu_epi8(bytes, at);
		__m256i values = tell(&told[i], &lanes, b, &far);

		differ = _mm256_or_si256(
			differ, _mm256_xor_si256(picked(ids, b), lane(h->ids)));
		most = _mm512_max_epu32(most, b);
		out |= _mm256_cmpge_epu32_mask(
			_mm256_sub_epi32(values, lane(h->lo)), lane(h->width));
		sum = _mm_add_epi64(
			sum,
			_mm_cvtepu32_epi64(_mm256_castsi256_si128(values)));
	}
	if (out & p->present || !_mm256_testz_si256(differ, differ) ||
	    _mm512_mask_cmpeq_epi32_mask(p->words, most, _mm512_set1_epi32(-1)))
		return false;
	others = beside(tr->t, p, far);
	if (others)
		set_bins(tr->t, told, n, others);
	*latency = (uint64_t)_mm_cvtsi128_si64(sum);
	return true;
}

static inline void count(const struct train_hop *h, const struct told *told,
			 enum metric m)
{
	h->dist[m]->count[told->bin[m]]++;
}

/* The hops of a view are; present: these metrics. */
VECTOR static inline __attribute__((always_inline)) void
add_hops(struct train *tr, unsigned present)
{
	const struct told *told = tr->told[tr->next];

	for (struct train_hop *h = tr->hop, *end = h + tr->f->hops; h < end;
	     h++, told++) {
		__m512i was = _mm512_load_si512(h->sum);
		__m512i v = _mm512_cvtepu32_epi64(lane(told->v));

		_mm512_store_si512(h->sum, _mm512_add_epi64(was, v));
		if (present & 1 << METRIC_HOP_LATENCY)
			count(h, told, METRIC_HOP_LATENCY);
		if (present & 1 << METRIC_QUEUE_OCCUPANCY)
			count(h, told, METRIC_QUEUE_OCCUPANCY);
		if (present & 1 << METRIC_LINK_UTILIZATION)
			count(h, told, METRIC_LINK_UTILIZATION);
		if (present & 1 << METRIC_QUEUE_CONGESTION)
			count(h, told, METRIC_QUEUE_CONGESTION);
		if (present & 1 << METRIC_BUFFER_OCCUPANCY)
			count(h, told, METRIC_BUFFER_OCCUPANCY);
	}
}

static bool has_latency(const struct train *tr)
{
	return tr->p->present & 1 << METRIC_HOP_LATENCY;
}

/* No news from end to end, and none of the reporter. */
static inline bool goes_on(struct train *tr, const struct int_view *v,
			   uint64_t latency)
{
	struct telemetry *t = tr->t;
	struct reporter *r;

	if (has_latency(tr) && (latency > UINT32_MAX ||
				watch_out(&tr->f->watch, (uint32_t)latency)))
		return false;
	if (!v->from.numbered || t->shard)
		return true;
	r = take_reporter(t, &v->from);
	return r && loss_next(r, v->from.sequence);
}

/* For who judges it: shard.h. */
VECTOR static __attribute__((noinline)) void tell_train(struct train *tr)
{
	struct telemetry_shard *s = tr->t->shard;
	uint32_t *first = s->told++;

	tell_hops(s, flow_hops(tr->f), tr->told[tr->next], tr->f->hops,
		  tr->p->present);
	*first = (uint32_t)(s->told - first - 1);
}

VECTOR static bool take(struct train *tr, const struct int_view *v)
{
	uint64_t latency;

	if (!is_alike(tr, v) || !read_hops(tr, &v->stack, &latency) ||
	    !goes_on(tr, v, latency))
		return false;
	if (tr->p->present == USUAL)
		add_hops(tr, USUAL);
	else
		add_hops(tr, tr->p->present);
	if (tr->t->shard)
		tell_train(tr);
	if (has_latency(tr)) {
		meter_add(&tr->f->latency, (uint32_t)latency);
		if (tr->path)
			dist_add(tr->path, (uint32_t)latency);
	}
	if (v->ts_ns > tr->t->now_ns)
		tr->t->now_ns = v->ts_ns;
	tr->bytes += v->ip_len;
	tr->next ^= 1;
	return true;
}

static void end_metric(struct meter *to, uint32_t latest, uint64_t sum,
		       size_t n)
{
	to->latest = latest;
	to->n += (uint32_t)n;
	to->sum += sum;
}

/* What hop i has told goes to where it is kept. */
static void end_hop(const struct train *tr, unsigned i, size_t n,
		    uint64_t ts_ns)
{
	const struct flows *fl = &tr->t->flows;
	struct flow_hop *h = &flow_hops(tr->f)[i];
	struct place *place = &tr->t->objects.place[h->place];
	struct flow_wide *wide = flow_wide(fl, tr->f, i);

	for (unsigned ms = tr->p->present; ms; ms &= ms - 1) {
		unsigned m = (unsigned)__builtin_ctz(ms);
		uint32_t latest = tr->told[tr->next ^ 1][i].v[m];
		uint64_t sum = tr->hop[i].sum[m];

		if (m != METRIC_HOP_LATENCY) {
			if (tr->t->shard)
				copies_told(&tr->t->shard->copies,
					    place->object[m]);
			place->object[m]->latest = latest;
			place->object[m]->last_ns = ts_ns;
		}
		if (m < FLOW_METERS)
			end_metric(&h->meter[m], latest, sum, n);
		else if (wide)
			end_metric(&wide->meter[m - FLOW_METERS], latest, sum,
				   n);
	}
}

static void end(const struct train *tr, size_t n, uint64_t ts_ns)
{
	struct telemetry_ledger *l = &tr->t->ledger;
	struct flow_entry *f = tr->f;

	if (tr->t->shard)
		tr->t->shard->copies.number = tr->t->shard->turn[n - 1].number;
	for (unsigned i = 0; i < f->hops; i++)
		end_hop(tr, i, n, ts_ns);
	f->flags |= FLOW_MET;
	f->packets += n;
	f->bytes += tr->bytes;
	f->last_ns = ts_ns;
	l->views += n;
	l->used += n;
	l->hops += n * f->hops;
	/* The path is one. */
	l->values += n * (f->hops * tr->p->metrics_n + 1u + has_latency(tr));
}

size_t train_take(struct telemetry *t, const struct int_view *v, size_t n,
		  uint64_t hash)
{
	struct train tr;
	size_t k = 0;

	if (!t->vector || t->ends || !t->latest->picks.usable)
		return 0;
	tr.t = t;
	tr.f = flow_of(t, v, n, hash);
	tr.fields = &t->latest->fields;
	tr.p = &t->latest->picks;
	if (!tr.f || !is_alike(&tr, v) || !begin(&tr))
		return 0;
	while (k < n && take(&tr, &v[k]))
		k++;
	if (k)
		end(&tr, k, v[k - 1].ts_ns);
	return k;
}

#else

size_t train_take(struct telemetry *t, const struct int_view *v, size_t n,
		  uint64_t hash)
{
	(void)t, (void)v, (void)n, (void)hash;
	return 0;
}

#endif
