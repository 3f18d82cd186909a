/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * show.h - what a value is made of: types in a row, each with a name or without
 * (a layout's show, or --as): "flow4, u8, u32:reason, us". Each is a column.
 *
 * Types are those of render.h, hex with a number of bytes (hex4), and numbers
 * of 4 bytes with a unit: ns, us, ms; ip4 and ip6 are src4 and src6. The last
 * one may take what is left: hex, text, u8s, u16s, u32s.
 */
#ifndef QUERY_SHOW_H
#define QUERY_SHOW_H

#include "base/fault.h"
#include "query/render.h"

enum {
	SHOW_PARTS = 16,   /* of one value */
	SHOW_COLUMNS = 32, /* of all tables */
	SHOW_NAME_MAX = 24,
};

struct show_part {
	struct render render;
	uint16_t at, len; /* bytes of the value; len 0: the rest */
	char name[SHOW_NAME_MAX];
	const char *unit;
	bool named;
};

struct show {
	unsigned n;
	struct show_part part[SHOW_PARTS];
};

/* 0, or -EINVAL and why. */
int show_of(struct show *s, const char *text, struct fault *f);

/* One part of a type, which has no name. */
void show_one(struct show *s, const struct render *r);

/* Whether values of len bytes have all parts. 0, or -EINVAL and why not. */
int show_fits(const struct show *s, size_t len, struct fault *f);
/* What parts leave over of values of len bytes is one more, in hex: rest. */
void show_rest(struct show *s, size_t len);

/* The columns of tables: parts of one name and type share one. */
struct shown {
	unsigned n;
	struct row_field field[SHOW_COLUMNS];
	char name[SHOW_COLUMNS][2 * SHOW_NAME_MAX];
};

/* Adds those of a table; column[i]: part i's. False: too many. */
bool shown_add(struct shown *all, const struct show *s,
	       uint8_t column[SHOW_PARTS]);

/* Sets them in the row in hand, from field first on. Parts that the value does
 * not reach are null. */
void shown_set(const struct show *s, const uint8_t column[SHOW_PARTS],
	       struct rendered *room, struct rows *rows, unsigned first,
	       const uint8_t *value, size_t len);

/* The parts as one text, with commas between, in out; a value alone in hex. */
void show_text(const struct show *s, struct rendered *room, char *out,
	       size_t cap, const uint8_t *value, size_t len);

#endif
