/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/show.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* What is written otherwise than in render.h, or has a name of its own. */
static const struct {
	const char *type, *render, *name, *unit;
} known[] = {
	{"ip4", "src4", "address", NULL},   {"ip6", "src6", "address", NULL},
	{"src4", "src4", "address", NULL},  {"src6", "src6", "address", NULL},
	{"flow4", "flow4", "flow", NULL},   {"flow6", "flow6", "flow", NULL},
	{"hop4", "hop4", "hop_flow", NULL}, {"hop6", "hop6", "hop_flow", NULL},
	{"ns", "u32", "time_ns", "ns"},	    {"us", "u32", "time_us", "us"},
	{"ms", "u32", "time_ms", "ms"},
};

/* Bytes of a type; 0: what is left. */
static uint16_t len_of(const struct render *r)
{
	if (r->as == RENDER_NUMBER)
		return r->width;
	return r->as == RENDER_KEY
		       ? (uint16_t)key_type_len((enum key_type)r->key)
		       : 0;
}

static int set_type(struct show_part *p, const char *type, struct fault *f)
{
	const char *render = type, *name = type;
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(type, known[i].type)) {
			render = known[i].render;
			name = known[i].name;
			p->unit = known[i].unit;
		}
	snprintf(p->name, sizeof(p->name), "%s", name);
	if (!strncmp(type, "hex", 3) && text_u64(&bytes, type + 3, 1020) &&
	    bytes) {
		p->len = (uint16_t)bytes;
		return render_of(&p->render, "hex");
	}
	if (render_of(&p->render, render) < 0)
		return fault_set(f, -EINVAL,
				 "'%s' is no type: %s; or hexN, ip4, ip6, ns, "
				 "us, ms",
				 type, render_names);
	p->len = len_of(&p->render);
	return 0;
}

static bool is_name(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n && !text[n] && n < SHOW_NAME_MAX;
}

/* "u32:reason" */
static int read_part(struct show_part *p, char *text, struct fault *f)
{
	char *colon = strchr(text, ':');
	int rc;

	*p = (struct show_part){.named = colon != NULL};
	if (colon)
		*colon++ = '\0';
	rc = set_type(p, text, f);
	if (rc < 0 || !colon)
		return rc;
	if (!is_name(colon))
		return fault_set(f, -EINVAL,
				 "'%s' is no name: a-z, 0-9, _, %d at most",
				 colon, SHOW_NAME_MAX - 1);
	snprintf(p->name, sizeof(p->name), "%s", colon);
	return 0;
}

/* Names of one value differ: u8, u8_2. */
static void tell_apart(struct show *s, unsigned i)
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

int show_of(struct show *s, const char *text, struct fault *f)
{
	char copy[512], *rest = copy, *part;
	size_t at = 0;
	int rc;

	*s = (struct show){0};
	if (strlen(text) >= sizeof(copy))
		return fault_set(f, -EINVAL, "is too long");
	snprintf(copy, sizeof(copy), "%s", text);
	while ((part = strsep(&rest, ","))) {
		struct show_part *p = &s->part[s->n];

		part += strspn(part, " \t");
		part[strcspn(part, " \t")] = '\0';
		if (s->n == SHOW_PARTS)
			return fault_set(f, -EINVAL, "more than %d types",
					 SHOW_PARTS);
		if (s->n && !p[-1].len)
			return fault_set(f, -EINVAL,
					 "nothing can come behind %s, which "
					 "takes the rest",
					 p[-1].name);
		rc = read_part(p, part, f);
		if (rc < 0)
			return rc;
		p->at = (uint16_t)at;
		at += p->len;
		tell_apart(s, s->n++);
	}
	return 0;
}

void show_one(struct show *s, const struct render *r)
{
	*s = (struct show){.n = 1};
	s->part[0] = (struct show_part){
		.render = *r,
		.len = len_of(r),
		.name = "value",
	};
}

/* Bytes that the parts take; of one that takes what is left, at least one. */
static size_t len_at_least(const struct show *s)
{
	const struct show_part *last = &s->part[s->n - 1];

	return s->n ? last->at + (last->len ? last->len : 1u) : 0;
}

int show_fits(const struct show *s, size_t len, struct fault *f)
{
	size_t want = len_at_least(s);

	if (want <= len)
		return 0;
	return fault_set(f, -EINVAL,
			 "that is %zu bytes, and values have %zu: leave some "
			 "out, or make values longer",
			 want, len);
}

void show_rest(struct show *s, size_t len)
{
	size_t at = len_at_least(s);
	struct show_part *p = &s->part[s->n];

	if (!s->n || s->n == SHOW_PARTS || !p[-1].len || at >= len)
		return;
	*p = (struct show_part){.at = (uint16_t)at, .name = "rest"};
	p->render.as = RENDER_HEX;
	tell_apart(s, s->n++);
}

static unsigned column_of(struct shown *all, const struct show_part *p,
			  uint8_t type)
{
	char name[2 * SHOW_NAME_MAX];

	snprintf(name, sizeof(name), "%s", p->name);
	for (unsigned i = 0; i < all->n; i++) {
		if (strcmp(all->name[i], name) != 0)
			continue;
		if (all->field[i].type == type)
			return i;
		snprintf(name, sizeof(name), "%s_%u", p->name, i);
	}
	if (all->n == SHOW_COLUMNS)
		return SHOW_COLUMNS;
	snprintf(all->name[all->n], sizeof(all->name[0]), "%s", name);
	all->field[all->n] = (struct row_field){
		.type = type,
		.unit = p->unit,
		.width = type == ROW_U64 ? 6
					 : render_column(&p->render, p->len),
	};
	return all->n++;
}

bool shown_add(struct shown *all, const struct show *s,
	       uint8_t column[SHOW_PARTS])
{
	for (unsigned i = 0; i < s->n; i++) {
		column[i] = (uint8_t)column_of(all, &s->part[i],
					       render_type(&s->part[i].render));
		if (column[i] == SHOW_COLUMNS)
			return false;
	}
	for (unsigned i = 0; i < all->n; i++) /* they stay where they are */
		all->field[i].name = all->name[i];
	return true;
}

void shown_set(const struct show *s, const uint8_t column[SHOW_PARTS],
	       struct rendered *room, struct rows *rows, unsigned first,
	       const uint8_t *value, size_t len)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct show_part *p = &s->part[i];

		if (p->at >= len || (size_t)p->at + p->len > len)
			continue;
		render_set(&p->render, room, rows, first + column[i],
			   value + p->at, p->len ? p->len : len - p->at);
	}
}

void show_text(const struct show *s, struct rendered *room, char *out,
	       size_t cap, const uint8_t *value, size_t len)
{
	size_t n = 0;

	*out = '\0';
	for (unsigned i = 0; i < s->n && n < cap; i++) {
		const struct show_part *p = &s->part[i];

		if (p->at < len)
			n += (size_t)snprintf(
				out + n, cap - n, "%s%s", i ? "," : "",
				render_text(&p->render, room, value + p->at,
					    p->len && p->at + p->len <= len
						    ? p->len
						    : len - p->at));
	}
}
