/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys.h - keys compared and copied. They are a few words long: a call of
 * memcmp() costs more than that, and so does the string instruction that GCC
 * makes of a short memcpy() whose length it does not know.
 */
#ifndef HASH_KEYS_H
#define HASH_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* to and from are apart. */
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
