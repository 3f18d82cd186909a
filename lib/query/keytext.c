/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/keytext.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What keys of a type look like. */
static const char *const examples[KEY_TYPES] = {
	[KEY_HEX] = "its bytes in hexadecimal",
	[KEY_FLOW4] = "10.0.0.1:443>10.0.0.2:5501/tcp",
	[KEY_FLOW6] = "[2001:db8::1]:443>[2001:db8::2]:5501/udp",
	[KEY_HOP4] = "7@10.0.0.1:443>10.0.0.2:5501/tcp",
	[KEY_HOP6] = "7@[2001:db8::1]:443>[2001:db8::2]:5501/udp",
	[KEY_SRC4] = "10.0.0.1",
	[KEY_SRC6] = "2001:db8::1",
	[KEY_U32] = "1234",
};

static int no_key(const struct table *const *t, unsigned n, struct error *err)
{
	char why[sizeof(err->text)] = "";
	size_t len = 0;

	for (unsigned i = 0; i < n && len < sizeof(why); i++) {
		enum key_type type = (enum key_type)t[i]->key_type;

		len += (size_t)snprintf(
			why + len, sizeof(why) - len, "%s%s (%s, like %s)",
			i ? ", nor of " : "is no key of table ", t[i]->name,
			key_type_name(type), examples[type]);
	}
	return error_set(err, -EINVAL, "%s", why);
}

/*
 * A text without what people put in and makes no difference: blanks, capitals,
 * -> for >. at[i] is where out[i] was; both have room for KEY_TEXT_MAX. Returns
 * its length, 0 if there is no room.
 */
static size_t strip_text(char *out, uint16_t *at, const char *text)
{
	size_t n = 0;

	for (size_t i = 0; text[i]; i++) {
		if (text[i] == ' ' || text[i] == '\t' ||
		    (text[i] == '-' && text[i + 1] == '>'))
			continue;
		if (n + 1 >= KEY_TEXT_MAX)
			return 0;
		at[n] = (uint16_t)i;
		out[n++] = (char)tolower((unsigned char)text[i]);
	}
	at[n] = (uint16_t)strlen(text);
	out[n] = '\0';
	return n;
}

/* The table whose keys it is most like says what is wrong with it. loose: the
 * text without what makes no difference; at[i]: where loose[i] is in it. */
static void explain_misfit(const struct table *const *t, unsigned n,
			   const char *text, const char *loose,
			   const uint16_t *at, struct keytext_error *f)
{
	struct error all = f->why;
	size_t best = 0, like;
	uint8_t key[KEY_MAX];

	for (unsigned i = 0; i < n; i++) {
		enum key_type type = (enum key_type)t[i]->key_type;
		bool six = type == KEY_FLOW6 || type == KEY_HOP6 ||
			   type == KEY_SRC6;
		struct key_error one;

		if (!key_parse_at(key, type, t[i]->key_len, loose, &one))
			continue;
		/* Of one IP version, as it seems. */
		like = 2 * one.at +
		       ((strchr(loose, '[') || strstr(loose, "::")) == six);
		if (i && like <= best)
			continue;
		best = like;
		f->at = at[one.at];
		f->shell = !loose[one.at] && !strncmp(one.want, "a >", 3);
		if (!one.len)
			error_set(&f->why, -EINVAL, "%.380s: it lacks %s",
				  all.text, one.want);
		else
			error_set(&f->why, -EINVAL, "%.380s: '%.*s' is not %s",
				  all.text, at[one.at + one.len] - at[one.at],
				  text + at[one.at], one.want);
	}
}

/* A key of a table. *added: its protocol was left out, and the table has one.
 */
static bool parse_key(uint8_t *key, const struct table *t, const char *text,
		      bool *added)
{
	enum key_type type = (enum key_type)t->key_type;
	char whole[KEY_TEXT_MAX], protocol[KEY_PROTOCOL_MAX];

	*added = false;
	if (key_parse(key, type, t->key_len, text) == 0)
		return true;
	if (!t->protocol || strchr(text, '/') ||
	    strlen(text) + KEY_PROTOCOL_MAX >= sizeof(whole))
		return false;
	snprintf(whole, sizeof(whole), "%s/%s", text,
		 key_protocol_text(protocol, t->protocol));
	*added = key_parse(key, type, t->key_len, whole) == 0;
	return *added;
}

/* The number of the only table that takes a text; -EEXIST: several do; -ENOENT:
 * none does. */
static int pick_table(uint8_t *key, bool *added, const struct table *const *t,
		      unsigned n, const char *text, struct error *err)
{
	uint8_t other[KEY_MAX];
	int found = -ENOENT;
	bool one;

	for (unsigned i = 0; i < n; i++) {
		if (!parse_key(found < 0 ? key : other, t[i], text, &one))
			continue;
		if (found >= 0)
			return error_set(err, -EEXIST,
					 "is a key of tables %s and %s: say "
					 "--table",
					 t[found]->name, t[i]->name);
		found = (int)i;
		*added = one;
	}
	return found;
}

int keytext_pick(uint8_t *key, bool *loose, const struct table *const *t,
		 unsigned n, const char *text, struct keytext_error *f)
{
	int found = pick_table(key, loose, t, n, text, &f->why);
	char bare[KEY_TEXT_MAX];
	uint16_t at[KEY_TEXT_MAX];
	bool added;

	f->at = SIZE_MAX;
	f->shell = false;
	if (found != -ENOENT)
		return found;
	*loose = true;
	no_key(t, n, &f->why);
	if (!strip_text(bare, at, text))
		return -EINVAL;
	found = pick_table(key, &added, t, n, bare, &f->why);
	if (found == -ENOENT)
		explain_misfit(t, n, text, bare, at, f);
	return found == -ENOENT ? -EINVAL : found;
}
