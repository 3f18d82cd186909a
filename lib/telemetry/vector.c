/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vector.c - the fast path of ingest.c by AVX-512: for a packet whose flow has
 * not changed its path and whose layout has only words of 4 bytes. One
 * permutation gathers the ids of a hop into a vector, and another one its
 * metrics, one 32-bit lane each.
 *
 * Scalar code takes 1850 instructions for a report of 6 hops with 18 metrics;
 * this takes 640 ("INT sink: 6 hops" of make bench).
 */
#include <string.h>

#include "telemetry/private.h"

/* A field's bytes become those of the word at byte `to`. */
static void shuffle_field(struct shuffle *p, unsigned to,
			  const struct hop_field *f)
{
	for (unsigned b = 0; f->mask >> 8 * b; b++) {
		p->from[to + b] = (uint8_t)(f->word + 3 - f->shift / 8 - b);
		p->set |= 1ULL << (to + b);
	}
}

static void check_field(struct simd_layout *p, const struct hop_field *f)
{
	p->usable = p->usable && f->width == FIELD_4 && f->scale == 1 &&
		    f->word % 4 == 0 && f->word < SHUFFLE_BYTES &&
		    f->shift % 8 == 0;
	p->words |= (uint16_t)(1U << f->word / 4);
}

static void shuffle_meter(struct shuffle_meters *p, size_t at, unsigned m)
{
	unsigned latest = (unsigned)at / 4, sum = latest + 2;

	p->from[latest] = p->from[sum] = m;
	p->from[latest + 1] = SHUFFLE_ONE;
	p->set |= (uint16_t)(1U << latest | 1U << (latest + 1) | 1U << sum);
	p->keep &= (uint16_t) ~(1U << latest);
}

static void shuffle_metric(struct simd_layout *p, unsigned m,
			   const struct hop_field *f)
{
	check_field(p, f);
	if (!p->usable)
		return;
	p->present |= (uint8_t)(1U << m);
	p->metrics_n++;
	shuffle_field(&p->metrics, 4 * m, f);
	if (m < FLOW_METERS)
		shuffle_meter(&p->hop, offsetof(struct flow_hop, meter[m]), m);
	else
		shuffle_meter(&p->wide,
			      (m - FLOW_METERS) * sizeof(struct meter), m);
}

static void shuffle_id(struct simd_layout *p, unsigned at, unsigned words,
		       const struct hop_field *f)
{
	if (!f->width) {
		memset(&p->absent[at / 4], 0xff, 4 * words);
		return;
	}
	check_field(p, f);
	if (p->usable)
		shuffle_field(&p->ids, at, f);
}

static void shuffle_ids(struct simd_layout *p, const struct fields *f)
{
	shuffle_id(p, offsetof(struct hop_key, node_id), 2, &f->node);
	for (unsigned i = 0; i < FIELD_IDS; i++)
		shuffle_id(p, (unsigned)offsetof(struct hop_key, id[i]), 1,
			   &f->id[i]);
}

void simd_layout_make(struct simd_layout *p, const struct fields *f)
{
	memset(p, 0, sizeof(*p));
	p->usable = !f->derives && f->len <= SHUFFLE_BYTES && f->len >= 4;
	if (!p->usable)
		return;
	p->hop.keep = p->wide.keep = UINT16_MAX;
	p->bytes = UINT64_MAX >> (SHUFFLE_BYTES - f->len);
	shuffle_ids(p, f);
	for (unsigned m = 0; m < METRIC_OF_HOP; m++)
		if (f->metric[m].width)
			shuffle_metric(p, m, &f->metric[m]);
}

#ifdef __x86_64__
#include <immintrin.h>

enum {
	HOPS_MAX = 64, /* of a record that is taken so */
};

#define VECTOR                                                                 \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd"    \
			      ",avx512vbmi,lzcnt,bmi,bmi2")))

/* What a hop tells, by metric: values, and which of its distribution's counts
 * each belongs to. */
struct hop_samples {
	uint32_t v[8], bin[8];
} __attribute__((aligned(64)));

VECTOR static inline __m256i load_words(const uint32_t v[8])
{
	return _mm256_load_si256((const void *)v);
}

/* struct shuffle in registers. */
struct shuffle_registers {
	__m512i from;
	__mmask64 set;
};

VECTOR static inline struct shuffle_registers
load_shuffle(const struct shuffle *p)
{
	return (struct shuffle_registers){_mm512_load_si512(p->from), p->set};
}

VECTOR static inline __m256i shuffle_hop(struct shuffle_registers p,
					 __m512i hop)
{
	return _mm512_castsi512_si256(
		_mm512_maskz_permutexvar_epi8(p.set, p.from, hop));
}

/* A hop's metrics are told: the values, and dist_bin() of each. */
VECTOR static inline void store_samples(struct hop_samples *told,
					__m256i values)
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

bool vector_is_supported(void)
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
			     const struct simd_layout *p,
			     struct hop_samples *told)
{
	const struct hop_key *places = t->objects.place;
	const unsigned n = stack->n; /* before anything is written */
	const size_t len = stack->len;
	const uint8_t *hop = stack->data + (n - 1) * len;
	const struct shuffle_registers metrics = load_shuffle(&p->metrics);
	const struct shuffle_registers pick = load_shuffle(&p->ids);
	const __mmask64 bytes = p->bytes;
	__m256i absent = load_words(p->absent), differ = _mm256_setzero_si256();
	const __m256i compared = _mm256_setr_epi32(-1, -1, -1, -1, -1, 0, 0, 0);
	__m512i most = _mm512_setzero_si512();

	for (unsigned i = 0; i < n; i++, hop -= len) {
		__m512i b = _mm512_maskz_loadu_epi8(bytes, hop);
		__m256i ids = _mm256_or_si256(shuffle_hop(pick, b), absent);
		__m256i was = load_words((const void *)&places[h[i].place]);

		differ = _mm256_or_si256(differ, _mm256_xor_si256(ids, was));
		most = _mm512_max_epu32(most, b);
		store_samples(&told[i], shuffle_hop(metrics, b));
	}
	return !_mm512_mask_cmpeq_epi32_mask(p->words, most,
					     _mm512_set1_epi32(-1)) &&
	       _mm256_testz_si256(differ, compared);
}

/* Latest values, counts and sums of the hops, a line each. */
VECTOR static void add_meters(const struct shuffle_meters *p,
			      const struct hop_samples *told,
			      struct flow_hop *h, unsigned n)
{
	const __m512i from = _mm512_load_si512(p->from);
	const __m512i one = _mm512_set1_epi32(1);
	const __mmask16 set = p->set, keep = p->keep;

	for (unsigned i = 0; i < n; i++) {
		__m512i v = _mm512_castsi256_si512(load_words(told[i].v));
		__m512i was = _mm512_maskz_loadu_epi32(keep, &h[i]);

		v = _mm512_maskz_permutex2var_epi32(set, v, from, one);
		_mm512_storeu_si512(&h[i], _mm512_add_epi64(was, v));
	}
}

/* The same of what is kept besides, half a line. */
VECTOR static void add_wide_meters(const struct shuffle_meters *p,
				   const struct hop_samples *told,
				   struct flow_wide *wide, unsigned n)
{
	const __m256i from = load_words(p->from);
	const __m256i one = _mm256_set1_epi32(1);
	const __mmask8 set = (__mmask8)p->set, keep = (__mmask8)p->keep;

	for (unsigned i = 0; i < n; i++) {
		__m256i v = load_words(told[i].v);
		__m256i was = _mm256_maskz_loadu_epi32(keep, &wide[i]);

		v = _mm256_maskz_permutex2var_epi32(set, v, from, one);
		_mm256_storeu_si256((void *)&wide[i], _mm256_add_epi64(was, v));
	}
}

static inline void count_in_dist(const struct node *n,
				 const struct hop_samples *told, enum metric m)
{
	n->dist[m]->count[told->bin[m]]++;
}

/* A hop that is being taken. */
struct hop_context {
	struct telemetry *t;
	struct hop_key *place;
	const struct node *node;
	const struct hop_samples *told;
	uint64_t ts_ns;
};

/* Of a queue, a link or a buffer. */
static inline __attribute__((always_inline)) void
add_hop_metric(struct hop_context s, enum metric m)
{
	value_add(s.t, s.ts_ns, s.place, m, s.told->v[m]);
	count_in_dist(s.node, s.told, m);
}

/* The same of two metrics, which others keep; present: of all. */
static inline __attribute__((always_inline)) void
add_remote_metrics(struct hop_context s, enum metric m, unsigned present)
{
	if (!(present >> m & 3))
		return;
	value_add_remote(s.t, s.place, m, present >> m & 3, &s.told->v[m]);
	for (unsigned i = m; i < m + 2U; i++) {
		if (!(present >> i & 1))
			continue;
		if (s.node->dist[i] == s.t->none)
			track_dist(s.t, s.place->node, (enum metric)i);
		count_in_dist(s.node, s.told, (enum metric)i);
	}
}

static inline uint32_t add_hop_latency(struct hop_context s,
				       struct flow_entry *f, struct flow_hop *h)
{
	const enum metric m = METRIC_HOP_LATENCY;

	if (threshold_outside(&h->watch, s.told->v[m]))
		value_latency(s.t, f, h, s.told->v[m]);
	count_in_dist(s.node, s.told, m);
	return s.told->v[m];
}

/* What the hops told; present: of these metrics. Returns the sum of their
 * latencies. Not inlined: it has no use for vectors. */
static __attribute__((noinline)) uint64_t
add_hops(struct telemetry *t, struct flow_entry *f, const struct int_record *v,
	 const struct hop_samples *told, const unsigned present)
{
	struct flow_hop *h = flow_hops(f), *end = h + v->stack.n;
	struct hop_context s = {.t = t, .ts_ns = v->ts_ns};
	struct hop_key *place = t->objects.place;
	const bool far = t->far;
	uint64_t latency = 0;

	for (; h < end; h++, told++) {
		s.place = &place[h->place];
		s.node = s.place->node;
		s.told = told;
		if (present & 1 << METRIC_HOP_LATENCY)
			latency += add_hop_latency(s, f, h);
		if (far) {
			add_remote_metrics(s, METRIC_QUEUE_OCCUPANCY, present);
			add_remote_metrics(s, METRIC_QUEUE_CONGESTION, present);
			continue;
		}
		if (present & 1 << METRIC_QUEUE_OCCUPANCY)
			add_hop_metric(s, METRIC_QUEUE_OCCUPANCY);
		if (present & 1 << METRIC_LINK_UTILIZATION)
			add_hop_metric(s, METRIC_LINK_UTILIZATION);
		if (present & 1 << METRIC_QUEUE_CONGESTION)
			add_hop_metric(s, METRIC_QUEUE_CONGESTION);
		if (present & 1 << METRIC_BUFFER_OCCUPANCY)
			add_hop_metric(s, METRIC_BUFFER_OCCUPANCY);
	}
	return latency;
}

VECTOR bool vector_ingest(struct telemetry *t, struct flow_entry *f,
			  const struct int_record *v,
			  const struct simd_layout *p, uint64_t *latency)
{
	const unsigned n = v->stack.n;
	struct hop_samples told[HOPS_MAX];

	if (n != f->hops || f->kept < n || n > t->flows.o.hops || !p->usable ||
	    v->stack.at || n > HOPS_MAX ||
	    !read_hops(t, flow_hops(f), &v->stack, p, told))
		return false;
	*latency = add_hops(t, f, v, told, p->present);
	if (p->hop.set)
		add_meters(&p->hop, told, flow_hops(f), n);
	if (p->wide.set)
		add_wide_meters(&p->wide, told, flow_wide(&t->flows, f, 0), n);
	return true;
}

#else

bool vector_is_supported(void)
{
	return false;
}

bool vector_ingest(struct telemetry *t, struct flow_entry *f,
		   const struct int_record *v, const struct simd_layout *p,
		   uint64_t *latency)
{
	(void)t, (void)f, (void)v, (void)p, (void)latency;
	return false;
}

#endif
