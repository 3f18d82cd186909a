/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lanes.h - a hop's metrics side by side, a lane of a vector each: what
 * vector.c and train.c have in common, for AVX-512; private to the sink.
 */
#ifndef TELEMETRY_LANES_H
#define TELEMETRY_LANES_H

#include <immintrin.h>

#include "telemetry/private.h"

enum {
	HOPS_MAX = 64, /* of a view that is taken so */
};

#define VECTOR                                                                 \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd"    \
			      ",avx512vbmi,lzcnt,bmi,bmi2")))

/* Latency, queue and link, which is what INT 1.0 and 2.x have in common: loops
 * for them have nothing of the other metrics. */
enum {
	USUAL = 1 << METRIC_HOP_LATENCY | 1 << METRIC_QUEUE_OCCUPANCY |
		1 << METRIC_LINK_UTILIZATION,
};

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

/* struct vector_lanes in registers, and how metrics come there. */
struct lanes {
	__m256i min, sub, first, most_shift;
	struct picking metrics;
};

VECTOR static inline struct lanes lanes_of(const struct vector_lanes *l,
					   const struct picks *p)
{
	return (struct lanes){.min = lane(l->min),
			      .sub = lane(l->sub),
			      .first = lane(l->first),
			      .most_shift = lane(l->most_shift),
			      .metrics = picking_of(&p->metrics)};
}

/* Which bin each metric's value belongs to, x above its least: of those whose
 * shape is log, and that are in its range. */
VECTOR static inline __m256i bins_of(const struct lanes *l, __m256i x)
{
	__m256i shift = _mm256_sub_epi32(
		l->most_shift,
		_mm256_lzcnt_epi32(_mm256_or_si256(x, l->first)));
	__m256i bin = _mm256_add_epi32(_mm256_sllv_epi32(shift, l->sub),
				       _mm256_srlv_epi32(x, shift));

	return _mm256_add_epi32(bin, _mm256_set1_epi32(1));
}

/* A hop's metrics are told: the values. Those above the range that is *far
 * from the least have yet to find their bin. */
VECTOR static inline __m256i tell(struct told *told, const struct lanes *l,
				  __m512i hop, __m256i *far)
{
	__m256i values = picked(l->metrics, hop);
	__m256i x = _mm256_sub_epi32(values, l->min);

	*far = _mm256_max_epu32(*far, x);
	_mm256_store_si256((void *)told->v, values);
	_mm256_store_si256((void *)told->bin, bins_of(l, x));
	return values;
}

/* The metrics, bits, whose bins bins_of() does not know: by what far has come
 * to. */
VECTOR static inline unsigned beside(const struct telemetry *t,
				     const struct picks *p, __m256i far)
{
	return _mm256_mask_cmpgt_epu32_mask(p->present, far,
					    lane(t->lanes.range)) |
	       (t->lanes.fixed & p->present);
}

/* The bins of those metrics, one after the other. */
static inline void set_bins(const struct telemetry *t, struct told *told,
			    unsigned n, unsigned metrics)
{
	for (; metrics; metrics &= metrics - 1) {
		unsigned m = (unsigned)__builtin_ctz(metrics);

		for (unsigned i = 0; i < n; i++)
			told[i].bin[m] = dist_bin(&t->o.shape[m], told[i].v[m]);
	}
}

#endif
