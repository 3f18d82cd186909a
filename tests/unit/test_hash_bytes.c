/* SPDX-License-Identifier: BSD-2-Clause */
/* test_hash_bytes.c - hash_bytes() by its definition: words of 8 bytes, the
 * first byte lowest, the last of them filled up with zeros. */
#include <stdlib.h>

#include "hash/bytes.h"
#include "test.h"

enum {
	LEN_MAX = 40,
};

static uint64_t reference(uint64_t seed, const uint8_t *p, size_t len)
{
	uint64_t h = rng_mix(seed + len);

	for (size_t at = 0; at <= len; at += 8) {
		uint64_t w = 0;

		for (size_t i = at; i < len && i < at + 8; i++)
			w |= (uint64_t)p[i] << (8 * (i - at));
		h = rng_mix(h ^ w);
	}
	return h;
}

int main(void)
{
	struct rng r = {1};

	for (size_t len = 0; len <= LEN_MAX; len++) {
		/* A copy of just that size: no byte beyond it is read. */
		uint8_t *p = malloc(len ? len : 1);

		for (int round = 0; round < 20; round++) {
			for (size_t i = 0; i < len; i++)
				p[i] = (uint8_t)rng_u64(&r);
			TEST(hash_bytes((uint64_t)round, p, len) ==
			     reference((uint64_t)round, p, len));
		}
		free(p);
	}
	return test_end();
}
