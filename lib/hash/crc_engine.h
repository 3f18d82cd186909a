/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc_engine.h - private to this room: what an engine is, and the constants
 * that all engines share.
 *
 * Bit order: reflected. Bit i of a w-bit integer is the coefficient of
 * x^(w - 1 - i), so the first byte of a message holds its highest powers.
 */
#ifndef HASH_CRC_ENGINE_H
#define HASH_CRC_ENGINE_H

#include "hash/crc.h"

enum {
	/* Longest key of the carry-less engines' batches; tables above. */
	CRC_BATCH_LEN = 256,
};

/* What depends on the polynomial P alone. Filled once, before main(). */
struct crc_poly_data {
	/* slice[j][b]: byte b, then j zero bytes. */
	uint32_t slice[8][256];
	/* zeros[n]: the CRC of n zero bytes. */
	uint32_t zeros[CRC_BATCH_LEN + 1];
};

extern struct crc_poly_data crc_data[CRC_IDS];

/*
 * An engine. extend() works on the raw register: no XOR before and after.
 * batch() gets n > 0 and 0 < len <= CRC_BATCH_LEN.
 */
struct crc_ops {
	uint32_t (*extend)(enum crc_id id, uint32_t reg, const uint8_t *p,
			   size_t len);
	void (*batch)(enum crc_id id, const uint8_t *const *keys, size_t len,
		      size_t n, uint32_t *out);
};

extern const struct crc_ops crc_table_ops;

#endif
