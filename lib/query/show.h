/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * show.h - shows a value as hexadecimal bytes, or as the numbers, addresses or
 * text that it consists of. A layout's "show", or the option --as, describes
 * its parts: types, with or without a name: "flow4, u8, u32:reason, us". Each
 * part is a column. dta-query(1) has all types, under --as: hex, text, u8s,
 * u16s and u32s take all bytes that are left, as the last part.
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
	RENDER_KEY, /* with bytes after the key as +hex */
};

struct render {
	uint8_t as;    /* enum render_as */
	uint8_t width; /* RENDER_NUMBER, RENDER_LIST: bytes of a number */
	uint8_t key;   /* RENDER_KEY: enum key_type */
};

enum {
	SHOW_HOP_MAX = 12, /* bytes of a hop as text, with a comma and NUL */
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
	bool alone; /* there is one part, and text gave it no name */
	struct show_part part[SHOW_PARTS];
};

/* Room for one rendered value, to be kept until row_end(). */
struct show_scratch {
	bool escape_blank; /* a blank in text is \x20 */
	uint64_t list[RENDER_LIST_MAX];
	char text[RENDER_TEXT_MAX];
};

/* Parses a description; unnamed parts have their type's name. 0 or -EINVAL. */
int query_show_parse(struct show *s, const char *text, struct error *err);

/* Checks that values of len bytes have all parts. 0, or -EINVAL and why not. */
int show_fits(const struct show *s, size_t len, struct error *err);

/* Sets how values of a table are shown: as asked, which may be NULL; else as
 * the layout says; else in hex. A part that is alone is named "value", and if
 * it is a key takes all bytes. Bytes in no part become one more, "rest", in
 * hex. */
void show_for_table(struct show *s, const struct table *t,
		    const struct show *asked);

/* Writes a part of a value as text to room->text, and returns that. */
const char *show_part_text(const struct show_part *p, struct show_scratch *room,
			   const uint8_t *value, size_t len);

/* Writes all parts as text, with commas between them, to out. */
void show_text(const struct show *s, struct show_scratch *room, char *out,
	       size_t cap, const uint8_t *value, size_t len);

/* Writes n hops to out, SHOW_HOP_MAX bytes each; - if known lacks its bit. */
void show_path(char *out, const uint32_t *hop, unsigned n, uint32_t known);

/* The columns of tables: parts of the same name and type share one. */
struct show_columns {
	unsigned n;
	struct row_field field[SHOW_COLUMNS];
	char name[SHOW_COLUMNS][2 * SHOW_NAME_MAX];
};

/* Adds the columns of a table with values of len bytes. column[i]: the one of
 * part i. False: there are too many. */
bool show_columns_add(struct show_columns *all, const struct show *s,
		      size_t len, uint8_t column[SHOW_PARTS]);

/* Sets the parts of a value in the row in hand; column 0 is its field `first'.
 * Parts beyond the end of the value are null. */
void show_columns_set(const struct show *s, const uint8_t column[SHOW_PARTS],
		      struct show_scratch *room, struct rows *rows,
		      unsigned first, const uint8_t *value, size_t len);

/*
 * Reads a value from text, in the form in which it is shown; numbers may also
 * be 0x1f, and lists may have blanks. Writes len bytes to out, padding a list
 * or a text with zeros; if len is 0, as many as the text has, cap at most.
 * Returns their number, or -EINVAL, and err is how a message about the text
 * goes on: "is above 255".
 */
int show_read(const struct render *r, uint8_t *out, size_t len, size_t cap,
	      const char *text, struct error *err);

#endif
