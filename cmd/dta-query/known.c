/* SPDX-License-Identifier: BSD-2-Clause */
#include "known.h"

#include <stdlib.h>
#include <string.h>

#include "hash/bytes.h"
#include "keys.h"

enum {
	ROOM = 1024, /* keys to begin with */
};

/* Which keys there are: their places + 1, by hash; a power of two above twice
 * as many. */
struct seen {
	size_t *at, size;
};

static size_t *find(struct seen *s, const struct known *k,
		    const struct target *t, const uint8_t *key)
{
	size_t i = (size_t)hash_bytes((uintptr_t)t, key, t->t->key_len);

	for (;; i++) {
		size_t *at = &s->at[i & (s->size - 1)];
		const struct known_key *other = k->key + *at;

		if (!*at || (other[-1].target == t &&
			     !memcmp(other[-1].key, key, t->t->key_len)))
			return at;
	}
}

/* Room for twice as many. */
static void grow(struct seen *s, struct known *k)
{
	k->room = k->room ? 2 * k->room : ROOM;
	k->key = realloc(k->key, k->room * sizeof(*k->key));
	free(s->at);
	s->size = 4 * k->room;
	s->at = calloc(s->size, sizeof(*s->at));
	if (!k->key || !s->at)
		cli_fail("out of memory");
	for (size_t i = 0; i < k->n; i++)
		*find(s, k, k->key[i].target, k->key[i].key) = i + 1;
}

static void add(struct seen *s, struct known *k, const struct asked *a)
{
	struct known_key *to;
	size_t *at;

	if (k->n == k->room)
		grow(s, k);
	at = find(s, k, a->target, a->key);
	if (*at)
		return;
	to = &k->key[k->n++];
	*at = k->n;
	memset(to, 0, sizeof(*to));
	to->target = a->target;
	memcpy(to->key, a->key, a->target->t->key_len);
}

void known_read(struct known *k, const struct opts *o, const char *file,
		const struct targets *t)
{
	struct keys *keys = calloc(1, sizeof(*keys));
	struct opts of = *o;
	struct seen seen = {0};

	if (!keys)
		cli_fail("out of memory");
	of.keys = file;
	keys_open(keys, &of, t);
	keys->truth = !o->column;
	while (!cli_stop && keys_next(keys))
		for (size_t i = 0; i < keys->n; i++)
			add(&seen, k, &keys->asked[i]);
	keys_close(keys);
	free(seen.at);
	free(keys);
}

void known_free(struct known *k)
{
	free(k->key);
}
