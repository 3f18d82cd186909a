/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/show.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "net/be.h"

_Static_assert(2 * TABLE_VALUE_MAX + KEY_TEXT_MAX < RENDER_TEXT_MAX,
	       "room for a key and all bytes after it");

static const struct {
	const char *type;
	struct render render;
	const char *name, *unit; /* of the column; NULL: as the type */
} types[] = {
	{"hex", {RENDER_HEX}, NULL, NULL},
	{"u8", {RENDER_NUMBER, 1}, NULL, NULL},
	{"u16", {RENDER_NUMBER, 2}, NULL, NULL},
	{"u32", {RENDER_NUMBER, 4}, NULL, NULL},
	{"u64", {RENDER_NUMBER, 8}, NULL, NULL},
	{"u8s", {RENDER_LIST, 1}, NULL, NULL},
	{"u16s", {RENDER_LIST, 2}, NULL, NULL},
	{"u32s", {RENDER_LIST, 4}, NULL, NULL},
	{"text", {RENDER_TEXT}, NULL, NULL},
	{"flow4", {RENDER_KEY, 0, KEY_FLOW4}, "flow", NULL},
	{"flow6", {RENDER_KEY, 0, KEY_FLOW6}, "flow", NULL},
	{"hop4", {RENDER_KEY, 0, KEY_HOP4}, "hop_flow", NULL},
	{"hop6", {RENDER_KEY, 0, KEY_HOP6}, "hop_flow", NULL},
	{"src4", {RENDER_KEY, 0, KEY_SRC4}, "address", NULL},
	{"src6", {RENDER_KEY, 0, KEY_SRC6}, "address", NULL},
	{"ip4", {RENDER_KEY, 0, KEY_SRC4}, "address", NULL},
	{"ip6", {RENDER_KEY, 0, KEY_SRC6}, "address", NULL},
	{"ns", {RENDER_NUMBER, 4}, "time_ns", "ns"},
	{"us", {RENDER_NUMBER, 4}, "time_us", "us"},
	{"ms", {RENDER_NUMBER, 4}, "time_ms", "ms"},
};

static int set_type(struct show_part *p, const char *type, struct error *err)
{
	uint64_t bytes;

	snprintf(p->name, sizeof(p->name), "%s", type);
	if (!strncmp(type, "hex", 3) && text_u64(&bytes, type + 3, 1020) &&
	    bytes) {
		p->len = (uint16_t)bytes;
		return 0;
	}
	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(type, types[i].type) != 0)
			continue;
		p->render = types[i].render;
		if (p->render.as == RENDER_NUMBER)
			p->len = p->render.width;
		else if (p->render.as == RENDER_KEY)
			p->len = (uint16_t)key_type_len(p->render.key);
		p->unit = types[i].unit;
		if (types[i].name)
			snprintf(p->name, sizeof(p->name), "%s", types[i].name);
		return 0;
	}
	return error_set(err, -EINVAL,
			 "'%s' is no type: hex, u8, u16, u32, u64, u8s, u16s, "
			 "u32s, text, a key type, hexN, ip4, ip6, ns, us or "
			 "ms; nor a list of such: flow4,u8,u32",
			 type);
}

/* Reads a part such as "u32:reason". */
static int read_part(struct show_part *p, char *text, struct error *err)
{
	char *colon = strchr(text, ':');
	size_t n;
	int rc;

	*p = (struct show_part){0};
	if (colon)
		*colon++ = '\0';
	rc = set_type(p, text, err);
	if (rc < 0 || !colon)
		return rc;
	n = strspn(colon, "abcdefghijklmnopqrstuvwxyz0123456789_");
	if (!n || colon[n] || n >= SHOW_NAME_MAX)
		return error_set(err, -EINVAL,
				 "'%s' is no name: a-z, 0-9, _, %d at most",
				 colon, SHOW_NAME_MAX - 1);
	snprintf(p->name, sizeof(p->name), "%s", colon);
	return 0;
}

/* Makes the name of part i differ from those before it: u8, u8_2. */
static void make_name_unique(struct show *s, unsigned i)
{
	char base[SHOW_NAME_MAX - 3];
	unsigned number = 2;

	snprintf(base, sizeof(base), "%.20s", s->part[i].name);
	for (unsigned k = 0; k < i; k++)
		if (!strcmp(s->part[k].name, s->part[i].name)) {
			snprintf(s->part[i].name, SHOW_NAME_MAX, "%s_%u", base,
				 number++);
			k = UINT32_MAX; /* from the start */
		}
}

int query_show_parse(struct show *s, const char *text, struct error *err)
{
	char copy[512], *rest = copy, *part;
	size_t at = 0;
	int rc;

	*s = (struct show){0};
	if (strlen(text) >= sizeof(copy))
		return error_set(err, -EINVAL, "is too long");
	snprintf(copy, sizeof(copy), "%s", text);
	while ((part = strsep(&rest, ","))) {
		struct show_part *p = &s->part[s->n];

		part += strspn(part, " \t");
		part[strcspn(part, " \t")] = '\0';
		if (s->n == SHOW_PARTS)
			return error_set(err, -EINVAL, "more than %d types",
					 SHOW_PARTS);
		if (s->n && !p[-1].len)
			return error_set(err, -EINVAL,
					 "nothing can come behind %s, which "
					 "takes the rest",
					 p[-1].name);
		rc = read_part(p, part, err);
		if (rc < 0)
			return rc;
		p->at = (uint16_t)at;
		at += p->len;
		make_name_unique(s, s->n++);
	}
	s->alone = s->n == 1 && !strchr(text, ':');
	return 0;
}

/* The bytes that all parts need; one that takes what is left needs one. */
static size_t len_at_least(const struct show *s)
{
	const struct show_part *last = &s->part[s->n - 1];

	return s->n ? last->at + (last->len ? last->len : 1u) : 0;
}

int show_fits(const struct show *s, size_t len, struct error *err)
{
	size_t want = len_at_least(s);

	if (want <= len)
		return 0;
	return error_set(err, -EINVAL,
			 "that is %zu bytes, and values have %zu: leave some "
			 "out, or make values longer",
			 want, len);
}

static void add_rest(struct show *s, size_t len)
{
	size_t at = len_at_least(s);
	struct show_part *p = &s->part[s->n];

	if (s->n == SHOW_PARTS || !p[-1].len || at >= len)
		return;
	*p = (struct show_part){.at = (uint16_t)at, .name = "rest"};
	make_name_unique(s, s->n++);
}

void show_for_table(struct show *s, const struct table *t,
		    const struct show *asked)
{
	struct error why;

	/* A layout of a newer version may have types that are unknown here. */
	if (!*t->show || query_show_parse(s, t->show, &why) < 0)
		query_show_parse(s, "hex", &why);
	/* --as KEYTYPE: a table of the other IP version keeps its own. */
	if (asked && asked->alone && asked->part[0].render.as == RENDER_KEY &&
	    s->part[0].render.as == RENDER_KEY) {
		s->n = 1;
		s->alone = true;
	} else if (asked) {
		*s = *asked;
	}
	if (s->alone) {
		snprintf(s->part[0].name, sizeof(s->part[0].name), "value");
		if (s->part[0].render.as == RENDER_KEY)
			s->part[0].len = 0;
	}
	add_rest(s, t->value_len);
}

/* A big-endian number of len bytes. */
static uint64_t read_number(const uint8_t *p, size_t len)
{
	uint64_t v = 0;

	while (len--)
		v = v << 8 | *p++;
	return v;
}

static size_t read_list(const struct render *r, uint64_t *list,
			const uint8_t *value, size_t len)
{
	size_t n = 0;

	for (size_t at = 0; at < len; at += r->width) {
		size_t left = len - at < r->width ? len - at : r->width;

		list[n++] = read_number(value + at, left);
	}
	return n;
}

/* Writes printable text, without zeros at its end; other bytes as \xNN. */
static void write_text(const struct show_scratch *room, char *out,
		       const uint8_t *value, size_t len)
{
	while (len && !value[len - 1])
		len--;
	for (size_t i = 0; i < len; i++) {
		uint8_t c = value[i];
		bool blank = c == ' ' && !room->escape_blank;

		if (c == '\\')
			*out++ = '\\';
		if (blank || (c > ' ' && c < 0x7f))
			*out++ = (char)c;
		else
			out = text_put_hex(stpcpy(out, "\\x"), &c, 1);
	}
	*out = '\0';
}

/* Writes a key, and bytes after it as +hex. */
static void write_key(enum key_type type, char *out, const uint8_t *value,
		      size_t len)
{
	size_t want = key_type_len(type);

	if (len < want) {
		*text_put_hex(out, value, len) = '\0';
		return;
	}
	out += key_format(out, type, value, want);
	if (len > want) {
		*out++ = '+';
		*text_put_hex(out, value + want, len - want) = '\0';
	}
}

/* The bytes of a part in a value of len bytes; 0: it is beyond the end. */
static size_t part_len(const struct show_part *p, size_t len)
{
	size_t left = p->at < len ? len - p->at : 0;

	return p->len ? (p->len <= left ? p->len : 0) : left;
}

const char *show_part_text(const struct show_part *p, struct show_scratch *room,
			   const uint8_t *value, size_t len)
{
	const struct render *r = &p->render;
	size_t n = part_len(p, len), at = 0, numbers;
	char *out = room->text;

	*out = '\0';
	if (!n)
		return out;
	value += p->at;
	if (r->as == RENDER_TEXT) {
		write_text(room, out, value, n);
	} else if (r->as == RENDER_KEY) {
		write_key((enum key_type)r->key, out, value, n);
	} else if (r->as == RENDER_HEX) {
		*text_put_hex(out, value, n) = '\0';
	} else if (r->as == RENDER_NUMBER) {
		snprintf(out, sizeof(room->text), "%" PRIu64,
			 read_number(value, n));
	} else {
		numbers = read_list(r, room->list, value, n);
		for (size_t i = 0; i < numbers; i++)
			at += (size_t)snprintf(
				out + at, sizeof(room->text) - at, "%s%" PRIu64,
				i ? "," : "", room->list[i]);
	}
	return out;
}

void show_text(const struct show *s, struct show_scratch *room, char *out,
	       size_t cap, const uint8_t *value, size_t len)
{
	size_t n = 0;

	*out = '\0';
	for (unsigned i = 0; i < s->n && n < cap; i++)
		n += (size_t)snprintf(
			out + n, cap - n, "%s%s", i ? "," : "",
			show_part_text(&s->part[i], room, value, len));
}

void show_path(char *out, const uint32_t *hop, unsigned n, uint32_t known)
{
	*out = '\0';
	for (unsigned i = 0; i < n; i++)
		if (known >> i & 1)
			out += snprintf(out, SHOW_HOP_MAX, "%s%" PRIu32,
					i ? "," : "", hop[i]);
		else
			out += snprintf(out, SHOW_HOP_MAX, "%s-", i ? "," : "");
}

static const uint8_t row_types[] = {
	[RENDER_HEX] = ROW_BYTES, [RENDER_NUMBER] = ROW_U64,
	[RENDER_LIST] = ROW_LIST, [RENDER_TEXT] = ROW_STR,
	[RENDER_KEY] = ROW_STR,
};

/* The width in characters that suits a part of values of len bytes. */
static uint8_t show_width(const struct show_part *p, size_t len)
{
	enum { LEAST = 16, MOST = 72, FLOW4_TEXT = 47 };
	const struct render *r = &p->render;
	size_t n = part_len(p, len), width = 2 * n;

	if (r->as == RENDER_NUMBER)
		return 6;
	if (r->as == RENDER_LIST) /* small numbers, as a rule */
		width = 4 * (n / r->width);
	else if (r->as == RENDER_TEXT)
		width = n;
	else if (r->as == RENDER_KEY && n >= key_type_len(r->key))
		width = FLOW4_TEXT + 2 * (n - key_type_len(r->key));
	if (width > MOST)
		width = MOST;
	return (uint8_t)(width < LEAST ? LEAST : width);
}

/* Finds or adds a part's column: its index, or SHOW_COLUMNS if too many. */
static unsigned find_column(struct show_columns *all, const struct show_part *p,
			    size_t len)
{
	uint8_t type = row_types[p->render.as], width = show_width(p, len);
	char name[2 * SHOW_NAME_MAX];

	snprintf(name, sizeof(name), "%s", p->name);
	for (unsigned i = 0; i < all->n; i++) {
		if (strcmp(all->name[i], name) != 0)
			continue;
		if (all->field[i].type == type) {
			if (all->field[i].width < width)
				all->field[i].width = width;
			return i;
		}
		snprintf(name, sizeof(name), "%s_%u", p->name, i);
	}
	if (all->n == SHOW_COLUMNS)
		return SHOW_COLUMNS;
	snprintf(all->name[all->n], sizeof(all->name[0]), "%s", name);
	all->field[all->n] = (struct row_field){
		.type = type,
		.unit = p->unit,
		.width = width,
		.flow = p->render.key == KEY_FLOW4 ||
			p->render.key == KEY_FLOW6,
	};
	return all->n++;
}

bool show_columns_add(struct show_columns *all, const struct show *s,
		      size_t len, uint8_t column[SHOW_PARTS])
{
	for (unsigned i = 0; i < s->n; i++) {
		column[i] = (uint8_t)find_column(all, &s->part[i], len);
		if (column[i] == SHOW_COLUMNS)
			return false;
	}
	for (unsigned i = 0; i < all->n; i++) /* pointers into *all */
		all->field[i].name = all->name[i];
	return true;
}

void show_columns_set(const struct show *s, const uint8_t column[SHOW_PARTS],
		      struct show_scratch *room, struct rows *rows,
		      unsigned first, const uint8_t *value, size_t len)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct show_part *p = &s->part[i];
		const uint8_t *bytes = value + p->at;
		unsigned field = first + column[i];
		size_t n = part_len(p, len);

		if (!n)
			continue;
		if (p->render.as == RENDER_HEX)
			row_bytes(rows, field, bytes, n);
		else if (p->render.as == RENDER_NUMBER)
			row_u64(rows, field, read_number(bytes, n));
		else if (p->render.as == RENDER_LIST)
			row_list(rows, field, room->list,
				 read_list(&p->render, room->list, bytes, n));
		else
			row_str(rows, field,
				show_part_text(p, room, value, len));
	}
}

struct value_reader {
	uint8_t *out;
	size_t n, cap; /* bytes read, room */
	struct error *err;
};

static int add_bytes(struct value_reader *t, const void *bytes, size_t n)
{
	if (n > t->cap - t->n)
		return error_set(t->err, -EINVAL,
				 "is more than the %zu bytes there are",
				 t->cap);
	memcpy(t->out + t->n, bytes, n);
	t->n += n;
	return 0;
}

static int parse_number(struct value_reader *t, unsigned width,
			const char *text)
{
	uint64_t max = UINT64_MAX >> (64 - 8 * width), v;
	uint8_t be[8];

	if (text_number(&v, text, max)) {
		be64_store(be, v);
		return add_bytes(t, be + sizeof(be) - width, width);
	}
	if (text_number(&v, text, UINT64_MAX))
		return error_set(t->err, -EINVAL, "is above %llu",
				 (unsigned long long)max);
	return error_set(t->err, -EINVAL, "is no number from 0 to %llu",
			 (unsigned long long)max);
}

static int parse_list(struct value_reader *t, unsigned width, const char *text)
{
	char one[24];
	int rc = 0;

	for (; *text && !rc; text += strspn(text, ", ")) {
		size_t n = strcspn(text, ", ");

		if (n >= sizeof(one))
			return error_set(t->err, -EINVAL,
					 "is no list of numbers");
		memcpy(one, text, n);
		one[n] = '\0';
		text += n;
		rc = parse_number(t, width, one);
	}
	return rc;
}

static int parse_hex(struct value_reader *t, const char *text)
{
	uint8_t byte;
	int rc = 0;

	if (text[0] == '0' && text[1] == 'x')
		text += 2;
	for (; *text && !rc; text += 2) {
		if (!text_hex(&byte, text, 1))
			return error_set(t->err, -EINVAL,
					 "is no bytes in hexadecimal, two "
					 "digits each");
		rc = add_bytes(t, &byte, 1);
	}
	return rc;
}

static int parse_text(struct value_reader *t, const char *text)
{
	int rc = 0;

	for (; *text && !rc; text++) {
		uint8_t c = (uint8_t)*text;

		if (c == '\\' && text[1] == '\\') {
			text++;
		} else if (c == '\\' && text[1] == 'x' &&
			   text_hex(&c, text + 2, 1)) {
			text += 3;
		}
		rc = add_bytes(t, &c, 1);
	}
	return rc;
}

static int parse_key(struct value_reader *t, enum key_type type,
		     const char *text)
{
	const char *plus = strchrnul(text, '+');
	char bare[KEY_TEXT_MAX];
	uint8_t key[KEY_MAX];
	int rc;

	snprintf(bare, sizeof(bare), "%.*s", (int)(plus - text), text);
	if (key_parse(key, type, key_type_len(type), bare) < 0)
		return error_set(t->err, -EINVAL, "is no %s key",
				 key_type_name(type));
	rc = add_bytes(t, key, key_type_len(type));
	return rc || !*plus ? rc : parse_hex(t, plus + 1);
}

int show_read(const struct render *r, uint8_t *out, size_t len, size_t cap,
	      const char *text, struct error *err)
{
	struct value_reader t = {
		.out = out, .cap = len ? len : cap, .err = err};
	int rc;

	if (!*text && r->as != RENDER_TEXT)
		return error_set(err, -EINVAL, "is empty");
	rc = r->as == RENDER_NUMBER ? parse_number(&t, r->width, text)
	     : r->as == RENDER_LIST ? parse_list(&t, r->width, text)
	     : r->as == RENDER_TEXT ? parse_text(&t, text)
	     : r->as == RENDER_KEY  ? parse_key(&t, (enum key_type)r->key, text)
				    : parse_hex(&t, text);
	if (rc < 0)
		return rc;
	if (t.n < len && (r->as == RENDER_HEX || r->as == RENDER_KEY))
		return error_set(err, -EINVAL, "is %zu bytes of %zu", t.n, len);
	if (len)
		memset(out + t.n, 0, len - t.n);
	return (int)(len ? len : t.n);
}
