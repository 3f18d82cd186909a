/* SPDX-License-Identifier: BSD-2-Clause */
/* redis_slot.h - which of a Redis Cluster's slots a key is in (Redis Cluster
 * specification, "Key distribution model"). */
#ifndef HASH_REDIS_SLOT_H
#define HASH_REDIS_SLOT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	REDIS_SLOTS = 16384,
};

/* CRC-16/XMODEM: polynomial 0x1021, from 0. */
static inline uint16_t redis_crc16(const char *p, size_t len)
{
	uint16_t crc = 0;

	for (size_t i = 0; i < len; i++) {
		crc ^= (uint16_t)((uint8_t)p[i] << 8);
		for (int bit = 0; bit < 8; bit++)
			crc = (uint16_t)(crc << 1 ^
					 (crc & 0x8000 ? 0x1021 : 0));
	}
	return crc;
}

/* Of the whole key, or of what is between its first { and the next }, if that
 * is anything. */
static inline uint16_t redis_slot(const char *key, size_t len)
{
	const char *open = memchr(key, '{', len), *close = NULL;

	if (open)
		close = memchr(open, '}', len - (size_t)(open - key));
	if (close && close > open + 1) {
		key = open + 1;
		len = (size_t)(close - key);
	}
	return redis_crc16(key, len) % REDIS_SLOTS;
}

#endif
