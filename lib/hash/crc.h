/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc.h - reflected CRC-32s, initial value and final XOR 0xffffffff.
 *
 * One polynomial per purpose, so that the hashes of one key are independent
 * (dta(7), HASHING, says why one polynomial with a suffix is not enough).
 * The engine is picked once, at start: 512-bit carry-less multiplication
 * (VPCLMULQDQ), 128-bit (PCLMULQDQ; ARMv8: PMULL), or tables. All give the same
 * result.
 */
#ifndef HASH_CRC_H
#define HASH_CRC_H

#include <stddef.h>
#include <stdint.h>

enum crc_id {
	CRC_SLOT0, /* also zlib's CRC-32: the iCRC, Ethernet */
	CRC_SLOT1,
	CRC_SLOT2,
	CRC_SLOT3,
	CRC_CHECKSUM,  /* CRC-32C */
	CRC_COLLECTOR, /* which collector owns a key (DART) */
	CRC_HOP0,      /* CRC_HOP0 + i: postcard hop i, i < 8 */
	CRC_HOP7 = CRC_HOP0 + 7,
	CRC_DTA0_HOP0, /* + i: hop i + 1 of the published system, i < 5 */
	CRC_DTA0_HOP4 = CRC_DTA0_HOP0 + 4,
	CRC_IDS,
};

enum {
	/* Readable bytes that crc_batch() wants before each key. */
	CRC_HEADROOM = 16,
};

/* The normal-form (MSB first) polynomial of an id, without the x^32 term. */
uint32_t crc_poly(enum crc_id id);

/* CRC of len bytes. */
uint32_t crc(enum crc_id id, const void *data, size_t len);

/* Continues a CRC: crc(a then b) == crc_extend(id, crc(id, a), b). */
uint32_t crc_extend(enum crc_id id, uint32_t sum, const void *data, size_t len);

/*
 * CRCs of n keys of len bytes each under nids polynomials: out[i][k] is the CRC
 * of keys[k] under ids[i]. The CRC_HEADROOM bytes before each key must be
 * readable; what they hold does not matter. (Keys inside packets have it for
 * free.)
 */
void crc_batch(const enum crc_id *ids, unsigned nids,
	       const uint8_t *const *keys, size_t len, size_t n,
	       uint32_t *const *out);

#endif
