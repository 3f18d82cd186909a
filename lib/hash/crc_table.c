/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc_table.c - the engine for every CPU: eight bytes per step through eight
 * tables ("slicing-by-8": Kounavis and Berry, "Novel Table Lookup-Based
 * Algorithms for High-Performance CRC Generation", IEEE ToC 57(11), 2008).
 */
#include <endian.h>
#include <string.h>

#include "hash/crc_engine.h"

static inline uint32_t load_le32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

struct crc_poly_data crc_data[CRC_IDS];

static uint32_t table_extend(enum crc_id id, uint32_t reg, const uint8_t *p,
			     size_t len)
{
	const uint32_t(*t)[256] = crc_data[id].slice;

	for (; len >= 8; p += 8, len -= 8) {
		uint32_t a = reg ^ load_le32(p), b = load_le32(p + 4);

		reg = t[7][a & 0xff] ^ t[6][a >> 8 & 0xff] ^
		      t[5][a >> 16 & 0xff] ^ t[4][a >> 24] ^ t[3][b & 0xff] ^
		      t[2][b >> 8 & 0xff] ^ t[1][b >> 16 & 0xff] ^
		      t[0][b >> 24];
	}
	for (; len; p++, len--)
		reg = reg >> 8 ^ t[0][(reg ^ *p) & 0xff];
	return reg;
}

static void table_batch(const enum crc_id *ids, unsigned nids,
			const uint8_t *const *keys, size_t len, size_t n,
			uint32_t *const *out)
{
	for (unsigned i = 0; i < nids; i++)
		for (size_t k = 0; k < n; k++)
			out[i][k] = ~table_extend(ids[i], ~0u, keys[k], len);
}

const struct crc_ops crc_table_ops = {
	.extend = table_extend,
	.batch = table_batch,
};
