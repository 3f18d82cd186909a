/* SPDX-License-Identifier: BSD-2-Clause */
/* Layout files: what they give, and what is refused, with its line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hash/family.h"
#include "region/layout.h"
#include "test.h"
#include "net/key.h"

static char path[64];

static int read_text(struct layout *l, const char *text, struct error *err)
{
	FILE *out = fopen(path, "w");

	err->text[0] = '\0';
	fputs(text, out);
	fclose(out);
	return layout_read(l, path, err);
}

static void test_good(void)
{
	static const char text[] =
		"; a fabric\n"
		"[flows]\nkind = keywrite\nkey = flow4\nvalue = 4\n"
		"memory = 4Gi ; 2^29 slots\n"
		"[dart]\nslots = 1000\nvalue = 20\nkey = hop4\n"
		"stride = packed\nkind = keywrite\ncopies = 4\nid = 7\n"
		"qp = uc\nimmediate = yes\nsequence = strict\n"
		"[paths]\nkind = postcard\nkey = hex:9\nchunks = 1Mi\n"
		"values = 1-256Ki\ncopies = 1\ncache = 64\n"
		"[sets]\nkind = postcard\nkey = u32\nchunks = 8\nhops = 3\n"
		"values = 9,1,5,9\n"
		"[loss]\nkind = append\nlists = 255\nvalue = 18\n"
		"entries = 1Ki\nflush = 2s\nbatch = 8\n"
		"[sums]\nkind = keyinc\nkey = src4\nslots = 64\n";
	struct layout l;
	struct error err;
	const struct table *t = l.table;

	if (!TEST(read_text(&l, text, &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		return;
	}
	TEST(l.n == 6);
	TEST(!strcmp(t[0].name, "flows") && t[0].id == 1);
	TEST(t[0].kind == TABLE_KEYWRITE && t[0].key_len == 13);
	TEST(t[0].stride == 8 && t[0].units == 1ull << 29);
	TEST(t[0].length == 4ull << 30 && t[0].copies == 2);
	TEST(t[0].hash == HASH_DTA1 && t[0].sequence == TABLE_SEQ_COUNT);
	TEST(t[1].id == 7 && t[1].stride == 24 && t[1].length == 24000);
	TEST(t[1].copies == 4 && t[1].qp == TABLE_QP_UC);
	TEST(t[1].immediate == 1 && t[1].sequence == TABLE_SEQ_STRICT);
	TEST(t[2].key_type == KEY_HEX && t[2].key_len == 9);
	TEST(t[2].hops == 5 && t[2].stride == 32 && t[2].value_len == 4);
	TEST(t[2].value_min == 1 && t[2].value_max == 262144);
	TEST(t[2].values == 0 && !l.values[2] && t[2].cache_rows == 64);
	TEST(t[3].values == 3 && t[3].stride == 16 && t[3].id == 4);
	TEST(l.values[3] && l.values[3][0] == 1 && l.values[3][1] == 5 &&
	     l.values[3][2] == 9);
	TEST(t[3].cache_rows == 32768);
	TEST(t[4].kind == TABLE_APPEND && t[4].key_type == KEY_U32);
	TEST(t[4].stride == 32 && t[4].units == 1032 && t[4].lists == 255);
	TEST(t[4].heads == 255 * 1032 * 32 && t[4].copies == 1);
	TEST(t[4].length == t[4].heads + 255 * 8);
	TEST(t[4].flush_ms == 2000 && t[4].batch == 8);
	TEST(t[5].stride == 8 && t[5].value_len == 8 && t[5].length == 512);
	layout_fini(&l);
}

/* A list keeps the entries that were asked for; a batch more is in its ring. */
static void test_rings(void)
{
	static const struct {
		const char *text;
		uint64_t ring, kept;
	} good[] = {
		{"entries = 100", 116, 100},
		{"batch = 4\nentries = 1", 5, 1},
		{"entries = 1Ki\nbatch = 64", 1088, 1024},
		{"ring = 1Ki", 1024, 1008},
		{"ring = 1Ki\nbatch = 64", 1024, 960},
		{"ring = 2\nbatch = 1", 2, 1},
		{"memory = 8208", 512, 496}, /* of 8 bytes, and the count */
	};
	char text[128];
	struct layout l;
	struct error err;

	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		snprintf(text, sizeof(text),
			 "[a]\nkind = append\nvalue = 7\nlists = 2\n%s\n",
			 good[i].text);
		if (!TEST(read_text(&l, text, &err) == 0))
			continue;
		if (!TEST(l.table[0].units == good[i].ring &&
			  table_kept(&l.table[0]) == good[i].kept))
			fprintf(stderr, "  %s\n", good[i].text);
		layout_fini(&l);
	}
}

/* Text, and what the message must say. */
static const struct {
	const char *text, *says;
} bad[] = {
	{"", ": holds no [table]"},
	{"kind = keywrite\n", ":1: a field before"},
	{"[a]\n[b]\nkind = keyinc\n", ":1: a table without fields"},
	{"[a]\nkind = keyinc\nkey = u32\nslots = 1\n[b]\n",
	 ":5: a table without fields"},
	{"[a]\nkind = keyinc\nnonsense\n", ":3: neither"},
	{"[a]\nkind = keywrit\n", ":2: kind: 'keywrit' is none of keywrite"},
	{"[a]\nkind =\nkey = u32\n", ":2: kind: '' is none of keywrite"},
	{"[a]\nkey = u32\n", ":1: kind: missing"},
	{"[a]\nkind = keyinc\nvalues = 1\n", ":3: values: keyinc has none"},
	{"[a]\nkind = keyinc\nslots = 1\n", ":1: key: missing"},
	{"[a]\nkind = keyinc\nkey = u32\n", ":1: slots (or chunks, entries)"},
	{"[a]\nkind = keyinc\nkey = u33\n", ":3: key: 'u33' is no key type"},
	{"[a]\nkind = keyinc\nkey = hex:0\n", ":3: key: 0 is not 1 to 64"},
	{"[a]\nkind = keyinc\nkey = hex:65\n", ":3: key: 65 is not 1 to 64"},
	{"[a]\nkind = keyinc\nkind = keyinc\n", ":3: kind: given twice"},
	{"[a]\nkind = keyinc\nlists = 4\n", ":3: lists: keyinc has none"},
	{"[a]\nlists = 4\nkind = keyinc\n", ":2: lists: keyinc has none"},
	{"[a]\nkind = keyinc\nsizes = 4\n", ":3: sizes: no such field"},
	{"[a]\nkind = keyinc\nslots = 4x\n", ":3: slots: '4x' is not a num"},
	{"[a]\nkind = keyinc\nslots = -4\n", ":3: slots: '-4' is not a num"},
	{"[a]\nkind = keyinc\nslots = \n", ":3: slots: '' is not a num"},
	{"[a]\nkind = keyinc\nslots = 0\n", ":3: slots: 0 is not 1 to"},
	{"[a]\nkind = keyinc\nslots = 99999999999999999999\n",
	 ":3: slots: 99999999999999999999 is not 1 to"},
	{"[a]\nkind = keyinc\nkey = u32\nslots = 8Gi\n", "32 bits"},
	{"[a]\nkind = keyinc\nkey = u32\nslots = 8\nqp = uc\n",
	 ":1: qp: counters need rc"},
	{"[a]\nkind = keyinc\nslots = 8\nmemory = 64\n",
	 ":1: memory: the table's units are already given"},
	{"[a]\nkind = keywrite\nkey = u32\nslots = 8\n", ":1: value: missing"},
	{"[a]\nkind = keywrite\nvalue = 1021\n",
	 ":3: value: 1021 is not 1 to 1020"},
	{"[a]\nkind = keywrite\nkey = u32\nvalue = 20\nslots = 9\n"
	 "stride = 24\n[b]\nkind = keywrite\nkey = u32\nvalue = 16\n"
	 "slots = 9\nstride = 24\n",
	 ":7: stride: not a power of two; say stride = packed"},
	{"[a]\nkind = keywrite\nkey = u32\nvalue = 20\nslots = 9\n"
	 "stride = 16\n",
	 ":1: stride: shorter than what it holds"},
	{"[a]\nkind = keywrite\nkey = flow4\nvalue = 4\nslots = 9\n"
	 "hash = dta0\n",
	 ":1: hash: dta0 has 4-byte keys only"},
	{"[a]\nkind = keywrite\ncopies = 5\n", ":3: copies: 5 is not 1 to 4"},
	{"[a]\nkind = keyinc\nhash = crc\n", ":3: hash: 'crc' is none of dta1"},
	{"[a]\nkind = keyinc\nqp = ud\n", ":3: qp: 'ud' is none of rc uc"},
	{"[a]\nkind = keyinc\nid = 0\n", ":3: id: 0 is not 1 to 65534"},
	{"[a]\nkind = keyinc\nid = 65535\n", ":3: id: 65535 is not 1 to"},
	{"[a]\nkind = keyinc\nkey = u32\nslots = 8\nid = 2\n"
	 "[b]\nkind = keyinc\nkey = u32\nslots = 8\n",
	 ":6: table a has this name or id"},
	{"[a]\nkind = keyinc\nkey = u32\nslots = 8\n"
	 "[b]\nkind = keyinc\nkey = u32\nslots = 8\n"
	 "[a]\nkind = keyinc\nkey = u32\nslots = 8\n",
	 ":9: table a has this name or id"},
	{"[collector]\nkind = keyinc\nkey = u32\nslots = 8\n", ":1: a table's"},
	{"[1]\nkind = keyinc\nkey = u32\nslots = 8\n", ":1: a table's name"},
	{"[a b]\nkind = keyinc\nkey = u32\nslots = 8\n", ":1: a table's name"},
	{"[a2345678901234567890123456789012]\nkind = keyinc\n",
	 ":1: the table's name is too long"},
	{"[a]\nkind = postcard\nkey = u32\nchunks = 8\n",
	 ":1: values: missing"},
	{"[a]\nkind = postcard\nvalues = 5-4\n", ":3: values: 5-4 is empty"},
	{"[a]\nkind = postcard\nvalues = 1-4294967295\n",
	 ":3: values: 4294967295 stands for no hop"},
	{"[a]\nkind = postcard\nvalues = 1,x\n", ":3: values: 'x' is no"},
	{"[a]\nkind = postcard\nvalues = ,\n", ":3: values: no number"},
	{"[a]\nkind = postcard\nvalues = 1,2\n    4-5\n", ":4: values: given"},
	{"[a]\nkind = postcard\nvalues = 4-5\n    1,2\n", ":4: values: given"},
	{"[a]\nkind = postcard\nvalues = 1,2\n    2 x\n", ":4: values: 'x' is"},
	{"[a]\nkind = postcard\nhops = 9\n", ":3: hops: 9 is not 1 to 8"},
	{"[a]\nkind = postcard\nkey = u32\nchunks = 8\nvalues = 1-2\n"
	 "cache = 100\n",
	 ":1: cache: no power of two"},
	{"[a]\nkind = postcard\nkey = u32\nchunks = 8\nvalues = 1-2\n"
	 "stride = packed\n",
	 ":1: stride: chunks want a power of two"},
	{"[a]\nkind = append\nvalue = 4\nentries = 64\n", ":1: lists: missing"},
	{"[a]\nkind = append\nvalue = 4\nring = 16\nlists = 1\n",
	 ":1: ring: it must hold more entries than a batch"},
	{"[a]\nkind = append\nvalue = 4\nentries = 9\nring = 64\n",
	 ":1: ring: it follows from entries"},
	{"[a]\nkind = append\nring = 64\nmemory = 1Ki\n",
	 ":1: memory: the table's units are already given"},
	{"[a]\nkind = append\nvalue = 4\nmemory = 72\nlists = 1\n",
	 ":1: ring: it must hold"},
	{"[a]\nkind = keyinc\nring = 64\n", ":3: ring: keyinc has none"},
	{"[a]\nkind = keywrite\nchunks = 64\n",
	 ":3: chunks: keywrite has none"},
	{"[a]\nkind = append\nslots = 64\n", ":3: slots: append has none"},
	{"[a]\nkind = postcard\nslots = 64\n", ":3: slots: postcard has none"},
	{"[a]\nkind = append\nbatch = 65\n", ":3: batch: 65 is not 1 to 64"},
	{"[a]\nkind = append\nvalue = 1000\nentries = 64\nlists = 1\n",
	 ":1: batch: more than one write"},
	{"[a]\nkind = append\nflush = 100\n", ":3: flush: '100' is not a time"},
	{"[a]\nkind = append\nflush = 100us\n", ":3: flush: '100us' is not"},
	{"[a]\nkind = append\nflush = 0s\n", ":3: flush: '0s' is not a time"},
	{"[a]\nkind = append\nflush = 61m\n", ":3: flush: '61m' is not a time"},
	{"[a]\nkind = append\nkey = flow4\nvalue = 4\nentries = 64\nlists = "
	 "1\n",
	 ":1: key: a list has no other key"},
	{"[a]\nkind = append\nvalue = 4\nentries = 64Ti\nlists = 4Gi\n",
	 ":5: lists: 4Gi is not"},
	{"[a]\nkind = append\nvalue = 4\nentries = 64Ti\nlists = 3Gi\n",
	 ":1: the table is too long"},
};

static void test_bad(void)
{
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct layout l;
		struct error err;

		TEST(read_text(&l, bad[i].text, &err) < 0);
		if (!TEST(strstr(err.text, bad[i].says) != NULL))
			fprintf(stderr, "  %s\n  is not: %s\n", err.text,
				bad[i].says);
		TEST(!strncmp(err.text, path, strlen(path)));
	}
}

/* Not cut, and its rest taken for another. */
static void test_long_line(void)
{
	char text[600] = "[a]\nkind = keyinc\n; ";
	struct layout l;
	struct error err;

	memset(text + strlen(text), 'x', 400);
	TEST(read_text(&l, text, &err) < 0);
	TEST(strstr(err.text, ":3: the line is too long") != NULL);
}

static void test_values_lines(void)
{
	struct layout l;
	struct error err;

	if (TEST(read_text(&l,
			   "[a]\nkind = postcard\nkey = u32\nchunks = 8\n"
			   "values = 30\n    10 ; the first\n    20, 10\n",
			   &err) == 0)) {
		TEST(l.table[0].values == 3 && l.values[0][0] == 10 &&
		     l.values[0][1] == 20 && l.values[0][2] == 30);
		layout_fini(&l);
	}
}

/* V may be zero alone, and a ticket writes every V as a range. */
static void test_values_zero(void)
{
	static const char *const zero[] = {"0", "0-0"};
	char text[128];
	struct layout l;
	struct error err;

	for (unsigned i = 0; i < 2; i++) {
		snprintf(text, sizeof(text),
			 "[a]\nkind = postcard\nkey = u32\nchunks = 8\n"
			 "values = %s\n",
			 zero[i]);
		if (!TEST(read_text(&l, text, &err) == 0))
			continue;
		TEST(l.table[0].values == 1 && l.values[0][0] == 0);
		layout_fini(&l);
	}
}

/* Tickets: any order of fields, strides as numbers, no files. */
static void test_set(void)
{
	struct table t = {.name = "a", .id = 1};
	struct error err;

	TEST(layout_set(&t, "stride", "24", &err) == 0);
	TEST(layout_set(&t, "slots", "100", &err) == 0);
	TEST(layout_set(&t, "value", "20", &err) == 0);
	TEST(layout_set(&t, "key", "flow4", &err) == 0);
	TEST(layout_set(&t, "kind", "keywrite", &err) == 0);
	TEST(table_finish(&t, &err) == 0);
	TEST(t.stride == 24 && t.length == 2400);
	TEST(table_finish(&t, &err) == 0 && t.stride == 24 && t.length == 2400);
	TEST(layout_set(&t, "colour", "red", &err) == -ENOENT);
	TEST(layout_set(&t, "lists", "1", &err) == -EINVAL);
	t = (struct table){.name = "p", .id = 1};
	TEST(layout_set(&t, "values", "3,1", &err) == 0);
	TEST(t.values == 2 && t.value_min == 1 && t.value_max == 3);
	TEST(layout_set(&t, "values", "5-6", &err) == 0);
	TEST(t.values == 0 && t.value_min == 5 && t.value_max == 6);
}

int main(void)
{
	struct layout l;
	struct error err;

	snprintf(path, sizeof(path), "/tmp/test-layout-%d.ini", (int)getpid());
	test_good();
	test_rings();
	test_bad();
	test_long_line();
	test_values_lines();
	test_values_zero();
	test_set();
	unlink(path);
	TEST(layout_read(&l, path, &err) == -ENOENT);
	return test_end();
}
