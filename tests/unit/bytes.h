/* SPDX-License-Identifier: BSD-2-Clause */
/* bytes.h - samples in tests: written in hex, copied to the exact size. */
#ifndef TESTS_UNIT_BYTES_H
#define TESTS_UNIT_BYTES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Hex digits, blanks between them allowed, to bytes. Returns their number. */
static inline size_t unhex(uint8_t *out, size_t cap, const char *text)
{
	size_t n = 0;

	for (; *text; text++) {
		if (*text == ' ')
			continue;
		if (n == cap || !text_hex(&out[n++], text++, 1))
			exit(1);
	}
	return n;
}

/* A heap copy of exactly n bytes, so that the sanitizer sees a read past it. */
static inline uint8_t *exact_copy(const void *data, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);

	if (!copy)
		exit(1);
	if (n)
		memcpy(copy, data, n);
	return n ? copy : memset(copy, 0, 1);
}

#endif
