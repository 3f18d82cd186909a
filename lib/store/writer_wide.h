/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * writer_wide.h - private to this room: writes of one instruction.
 *
 * AVX-512's byte-masked store takes any length up to 64 at any address, and an
 * instruction is never interrupted half-way.
 */
#ifndef STORE_WRITER_WIDE_H
#define STORE_WRITER_WIDE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __x86_64__
#include <immintrin.h>

/* The longest write of one instruction on this CPU, or 0. */
static inline unsigned writer_wide_max(void)
{
	return __builtin_cpu_supports("avx512bw") ? 64 : 0;
}

/* len <= writer_wide_max(). */
__attribute__((target("avx512bw,bmi2"))) static inline void
writer_wide_put(uint8_t *to, const void *data, size_t len)
{
	__mmask64 mask = _bzhi_u64(UINT64_MAX, (unsigned)len);

	_mm512_mask_storeu_epi8(to, mask, _mm512_maskz_loadu_epi8(mask, data));
	_mm256_zeroupper();
}
#else
static inline unsigned writer_wide_max(void)
{
	return 0;
}

static inline void writer_wide_put(uint8_t *to, const void *data, size_t len)
{
	(void)to, (void)data, (void)len;
}
#endif

#endif
