/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/keytext.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

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

/* Copies a text without blanks, in lower case and with > for ->. out has room
 * for KEY_TEXT_MAX bytes. False: the text is empty or too long. */
static bool strip_text(char *out, const char *text)
{
	size_t n = 0;

	for (; *text; text++) {
		if (*text == ' ' || *text == '\t' ||
		    (*text == '-' && text[1] == '>'))
			continue;
		if (n + 1 >= KEY_TEXT_MAX)
			return false;
		out[n++] = (char)tolower((unsigned char)*text);
	}
	out[n] = '\0';
	return n > 0;
}

/* Refuses a text that is no key of any table. For the table whose keys it is
 * most like, says what is wrong with it; text NULL: for none. */
static int refuse_key(const struct table *const *t, unsigned n,
		      const char *text, struct error *err)
{
	char why[380] = "";
	size_t best = 0, len = 0;
	uint8_t key[KEY_MAX];
	struct key_error one, wrong = {.want = NULL};

	for (unsigned i = 0; i < n; i++) {
		enum key_type type = (enum key_type)t[i]->key_type;
		bool six = type == KEY_FLOW6 || type == KEY_HOP6 ||
			   type == KEY_SRC6;
		size_t like;

		if (len < sizeof(why))
			len += (size_t)snprintf(why + len, sizeof(why) - len,
						"%s%s (%s, like %s)",
						i ? ", nor of "
						  : "is no key of table ",
						t[i]->name, key_type_name(type),
						examples[type]);
		if (!text ||
		    !key_parse_at(key, type, t[i]->key_len, text, &one))
			continue;
		/* The longer the part that is right, the more alike; then it
		 * counts that the IP version seems to be the table's. */
		like = 2 * one.at +
		       ((strchr(text, '[') || strstr(text, "::")) == six);
		if (wrong.want && like <= best)
			continue;
		best = like;
		wrong = one;
	}
	if (!wrong.want)
		return error_set(err, -EINVAL, "%s", why);
	if (wrong.len)
		return error_set(err, -EINVAL, "%s: '%.*s' is not %s", why,
				 (int)wrong.len, text + wrong.at, wrong.want);
	return error_set(err, -EINVAL, "%s: it lacks %s%s", why, wrong.want,
			 strncmp(wrong.want, "a >", 3)
				 ? ""
				 : " (a shell wants a > to be quoted)");
}

/* Parses a key of a table. *added: the table's protocol was added to it. */
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

/* Picks the only table for which a text is a key; -EEXIST, -ENOENT. */
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

int query_key_pick(uint8_t *key, bool *loose, const struct table *const *t,
		   unsigned n, const char *text, struct error *why)
{
	int found = pick_table(key, loose, t, n, text, why);
	char bare[KEY_TEXT_MAX];
	bool added;

	if (found != -ENOENT)
		return found;
	*loose = true;
	if (!strip_text(bare, text))
		return refuse_key(t, n, NULL, why);
	found = pick_table(key, &added, t, n, bare, why);
	return found == -ENOENT ? refuse_key(t, n, bare, why) : found;
}
