/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc_pclmul.c - the engine for x86-64 with 128-bit carry-less multiplication;
 * CRC-32C of keys by the instruction made for it.
 *
 * Folding and Barrett's reduction: Gopal et al., "Fast CRC Computation for
 * Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009.
 */
#include "hash/crc_engine.h"

#ifdef __x86_64__

#include <immintrin.h>
#include <string.h>

#define PCLMUL __attribute__((target("sse4.2,pclmul")))

/* Sixteen bytes from to_end[r] on shuffle the first r bytes to the end. */
static const uint8_t to_end[32] = {
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80, 0x80, 0x80, 0x80, 0x80, 0,    1,	  2,	3,    4,    5,
	6,    7,    8,	  9,	10,   11,   12,	  13,	14,   15,
};

PCLMUL static inline __m128i load(const void *p)
{
	return _mm_loadu_si128(p);
}

/* Moves acc by the distance of k, and adds what is there. */
PCLMUL static inline __m128i fold(__m128i acc, const uint64_t *k, __m128i next)
{
	__m128i by = load(k);

	return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(acc, by, 0x00),
					   _mm_clmulepi64_si128(acc, by, 0x11)),
			     next);
}

/* The register after the 16 bytes v, from 0: v x^32 mod P. Brings the upper
 * half down to the lower, 32 bits each, then divides 64 bits by Barrett: of
 * quotient times P, the last 32 bits are the remainder. */
PCLMUL static inline uint32_t reduce(__m128i v, const struct crc_poly_data *d)
{
	__m128i barrett = load(d->barrett);
	__m128i q, a = fold(_mm_unpacklo_epi32(v, _mm_setzero_si128()),
			    d->split, _mm_unpackhi_epi64(v, v));

	q = _mm_clmulepi64_si128(a, barrett, 0x00);
	return (uint32_t)_mm_extract_epi32(
		_mm_clmulepi64_si128(q, barrett, 0x10), 2);
}

/* Folds into four accumulators, 64 bytes a step. Moves *p and *len past it. */
PCLMUL static __m128i fold_bulk(__m128i acc, const struct crc_poly_data *d,
				const uint8_t **p, size_t *len)
{
	__m128i x[4] = {acc, load(*p), load(*p + 16), load(*p + 32)};

	*p += 48;
	for (*len -= 48; *len >= 64; *p += 64, *len -= 64)
		for (size_t i = 0; i < 4; i++)
			x[i] = fold(x[i], d->fold512, load(*p + 16 * i));
	acc = fold(x[0], d->fold[0], x[3]);
	acc = fold(x[1], d->fold[1], acc);
	return fold(x[2], d->fold[2], acc);
}

/* Loads four bytes. The compiler must not merge loads: see extend_words(). */
static inline int word(const uint8_t *p)
{
	int v;

	memcpy(&v, p, sizeof(v));
	__asm__("" : "+r"(v));
	return v;
}

PCLMUL static inline __m128i load_words(const uint8_t *p)
{
	return _mm_set_epi32(word(p + 12), word(p + 8), word(p + 4), word(p));
}

/* The first n words as a block, at its end, with the register added. */
PCLMUL static inline __m128i first_words(const uint8_t *p, size_t n, int reg)
{
	int first = word(p) ^ reg;

	switch (n) {
	case 1:
		return _mm_set_epi32(first, 0, 0, 0);
	case 2:
		return _mm_set_epi32(word(p + 4), first, 0, 0);
	case 3:
		return _mm_set_epi32(word(p + 8), word(p + 4), first, 0);
	default:
		return _mm_set_epi32(word(p + 12), word(p + 8), word(p + 4),
				     first);
	}
}

/* Short data is loaded word by word. The end of a frame was stored just before,
 * in pieces; a load of several pieces cannot be forwarded from the stores, and
 * waits for the cache: three times as long as all the rest takes. */
PCLMUL __attribute__((noinline)) static uint32_t
extend_words(enum crc_id id, uint32_t reg, const uint8_t *p, size_t len)
{
	const struct crc_poly_data *d = &crc_data[id];
	size_t first = (len - 4) % 16 + 4;
	__m128i acc = first_words(p, first / 4, (int)reg);

	for (p += first, len -= first; len; p += 16, len -= 16)
		acc = fold(acc, d->fold[2], load_words(p));
	return reduce(acc, d);
}

PCLMUL uint32_t crc_pclmul_extend(enum crc_id id, uint32_t reg,
				  const uint8_t *p, size_t len)
{
	const struct crc_poly_data *d = &crc_data[id];
	size_t head = len % 16;
	uint32_t rest = head < 4 ? reg >> 8 * head : 0;
	__m128i acc;

	if (len && len <= 48 && len % 4 == 0)
		return extend_words(id, reg, p, len);
	if (len < 16)
		return crc_table_ops.extend(id, reg, p, len);
	/* Bytes that fill no block come first; then all blocks are whole. */
	acc = _mm_xor_si128(load(p), _mm_cvtsi32_si128((int)reg));
	acc = _mm_shuffle_epi8(acc, load(to_end + head));
	p += head;
	acc = fold(acc, d->fold[2],
		   _mm_xor_si128(load(p), _mm_cvtsi32_si128((int)rest)));
	p += 16;
	len -= head + 16;
	if (len >= 48)
		acc = fold_bulk(acc, d, &p, &len);
	for (; len; p += 16, len -= 16)
		acc = fold(acc, d->fold[2], load(p));
	return reduce(acc, d);
}

/* Bytes before the key are masked off. The register starts as 0, not as ones:
 * the CRC of as many zero bytes makes up for that, since a CRC is linear. */
PCLMUL static void batch_one(const struct crc_poly_data *d,
			     const uint8_t *const *keys, size_t len, size_t n,
			     uint32_t *out)
{
	size_t first = (len - 1) % 16 + 1; /* bytes in the first block */
	__m128i keep = _mm_cmpgt_epi8(load(to_end + first), _mm_set1_epi8(-1));

	for (size_t k = 0; k < n; k++) {
		const uint8_t *p = keys[k] + first - 16;
		__m128i acc = _mm_and_si128(load(p), keep);

		for (size_t left = len - first; left; left -= 16)
			acc = fold(acc, d->fold[2], load(p += 16));
		out[k] = reduce(acc, d) ^ d->zeros[len];
	}
}

PCLMUL static inline uint32_t crc32c(const uint8_t *p, size_t len)
{
	uint64_t reg = ~0u, v8;
	uint32_t v4;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&v8, p, 8);
		reg = _mm_crc32_u64(reg, v8);
	}
	if (len >= 4) {
		memcpy(&v4, p, 4);
		reg = _mm_crc32_u32((uint32_t)reg, v4);
		p += 4;
		len -= 4;
	}
	for (; len; p++, len--)
		reg = _mm_crc32_u8((uint32_t)reg, *p);
	return ~(uint32_t)reg;
}

PCLMUL static void pclmul_batch(const enum crc_id *ids, unsigned nids,
				const uint8_t *const *keys, size_t len,
				size_t n, uint32_t *const *out)
{
	for (unsigned i = 0; i < nids; i++)
		if (ids[i] == CRC_CHECKSUM)
			for (size_t k = 0; k < n; k++)
				out[i][k] = crc32c(keys[k], len);
		else
			batch_one(&crc_data[ids[i]], keys, len, n, out[i]);
}

static const struct crc_ops pclmul_ops = {
	.extend = crc_pclmul_extend,
	.batch = pclmul_batch,
};

const struct crc_ops *crc_pclmul_probe(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("pclmul") &&
	    __builtin_cpu_supports("sse4.2"))
		return &pclmul_ops;
	return NULL;
}

#else

const struct crc_ops *crc_pclmul_probe(void)
{
	return NULL;
}

#endif
