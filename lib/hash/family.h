/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * family.h - which CRC serves which purpose: the hash families (dta(7),
 * HASHING).
 *
 * dta1: a polynomial per purpose.
 * dta0: the hashes of the published DTA translator, there of 4-byte keys:
 *       slot n is CRC-32 of the key's bytes reversed, then the byte n; the
 *       checksum is CRC-32 of the reversed key. They are correlated; kept to
 *       read its memory images. A postcard chunk is CRC-32 of the key as it
 *       is, for copies past 0 as well; hops past the fifth have the fifth's.
 *
 * Results are raw 32-bit hashes: take them mod slots (hash_mod).
 */
/* clang-format on */
#ifndef HASH_FAMILY_H
#define HASH_FAMILY_H

#include <stddef.h>
#include <stdint.h>

enum hash_family {
	HASH_DTA1,
	HASH_DTA0,
	HASH_FAMILIES,
};

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

/*
 * The same over n keys of one length, at full speed. slot[c] for c < copies,
 * hop[i] for i < hops, sum may be NULL (not wanted). Keys need CRC_HEADROOM
 * readable bytes before them.
 */
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

/*
 * The same for many hashes. What is no mask is a factor that leaves the
 * remainder as a fraction of 2^64, for hashes and units of 32 bits (Lemire,
 * Kaser, Kurz: "Faster remainder by direct computation", 2019): a division is 7
 * to 12 cycles.
 */
struct hash_units {
	uint64_t units, mask;
	uint64_t factor; /* 0: the mask does it */
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
