/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render.h - how a value, bytes in memory, is shown: as it is (hex), or as the
 * numbers, addresses or text that it stands for (--as).
 */
#ifndef QUERY_RENDER_H
#define QUERY_RENDER_H

#include <stddef.h>
#include <stdint.h>

#include "row/row.h"
#include "wire/key.h"

enum render_as {
	RENDER_HEX,
	RENDER_NUMBER, /* big-endian: as a whole, or its first bytes */
	RENDER_LIST,   /* big-endian numbers of 1, 2 or 4 bytes */
	RENDER_TEXT,
	RENDER_KEY, /* a key of key.h; what is behind it as +hex */
};

struct render {
	uint8_t as;	   /* enum render_as */
	uint8_t width;	   /* NUMBER, LIST: bytes of a number */
	uint8_t key;	   /* KEY: enum key_type */
	bool escape_blank; /* TEXT: blanks would break a column */
};

enum {
	RENDER_LIST_MAX = 1024, /* numbers of a value */
	RENDER_TEXT_MAX = 8192, /* text of a value */
};

/* Room for one rendered value, to be kept until row_end(). */
struct rendered {
	uint64_t list[RENDER_LIST_MAX];
	char text[RENDER_TEXT_MAX];
};

/* By name: "hex", "u8".."u64", "u8s".."u32s", "text", a key type. 0, -EINVAL.
 */
int render_of(struct render *r, const char *name);
extern const char render_names[];

/* The names one by one: NULL behind the last. */
const char *render_name_at(unsigned i);

/* The row_type of such values. */
uint8_t render_type(const struct render *r);

/* How wide a column of values of len bytes is best made. */
uint8_t render_column(const struct render *r, size_t len);

/* Sets a field of the row in hand. value: up to TABLE_VALUE_MAX bytes. */
void render_set(const struct render *r, struct rendered *room,
		struct rows *rows, unsigned field, const uint8_t *value,
		size_t len);

/* The same as text, in room->text. */
const char *render_text(const struct render *r, struct rendered *room,
			const uint8_t *value, size_t len);

#endif
