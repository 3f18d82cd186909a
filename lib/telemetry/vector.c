/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/vector.h"

#include "telemetry/value.h"

#ifdef __x86_64__

#include <immintrin.h>

#define VECTOR                                                                 \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd"    \
			      ",avx512vbmi,lzcnt,bmi,bmi2")))

bool vector_can(const struct dist_shape shape[METRIC_NUMBERS])
{
	for (unsigned m = 0; m < METRIC_OF_HOP; m++)
		if (shape[m].bins && !shape[m].log)
			return false;
	return __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512cd") &&
	       __builtin_cpu_supports("avx512vbmi") &&
	       __builtin_cpu_supports("bmi2");
}

VECTOR static inline __m512i hop_bytes(const struct picks *p,
				       const uint8_t *hop)
{
	return _mm512_maskz_loadu_epi8(p->bytes, hop);
}

VECTOR static inline __m512i picked(const struct pick *p, __m512i hop)
{
	return _mm512_maskz_permutexvar_epi8(p->set, _mm512_load_si512(p->from),
					     hop);
}

VECTOR static inline bool is_steady(const struct telemetry *t,
				    struct flow_entry *f,
				    const struct int_hops *stack,
				    const struct picks *p)
{
	const struct flow_hop *h = flow_hops(f);
	const uint8_t *hop = stack->data + (size_t)stack->n * stack->len;
	__m128i absent = _mm_load_si128((const void *)p->absent);
	unsigned differ = 0;

	if (stack->n != f->hops || f->hops > t->flows.o.hops ||
	    f->kept < f->hops || !p->usable || stack->at)
		return false;
	for (; hop > stack->data; h++) {
		__m512i b = hop_bytes(p, hop -= stack->len);
		__m128i ids = _mm512_castsi512_si128(picked(&p->ids, b));
		const void *was = t->objects.place[h->place].key;

		ids = _mm_or_si128(ids, absent);
		differ |= _mm512_mask_cmpeq_epi32_mask(p->words, b,
						       _mm512_set1_epi32(-1));
		differ |= _mm_cmpneq_epi32_mask(ids, _mm_load_si128(was));
	}
	return !differ;
}

/* Which bin each metric's value belongs to; all shapes are log. */
VECTOR static inline __m256i bins_of(const struct vector_lanes *l, __m256i v,
				     unsigned present)
{
	__m256i sub = _mm256_load_si256((const void *)l->sub);
	__m256i first = _mm256_load_si256((const void *)l->first);
	__m256i most = _mm256_load_si256((const void *)l->most_shift);
	__m256i range = _mm256_load_si256((const void *)l->range);
	__m256i min = _mm256_load_si256((const void *)l->min);
	__m256i x = _mm256_sub_epi32(v, min), shift, bin;
	__mmask8 beside = _mm256_cmpgt_epu32_mask(x, range);

	shift = _mm256_sub_epi32(most,
				 _mm256_lzcnt_epi32(_mm256_or_si256(x, first)));
	bin = _mm256_add_epi32(_mm256_sllv_epi32(shift, sub),
			       _mm256_srlv_epi32(x, shift));
	bin = _mm256_add_epi32(bin, _mm256_set1_epi32(1));
	if (beside & present) {
		__m256i over = _mm256_load_si256((const void *)l->over);

		bin = _mm256_mask_mov_epi32(bin, beside, over);
		beside &= _mm256_cmplt_epu32_mask(v, min);
		bin = _mm256_mask_mov_epi32(bin, beside,
					    _mm256_setzero_si256());
	}
	return bin;
}

/* Latest, counts and sums of a hop, a line. */
VECTOR static inline void add_up(const struct picks *p, __m512i bytes,
				 struct flow_hop *h, struct flow_wide *wide)
{
	__m512i add = _mm512_add_epi64(picked(&p->hop, bytes),
				       _mm512_load_si512(p->ones));
	__m512i was = _mm512_and_si512(_mm512_loadu_si512(h),
				       _mm512_load_si512(p->keep));
	__m256i add4, was4;

	_mm512_storeu_si512(h, _mm512_add_epi64(was, add));
	if (!(p->present >> FLOW_METERS) || !wide)
		return;
	add4 = _mm512_castsi512_si256(picked(&p->wide, bytes));
	add4 = _mm256_add_epi64(add4,
				_mm256_load_si256((const void *)p->ones_wide));
	was4 = _mm256_and_si256(_mm256_loadu_si256((const void *)wide),
				_mm256_load_si256((const void *)p->keep_wide));
	_mm256_storeu_si256((void *)wide, _mm256_add_epi64(was4, add4));
}

/* A hop that is being taken: its values and their bins, by metric. */
struct standing {
	struct telemetry *t;
	struct flow_entry *f;
	struct flow_hop *h;
	struct place *place;
	uint64_t ts_ns;
	unsigned present;
	uint32_t v[8] __attribute__((aligned(32)));
	uint32_t bin[8] __attribute__((aligned(32)));
};

static inline bool may_be_event(const struct standing *s, enum metric m)
{
	const struct object *o = s->place->object[m];

	return s->present >> m & 1 && (!o || watch_out(&o->watch, s->v[m]));
}

static __attribute__((noinline)) void look_closer(const struct standing *s,
						  bool latency)
{
	if (latency)
		value_latency(s->t, s->ts_ns, s->f, s->h,
			      s->v[METRIC_HOP_LATENCY]);
	for (unsigned m = 1; m < METRIC_OF_HOP; m++)
		if (may_be_event(s, (enum metric)m))
			value_object(s->t, s->ts_ns, s->h->place,
				     (enum metric)m, s->v[m]);
}

static inline void told(const struct standing *s, enum metric m)
{
	struct object *o = s->place->object[m];

	if (!(s->present >> m & 1))
		return;
	if (o) {
		o->latest = s->v[m];
		o->last_ns = s->ts_ns;
	}
	s->place->node->dist[m]->count[s->bin[m]]++;
}

/* First all is looked at, then all is written: that is faster. */
static inline void take_hop(const struct standing *s, const struct watch *was)
{
	bool latency = s->present & 1U << METRIC_HOP_LATENCY;
	bool out = latency && watch_out(was, s->v[METRIC_HOP_LATENCY]);

	if (out || may_be_event(s, METRIC_QUEUE_OCCUPANCY) ||
	    may_be_event(s, METRIC_LINK_UTILIZATION) ||
	    may_be_event(s, METRIC_QUEUE_CONGESTION) ||
	    may_be_event(s, METRIC_BUFFER_OCCUPANCY))
		look_closer(s, out);
	told(s, METRIC_QUEUE_OCCUPANCY);
	told(s, METRIC_LINK_UTILIZATION);
	told(s, METRIC_QUEUE_CONGESTION);
	told(s, METRIC_BUFFER_OCCUPANCY);
	if (latency)
		s->place->node->dist[METRIC_HOP_LATENCY]
			->count[s->bin[METRIC_HOP_LATENCY]]++;
}

VECTOR bool vector_take(struct telemetry *t, struct flow_entry *f,
			const struct int_view *view, const struct picks *p,
			uint64_t *latency)
{
	const struct int_hops *stack = &view->stack;
	const uint8_t *hop = stack->data + (size_t)stack->n * stack->len;
	struct flow_hop *h = flow_hops(f);
	struct flow_wide *wide = t->flows.o.wide
					 ? (struct flow_wide *)(h +
								t->flows.o.hops)
					 : NULL;
	struct standing s = {
		.t = t, .f = f, .ts_ns = view->ts_ns, .present = p->present};
	uint64_t sum = 0;

	if (!is_steady(t, f, stack, p))
		return false;
	for (; hop > stack->data; h++) {
		__m512i b = hop_bytes(p, hop -= stack->len);
		__m256i values = _mm512_castsi512_si256(picked(&p->metrics, b));
		struct watch was = h->watch;

		s.h = h;
		s.place = &t->objects.place[h->place];
		add_up(p, b, h, wide);
		wide += wide != NULL;
		_mm256_store_si256((void *)s.v, values);
		_mm256_store_si256((void *)s.bin,
				   bins_of(&t->lanes, values, p->present));
		sum += s.v[METRIC_HOP_LATENCY]; /* 0 if absent */
		take_hop(&s, &was);
	}
	*latency = sum;
	t->ledger.values += (uint64_t)stack->n * p->metrics_n;
	return true;
}

#else

bool vector_can(const struct dist_shape shape[METRIC_NUMBERS])
{
	(void)shape;
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

void vector_lanes_of(struct vector_lanes *l,
		     const struct dist_shape shape[METRIC_NUMBERS])
{
	for (unsigned m = 0; m < METRIC_OF_HOP; m++) {
		const struct dist_shape *s = &shape[m];

		l->min[m] = s->min;
		l->range[m] = s->max - s->min;
		l->over[m] = s->bins + 1;
		l->sub[m] = s->sub;
		l->first[m] = 1U << s->sub;
		l->most_shift[m] = 31U - s->sub;
	}
}
