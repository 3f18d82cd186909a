/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * family.h - which CRC serves which purpose: the hash families (dta(7),
 * HASHING).
 *
 * dta1: a polynomial per purpose.
 * dta0: the hashes of the published DTA translator, whose keys have 4 bytes:
 *       slot n is CRC-32 of the key's bytes reversed, then the byte n; the
 *       checksum is CRC-32 of the reversed key. A postcard chunk is CRC-32 of
 *       the key as it is, the same for every copy; hops past the fifth hash as
 *       the fifth. Checksum and slots are correlated, so dta0 serves only to
 *       read memory that the published translator wrote.
 *
 * Results are raw 32-bit hashes: hash_mod() makes a slot's number of them.
 */
/* clang-format on */
#ifndef HASH_FAMILY_H
#define HASH_FAMILY_H

#include <stddef.h>
#include <stdint.h>

enum hash_family { HASH_DTA1, HASH_DTA0, HASH_FAMILIES };

enum {
	HASH_COPIES = 4, /* slots a key can have */
	HASH_HOPS = 8,	 /* hops a chunk can have */
};

/* "dta1", "dta0". */
const char *hash_family_name(enum hash_family f);

uint32_t hash_slot(enum hash_family f, unsigned copy, const uint8_t *key,
		   size_t len);
uint32_t hash_checksum(enum hash_family f, const uint8_t *key, size_t len);
uint32_t hash_chunk(enum hash_family f, unsigned copy, const uint8_t *key,
		    size_t len);
uint32_t hash_hop(enum hash_family f, unsigned hop, const uint8_t *key,
		  size_t len);

/* The same over n keys of one length, at full speed: slot[c][k] for c < copies,
 * hop[i][k] for i < hops, sum[k] unless sum is NULL. Keys need CRC_HEADROOM
 * (crc.h) readable bytes before them. */
void hash_slots(enum hash_family f, unsigned copies, const uint8_t *const *keys,
		size_t len, size_t n, uint32_t *const *slot, uint32_t *sum);
void hash_chunks(enum hash_family f, unsigned copies, unsigned hops,
		 const uint8_t *const *keys, size_t len, size_t n,
		 uint32_t *const *chunk, uint32_t *const *hop);

/* hash mod units; a mask where units is a power of two. units > 0. */
static inline uint64_t hash_mod(uint32_t hash, uint64_t units)
{
	return units & (units - 1) ? hash % units : hash & (units - 1);
}

/* hash_mod() for many hashes and one divisor: a mask, or, where units is no
 * power of two, two multiplications instead of a division (Lemire, Kaser, Kurz:
 * "Faster remainder by direct computation", 2019). */
struct hash_units {
	uint64_t units, mask;
	uint64_t factor; /* 2^64 / units, rounded up; 0: use the mask */
};

static inline struct hash_units hash_units_of(uint64_t units)
{
	if (units > UINT32_MAX)
		return (struct hash_units){units, UINT32_MAX, 0};
	if (!(units & (units - 1)))
		return (struct hash_units){units, units - 1, 0};
	return (struct hash_units){units, 0, UINT64_MAX / units + 1};
}

static inline uint64_t hash_mod_of(uint32_t hash, struct hash_units u)
{
	unsigned __int128 part = u.factor * hash;

	return u.factor ? (uint64_t)(part * u.units >> 64) : hash & u.mask;
}

#endif
