/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc_engine.h - private to this room: what an engine is, and the constants
 * that the engines share.
 *
 * Bit order: reflected. Bit i of a w-bit integer is the coefficient of
 * x^(w - 1 - i), so the first byte of a message holds its highest powers.
 */
#ifndef HASH_CRC_ENGINE_H
#define HASH_CRC_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash/crc.h"

enum {
	/* Longest key that the carry-less engines' batches take. */
	CRC_BATCH_LEN = 256,
};

/*
 * What depends on the polynomial P alone. Filled once, before main().
 *
 * Carry-less products: a register of two 64-bit halves holds H x^64 + L, and
 * multiplying halves A and B gives a register that holds x A B. Constants
 * therefore are one power of x below what the algebra wants.
 */
struct crc_poly_data {
	/* Moves a register by 384, 256, 128 bits: {for H, for L}. [3] is 0. */
	uint64_t fold[4][2];
	/* The same by 512 bits. */
	uint64_t fold512[2];
	/* What brings the dwords of H down to L: {first, second}. */
	uint64_t split[2];
	/* Barrett's {floor(x^96 / P), P}. */
	uint64_t barrett[2];
	/* slice[j][b]: the register after byte b, then j zero bytes. */
	uint32_t slice[8][256];
	/* zeros[n]: the CRC of n zero bytes. */
	uint32_t zeros[CRC_BATCH_LEN + 1];
} __attribute__((aligned(64)));

extern struct crc_poly_data crc_data[CRC_IDS];

/* An engine. extend() works on the bare register: no XOR before and after.
 * batch() is crc_batch() for n > 0 and 0 < len <= CRC_BATCH_LEN. */
struct crc_ops {
	const char *name;
	uint32_t (*extend)(enum crc_id id, uint32_t reg, const uint8_t *p,
			   size_t len);
	void (*batch)(const enum crc_id *ids, unsigned nids,
		      const uint8_t *const *keys, size_t len, size_t n,
		      uint32_t *const *out);
};

extern const struct crc_ops crc_table_ops;
extern const struct crc_ops *crc_engine; /* the one in use */

/* extend() of the 128-bit engine; the 512-bit one uses it for short data. */
uint32_t crc_clmul_extend(enum crc_id id, uint32_t reg, const uint8_t *p,
			  size_t len);

/* Returns the engine, or NULL if this CPU lacks the instructions. */
const struct crc_ops *crc_clmul_probe(void);
const struct crc_ops *crc_vpclmul_probe(void);

#endif
