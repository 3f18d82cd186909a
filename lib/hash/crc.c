/* SPDX-License-Identifier: BSD-2-Clause */
/* crc.c - the polynomials, their constants, the engine for every CPU, and the
 * choice of one. */
#include <endian.h>
#include <string.h>

#include "hash/crc_engine.h"

/* Normal form, without x^32. Sources: dta(7), HASHING; the published DTA
 * translator (CRC_DTA0_HOP0 and on). */
static const uint32_t polys[CRC_IDS] = {
	[CRC_SLOT0] = 0x04c11db7,
	[CRC_SLOT1] = 0xf5d8e6b9,
	[CRC_SLOT2] = 0x38d956c9,
	[CRC_SLOT3] = 0xbe1bc3bb,
	[CRC_CHECKSUM] = 0x1edc6f41,
	[CRC_COLLECTOR] = 0x8c2bfecf,
	[CRC_HOP0] = 0x1e671611,
	[CRC_HOP0 + 1] = 0x42ba8535,
	[CRC_HOP0 + 2] = 0x9459dbbf,
	[CRC_HOP0 + 3] = 0x617c6a11,
	[CRC_HOP0 + 4] = 0x7076ce85,
	[CRC_HOP0 + 5] = 0x101cecef,
	[CRC_HOP0 + 6] = 0x5b8ea50b,
	[CRC_HOP7] = 0x676bdd11,
	/* As in the published P4 program, but x^0 is 1: its compiler sets it */
	[CRC_DTA0_HOP0] = 0x1e12a701,
	[CRC_DTA0_HOP0 + 1] = 0x65b96595,
	[CRC_DTA0_HOP0 + 2] = 0x49cf878b,
	[CRC_DTA0_HOP0 + 3] = 0x36518f0d,
	[CRC_DTA0_HOP4] = 0x7a40a909,
};

static inline uint32_t load_le32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

struct crc_poly_data crc_data[CRC_IDS];

/* Eight bytes per step through eight tables ("slicing-by-8": Kounavis and
 * Berry, "Novel Table Lookup-Based Algorithms for High-Performance CRC
 * Generation", IEEE ToC 57(11), 2008). */
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
	.name = "table",
	.extend = table_extend,
	.batch = table_batch,
};

const struct crc_ops *crc_engine = &crc_table_ops;

static uint32_t reflect32(uint32_t v)
{
	uint32_t r = 0;

	for (unsigned i = 0; i < 32; i++)
		r |= (v >> i & 1) << (31 - i);
	return r;
}

/* The register after one zero byte: reg x^8 mod P. */
static uint32_t add_zero_byte(const struct crc_poly_data *d, uint32_t reg)
{
	return reg >> 8 ^ d->slice[0][reg & 0xff];
}

static void fill_slices(struct crc_poly_data *d, uint32_t poly)
{
	for (unsigned b = 0; b < 256; b++) {
		uint32_t reg = b;

		for (unsigned i = 0; i < 8; i++)
			reg = reg >> 1 ^ (reg & 1 ? poly : 0);
		d->slice[0][b] = reg;
	}
	for (unsigned j = 1; j < 8; j++)
		for (unsigned b = 0; b < 256; b++)
			d->slice[j][b] = add_zero_byte(d, d->slice[j - 1][b]);
}

static void fill_zeros(struct crc_poly_data *d)
{
	uint32_t reg = ~0u;

	for (unsigned n = 0; n <= CRC_BATCH_LEN; n++) {
		d->zeros[n] = ~reg;
		reg = add_zero_byte(d, reg);
	}
}

/* power[m] is x^(8 m - 1) mod P, in the high half of 64 bits. */
static void fill_folds(struct crc_poly_data *d)
{
	uint64_t power[73];
	uint32_t reg = 1u << (31 - 7); /* x^7: m = 1 */

	for (unsigned m = 1; m < 73; m++) {
		power[m] = (uint64_t)reg << 32;
		reg = add_zero_byte(d, reg);
	}
	for (unsigned i = 0; i < 3; i++) {
		unsigned m = (3 - i) * 128 / 8;

		d->fold[i][0] = power[m + 8];
		d->fold[i][1] = power[m];
	}
	d->fold512[0] = power[72];
	d->fold512[1] = power[64];
	d->split[0] = power[12] >> 32;
	d->split[1] = power[8] >> 32;
}

/* Long division of x^96 by P. The quotient has 65 bits; its last, the
 * coefficient of 1, is never needed. */
static void fill_barrett(struct crc_poly_data *d, uint32_t poly)
{
	uint32_t reg = 1; /* x^31, about to become x^32 */

	d->barrett[0] = 0;
	for (unsigned i = 0; i < 64; i++) {
		d->barrett[0] |= (uint64_t)(reg & 1) << i;
		reg = reg >> 1 ^ (reg & 1 ? poly : 0);
	}
	d->barrett[1] = (uint64_t)poly << 1 | 1;
}

__attribute__((constructor)) static void crc_init(void)
{
	for (unsigned id = 0; id < CRC_IDS; id++) {
		uint32_t poly = reflect32(polys[id]);

		fill_slices(&crc_data[id], poly);
		fill_zeros(&crc_data[id]);
		fill_folds(&crc_data[id]);
		fill_barrett(&crc_data[id], poly);
	}
	if (crc_clmul_probe())
		crc_engine = crc_clmul_probe();
	if (crc_vpclmul_probe())
		crc_engine = crc_vpclmul_probe();
}

uint32_t crc_poly(enum crc_id id)
{
	return polys[id];
}

uint32_t crc(enum crc_id id, const void *data, size_t len)
{
	return crc_extend(id, 0, data, len);
}

uint32_t crc_extend(enum crc_id id, uint32_t sum, const void *data, size_t len)
{
	return ~crc_engine->extend(id, ~sum, data, len);
}

void crc_batch(const enum crc_id *ids, unsigned nids,
	       const uint8_t *const *keys, size_t len, size_t n,
	       uint32_t *const *out)
{
	const struct crc_ops *ops = crc_engine;

	if (len == 0 || len > CRC_BATCH_LEN)
		ops = &crc_table_ops;
	if (n)
		ops->batch(ids, nids, keys, len, n, out);
}
