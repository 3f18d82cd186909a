/* SPDX-License-Identifier: BSD-2-Clause */
/* Truths, line by line, for tables of every kind. */
#include "../unit/translate_transport.h"
#include "query/truth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	TABLES = 5,
};

static struct table tables[TABLES];
static const struct table *known[TABLES];

static void tables_make(void)
{
	tables[0] = test_table(TABLE_KEYWRITE, 1, 13, 4, 8, 64);
	tables[0].key_type = KEY_FLOW4;
	tables[1] = test_table(TABLE_KEYINC, 2, 4, 8, 8, 64);
	tables[1].key_type = KEY_SRC4;
	tables[2] = test_lists(3, 4, 4, 3, 3, 1);
	tables[3] = test_postcards(4, 5, 32, 64, 4);
	tables[4] = test_table(TABLE_KEYWRITE, 5, 3, 2, 8, 64);
	for (unsigned i = 0; i < TABLES; i++)
		known[i] = &tables[i];
}

/* What a good truth holds lies inside its tables. */
static void judge(const struct truth *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		const struct table *k = t->table[i].t;
		const struct keymap *keys = &t->table[i].keys;

		for (uint32_t l = 0; t->table[i].lists && l < k->lists; l++)
			if (t->table[i].lists[l].len % k->value_len)
				abort();
		for (size_t n = 0; k->kind == TABLE_POSTCARD && n < keys->n;
		     n++) {
			const struct truth_key *path = keymap_record(keys, n);

			if (truth_path_len(path, k) > TRUTH_HOPS ||
			    (truth_path_len(path, k) < k->hops &&
			     !path->path_len))
				abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct truth truth;
	char *text = malloc(size + 1), *line, *rest = text;
	struct error err = {""};
	int rc = 0;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	tables_make();
	truth_init(&truth, known, TABLES);
	while (!rc && (line = strsep(&rest, "\n")))
		rc = truth_line(&truth, line, &err);
	if (rc < 0 && !*err.text)
		abort();
	judge(&truth);
	truth_fini(&truth);
	free(text);
	return 0;
}
