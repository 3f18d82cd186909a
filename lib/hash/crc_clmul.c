/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc_clmul.c - the engine for CPUs with 128-bit carry-less multiplication:
 * x86-64 (PCLMULQDQ) and ARMv8 (PMULL). Some CRCs by the instructions made for
 * them: CRC-32C of keys; ARMv8 has one for zlib's CRC-32, too.
 *
 * Folding and Barrett's reduction: Gopal et al., "Fast CRC Computation for
 * Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009.
 */
#include "hash/crc_engine.h"

#if defined(__x86_64__) || defined(__AARCH64EL__)

#include <string.h>

enum {
	GROUP = 16, /* keys at a time: they stay in the L1 cache */
};

/* Bit order and halves as in crc_engine.h: [0] is H. */
typedef uint64_t block __attribute__((vector_size(16)));
/* (block)(words){v} is v and zeros by one move; (block){v} takes two. */
typedef uint32_t words __attribute__((vector_size(16)));

#ifdef __x86_64__

#include <immintrin.h>

#define CLMUL __attribute__((target("sse4.2,pclmul")))

CLMUL static inline block multiply_first(block a, block b)
{
	return (block)_mm_clmulepi64_si128((__m128i)a, (__m128i)b, 0x00);
}

CLMUL static inline block multiply_second(block a, block b)
{
	return (block)_mm_clmulepi64_si128((__m128i)a, (__m128i)b, 0x11);
}

CLMUL static inline block multiply_across(block a, block b)
{
	return (block)_mm_clmulepi64_si128((__m128i)a, (__m128i)b, 0x10);
}

/* Byte i is v's byte by[i], or 0 where by[i] is 0x80. */
CLMUL static inline block shuffle(block v, block by)
{
	return (block)_mm_shuffle_epi8((__m128i)v, (__m128i)by);
}

/* The dwords of v[0] as quadwords. */
CLMUL static inline block widen(block v)
{
	return (block)_mm_unpacklo_epi32((__m128i)v, _mm_setzero_si128());
}

/* Whether the CPU has instructions for it: the register after 8, 4, 1 bytes.
 * That of step8() has 64 bits: the compiler would cut it after each step. */
static inline bool has_steps(enum crc_id id)
{
	return id == CRC_CHECKSUM;
}

CLMUL static inline uint64_t step8(enum crc_id id, uint64_t reg, uint64_t v)
{
	(void)id;
	return _mm_crc32_u64(reg, v);
}

CLMUL static inline uint32_t step4(enum crc_id id, uint32_t reg, uint32_t v)
{
	(void)id;
	return _mm_crc32_u32(reg, v);
}

CLMUL static inline uint32_t step1(enum crc_id id, uint32_t reg, uint8_t v)
{
	(void)id;
	return _mm_crc32_u8(reg, v);
}

static bool has_clmul(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("pclmul") &&
	       __builtin_cpu_supports("sse4.2");
}

#else

#include <arm_neon.h>
#include <sys/auxv.h>

#ifdef __clang__
#define CLMUL __attribute__((target("aes,crc")))
#else
#define CLMUL __attribute__((target("+crypto+crc")))
#endif

CLMUL static inline block multiply_first(block a, block b)
{
	return (block)vmull_p64((poly64_t)a[0], (poly64_t)b[0]);
}

CLMUL static inline block multiply_second(block a, block b)
{
	return (block)vmull_high_p64((poly64x2_t)a, (poly64x2_t)b);
}

CLMUL static inline block multiply_across(block a, block b)
{
	return (block)vmull_p64((poly64_t)a[0], (poly64_t)b[1]);
}

CLMUL static inline block shuffle(block v, block by)
{
	return (block)vqtbl1q_u8((uint8x16_t)v, (uint8x16_t)by);
}

CLMUL static inline block widen(block v)
{
	return (block)vmovl_u32(vget_low_u32((uint32x4_t)v));
}

static inline bool has_steps(enum crc_id id)
{
	return id == CRC_CHECKSUM || id == CRC_SLOT0;
}

CLMUL static inline uint64_t step8(enum crc_id id, uint64_t reg, uint64_t v)
{
	if (id == CRC_CHECKSUM)
		__asm__("crc32cx %w0, %w0, %x1" : "+r"(reg) : "r"(v));
	else
		__asm__("crc32x %w0, %w0, %x1" : "+r"(reg) : "r"(v));
	return reg;
}

CLMUL static inline uint32_t step4(enum crc_id id, uint32_t reg, uint32_t v)
{
	if (id == CRC_CHECKSUM)
		__asm__("crc32cw %w0, %w0, %w1" : "+r"(reg) : "r"(v));
	else
		__asm__("crc32w %w0, %w0, %w1" : "+r"(reg) : "r"(v));
	return reg;
}

CLMUL static inline uint32_t step1(enum crc_id id, uint32_t reg, uint8_t v)
{
	if (id == CRC_CHECKSUM)
		__asm__("crc32cb %w0, %w0, %w1" : "+r"(reg) : "r"(v));
	else
		__asm__("crc32b %w0, %w0, %w1" : "+r"(reg) : "r"(v));
	return reg;
}

static bool has_clmul(void)
{
	unsigned long both = HWCAP_PMULL | HWCAP_CRC32;

	return (getauxval(AT_HWCAP) & both) == both;
}

#endif

/* Sixteen bytes from to_end[r] on shuffle the first r bytes to the end. */
static const uint8_t to_end[32] = {
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80, 0x80, 0x80, 0x80, 0x80, 0,    1,	  2,	3,    4,    5,
	6,    7,    8,	  9,	10,   11,   12,	  13,	14,   15,
};

static inline block load(const void *p)
{
	block v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Moves acc by the distance of k, and adds what is there. */
CLMUL static inline block fold(block acc, const uint64_t *k, block next)
{
	block by = load(k);

	return multiply_first(acc, by) ^ multiply_second(acc, by) ^ next;
}

/* The register after the 16 bytes v, from 0: v x^32 mod P. Brings the upper
 * half down to the lower, 32 bits each, then divides 64 bits by Barrett: of
 * quotient times P, the last 32 bits are the remainder. */
CLMUL static inline uint32_t reduce(block v, const struct crc_poly_data *d)
{
	block a = fold(widen(v), d->split, (block){v[1], v[1]});
	block barrett = load(d->barrett), q = multiply_first(a, barrett);

	return (uint32_t)multiply_across(q, barrett)[1];
}

/* Folds into four accumulators, acc and three more. len: 48 + 64 n. */
CLMUL static inline block fold_bulk(block acc, const struct crc_poly_data *d,
				    const uint8_t *p, size_t len)
{
	block second = load(p), third = load(p + 16), last = load(p + 32);

	for (p += 48, len -= 48; len; p += 64, len -= 64) {
		acc = fold(acc, d->fold512, load(p));
		second = fold(second, d->fold512, load(p + 16));
		third = fold(third, d->fold512, load(p + 32));
		last = fold(last, d->fold512, load(p + 48));
	}
	acc = fold(acc, d->fold[0], last);
	acc = fold(second, d->fold[1], acc);
	return fold(third, d->fold[2], acc);
}

CLMUL static inline uint32_t extend_steps(enum crc_id id, uint32_t from,
					  const uint8_t *p, size_t len)
{
	uint64_t reg = from, v8;
	uint32_t v4;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&v8, p, 8);
		reg = step8(id, reg, v8);
	}
	if (len >= 4) {
		memcpy(&v4, p, 4);
		reg = step4(id, (uint32_t)reg, v4);
		p += 4;
		len -= 4;
	}
	for (; len; p++, len--)
		reg = step1(id, (uint32_t)reg, *p);
	return (uint32_t)reg;
}

#ifdef __x86_64__

/* Loads four bytes. The compiler must not merge loads: see extend_short(). */
static inline int word(const uint8_t *p)
{
	int v;

	memcpy(&v, p, sizeof(v));
	__asm__("" : "+r"(v));
	return v;
}

CLMUL static inline block load_words(const uint8_t *p)
{
	return (block)_mm_set_epi32(word(p + 12), word(p + 8), word(p + 4),
				    word(p));
}

/* The first n words as a block, at its end, with the register added. */
CLMUL static inline block first_words(const uint8_t *p, size_t n, int reg)
{
	int first = word(p) ^ reg;

	switch (n) {
	case 1:
		return (block)_mm_set_epi32(first, 0, 0, 0);
	case 2:
		return (block)_mm_set_epi32(word(p + 4), first, 0, 0);
	case 3:
		return (block)_mm_set_epi32(word(p + 8), word(p + 4), first, 0);
	default:
		return (block)_mm_set_epi32(word(p + 12), word(p + 8),
					    word(p + 4), first);
	}
}

/* Short data is loaded word by word. The end of a frame was stored just before,
 * in pieces; a load of several pieces cannot be forwarded from the stores, and
 * waits for the cache: three times as long as all the rest takes. */
CLMUL __attribute__((noinline)) static uint32_t
extend_short(enum crc_id id, uint32_t reg, const uint8_t *p, size_t len)
{
	const struct crc_poly_data *d = &crc_data[id];
	size_t first = (len - 4) % 16 + 4;
	block acc = first_words(p, first / 4, (int)reg);

	for (p += first, len -= first; len; p += 16, len -= 16)
		acc = fold(acc, d->fold[2], load_words(p));
	return reduce(acc, d);
}

static inline bool is_short(enum crc_id id, size_t len)
{
	(void)id;
	return len && len <= 48 && len % 4 == 0;
}

#else

static inline bool is_short(enum crc_id id, size_t len)
{
	return has_steps(id) && len < 256;
}

CLMUL static uint32_t extend_short(enum crc_id id, uint32_t reg,
				   const uint8_t *p, size_t len)
{
	return id == CRC_CHECKSUM ? extend_steps(CRC_CHECKSUM, reg, p, len)
				  : extend_steps(CRC_SLOT0, reg, p, len);
}

#endif

CLMUL uint32_t crc_clmul_extend(enum crc_id id, uint32_t reg, const uint8_t *p,
				size_t len)
{
	const struct crc_poly_data *d = &crc_data[id];
	size_t head = len % 16;
	uint32_t rest = head < 4 ? reg >> 8 * head : 0;
	block acc;

	if (is_short(id, len))
		return extend_short(id, reg, p, len);
	if (len < 16)
		return crc_table_ops.extend(id, reg, p, len);
	/* Bytes that fill no block come first; then all blocks are whole. */
	acc = shuffle(load(p) ^ (block)(words){reg}, load(to_end + head));
	p += head;
	acc = fold(acc, d->fold[2], load(p) ^ (block)(words){rest});
	p += 16;
	len -= head + 16;
	if (len >= 48) {
		size_t bulk = len - (len - 48) % 64;

		acc = fold_bulk(acc, d, p, bulk);
		p += bulk;
		len -= bulk;
	}
	for (; len; p += 16, len -= 16)
		acc = fold(acc, d->fold[2], load(p));
	return reduce(acc, d);
}

/* Bytes before the key are masked off. The register starts as 0, not as ones:
 * the CRC of as many zero bytes makes up for that, since a CRC is linear. */
CLMUL static void batch_one(const struct crc_poly_data *d,
			    const uint8_t *const *keys, size_t len, size_t n,
			    uint32_t *out)
{
	size_t first = (len - 1) % 16 + 1; /* bytes in the first block */
	/* all ones shuffled */
	block keep = shuffle(~(block){0}, load(to_end + first));

	for (size_t k = 0; k < n; k++) {
		const uint8_t *p = keys[k] + first - 16;
		block acc = load(p) & keep;

		for (size_t left = len - first; left; left -= 16)
			acc = fold(acc, d->fold[2], load(p += 16));
		out[k] = reduce(acc, d) ^ d->zeros[len];
	}
}

CLMUL static void clmul_batch(const enum crc_id *ids, unsigned nids,
			      const uint8_t *const *keys, size_t len, size_t n,
			      uint32_t *const *out)
{
	for (size_t at = 0, m; at < n; at += m) {
		m = n - at < GROUP ? n - at : GROUP;
		for (unsigned i = 0; i < nids; i++)
			if (has_steps(ids[i]))
				for (size_t k = at; k < at + m; k++)
					out[i][k] = ~extend_steps(ids[i], ~0u,
								  keys[k], len);
			else
				batch_one(&crc_data[ids[i]], keys + at, len, m,
					  out[i] + at);
	}
}

static const struct crc_ops clmul_ops = {
#ifdef __x86_64__
	.name = "pclmul",
#else
	.name = "pmull",
#endif
	.extend = crc_clmul_extend,
	.batch = clmul_batch,
};

const struct crc_ops *crc_clmul_probe(void)
{
	return has_clmul() ? &clmul_ops : NULL;
}

#else

const struct crc_ops *crc_clmul_probe(void)
{
	return NULL;
}

#endif
