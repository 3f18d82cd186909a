/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/keytext.h"

#include <errno.h>
#include <stdio.h>

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

int keytext_pick(uint8_t *key, const struct table *const *t, unsigned n,
		 const char *text, struct fault *f)
{
	uint8_t other[KEY_MAX];
	int found = -1;

	for (unsigned i = 0; i < n; i++) {
		if (key_parse(found < 0 ? key : other,
			      (enum key_type)t[i]->key_type, t[i]->key_len,
			      text) < 0)
			continue;
		if (found >= 0)
			return fault_set(f, -EINVAL,
					 "is a key of tables %s and %s: say "
					 "--table",
					 t[found]->name, t[i]->name);
		found = (int)i;
	}
	return found < 0 ? no_key(t, n, f) : found;
}
