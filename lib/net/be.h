/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * be.h - big-endian loads and stores at unaligned addresses, unchecked: for
 * bytes that a checked reader (cur_take) or writer (put_room) has handed out.
 */
#ifndef NET_BE_H
#define NET_BE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t be16_load(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static inline uint32_t be32_load(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static inline uint64_t be64_load(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

static inline void be16_store(uint8_t *p, uint16_t v)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof(v));
}

static inline uint32_t be24_load(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline void be32_store(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void be48_store(uint8_t *p, uint64_t v)
{
	be16_store(p, (uint16_t)(v >> 32));
	be32_store(p + 2, (uint32_t)v);
}

static inline uint64_t be48_load(const uint8_t *p)
{
	return (uint64_t)be16_load(p) << 32 | be32_load(p + 2);
}

static inline void be64_store(uint8_t *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
}

#endif
