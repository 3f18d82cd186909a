/* SPDX-License-Identifier: BSD-2-Clause */
/* Truth files of dta-query verify, for tables of every kind. */
#include "../unit/translate_road.h"
#include "query_file.h"

#define lines_open fuzz_lines_open
#include "../../cmd/dta-query/truth.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	TABLES = 5,
};

static struct table tables[TABLES];

static void tables_make(void)
{
	tables[0] = test_table(TABLE_KEYWRITE, 1, 13, 4, 8, 64);
	tables[0].key_type = KEY_FLOW4;
	tables[1] = test_table(TABLE_KEYINC, 2, 4, 8, 8, 64);
	tables[1].key_type = KEY_SRC4;
	tables[2] = test_lists(3, 4, 4, 3, 3, 1);
	tables[3] = test_postcards(4, 5, 32, 64, 4);
	tables[4] = test_table(TABLE_KEYWRITE, 5, 3, 2, 8, 64);
}

/* What a good truth holds lies inside its tables. */
static void judge(const struct truth *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		const struct table *k = t->table[i].target.t;

		for (uint32_t l = 0; t->table[i].lists && l < k->lists; l++)
			if (t->table[i].lists[l].len % k->value_len)
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct truth truth;
	static struct memory memory = {.table = tables, .tables = TABLES};
	static struct places places = {
		.source = {{.memory = &memory}},
		.sources = 1,
	};
	char path[32];
	int fd = file_of(path, data, size);

	tables_make();
	memset(&truth, 0, sizeof(truth));
	if (!setjmp(bad_line)) {
		truth_read(&truth, path, &places);
		reading = NULL;
		judge(&truth);
	}
	truth_fini(&truth);
	close(fd);
	return 0;
}
