/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vector.c - what take.c does with a packet whose flow goes where it went, told
 * by a narrow plan, with AVX-512: a hop's ids and metrics are each picked out
 * of its bytes by one permutation, and are side by side then, a lane each.
 *
 * Scalar, a report of 6 hops with 18 metrics takes 1850 instructions for them;
 * this way 640 ("INT sink: 6 hops" of make bench).
 */
#include <string.h>

#include "telemetry/private.h"

/* A field's bytes become those of the word at byte `to`. */
static void pick(struct pick *p, unsigned to, const struct hop_field *f)
{
	for (unsigned b = 0; f->mask >> 8 * b; b++) {
		p->from[to + b] = (uint8_t)(f->word + 3 - f->shift / 8 - b);
		p->set |= 1ULL << (to + b);
	}
}

static void need(struct picks *p, const struct hop_field *f)
{
	p->usable = p->usable && f->width == FIELD_4 && f->word % 4 == 0 &&
		    f->word < PICK_BYTES && f->shift % 8 == 0;
	p->words |= (uint16_t)(1U << f->word / 4);
}

static void pick_meter(struct pick_meters *p, size_t at, unsigned m)
{
	unsigned latest = (unsigned)at / 4, sum = latest + 2;

	p->from[latest] = p->from[sum] = m;
	p->from[latest + 1] = PICK_ONE;
	p->set |= (uint16_t)(1U << latest | 1U << (latest + 1) | 1U << sum);
	p->keep &= (uint16_t) ~(1U << latest);
}

static void pick_metric(struct picks *p, unsigned m, const struct hop_field *f)
{
	need(p, f);
	if (!p->usable)
		return;
	p->present |= (uint8_t)(1U << m);
	p->metrics_n++;
	pick(&p->metrics, 4 * m, f);
	if (m < FLOW_METERS)
		pick_meter(&p->hop, offsetof(struct flow_hop, meter[m]), m);
	else
		pick_meter(&p->wide, (m - FLOW_METERS) * sizeof(struct meter),
			   m);
}

static void pick_id(struct picks *p, unsigned at, unsigned words,
		    const struct hop_field *f)
{
	if (!f->width) {
		memset(&p->absent[at / 4], 0xff, 4 * words);
		return;
	}
	need(p, f);
	if (p->usable)
		pick(&p->ids, at, f);
}

static void pick_ids(struct picks *p, const struct fields *f)
{
	pick_id(p, offsetof(struct place, node_id), 2, &f->node);
	for (unsigned i = 0; i < FIELD_IDS; i++)
		pick_id(p, (unsigned)offsetof(struct place, id[i]), 1,
			&f->id[i]);
}

void picks_of(struct picks *p, const struct fields *f)
{
	memset(p, 0, sizeof(*p));
	p->usable = f->narrow && f->node_narrow && !f->derives &&
		    f->len <= PICK_BYTES && f->len >= 4;
	if (!p->usable)
		return;
	p->hop.keep = p->wide.keep = UINT16_MAX;
	p->bytes = UINT64_MAX >> (PICK_BYTES - f->len);
	pick_ids(p, f);
	for (unsigned m = 0; m < METRIC_OF_HOP; m++)
		if (f->metric[m].width)
			pick_metric(p, m, &f->metric[m]);
}

#ifdef __x86_64__
#include <immintrin.h>

enum {
	HOPS_MAX = 64, /* of a view that is taken so */
};

#define VECTOR                                                                 \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd"    \
			      ",avx512vbmi,lzcnt,bmi,bmi2")))

/* What a hop tells, by metric: values, and which of its distribution's counts
 * each belongs to. */
struct told {
	uint32_t v[8], bin[8];
} __attribute__((aligned(64)));

VECTOR static inline __m256i lane(const uint32_t v[8])
{
	return _mm256_load_si256((const void *)v);
}

/* struct pick in registers. */
struct picking {
	__m512i from;
	__mmask64 set;
};

VECTOR static inline struct picking picking_of(const struct pick *p)
{
	return (struct picking){_mm512_load_si512(p->from), p->set};
}

VECTOR static inline __m256i picked(struct picking p, __m512i hop)
{
	return _mm512_castsi512_si256(
		_mm512_maskz_permutexvar_epi8(p.set, p.from, hop));
}

/* A hop's metrics are told: the values, and dist_bin() of each. */
VECTOR static inline void tell(struct told *told, __m256i values)
{
	__m256i first = _mm256_set1_epi32(1 << DIST_SUB);
	__m256i shift = _mm256_sub_epi32(
		_mm256_set1_epi32(31 - DIST_SUB),
		_mm256_lzcnt_epi32(_mm256_or_si256(values, first)));

	_mm256_store_si256((void *)told->v, values);
	_mm256_store_si256((void *)told->bin,
			   _mm256_add_epi32(_mm256_slli_epi32(shift, DIST_SUB),
					    _mm256_srlv_epi32(values, shift)));
}

bool vector_can(void)
{
	return __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512cd") &&
	       __builtin_cpu_supports("avx512vbmi") &&
	       __builtin_cpu_supports("bmi2");
}

/* Whether all hops, the source's first, are where they were, and say so:
 * nothing is written but what they tell. */
VECTOR static bool read_hops(const struct telemetry *t,
			     const struct flow_hop *h,
			     const struct int_hops *stack,
			     const struct picks *p, struct told *told)
{
	const struct place *places = t->objects.place;
	const unsigned n = stack->n; /* before anything is written */
	const size_t len = stack->len;
	const uint8_t *hop = stack->data + (n - 1) * len;
	const struct picking metrics = picking_of(&p->metrics);
	const struct picking pick = picking_of(&p->ids);
	const __mmask64 bytes = p->bytes;
	__m256i absent = lane(p->absent), differ = _mm256_setzero_si256();
	const __m256i compared = _mm256_setr_epi32(-1, -1, -1, -1, -1, 0, 0, 0);
	__m512i most = _mm512_setzero_si512();

	for (unsigned i = 0; i < n; i++, hop -= len) {
		__m512i b = _mm512_maskz_loadu_epi8(bytes, hop);
		__m256i ids = _mm256_or_si256(picked(pick, b), absent);
		__m256i was = lane((const void *)&places[h[i].place]);

		differ = _mm256_or_si256(differ, _mm256_xor_si256(ids, was));
		most = _mm512_max_epu32(most, b);
		tell(&told[i], picked(metrics, b));
	}
	return !_mm512_mask_cmpeq_epi32_mask(p->words, most,
					     _mm512_set1_epi32(-1)) &&
	       _mm256_testz_si256(differ, compared);
}

/* Latest values, counts and sums of the hops, a line each. */
VECTOR static void add_up(const struct pick_meters *p, const struct told *told,
			  struct flow_hop *h, unsigned n)
{
	const __m512i from = _mm512_load_si512(p->from);
	const __m512i one = _mm512_set1_epi32(1);
	const __mmask16 set = p->set, keep = p->keep;

	for (unsigned i = 0; i < n; i++) {
		__m512i v = _mm512_castsi256_si512(lane(told[i].v));
		__m512i was = _mm512_maskz_loadu_epi32(keep, &h[i]);

		v = _mm512_maskz_permutex2var_epi32(set, v, from, one);
		_mm512_storeu_si512(&h[i], _mm512_add_epi64(was, v));
	}
}

/* The same of what is kept besides, half a line. */
VECTOR static void add_up_wide(const struct pick_meters *p,
			       const struct told *told, struct flow_wide *wide,
			       unsigned n)
{
	const __m256i from = lane(p->from);
	const __m256i one = _mm256_set1_epi32(1);
	const __mmask8 set = (__mmask8)p->set, keep = (__mmask8)p->keep;

	for (unsigned i = 0; i < n; i++) {
		__m256i v = lane(told[i].v);
		__m256i was = _mm256_maskz_loadu_epi32(keep, &wide[i]);

		v = _mm256_maskz_permutex2var_epi32(set, v, from, one);
		_mm256_storeu_si256((void *)&wide[i], _mm256_add_epi64(was, v));
	}
}

static inline void count(const struct node *n, const struct told *told,
			 enum metric m)
{
	n->dist[m]->count[told->bin[m]]++;
}

/* A hop that is being taken. */
struct standing {
	struct telemetry *t;
	struct place *place;
	const struct node *node;
	const struct told *told;
	uint64_t ts_ns;
};

/* Of a queue, a link or a buffer. */
static inline __attribute__((always_inline)) void take_metric(struct standing s,
							      enum metric m)
{
	value_take(s.t, s.ts_ns, s.place, m, s.told->v[m]);
	count(s.node, s.told, m);
}

/* The same of two metrics, which others keep; present: of all. */
static inline __attribute__((always_inline)) void
count_far(struct standing s, enum metric m, unsigned present)
{
	if (!(present >> m & 3))
		return;
	value_far(s.t, s.place, m, present >> m & 3, &s.told->v[m]);
	for (unsigned i = m; i < m + 2U; i++) {
		if (!(present >> i & 1))
			continue;
		if (s.node->dist[i] == s.t->none)
			track_dist(s.t, s.place->node, (enum metric)i);
		count(s.node, s.told, (enum metric)i);
	}
}

static inline uint32_t take_latency(struct standing s, struct flow_entry *f,
				    struct flow_hop *h)
{
	const enum metric m = METRIC_HOP_LATENCY;

	if (watch_out(&h->watch, s.told->v[m]))
		value_latency(s.t, f, h, s.told->v[m]);
	count(s.node, s.told, m);
	return s.told->v[m];
}

/* What the hops told; present: of these metrics. Returns the sum of their
 * latencies. Not inlined: it has no use for vectors. */
static __attribute__((noinline)) uint64_t
take_hops(struct telemetry *t, struct flow_entry *f, const struct int_view *v,
	  const struct told *told, const unsigned present)
{
	struct flow_hop *h = flow_hops(f), *end = h + v->stack.n;
	struct standing s = {.t = t, .ts_ns = v->ts_ns};
	struct place *place = t->objects.place;
	const bool far = t->far;
	uint64_t latency = 0;

	for (; h < end; h++, told++) {
		s.place = &place[h->place];
		s.node = s.place->node;
		s.told = told;
		if (present & 1 << METRIC_HOP_LATENCY)
			latency += take_latency(s, f, h);
		if (far) {
			count_far(s, METRIC_QUEUE_OCCUPANCY, present);
			count_far(s, METRIC_QUEUE_CONGESTION, present);
			continue;
		}
		if (present & 1 << METRIC_QUEUE_OCCUPANCY)
			take_metric(s, METRIC_QUEUE_OCCUPANCY);
		if (present & 1 << METRIC_LINK_UTILIZATION)
			take_metric(s, METRIC_LINK_UTILIZATION);
		if (present & 1 << METRIC_QUEUE_CONGESTION)
			take_metric(s, METRIC_QUEUE_CONGESTION);
		if (present & 1 << METRIC_BUFFER_OCCUPANCY)
			take_metric(s, METRIC_BUFFER_OCCUPANCY);
	}
	return latency;
}

VECTOR bool vector_take(struct telemetry *t, struct flow_entry *f,
			const struct int_view *v, const struct picks *p,
			uint64_t *latency)
{
	const unsigned n = v->stack.n;
	struct told told[HOPS_MAX];

	if (n != f->hops || f->kept < n || n > t->flows.o.hops || !p->usable ||
	    v->stack.at || n > HOPS_MAX ||
	    !read_hops(t, flow_hops(f), &v->stack, p, told))
		return false;
	*latency = take_hops(t, f, v, told, p->present);
	if (p->hop.set)
		add_up(&p->hop, told, flow_hops(f), n);
	if (p->wide.set && t->flows.o.wide)
		add_up_wide(&p->wide, told, flow_wide(&t->flows, f, 0), n);
	return true;
}

#else

bool vector_can(void)
{
	return false;
}

bool vector_take(struct telemetry *t, struct flow_entry *f,
		 const struct int_view *v, const struct picks *p,
		 uint64_t *latency)
{
	(void)t, (void)f, (void)v, (void)p, (void)latency;
	return false;
}

#endif
