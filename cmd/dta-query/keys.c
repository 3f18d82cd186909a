/* SPDX-License-Identifier: BSD-2-Clause */
#include "keys.h"

#include <errno.h>
#include <string.h>

void keys_open(struct keys *k, const struct opts *o, const struct targets *t)
{
	int rc;

	k->targets = t;
	k->args = o->args;
	k->nargs = o->nargs;
	k->arg = 0;
	k->malformed = 0;
	k->n = 0;
	k->from_file = o->keys != NULL;
	if (k->from_file && (rc = lines_open(&k->lines, o->keys)) < 0)
		cli_fail("%s: %s", o->keys, strerror(-rc));
}

void keys_close(struct keys *k)
{
	if (k->from_file)
		lines_close(&k->lines);
}

static void refuse(struct keys *k, const char *text, const char *why)
{
	k->malformed++;
	if (k->from_file)
		cli_warn("%s:%llu: '%s' %s", k->lines.path,
			 (unsigned long long)k->lines.number, text, why);
	else
		cli_warn("'%s' %s", text, why);
}

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

/* "is no key of table flows, like 10.0.0.1:443>..., nor of ...". */
static void why_none(const struct targets *all, char *why, size_t room)
{
	size_t len = 0;

	for (unsigned i = 0; i < all->n && len < room; i++) {
		const struct table *t = all->target[i].t;
		enum key_type type = (enum key_type)t->key_type;

		len += (size_t)snprintf(
			why + len, room - len, "%s%s (%s, like %s)",
			i ? ", nor of " : "is no key of table ", t->name,
			key_type_name(type), example_of(type));
	}
}

/* Finds the table that takes a key: exactly one must. */
static void add(struct keys *k, const char *text)
{
	struct asked *a = &k->asked[k->n];
	const struct targets *all = k->targets;
	uint8_t other[KEY_MAX];
	char why[512];

	a->text = text;
	a->key = k->room[k->n].key;
	a->target = NULL;
	for (unsigned i = 0; i < all->n; i++) {
		const struct table *t = all->target[i].t;

		if (key_parse(a->target ? other : a->key,
			      (enum key_type)t->key_type, t->key_len, text) < 0)
			continue;
		if (a->target) {
			snprintf(why, sizeof(why),
				 "is a key of tables %s and %s: say --table",
				 a->target->t->name, t->name);
			refuse(k, text, why);
			return;
		}
		a->target = &all->target[i];
	}
	if (a->target) {
		k->n++;
	} else {
		why_none(all, why, sizeof(why));
		refuse(k, text, why);
	}
}

static bool next_args(struct keys *k)
{
	if (k->arg == k->nargs)
		return false;
	while (k->arg < k->nargs && k->n < QUERY_BATCH)
		add(k, k->args[k->arg++]);
	return true;
}

static bool next_lines(struct keys *k)
{
	char *line;
	size_t len;
	int rc;

	while (k->n < QUERY_BATCH && (line = lines_next(&k->lines, &len)))
		if (len && *line != '#')
			add(k, line);
	if (k->n)
		return true;
	rc = cli_stop ? 0 : lines_more(&k->lines);
	if (rc == -E2BIG)
		cli_fail("%s:%llu: a line longer than %d bytes", k->lines.path,
			 (unsigned long long)k->lines.number + 1, LINE_MAX_LEN);
	if (rc < 0 && rc != -EINTR)
		cli_fail("%s: %s", k->lines.path, strerror(-rc));
	return rc != 0;
}

bool keys_next(struct keys *k)
{
	k->n = 0;
	return k->from_file ? next_lines(k) : next_args(k);
}
