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

static inline uint64_t hash_bytes(uint64_t seed, const uint8_t *p, size_t len)
{
	uint64_t h = rng_mix(seed + len), w;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&w, p, 8);
		h = rng_mix(h ^ le64toh(w));
	}
	w = 0;
	for (size_t i = 0; i < len; i++)
		w |= (uint64_t)p[i] << (8 * i);
	return rng_mix(h ^ w);
}

#endif
