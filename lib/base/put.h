/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * put.h - bounds-checked writer into a caller's buffer; the mirror of cur.h.
 *
 * Errors:  sticky. A write past the end writes nothing and sets w->bad. Test
 *          put_ok() once, after the last write.
 * Bytes:   put_beN() takes host order and writes big-endian, unaligned.
 */
#ifndef BASE_PUT_H
#define BASE_PUT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct put {
	uint8_t *start, *p, *end;
	bool bad;
};

static inline struct put put_to(void *buf, size_t cap)
{
	uint8_t *p = buf;

	return (struct put){.start = p, .p = p, .end = p + cap};
}

static inline bool put_ok(const struct put *w)
{
	return !w->bad;
}

/* Bytes written so far. */
static inline size_t put_len(const struct put *w)
{
	return (size_t)(w->p - w->start);
}

static inline uint8_t *put_room(struct put *w, size_t n)
{
	uint8_t *p = w->p;

	if (w->bad || n > (size_t)(w->end - w->p)) {
		w->bad = true;
		return NULL;
	}
	w->p += n;
	return p;
}

static inline void put_bytes(struct put *w, const void *data, size_t n)
{
	uint8_t *p = put_room(w, n);

	if (p && n)
		memcpy(p, data, n);
}

static inline void put_zero(struct put *w, size_t n)
{
	uint8_t *p = put_room(w, n);

	if (p && n)
		memset(p, 0, n);
}

static inline void put_u8(struct put *w, uint8_t v)
{
	put_bytes(w, &v, 1);
}

static inline void put_be16(struct put *w, uint16_t v)
{
	v = htobe16(v);
	put_bytes(w, &v, sizeof(v));
}

static inline void put_be32(struct put *w, uint32_t v)
{
	v = htobe32(v);
	put_bytes(w, &v, sizeof(v));
}

static inline void put_be64(struct put *w, uint64_t v)
{
	v = htobe64(v);
	put_bytes(w, &v, sizeof(v));
}

#endif
