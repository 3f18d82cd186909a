/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries against memory laid out by hand: slots and chunks are placed by the
 * published vectors or by the hash of each key, so that a query that looked
 * elsewhere, or took noise for a value, would show.
 */
#include <endian.h>
#include <errno.h>

#include "base/rng.h"
#include "hash/crc.h"
#include "query/query.h"
#include "ask_one.h"
#include "store_sample.h"

enum {
	KEY_LEN = 13,
};

static struct layout layout;
static uint8_t *memory;

/* A view of zeroed memory of a table of the sample. */
static struct table_view fresh(unsigned table)
{
	const struct table *t = &layout.table[table];

	free(memory);
	memory = aligned_alloc(64, (t->length + 63) / 64 * 64);
	memset(memory, 0, t->length);
	return (struct table_view){
		.t = t,
		.values = layout.values[table],
		.mem = memory,
	};
}

static uint8_t *slot_of(const struct table *t, unsigned copy,
			const uint8_t *key)
{
	uint32_t h = crc(CRC_SLOT0 + copy, key, t->key_len);

	return memory + h % t->units * t->stride;
}

static void put_slot(const struct table *t, unsigned copy, const uint8_t *key,
		     uint32_t value)
{
	uint32_t sum = htobe32(crc(CRC_CHECKSUM, key, t->key_len));
	uint8_t *slot = slot_of(t, copy, key);

	memcpy(slot, &sum, 4);
	memset(slot + 4, 0, t->value_len);
	memcpy(slot + 4, &value, 4);
}

static const char *const policies[] = {"plurality",   "first",
				       "unique",      "consensus:2",
				       "consensus:3", "consensus:4"};

enum {
	POLICIES = 6,
};

static const enum query_answer F = QUERY_FOUND, N = QUERY_NOT_FOUND;

/* Values in the four slots (-1: a stranger's), and what each policy says. */
static const struct {
	int value[4];
	char want[POLICIES + 1]; /* found, not found, ambiguous */
	int found;		 /* what plurality finds */
	unsigned agreed;
} cases[] = {
	{{5, 5, 5, 5}, "FFFFFF", 5, 4},
	{{5, -1, -1, -1}, "FFFAAA", 5, 1},
	{{-1, -1, -1, -1}, "NNNNNN", 0, 0},
	{{5, 6, -1, -1}, "AFAAAA", 0, 1},
	{{6, 5, 5, -1}, "FFAFAA", 5, 2},
	{{6, 5, 5, 5}, "FFAFFA", 5, 3},
	{{6, 6, 5, 5}, "AFAAAA", 0, 2},
	{{0, 0, -1, -1}, "FFFFAA", 0, 2}, /* zero is a value */
	{{-1, 7, -1, 7}, "FFFFAA", 7, 2},
};

static char letter(enum query_answer a)
{
	return "FNAU"[a];
}

static void test_policies(void)
{
	struct query_rule rule = {.copies = 4};
	uint8_t room[CRC_HEADROOM + KEY_LEN], *key = room + CRC_HEADROOM;

	memset(room, 3, sizeof(room));
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table_view v = fresh(SAMPLE_FLOWS);

		for (unsigned c = 0; c < 4; c++)
			if (cases[i].value[c] >= 0)
				put_slot(v.t, c, key,
					 (uint32_t)cases[i].value[c]);
			else
				memset(slot_of(v.t, c, key), 0xa5, 8);
		for (unsigned p = 0; p < POLICIES; p++) {
			struct query_reply a;
			uint32_t value;

			TEST(query_policy_parse(policies[p], &rule) == 0);
			a = ask_one(&v, &rule, key);
			if (!TEST(letter(a.answer) == cases[i].want[p]))
				fprintf(stderr, "  case %u, %s: %s\n", i,
					policies[p], query_answers[a.answer]);
			memcpy(&value, a.value, 4);
			if (a.answer != F)
				continue;
			TEST(value == (p == 1 && cases[i].value[0] >= 0
					       ? (uint32_t)cases[i].value[0]
					       : (uint32_t)cases[i].found));
			if (p == 0)
				TEST(a.agreed == cases[i].agreed);
		}
	}
	TEST(query_policy_parse("consensus:5", &rule) == -EINVAL);
	TEST(query_policy_parse("consensus:1", &rule) ==
	     -EINVAL); /* no consensus */
	TEST(query_policy_parse("consensus", &rule) == -EINVAL);
	TEST(query_policy_parse("consensus:2x", &rule) == -EINVAL);
	TEST(query_policy_parse("firstly", &rule) == -EINVAL);
	TEST(query_policy_parse("", &rule) == -EINVAL);
	TEST(!strcmp(query_answers[QUERY_UNREADABLE], "unreadable"));
}

/* Many keys with collisions, each table shape: the batch is the single one. */
static void test_batch(unsigned table)
{
	static uint8_t room[QUERY_BATCH][64];
	static uint8_t values[QUERY_BATCH * 32];
	static struct query_keywrite_answers all = {.value = values};
	const uint8_t *keys[QUERY_BATCH];
	struct table_view v = fresh(table);
	struct rng rng = {.state = table};
	unsigned found = 0;

	for (unsigned i = 0; i < QUERY_BATCH; i++) {
		for (unsigned k = 0; k < 64; k++)
			room[i][k] = (uint8_t)rng_u64(&rng);
		keys[i] = room[i] + CRC_HEADROOM;
		for (unsigned c = 0; c < 3; c++)
			if (rng_below(&rng, 3))
				put_slot(v.t, c, keys[i],
					 (uint32_t)rng_below(&rng, 2));
	}
	for (unsigned p = POLICIES; p < POLICIES * 5; p++) {
		struct query_rule rule = {.copies = (uint8_t)(p / POLICIES)};
		unsigned n = p % 2 ? QUERY_BATCH : 13;

		query_policy_parse(policies[p % POLICIES], &rule);
		query_keywrite(&all, &v, &rule, keys, n);
		for (unsigned i = 0; i < n; i++) {
			struct query_reply a = ask_one(&v, &rule, keys[i]);

			TEST(a.answer == all.answer[i] &&
			     a.agreed == all.agreed[i] &&
			     a.matched == all.matched[i]);
			found += a.answer == F;
			if (a.answer == F)
				TEST(!memcmp(a.value,
					     values + i * v.t->value_len,
					     v.t->value_len));
		}
	}
	TEST(found > QUERY_BATCH);
}

/* The published DTA system: keys, checksums and slots of the published system.
 */
static void test_dta0(void)
{
	static const uint8_t key[4] = {0x0a, 0, 0, 1};
	static const uint8_t sum[4] = {0x67, 0x51, 0x2d, 0x79};
	static const unsigned slot[4] = {39, 177, 11, 157};
	struct query_rule rule = {.copies = 4, .policy = QUERY_UNIQUE};
	struct table_view v = fresh(SAMPLE_SUMS);
	struct table t = layout.table[SAMPLE_FLOWS];
	struct query_reply a;
	uint64_t one = 1;

	t.hash = HASH_DTA0;
	t.key_len = 4;
	t.units = 256;
	v.t = &t;
	for (unsigned c = 0; c < 4; c++) {
		a = ask_one(&v, &rule, key);
		TEST(a.matched == c);
		memcpy(memory + 8 * slot[c], sum, 4);
		memcpy(memory + 8 * slot[c] + 4, "\0\0\0\x2a", 4);
	}
	a = ask_one(&v, &rule, key);
	TEST(a.answer == F && a.agreed == 4 && a.value[3] == 0x2a);
	for (unsigned c = 0; c < 4; c++)
		memcpy(memory + 8 * slot[c], &one, 8);
	t.kind = TABLE_KEYINC;
	TEST(ask_one(&v, &rule, key).count == 1);
}

static void test_count(void)
{
	static const uint8_t key[4] = {1, 2, 3, 4};
	struct table_view v = fresh(SAMPLE_SUMS);
	struct query_rule rule = {.copies = 4};

	TEST(ask_one(&v, &rule, key).answer == N);
	for (unsigned c = 0; c < 4; c++) {
		uint64_t n = 1000 - 100 * c;

		memcpy(slot_of(v.t, c, key), &n, 8);
	}
	for (unsigned c = 1; c <= 4; c++) {
		rule.copies = (uint8_t)c;
		TEST(ask_one(&v, &rule, key).count == 1100 - 100 * c);
	}
	memset(slot_of(v.t, 0, key), 0xff, 8); /* above 2^63 */
	rule.copies = 1;
	TEST(ask_one(&v, &rule, key).count == UINT64_MAX);
}

/* Writes a chunk: values, ~0u blank, 9999 (not in V) noise. */
static void put_chunk(const struct table_view *v, unsigned copy,
		      const uint8_t *key, const uint32_t *value)
{
	uint8_t *chunk = slot_of(v->t, copy, key);

	for (unsigned i = 0; i < v->t->hops; i++) {
		uint32_t e = htobe32(value[i] ^
				     crc(CRC_HOP0 + i, key, v->t->key_len));

		memcpy(chunk + 4 * i, &e, 4);
	}
}

#define B TABLE_BLANK
#define X 9999

/* Two chunks, and what the query makes of them, strictly and partially. */
static const struct {
	uint32_t a[5], b[5];
	char strict, partial;
	uint8_t len, holes; /* of the partial one */
	uint8_t agreed;
} paths[] = {
	{{1, 7, 500, 1, 1}, {1, 7, 500, 1, 1}, 'F', 'F', 5, 0, 2},
	{{1, 7, 500, 1, 1}, {X, X, X, X, X}, 'F', 'F', 5, 0, 1},
	{{7, B, B, B, B}, {7, B, B, B, B}, 'F', 'F', 1, 0, 2},
	{{7, B, B, B, B}, {1, B, B, B, B}, 'A', 'A', 0, 0, 0},
	{{7, B, B, B, B}, {7, 1, B, B, B}, 'A', 'A', 0, 0, 0},
	{{B, B, B, B, B}, {X, X, X, X, X}, 'N', 'N', 0, 0, 0},
	{{1, 7, X, X, X}, {X, X, X, X, X}, 'N', 'F', 2, 0, 1},
	{{1, X, 7, B, B}, {X, X, X, X, X}, 'N', 'F', 3, 2, 1},
	{{1, B, 7, B, B}, {X, X, X, X, X}, 'N', 'F', 3, 2, 1},
	{{1, X, X, X, X}, {X, X, X, X, X}, 'N', 'N', 0, 0, 0},
	{{X, X, 500, X, 1}, {1, X, 500, X, X}, 'N', 'F', 5, 10, 2},
	{{X, X, 500, X, 1}, {1, X, 7, X, X}, 'N', 'A', 0, 0, 0},
	{{1, X, 500, X, 1}, {7, 7, B, B, B}, 'F', 'F', 2, 0, 1},
	{{2, 7, B, B, B}, {499, 501, 0, 8, 6}, 'N', 'N', 0, 0, 0},
};

static void test_paths(void)
{
	static const uint8_t key[KEY_LEN] = "flow";

	for (unsigned i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct table_view v = fresh(SAMPLE_PATHS);
		struct query_rule rule = {.copies = 2};
		struct query_path strict, partial;

		put_chunk(&v, 0, key, paths[i].a);
		put_chunk(&v, 1, key, paths[i].b);
		strict = ask_one(&v, &rule, key).path;
		rule.partial = true;
		partial = ask_one(&v, &rule, key).path;
		if (!TEST(letter(strict.answer) == paths[i].strict) ||
		    !TEST(letter(partial.answer) == paths[i].partial))
			fprintf(stderr, "  path %u: %s, %s\n", i,
				query_answers[strict.answer],
				query_answers[partial.answer]);
		if (partial.answer != F)
			continue;
		TEST(partial.len == paths[i].len);
		TEST(partial.holes == paths[i].holes);
		TEST(partial.agreed == paths[i].agreed);
		for (unsigned h = 0; h < partial.len; h++)
			if (!(partial.holes >> h & 1))
				TEST(partial.value[h] == paths[i].a[h] ||
				     partial.value[h] == paths[i].b[h]);
	}
}

/* Memory nobody wrote to holds no path, and hardly ever random memory. */
static void test_noise(void)
{
	struct table_view v = fresh(SAMPLE_PATHS);
	struct query_rule rule = {.copies = 4, .partial = true};
	struct rng rng = {.state = 1};
	unsigned found = 0;

	for (int round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 1000; i++) {
			uint8_t key[KEY_LEN + 3];
			uint64_t r[2] = {rng_u64(&rng), rng_u64(&rng)};

			memcpy(key, r, sizeof(key));
			found += ask_one(&v, &rule, key).answer != N;
		}
		for (uint64_t i = 0; i < v.t->length; i++)
			memory[i] = (uint8_t)rng_u64(&rng);
	}
	TEST(found == 0);
}

/* The published system's chunk: no blanks, zero where nothing came. */
static void test_dta0_path(void)
{
	static const uint8_t key[4] = {0, 0, 0, 1};
	static const uint32_t hop[2] = {0xfcbb7a2f, 0x119ca20c};
	struct table_view v = fresh(SAMPLE_PATHS);
	struct table t = *v.t;
	struct query_rule rule = {.copies = 1};
	struct query_path a;

	t.hash = HASH_DTA0;
	t.key_len = 4;
	t.units = 256;
	v.t = &t;
	for (unsigned i = 0; i < 2; i++) {
		uint32_t e = htobe32(hop[i] ^ (i ? 500 : 7));

		/* CRC-32 of the key: 0x5643ef8a. */
		memcpy(memory + 0x8a * 32 + 4 * i, &e, 4);
	}
	a = ask_one(&v, &rule, key).path;
	TEST(a.answer == F && a.len == 2 && a.value[0] == 7 &&
	     a.value[1] == 500);
}

static uint64_t damaged; /* bytes at the start of the table */

static void broken_read(struct memory *m, struct memory_read *r, size_t n)
{
	(void)m;
	for (size_t i = 0; i < n; i++) {
		r[i].rc = r[i].offset < damaged ? -EBADMSG : 0;
		if (!r[i].rc)
			memcpy(r[i].to, memory + r[i].offset, r[i].length);
	}
}

static void test_unreadable(void)
{
	static const uint8_t key[4] = {1, 2, 3, 4};
	static const struct memory_ops ops = {.read = broken_read};
	struct memory broken = {.ops = &ops};
	struct query_rule rule = {.copies = 2};
	struct table_view v = fresh(SAMPLE_DART);
	struct query_reply a;

	put_slot(v.t, 0, key, 9);
	put_slot(v.t, 1, key, 9);
	v.mem = NULL;
	v.memory = &broken;
	damaged = UINT64_MAX;
	a = ask_one(&v, &rule, key);
	TEST(a.answer == QUERY_UNREADABLE);
	damaged = (uint64_t)((slot_of(v.t, 0, key) < slot_of(v.t, 1, key)
				      ? slot_of(v.t, 0, key)
				      : slot_of(v.t, 1, key)) -
			     memory) +
		  1;
	a = ask_one(&v, &rule, key);
	TEST(a.answer == F && a.matched == 1 &&
	     !memcmp(a.value, &(uint32_t){9}, 4));
	v = fresh(SAMPLE_SUMS);
	v.mem = NULL;
	v.memory = &broken;
	damaged = UINT64_MAX;
	TEST(ask_one(&v, &rule, key).answer == QUERY_UNREADABLE);
	v.t = &layout.table[SAMPLE_PATHS];
	a = ask_one(&v, &rule, (const uint8_t *)"thirteen bytes");
	TEST(a.answer == QUERY_UNREADABLE);
}

int main(void)
{
	struct error err;

	sample_layout(&layout);
	for (unsigned i = 0; i < layout.n; i++) {
		layout.table[i].id = (uint16_t)(i + 1);
		TEST(table_finish(&layout.table[i], &err) == 0);
	}
	test_policies();
	test_batch(SAMPLE_FLOWS);
	test_batch(SAMPLE_DART);
	test_dta0();
	test_count();
	test_paths();
	test_noise();
	test_dta0_path();
	test_unreadable();
	free(memory);
	layout_fini(&layout);
	return test_end();
}
