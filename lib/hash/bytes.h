/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bytes.h - a seeded hash of a few bytes, the same on every machine: for tables
 * and choices of our own. Where a switch has to find the same slot, a CRC does
 * it: family.h.
 */
#ifndef HASH_BYTES_H
#define HASH_BYTES_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/rng.h"

/* The last 0 to 7 bytes as a little-endian number; those that two of its loads
 * have in common are the same in both. */
static inline uint64_t hash_rest(const uint8_t *p, size_t len)
{
	uint32_t low, high;

	if (len >= 4) {
		memcpy(&low, p, 4);
		memcpy(&high, p + len - 4, 4);
		return le32toh(low) | (uint64_t)le32toh(high)
					      << (8 * (len - 4));
	}
	if (!len)
		return 0;
	return p[0] | (uint64_t)p[len / 2] << (8 * (len / 2)) |
	       (uint64_t)p[len - 1] << (8 * (len - 1));
}

static inline uint64_t hash_bytes(uint64_t seed, const uint8_t *p, size_t len)
{
	uint64_t h = rng_mix(seed + len), w;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&w, p, 8);
		h = rng_mix(h ^ le64toh(w));
	}
	return rng_mix(h ^ hash_rest(p, len));
}

#endif
