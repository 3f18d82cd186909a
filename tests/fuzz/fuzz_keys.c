/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of keys for dta-query, asked of tables of several types of key. */
#include "../unit/translate_transport.h"
#include "query_file.h"

/* Beside those of the library, which end the program. */
#define lines_open	 fuzz_lines_open
#define lines_check	 fuzz_lines_check
#define keys_open	 fuzz_keys_open
#define keys_close	 fuzz_keys_close
#define keys_next	 fuzz_keys_next
#define keys_head	 fuzz_keys_head
#define keys_column	 fuzz_keys_column
#define keys_share	 fuzz_keys_share
#define keys_share_open	 fuzz_keys_share_open
#define keys_share_close fuzz_keys_share_close
#include "../../cmd/dta-query/keys.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every key that is asked came out of the file and is its table's. */
static void judge(const struct keys *k)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct parsed_key *a = &k->parsed[i];
		const struct table *t = a->target->t;
		uint8_t again[KEY_MAX];

		if (key_parse(again, (enum key_type)t->key_type, t->key_len,
			      a->text) < 0 ||
		    memcmp(again, a->key, t->key_len))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t types[] = {KEY_FLOW4, KEY_FLOW6, KEY_HOP4,
					KEY_SRC6,  KEY_U32,   KEY_HEX};
	static struct keys keys;
	static struct table tables[sizeof(types)];
	static struct query_targets targets;
	struct keys_from from = {0};
	char path[32];
	int fd = file_of(path, data, size);

	targets.n = sizeof(types);
	for (unsigned i = 0; i < targets.n; i++) {
		uint16_t len = types[i] == KEY_HEX ? 3 : 0;

		if (!len)
			len = (uint16_t)key_type_len(types[i]);
		tables[i] = test_table(TABLE_KEYWRITE, (uint16_t)i, len, 4, 8,
				       64);
		tables[i].key_type = types[i];
		targets.target[i].t = &tables[i];
	}
	from.file = path;
	if (!setjmp(bad_line)) {
		keys_open(&keys, &from, &targets);
		while (keys_next(&keys))
			judge(&keys);
		keys_close(&keys);
		reading = NULL;
	}
	close(fd);
	return 0;
}
