/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rng.h - splitmix64: small, seedable, the same sequence on every machine.
 * Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators"
 * (OOPSLA 2014). Not for secrets.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>
#include <sys/random.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static inline uint64_t rng_u64(struct rng *r)
{
	return rng_mix(r->state += 0x9e3779b97f4a7c15);
}

/* Another number each time, also in another process: the kernel's. */
static inline uint64_t rng_seed(void)
{
	uint64_t seed = 0;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = 0;
	return seed;
}

/* Uniform in [0, n), n > 0; the bias is below n / 2^64. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)rng_u64(r) * n) >> 64);
}

/* Uniform in [0, 1). */
static inline double rng_unit(struct rng *r)
{
	return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

#endif
