/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/keytext.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "query/keyfault.h"

/* What keys of a type look like. */
static const char *example_of(enum key_type type)
{
	static const char *const example[KEY_TYPES] = {
		[KEY_HEX] = "its bytes in hexadecimal",
		[KEY_FLOW4] = "10.0.0.1:443>10.0.0.2:5501/tcp",
		[KEY_FLOW6] = "[2001:db8::1]:443>[2001:db8::2]:5501/udp",
		[KEY_HOP4] = "7@10.0.0.1:443>10.0.0.2:5501/tcp",
		[KEY_HOP6] = "7@[2001:db8::1]:443>[2001:db8::2]:5501/udp",
		[KEY_SRC4] = "10.0.0.1",
		[KEY_SRC6] = "2001:db8::1",
		[KEY_U32] = "1234",
	};

	return example[type];
}

static int no_key(const struct table *const *t, unsigned n, struct fault *f)
{
	char why[sizeof(f->text)] = "";
	size_t len = 0;

	for (unsigned i = 0; i < n && len < sizeof(why); i++) {
		enum key_type type = (enum key_type)t[i]->key_type;

		len += (size_t)snprintf(
			why + len, sizeof(why) - len, "%s%s (%s, like %s)",
			i ? ", nor of " : "is no key of table ", t[i]->name,
			key_type_name(type), example_of(type));
	}
	return fault_set(f, -EINVAL, "%s", why);
}

/* Whether a text and a type of keys are of one IP version; as it seems. */
static bool of_a_version(const char *text, enum key_type type)
{
	return (strchr(text, '[') || strstr(text, "::")) ==
	       (type == KEY_FLOW6 || type == KEY_HOP6 || type == KEY_SRC6);
}

/* The table whose keys it is most like says what is wrong with it. */
static void explain(const struct table *const *t, unsigned n, const char *text,
		    const char *loose, const uint16_t *at,
		    struct keytext_fault *f)
{
	struct fault all = f->why;
	size_t best = 0, like, len = strlen(loose);
	char said[KEY_TEXT_MAX];

	for (size_t i = 0; i <= len; i++)
		said[i] = text[at[i]];
	for (unsigned i = 0; i < n; i++) {
		struct key_fault one;
		size_t right = keyfault_explain(&one,
						(enum key_type)t[i]->key_type,
						t[i]->key_len, loose, said);

		like = 2 * right +
		       of_a_version(loose, (enum key_type)t[i]->key_type);
		if (i && like <= best)
			continue;
		best = like;
		f->at = at[right];
		f->shell = one.shell;
		fault_set(&f->why, -EINVAL, "%.380s: %s", all.text, one.why);
	}
}

/* A key of a table. *added: its protocol was left out, and the table has one.
 */
static bool parse(uint8_t *key, const struct table *t, const char *text,
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

/* The number of the only table that takes a text; -EINVAL: several do; -ENOENT:
 * none does. */
static int pick(uint8_t *key, bool *added, const struct table *const *t,
		unsigned n, const char *text, struct fault *f)
{
	uint8_t other[KEY_MAX];
	int found = -ENOENT;
	bool one;

	for (unsigned i = 0; i < n; i++) {
		if (!parse(found < 0 ? key : other, t[i], text, &one))
			continue;
		if (found >= 0)
			return fault_set(f, -EINVAL,
					 "is a key of tables %s and %s: say "
					 "--table",
					 t[found]->name, t[i]->name);
		found = (int)i;
		*added = one;
	}
	return found;
}

int keytext_pick(uint8_t *key, bool *loose, const struct table *const *t,
		 unsigned n, const char *text, struct keytext_fault *f)
{
	int found = pick(key, loose, t, n, text, &f->why);
	char bare[KEY_TEXT_MAX];
	uint16_t at[KEY_TEXT_MAX];
	bool added;

	f->at = SIZE_MAX;
	f->shell = false;
	if (found != -ENOENT)
		return found;
	*loose = true;
	no_key(t, n, &f->why);
	if (!keyfault_loosen(bare, at, sizeof(bare), text))
		return -EINVAL;
	found = pick(key, &added, t, n, bare, &f->why);
	if (found == -ENOENT)
		explain(t, n, text, bare, at, f);
	return found < 0 ? -EINVAL : found;
}
