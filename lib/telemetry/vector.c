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

#include "telemetry/private.h"

/* Gathers a field's bytes into the little-endian word at byte `to'. */
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

/* at: the meter's offset in bytes. */
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
		shuffle_meter(&p->rare,
			      (m - FLOW_METERS) * sizeof(struct meter), m);
}

/* at, words: where the id is in struct hop_key, and its length. */
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

static void shuffle_ids(struct simd_layout *p, const struct hop_fields *f)
{
	shuffle_id(p, offsetof(struct hop_key, node_id), 2, &f->node);
	for (unsigned i = 0; i < FIELD_IDS; i++)
		shuffle_id(p, (unsigned)offsetof(struct hop_key, id[i]), 1,
			   &f->id[i]);
}

void simd_layout_init(struct simd_layout *p, const struct hop_fields *f)
{
	memset(p, 0, sizeof(*p));
	p->usable = !f->derives && f->len <= SHUFFLE_BYTES && f->len >= 4;
	if (!p->usable)
		return;
	p->hop.keep = p->rare.keep = UINT16_MAX;
	p->bytes = UINT64_MAX >> (SHUFFLE_BYTES - f->len);
	shuffle_ids(p, f);
	for (unsigned m = 0; m < HOP_METRICS; m++)
		if (f->metric[m].width)
			shuffle_metric(p, m, &f->metric[m]);
}

#ifdef __x86_64__
#include <immintrin.h>

enum {
	HOPS_MAX = 64, /* of a record; others take the scalar path */
};

#define VECTOR                                                                 \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd"    \
			      ",avx512vbmi,lzcnt,bmi,bmi2")))

/* A hop's values by metric, and the bin of its distribution that each is in. */
struct hop_samples {
	uint32_t value[8], bin[8];
} __attribute__((aligned(64)));

VECTOR static inline __m256i load_words(const uint32_t word[8])
{
	return _mm256_load_si256((const void *)word);
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

/* Stores a hop's values, and dist_bin() of each. */
VECTOR static inline void store_samples(struct hop_samples *samples,
					__m256i values)
{
	__m256i first = _mm256_set1_epi32(1 << DIST_SUB);
	__m256i shift = _mm256_sub_epi32(
		_mm256_set1_epi32(31 - DIST_SUB),
		_mm256_lzcnt_epi32(_mm256_or_si256(values, first)));

	_mm256_store_si256((void *)samples->value, values);
	_mm256_store_si256((void *)samples->bin,
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

/* Stores the samples of all hops, the source's first. Returns whether all hop
 * keys are those of the flow's hops, and no word is all ones. */
VECTOR static bool read_hops(const struct telemetry *t,
			     const struct flow_hop *h,
			     const struct int_hops *stack,
			     const struct simd_layout *p,
			     struct hop_samples *samples)
{
	const struct hop_key *hop_keys = t->objects.hop_key;
	const unsigned n = stack->n; /* in a register: samples might alias */
	const size_t len = stack->len;
	const uint8_t *hop = stack->data + (n - 1) * len;
	const struct shuffle_registers metrics = load_shuffle(&p->metrics);
	const struct shuffle_registers ids = load_shuffle(&p->ids);
	const __mmask64 bytes = p->bytes;
	__m256i absent = load_words(p->absent), differ = _mm256_setzero_si256();
	const __m256i compared = _mm256_setr_epi32(-1, -1, -1, -1, -1, 0, 0, 0);
	__m512i most = _mm512_setzero_si512(); /* of each word, over all hops */

	for (unsigned i = 0; i < n; i++, hop -= len) {
		__m512i b = _mm512_maskz_loadu_epi8(bytes, hop);
		__m256i key = _mm256_or_si256(shuffle_hop(ids, b), absent);
		__m256i old = load_words((const void *)&hop_keys[h[i].hop_key]);

		differ = _mm256_or_si256(differ, _mm256_xor_si256(key, old));
		most = _mm512_max_epu32(most, b);
		store_samples(&samples[i], shuffle_hop(metrics, b));
	}
	return !_mm512_mask_cmpeq_epi32_mask(p->words, most,
					     _mm512_set1_epi32(-1)) &&
	       _mm256_testz_si256(differ, compared);
}

/* Adds samples to the meters of the hops, each of which is one cache line. */
VECTOR static void add_meters(const struct shuffle_meters *p,
			      const struct hop_samples *s, struct flow_hop *h,
			      unsigned n)
{
	const __m512i from = _mm512_load_si512(p->from);
	const __m512i one = _mm512_set1_epi32(1);
	const __mmask16 set = p->set, keep = p->keep;

	for (unsigned i = 0; i < n; i++) {
		__m512i v = _mm512_castsi256_si512(load_words(s[i].value));
		__m512i old = _mm512_maskz_loadu_epi32(keep, &h[i]);

		v = _mm512_maskz_permutex2var_epi32(set, v, from, one);
		_mm512_storeu_si512(&h[i], _mm512_add_epi64(old, v));
	}
}

/* The same for rare meters: half a line for each hop. */
VECTOR static void add_rare_meters(const struct shuffle_meters *p,
				   const struct hop_samples *s,
				   struct flow_rare *rare, unsigned n)
{
	const __m256i from = load_words(p->from);
	const __m256i one = _mm256_set1_epi32(1);
	const __mmask8 set = (__mmask8)p->set, keep = (__mmask8)p->keep;

	for (unsigned i = 0; i < n; i++) {
		__m256i v = load_words(s[i].value);
		__m256i old = _mm256_maskz_loadu_epi32(keep, &rare[i]);

		v = _mm256_maskz_permutex2var_epi32(set, v, from, one);
		_mm256_storeu_si256((void *)&rare[i], _mm256_add_epi64(old, v));
	}
}

static inline void count_in_dist(const struct node *n,
				 const struct hop_samples *s, enum metric m)
{
	n->dist[m]->count[s->bin[m]]++;
}

/* A hop whose samples are being added. */
struct hop_context {
	struct telemetry *t;
	struct hop_key *hop_key;
	const struct node *node;
	const struct hop_samples *samples;
	uint64_t ts_ns;
};

/* A metric of a queue, a link or a buffer. */
static inline __attribute__((always_inline)) void
add_hop_metric(struct hop_context s, enum metric m)
{
	port_add(s.t, s.ts_ns, s.hop_key, m, s.samples->value[m]);
	count_in_dist(s.node, s.samples, m);
}

/* The same for two metrics, m and m + 1, whose owner may be another worker.
 * present: bits, of all metrics. */
static inline __attribute__((always_inline)) void
add_remote_metrics(struct hop_context s, enum metric m, unsigned present)
{
	if (!(present >> m & 3))
		return;
	remote_add(s.t, s.hop_key, m, present >> m & 3, &s.samples->value[m]);
	for (unsigned i = m; i < m + 2U; i++) {
		if (!(present >> i & 1))
			continue;
		if (s.node->dist[i] == s.t->dist_none)
			track_dist(s.t, s.hop_key->node, (enum metric)i);
		count_in_dist(s.node, s.samples, (enum metric)i);
	}
}

static inline uint32_t add_hop_latency(struct hop_context s,
				       struct flow_entry *f, struct flow_hop *h)
{
	const enum metric m = METRIC_HOP_LATENCY;

	if (threshold_outside(&h->watch, s.samples->value[m]))
		hop_check_latency(s.t, f, h, s.samples->value[m]);
	count_in_dist(s.node, s.samples, m);
	return s.samples->value[m];
}

/* Compares and distributes the samples of all hops, of the metrics in present.
 * Returns the sum of the latencies. Not inlined: it has no use for vectors. */
static __attribute__((noinline)) uint64_t
add_hops(struct telemetry *t, struct flow_entry *f, const struct int_record *v,
	 const struct hop_samples *samples, const unsigned present)
{
	struct flow_hop *h = flow_hops(f), *end = h + v->stack.n;
	struct hop_context s = {.t = t, .ts_ns = v->ts_ns};
	struct hop_key *hop_key = t->objects.hop_key;
	const bool remote = t->remote;
	uint64_t latency = 0;

	for (; h < end; h++, samples++) {
		s.hop_key = &hop_key[h->hop_key];
		s.node = s.hop_key->node;
		s.samples = samples;
		if (present & 1 << METRIC_HOP_LATENCY)
			latency += add_hop_latency(s, f, h);
		if (remote) {
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
	struct hop_samples samples[HOPS_MAX];

	if (n != f->hops || f->kept < n || n > t->flows.o.hops || !p->usable ||
	    v->stack.at || n > HOPS_MAX ||
	    !read_hops(t, flow_hops(f), &v->stack, p, samples))
		return false;
	*latency = add_hops(t, f, v, samples, p->present);
	if (p->hop.set)
		add_meters(&p->hop, samples, flow_hops(f), n);
	if (p->rare.set)
		add_rare_meters(&p->rare, samples, flow_rare(&t->flows, f, 0),
				n);
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
