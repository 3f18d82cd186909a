/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * show.h - what a value, bytes in memory, is made of, and how it is shown: as
 * it is (hex), or as the numbers, addresses or text that it stands for. A
 * layout's show, or --as: one type, or several in a row, each with a name or
 * without: "flow4, u8, u32:reason, us". Each is a column.
 *
 *	hex    bytes; hex4: so many of them
 *	u8..   a big-endian number: u8, u16, u32, u64
 *	u8s..  such numbers, as many as there are: u8s, u16s, u32s
 *	text   characters, with \\ and \xNN for others
 *	flow4  or any type of key.h; ip4 and ip6 are src4 and src6
 *	ns     or us, ms: a number of 4 bytes with a unit
 *
 * The last one may take what is left: hex, text, u8s, u16s, u32s.
 */
#ifndef QUERY_SHOW_H
#define QUERY_SHOW_H

#include "base/error.h"
#include "row/row.h"
#include "region/table.h"
#include "net/key.h"

enum render_as {
	RENDER_HEX,
	RENDER_NUMBER,
	RENDER_LIST,
	RENDER_TEXT,
	RENDER_KEY, /* what is behind it as +hex */
};

struct render {
	uint8_t as;    /* enum render_as */
	uint8_t width; /* NUMBER, LIST: bytes of a number */
	uint8_t key;   /* KEY: enum key_type */
};

enum {
	SHOW_HOP_MAX = 12, /* bytes of a hop of a path, a comma and 0 */
	SHOW_PARTS = 16,   /* of one value */
	SHOW_COLUMNS = 32, /* of all tables */
	SHOW_NAME_MAX = 24,
	RENDER_LIST_MAX = 1024, /* numbers of a value */
	RENDER_TEXT_MAX = 8192, /* text of a value */
};

struct show_part {
	struct render render;
	uint16_t at, len; /* bytes of the value; len 0: the rest */
	char name[SHOW_NAME_MAX];
	const char *unit;
};

struct show {
	unsigned n;
	bool alone; /* one, without a name */
	struct show_part part[SHOW_PARTS];
};

/* Room for one rendered value, to be kept until row_end(). */
struct show_scratch {
	bool escape_blank; /* in text: blanks would break a column */
	uint64_t list[RENDER_LIST_MAX];
	char text[RENDER_TEXT_MAX];
};

/* Parts without a name have that of their type. 0, or -EINVAL and why. */
int query_show_parse(struct show *s, const char *text, struct error *err);

/* Whether values of len bytes have all parts. 0, or -EINVAL and why not. */
int show_fits(const struct show *s, size_t len, struct error *err);

/* How values of a table are shown: as told; told NULL: as the layout says, else
 * in hex. One type alone is named value, and a key takes what is behind it.
 * What no part takes is one more, in hex: rest. */
void show_for(struct show *s, const struct table *t, const struct show *told);

/* A part of a value of len bytes as text, which is in room->text. */
const char *show_part_text(const struct show_part *p, struct show_scratch *room,
			   const uint8_t *value, size_t len);

/* All parts as text, with commas between them, in out. */
void show_text(const struct show *s, struct show_scratch *room, char *out,
	       size_t cap, const uint8_t *value, size_t len);

/* Hops of a path as text, in out, which has room: those that are not known (a
 * bit each) are -. */
void show_path(char *out, const uint32_t *hop, unsigned n, uint32_t known);

/* The columns of tables: parts of one name and type share one. */
struct show_columns {
	unsigned n;
	struct row_field field[SHOW_COLUMNS];
	char name[SHOW_COLUMNS][2 * SHOW_NAME_MAX];
};

/* Adds those of a table with values of len bytes; column[i]: part i's. False:
 * too many. */
bool show_columns_add(struct show_columns *all, const struct show *s,
		      size_t len, uint8_t column[SHOW_PARTS]);

/* Sets them in the row in hand, from field first on. Parts that the value does
 * not reach are null. */
void show_columns_set(const struct show *s, const uint8_t column[SHOW_PARTS],
		      struct show_scratch *room, struct rows *rows,
		      unsigned first, const uint8_t *value, size_t len);

/*
 * Values from text, as they are shown; numbers may be 0x1f, and lists may have
 * blanks. Bytes go to out. len: that many, zeros behind what a list or a text
 * has; 0: as many as the text has, cap at most. Returns their number, or
 * -EINVAL, and err is what is behind the text: "is above 255".
 */
int show_read(const struct render *r, uint8_t *out, size_t len, size_t cap,
	      const char *text, struct error *err);

#endif
