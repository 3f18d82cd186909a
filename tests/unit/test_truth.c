/* SPDX-License-Identifier: BSD-2-Clause */
/* Truths, verdicts and keys as text: truth.h, keytext.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/keytext.h"
#include "query/truth.h"
#include "test.h"
#include "translate_transport.h"
#include "net/be.h"

enum {
	VALUES,
	COUNTERS,
	PATHS,
	LISTS,
	TABLES,
};

static struct table table[TABLES];
static const struct table *known[TABLES];
static struct truth truth;

static void make_tables(void)
{
	table[VALUES] = test_table(TABLE_KEYWRITE, 1, 13, 2, 8, 64);
	table[VALUES].key_type = KEY_FLOW4;
	table[COUNTERS] = test_table(TABLE_KEYINC, 2, 4, 8, 8, 64);
	table[COUNTERS].key_type = KEY_SRC4;
	table[PATHS] = test_postcards(3, 3, 32, 64, 4);
	table[PATHS].key_type = KEY_U32;
	table[PATHS].key_len = 4;
	table[LISTS] = test_lists(4, 4, 8, 64, 3, 1);
	for (unsigned i = 0; i < TABLES; i++) {
		snprintf(table[i].name, sizeof(table[i].name), "t%u", i);
		known[i] = &table[i];
	}
}

static int row(const char *text, struct error *err)
{
	char line[256];

	snprintf(line, sizeof(line), "%s", text);
	return truth_line(&truth, line, err);
}

static void begin(void)
{
	truth_init(&truth, known, TABLES);
	TEST(row("table,kind,key,hop,path_len,copies,value", NULL) == 0);
}

/* The record of a number as a key, of the only table that has rows. */
static const struct truth_key *key_of(uint32_t number)
{
	uint8_t key[4];

	be32_store(key, number);
	TEST(truth.n == 1);
	return keymap_get(&truth.table[0].keys, key);
}

static void test_rows(void)
{
	struct error err = {""};

	truth_init(&truth, known, TABLES);
	TEST(row("1,keywrite", &err) == -EINVAL);
	TEST(strstr(err.text, "not the header") == err.text);
	begin();
	TEST(row("", &err) == 0 && !truth.n);
	TEST(row("4,append,2,0,0,0,0000000a0000000b", &err) == 0);
	TEST(truth.n == 1 && truth.table[0].t == &table[LISTS]);
	TEST(truth.table[0].lists[2].len == 8);
	TEST(be32_load(truth.table[0].lists[2].entries + 4) == 11);
	TEST(row("4,append,9,0,0,0,0000000a", &err) == -EINVAL);
	TEST(!strcmp(err.text, "key: not a list of the table: '9'"));
	TEST(row("4,append,1,0,0,0,00000a", &err) == -EINVAL);
	TEST(row("7,append,1,0,0,0,0000000a", &err) == -EINVAL);
	TEST(!strcmp(err.text, "no such table: '7'"));
	truth_fini(&truth);
}

static void test_counters(void)
{
	struct query_reply r = {.answer = QUERY_FOUND, .count = 7};
	const struct truth_key *k;

	begin();
	TEST(row("2,keyinc,0.0.0.1,0,0,2,3", NULL) == 0);
	TEST(row("2,keyinc,0.0.0.1,0,0,1,4", NULL) == 0);
	k = key_of(1);
	TEST(k->sum == 7 && k->copies == 1);
	TEST(truth_verdict_of(&table[COUNTERS], k, &r) == VERDICT_RIGHT);
	r.count = 8;
	TEST(truth_verdict_of(&table[COUNTERS], k, &r) == VERDICT_OVER);
	r.count = 6;
	TEST(truth_verdict_of(&table[COUNTERS], k, &r) == VERDICT_WRONG);
	r = (struct query_reply){.answer = QUERY_NOT_FOUND};
	TEST(truth_verdict_of(&table[COUNTERS], k, &r) == VERDICT_MISSING);
	r = (struct query_reply){.answer = QUERY_UNREADABLE};
	TEST(truth_verdict_of(&table[COUNTERS], k, &r) == VERDICT_MISSING);
	truth_fini(&truth);
}

/* The hops 0 to n - 1 of a path: values 10 and up. */
static const struct truth_key *path(uint32_t key, unsigned n, unsigned told)
{
	char text[64];

	for (unsigned i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "3,postcard,%u,%u,%u,1,%u", key, i,
			 told, 10 + i);
		TEST(row(text, NULL) == 0);
	}
	return key_of(key);
}

static enum truth_verdict answered(const struct truth_key *k, unsigned n)
{
	struct query_reply r = {
		.answer = QUERY_FOUND,
		.path = {.len = (uint8_t)n, .value = {10, 11, 12}},
	};

	return truth_verdict_of(&table[PATHS], k, &r);
}

/* Contract 1.1: a path cut short is not the path. */
static void test_paths(void)
{
	const struct table *t = &table[PATHS];
	const struct truth_key *k;

	begin();
	k = path(1, 3, 3);
	TEST(truth_path_whole(k, t) && truth_path_len(k, t) <= t->hops);
	TEST(answered(k, 3) == VERDICT_RIGHT &&
	     answered(k, 2) == VERDICT_WRONG);
	k = path(2, 2, 2);
	TEST(truth_path_whole(k, t) && answered(k, 2) == VERDICT_RIGHT);
	k = path(3, 3, 0);
	TEST(truth_path_whole(k, t) && answered(k, 3) == VERDICT_RIGHT);
	k = path(4, 2, 0);
	TEST(!truth_path_whole(k, t) && truth_path_len(k, t) <= t->hops);
	k = path(5, 5, 0);
	TEST(truth_path_len(k, t) == 5 && truth_path_len(k, t) > t->hops);
	TEST(truth_path_whole(k, t) && answered(k, 3) == VERDICT_WRONG);
	k = path(6, 3, 5);
	TEST(truth_path_len(k, t) > t->hops && !truth_path_whole(k, t));
	k = path(7, 15, 15);
	TEST(truth_path_len(k, t) > t->hops && truth_path_whole(k, t));
	k = path(8, 16, 0);
	TEST(truth_path_len(k, t) == TRUTH_HOPS && truth_path_whole(k, t));
	/* On another way since: what is stored is the old one. */
	k = path(1, 5, 5);
	TEST(truth_path_len(k, t) > t->hops && answered(k, 3) == VERDICT_WRONG);
	/* The value of no hop is none. */
	TEST(row("3,postcard,9,0,1,1,4294967295", NULL) == 0);
	TEST(!key_of(9)->seen);
	TEST(row("3,postcard,9,16,0,1,1", NULL) == -EINVAL);
	truth_fini(&truth);
}

static void test_keys(void)
{
	uint8_t key[KEY_MAX];
	struct error f;
	bool loose;

	TEST(query_key_pick(key, &loose, known, TABLES,
			    "10.0.0.1:1>10.0.0.2:2/tcp", &f) == VALUES);
	TEST(key[0] == 10 && key[3] == 1 && key[12] == 6 && !loose);
	TEST(query_key_pick(key, &loose, known, TABLES,
			    " 10.0.0.1:1 ->\t10.0.0.2:2 / TCP", &f) == VALUES);
	TEST(key[0] == 10 && key[3] == 1 && key[12] == 6 && loose);
	TEST(query_key_pick(key, &loose, known, TABLES, "10.0.0.1", &f) ==
	     COUNTERS);
	TEST(query_key_pick(key, &loose, known, 1, "10.0.0.1", &f) == -EINVAL);
	TEST(!strcmp(f.text,
		     "is no key of table t0 (flow4, like "
		     "10.0.0.1:443>10.0.0.2:5501/tcp): it lacks a : and "
		     "the port"));
	TEST(query_key_pick(key, &loose, known, 1, "10.0.0.1:7", &f) ==
	     -EINVAL);
	TEST(strstr(f.text, "it lacks a > and the destination (a shell") !=
	     NULL);
	TEST(query_key_pick(key, &loose, known, 1,
			    "10.0.0.1:7 > 10.0.0.2:77777/tcp", &f) == -EINVAL);
	TEST(strstr(f.text, ": '77777' is not a port from ") != NULL);
	TEST(query_key_pick(key, &loose, known + PATHS, 2, "7", &f) == -EEXIST);
	TEST(!strcmp(f.text, "is a key of tables t2 and t3: say --table"));
}

int main(void)
{
	make_tables();
	test_rows();
	test_counters();
	test_paths();
	test_keys();
	return test_end();
}
