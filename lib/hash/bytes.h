/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bytes.h - a seeded hash of a few bytes, the same on every machine, for hash
 * tables and choices within a program. Where a switch must compute the same
 * slot, the hash is a CRC: family.h.
 */
#ifndef HASH_BYTES_H
#define HASH_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/rng.h"

/* The last 0 to 7 bytes as a little-endian number. Loads may overlap: both put
 * a byte that they share in the same place. */
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

/* Keys are compared and copied by loads of 8 bytes. They are a few words long:
 * a call of memcmp() would cost more, and so would the string instruction that
 * GCC makes of a short memcpy() whose length it does not know. */

static inline uint64_t key_word(const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

static inline bool keys_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
	size_t i = 0;

	for (; i + 8 <= len; i += 8)
		if (key_word(a + i) != key_word(b + i))
			return false;
	if (len >= 8) /* the last 8 bytes again, or for the first time */
		return key_word(a + len - 8) == key_word(b + len - 8);
	for (; i < len; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* to and from must not overlap. */
static inline void key_copy(uint8_t *to, const uint8_t *from, size_t len)
{
	size_t i = 0;

	for (; i + 8 <= len; i += 8)
		memcpy(to + i, from + i, 8);
	if (len >= 8)
		memcpy(to + len - 8, from + len - 8, 8);
	else
		for (; i < len; i++)
			to[i] = from[i];
}

#endif
