/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc_vpclmul.c - the engine for x86-64 with 512-bit carry-less multiplication:
 * the same algebra as crc_clmul.c, in four lanes at once.
 */
#include "hash/crc_engine.h"

#ifdef __x86_64__

#include <immintrin.h>

#define VPCLMUL                                                                \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"             \
			      ",avx512vbmi,vpclmulqdq")))

enum {
	GROUP = 16, /* keys per pass: four registers of four lanes */
	BLOCKS = CRC_BATCH_LEN / 16,
	XOR3 = 0x96, /* ternary logic: a ^ b ^ c */
	LONG = 256,  /* bytes from which on four lanes are faster than one */
};

/* The same 16 bytes in every lane. */
VPCLMUL static inline __m512i lanes(const uint64_t *k)
{
	return _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)k));
}

/* Moves acc by the distance of k, and adds next. */
VPCLMUL static inline __m512i fold(__m512i acc, __m512i k, __m512i next)
{
	return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(acc, k, 0x00),
					 _mm512_clmulepi64_epi128(acc, k, 0x11),
					 next, XOR3);
}

/* Each lane's register after its 16 bytes, in its third dword. */
VPCLMUL static inline __m512i reduce(__m512i v, __m512i split, __m512i barrett)
{
	__m512i a = fold(_mm512_unpacklo_epi32(v, _mm512_setzero_si512()),
			 split, _mm512_unpackhi_epi64(v, v));
	__m512i q = _mm512_clmulepi64_epi128(a, barrett, 0x00);

	return _mm512_clmulepi64_epi128(q, barrett, 0x10);
}

/* The register after all four lanes, one after the other. */
VPCLMUL static uint32_t reduce_all(__m512i v, const struct crc_poly_data *d)
{
	__m512i last = _mm512_maskz_mov_epi64(0xc0, v);
	__m256i half;
	__m128i one;

	v = fold(v, _mm512_loadu_si512(d->fold), last);
	half = _mm256_xor_si256(_mm512_castsi512_si256(v),
				_mm512_extracti64x4_epi64(v, 1));
	one = _mm_xor_si128(_mm256_castsi256_si128(half),
			    _mm256_extracti128_si256(half, 1));
	v = reduce(_mm512_castsi128_si512(one), lanes(d->split),
		   lanes(d->barrett));
	return (uint32_t)_mm_extract_epi32(_mm512_castsi512_si128(v), 2);
}

/* Blocks of 64 bytes in four lanes; the rest is short data. */
VPCLMUL __attribute__((noinline)) static uint32_t
extend_long(enum crc_id id, uint32_t reg, const uint8_t *p, size_t len)
{
	const struct crc_poly_data *d = &crc_data[id];
	__m512i set = _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)reg));
	__m512i acc = _mm512_xor_si512(_mm512_loadu_si512(p), set);
	__m512i k = lanes(d->fold512);

	for (p += 64, len -= 64; len >= 64; p += 64, len -= 64)
		acc = fold(acc, k, _mm512_loadu_si512(p));
	return crc_clmul_extend(id, reduce_all(acc, d), p, len);
}

static uint32_t vpclmul_extend(enum crc_id id, uint32_t reg, const uint8_t *p,
			       size_t len)
{
	return len < LONG ? crc_clmul_extend(id, reg, p, len)
			  : extend_long(id, reg, p, len);
}

/* Sixteen bytes at offset `at' of keys 0, 4, 8 and 12, a lane each. */
VPCLMUL static inline __m512i load_keys(const uint8_t *const *keys,
					ptrdiff_t at)
{
	__m256i low, high;

	low = _mm256_castsi128_si256(
		_mm_loadu_si128((const void *)(keys[0] + at)));
	low = _mm256_inserti128_si256(
		low, _mm_loadu_si128((const void *)(keys[4] + at)), 1);
	high = _mm256_castsi128_si256(
		_mm_loadu_si128((const void *)(keys[8] + at)));
	high = _mm256_inserti128_si256(
		high, _mm_loadu_si128((const void *)(keys[12] + at)), 1);
	return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* The third dwords of four registers' lanes, in the order of keys: register j,
 * lane i is key 4 i + j, by load_keys(). */
VPCLMUL static inline __m512i collect(const __m512i *r)
{
	__m512 low = _mm512_shuffle_ps(_mm512_castsi512_ps(r[0]),
				       _mm512_castsi512_ps(r[1]), 0xaa);
	__m512 high = _mm512_shuffle_ps(_mm512_castsi512_ps(r[2]),
					_mm512_castsi512_ps(r[3]), 0xaa);

	return _mm512_castps_si512(_mm512_shuffle_ps(low, high, 0x88));
}

/* block[b][j]: block b of keys j, 4 + j, 8 + j and 12 + j. */
VPCLMUL static inline __m512i group_crcs(const struct crc_poly_data *d,
					 const __m512i (*block)[4],
					 size_t blocks, size_t len)
{
	__m512i r[4], k = lanes(d->fold[2]), split = lanes(d->split);
	__m512i barrett = lanes(d->barrett);

	for (unsigned j = 0; j < 4; j++) {
		__m512i acc = block[0][j];

		for (size_t b = 1; b < blocks; b++)
			acc = fold(acc, k, block[b][j]);
		r[j] = reduce(acc, split, barrett);
	}
	/* For a register that started as 0, as in crc_clmul.c. */
	return _mm512_xor_si512(collect(r),
				_mm512_set1_epi32((int)d->zeros[len]));
}

/* CRCs of 16 keys, to out[][at] and on; mask: which of them are stored. */
VPCLMUL static inline void batch_group(const enum crc_id *ids, unsigned nids,
				       const uint8_t *const *keys, size_t len,
				       __mmask16 mask, uint32_t *const *out,
				       size_t at)
{
	ptrdiff_t first = (ptrdiff_t)((len - 1) % 16) + 1; /* in block 0 */
	size_t blocks = (len + 15) / 16;
	uint64_t keep = 0xffff & ~(0xffffu >> first);
	__m512i block[BLOCKS][4];

	keep *= 0x0001000100010001;
	for (unsigned j = 0; j < 4; j++)
		block[0][j] = _mm512_maskz_mov_epi8(
			keep, load_keys(keys + j, first - 16));
	for (size_t b = 1; b < blocks; b++, first += 16)
		for (unsigned j = 0; j < 4; j++)
			block[b][j] = load_keys(keys + j, first);
	for (unsigned i = 0; i < nids; i++)
		_mm512_mask_storeu_epi32(
			out[i] + at, mask,
			group_crcs(&crc_data[ids[i]], block, blocks, len));
}

VPCLMUL static void vpclmul_batch(const enum crc_id *ids, unsigned nids,
				  const uint8_t *const *keys, size_t len,
				  size_t n, uint32_t *const *out)
{
	const uint8_t *tail[GROUP];
	size_t at = 0;

	for (; at + GROUP <= n; at += GROUP)
		batch_group(ids, nids, keys + at, len, 0xffff, out, at);
	if (at == n)
		return;
	for (unsigned k = 0; k < GROUP; k++)
		tail[k] = keys[at + k < n ? at + k : n - 1];
	batch_group(ids, nids, tail, len, (__mmask16)((1u << (n - at)) - 1),
		    out, at);
}

static const struct crc_ops vpclmul_ops = {
	.name = "vpclmul",
	.extend = vpclmul_extend,
	.batch = vpclmul_batch,
};

const struct crc_ops *crc_vpclmul_probe(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512vbmi") &&
	    __builtin_cpu_supports("vpclmulqdq"))
		return &vpclmul_ops;
	return NULL;
}

#else

const struct crc_ops *crc_vpclmul_probe(void)
{
	return NULL;
}

#endif
