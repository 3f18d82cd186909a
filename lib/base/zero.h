/* SPDX-License-Identifier: BSD-2-Clause */
/* zero.h - whether bytes are all zero: what is not set, or not written yet. */
#ifndef BASE_ZERO_H
#define BASE_ZERO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool is_zero(const uint8_t *p, size_t n)
{
	uint64_t any = 0, w;
	size_t i = 0;

	for (; i + sizeof(w) <= n; i += sizeof(w)) {
		memcpy(&w, p + i, sizeof(w));
		any |= w;
	}
	for (; i < n; i++)
		any |= p[i];
	return !any;
}

#endif
