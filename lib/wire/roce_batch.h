/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_batch.h - common requests decoded fast, some at once.
 *
 * Common: IPv4 without options, no VLAN tag, UDP checksum 0, WRITE Only (RC or
 * UC) or FETCH_ADD, short. What it takes it decodes exactly as roce_decode()
 * does; everything else is that one's.
 */
#ifndef WIRE_ROCE_BATCH_H
#define WIRE_ROCE_BATCH_H

#include <stdint.h>

#include "wire/roce.h"

enum {
	ROCE_BATCH = 32,
};

/*
 * Decodes n <= ROCE_BATCH frames. Bit i of what it returns: out[i] is decoded;
 * else frame i is not common, or wrong in some way: ask roce_decode().
 */
uint32_t roce_decode_batch(struct roce *out, const uint8_t *const *frames,
			   const uint32_t *lens, unsigned n);

#endif
