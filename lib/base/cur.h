/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cur.h - bounds-checked reader over one packet or record.
 *
 * Errors:  sticky. A read past the end returns 0 (or NULL) and sets c->bad;
 *          every later read does too. Test cur_ok() once, after the last read;
 *          a loop over items must test cur_left() or cur_ok() each turn.
 * Bytes:   cur_beN() takes big-endian wire data and returns host order; the
 *          data need not be aligned.
 * Threads: none needed; a cursor belongs to one caller. Does not own the data.
 */
#ifndef BASE_CUR_H
#define BASE_CUR_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cur {
	const uint8_t *p, *end;
	bool bad;
};

static inline struct cur cur_of(const void *data, size_t len)
{
	const uint8_t *p = data;

	return (struct cur){.p = p, .end = p + len};
}

static inline size_t cur_left(const struct cur *c)
{
	return (size_t)(c->end - c->p);
}

static inline bool cur_ok(const struct cur *c)
{
	return !c->bad;
}

/* Every getter comes through here, so one comparison guards them all. */
static inline const uint8_t *cur_take(struct cur *c, size_t n)
{
	const uint8_t *p = c->p;

	if (c->bad || n > cur_left(c)) {
		c->bad = true;
		return NULL;
	}
	c->p += n;
	return p;
}

static inline uint8_t cur_u8(struct cur *c)
{
	const uint8_t *p = cur_take(c, 1);

	return p ? *p : 0;
}

static inline uint16_t cur_be16(struct cur *c)
{
	const uint8_t *p = cur_take(c, 2);
	uint16_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static inline uint32_t cur_be32(struct cur *c)
{
	const uint8_t *p = cur_take(c, 4);
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static inline uint64_t cur_be64(struct cur *c)
{
	const uint8_t *p = cur_take(c, 8);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

#endif
