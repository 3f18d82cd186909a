/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/render.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "store/table.h"

_Static_assert((int)TABLE_VALUE_MAX <= (int)RENDER_LIST_MAX, "a number a byte");
_Static_assert(4 * (int)TABLE_VALUE_MAX < RENDER_TEXT_MAX, "an escape a byte");
_Static_assert(KEY_TEXT_MAX + 2 * TABLE_VALUE_MAX + 2 < RENDER_TEXT_MAX,
	       "a key, and the rest");

const char render_names[] =
	"hex, u8, u16, u32, u64, u8s, u16s, u32s, text or a key type";

static const struct {
	const char *name;
	uint8_t as, width;
} names[] = {
	{"hex", RENDER_HEX, 0},	   {"u8", RENDER_NUMBER, 1},
	{"u16", RENDER_NUMBER, 2}, {"u32", RENDER_NUMBER, 4},
	{"u64", RENDER_NUMBER, 8}, {"u8s", RENDER_LIST, 1},
	{"u16s", RENDER_LIST, 2},  {"u32s", RENDER_LIST, 4},
	{"text", RENDER_TEXT, 0},
};

int render_of(struct render *r, const char *name)
{
	int key = key_type_of(name);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i].name) != 0)
			continue;
		r->as = names[i].as;
		r->width = names[i].width;
		return 0;
	}
	if (key <= KEY_HEX)
		return -EINVAL;
	r->as = RENDER_KEY;
	r->width = 0;
	r->key = (uint8_t)key;
	return 0;
}

const char *render_name_at(unsigned i)
{
	const unsigned n = sizeof(names) / sizeof(names[0]);

	if (i < n)
		return names[i].name;
	i += KEY_HEX + 1 - n; /* hex was there */
	return i < KEY_TYPES ? key_type_name((enum key_type)i) : NULL;
}

uint8_t render_type(const struct render *r)
{
	static const uint8_t type[] = {
		[RENDER_HEX] = ROW_BYTES, [RENDER_NUMBER] = ROW_U64,
		[RENDER_LIST] = ROW_LIST, [RENDER_TEXT] = ROW_STR,
		[RENDER_KEY] = ROW_STR,
	};

	return type[r->as];
}

uint8_t render_column(const struct render *r, size_t len)
{
	enum { LEAST = 16, MOST = 72, FLOW4_TEXT = 47 };
	size_t width = 2 * len;

	if (r->as == RENDER_NUMBER)
		width = 0;
	else if (r->as == RENDER_LIST) /* small numbers, as a rule */
		width = 4 * (len / r->width);
	else if (r->as == RENDER_TEXT)
		width = len;
	else if (r->as == RENDER_KEY && len >= key_type_len(r->key))
		width = FLOW4_TEXT + 2 * (len - key_type_len(r->key));
	if (width > MOST)
		width = MOST;
	return (uint8_t)(width < LEAST ? LEAST : width);
}

/* A big-endian number of len bytes. */
static uint64_t number(const uint8_t *p, size_t len)
{
	uint64_t v = 0;

	while (len--)
		v = v << 8 | *p++;
	return v;
}

static size_t to_list(const struct render *r, uint64_t *list,
		      const uint8_t *value, size_t len)
{
	size_t n = 0;

	for (size_t at = 0; at < len; at += r->width) {
		size_t left = len - at < r->width ? len - at : r->width;

		list[n++] = number(value + at, left);
	}
	return n;
}

/* Printable text; zeros that pad it are left out, other bytes are \xNN. */
static void to_text(const struct render *r, char *out, const uint8_t *value,
		    size_t len)
{
	while (len && !value[len - 1])
		len--;
	for (size_t i = 0; i < len; i++) {
		uint8_t c = value[i];

		if (c == '\\') {
			*out++ = '\\';
			*out++ = '\\';
		} else if (c > ' ' && c < 0x7f) {
			*out++ = (char)c;
		} else if (c == ' ' && !r->escape_blank) {
			*out++ = ' ';
		} else {
			*out++ = '\\';
			*out++ = 'x';
			out = text_put_hex(out, &c, 1);
		}
	}
	*out = '\0';
}

static char *to_hex(char *out, const uint8_t *value, size_t len)
{
	out = text_put_hex(out, value, len);
	*out = '\0';
	return out;
}

static void to_key(const struct render *r, char *out, const uint8_t *value,
		   size_t len)
{
	enum key_type type = (enum key_type)r->key;
	size_t want = key_type_len(type);

	if (len < want) {
		to_hex(out, value, len);
		return;
	}
	out += key_format(out, type, value, want);
	if (len > want) {
		*out++ = '+';
		to_hex(out, value + want, len - want);
	}
}

void render_set(const struct render *r, struct rendered *room,
		struct rows *rows, unsigned field, const uint8_t *value,
		size_t len)
{
	switch (r->as) {
	case RENDER_HEX:
		row_bytes(rows, field, value, len);
		break;
	case RENDER_NUMBER:
		row_u64(rows, field,
			number(value, len < r->width ? len : r->width));
		break;
	case RENDER_LIST:
		row_list(rows, field, room->list,
			 to_list(r, room->list, value, len));
		break;
	case RENDER_TEXT:
		to_text(r, room->text, value, len);
		row_str(rows, field, room->text);
		break;
	case RENDER_KEY:
		to_key(r, room->text, value, len);
		row_str(rows, field, room->text);
		break;
	}
}

const char *render_text(const struct render *r, struct rendered *room,
			const uint8_t *value, size_t len)
{
	char *out = room->text;

	if (r->as == RENDER_TEXT) {
		to_text(r, out, value, len);
	} else if (r->as == RENDER_KEY) {
		to_key(r, out, value, len);
	} else if (r->as == RENDER_HEX) {
		to_hex(out, value, len);
	} else if (r->as == RENDER_NUMBER) {
		snprintf(out, sizeof(room->text), "%llu",
			 (unsigned long long)number(
				 value, len < r->width ? len : r->width));
	} else {
		size_t n = to_list(r, room->list, value, len), at = 0;

		out[0] = '\0';
		for (size_t i = 0; i < n; i++)
			at += (size_t)snprintf(
				out + at, sizeof(room->text) - at, "%s%" PRIu64,
				i ? "," : "", room->list[i]);
	}
	return out;
}
