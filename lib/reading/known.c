/* SPDX-License-Identifier: BSD-2-Clause */
#include "reading/known.h"

#include <stdlib.h>

#include "cli/cli.h"
#include "reading/keys.h"

void known_read(struct known *k, const struct keys_from *from,
		const struct targets *t)
{
	struct keys *keys = calloc(1, sizeof(*keys));

	if (!keys)
		cli_fail("out of memory");
	for (unsigned i = 0; i < t->n; i++)
		keymap_init(&k->keys[i], t->target[i].t->key_len, 1);
	keys_open(keys, from, t);
	while (!cli_stop && keys_next(keys))
		for (size_t i = 0; i < keys->n; i++) {
			const struct asked *a = &keys->asked[i];

			if (!keymap_get(&k->keys[a->target - t->target],
					a->key))
				cli_fail("out of memory");
		}
	keys_close(keys);
	k->malformed = keys->malformed;
	free(keys);
}

void known_free(struct known *k, const struct targets *t)
{
	for (unsigned i = 0; i < t->n; i++)
		keymap_fini(&k->keys[i]);
}
