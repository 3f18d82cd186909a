/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers out of memory: Key-Write queries in bulk against random reads of the
 * same memory, lists against a copy of the same length.
 */
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "bench.h"
#include "hash/crc.h"
#include "query/query.h"
#include "region/region.h"

enum {
	KEYS = 1 << 20,
	KEY_LEN = 13,
	KEY_ROOM = 32, /* with its headroom */
	COPIES = 2,
	LIST_READ = 1 << 14, /* entries a call: what stays in the cache */
	ENTRIES = 16 << 20,
};

static char name[64];

/* One table; as much memory as there is, up to what is wished for. */
static struct region *make(const char *const (*fields)[2], unsigned n,
			   uint64_t *memory)
{
	struct region_options o = {.epochs = 1};
	struct layout l = {.n = 1};
	struct error err = {""};
	struct region *r;

	for (; *memory >= 64 << 20; *memory /= 2) {
		memset(&l.table[0], 0, sizeof(l.table[0]));
		snprintf(l.table[0].name, TABLE_NAME_MAX, "bench");
		for (unsigned i = 0; i < n; i++)
			layout_set(&l.table[0], fields[i][0], fields[i][1],
				   &err);
		l.table[0].length = *memory;
		if (region_create(&r, name, &l, &o, &err) < 0)
			continue;
		/* The name goes at once: nothing is left behind. */
		region_remove(name, NULL);
		return r;
	}
	fprintf(stderr, "%s\n", err.text);
	exit(1);
}

/* Reads of random aligned words, as many in flight as the machine takes. */
static uint64_t read_random(const uint64_t *mem, uint64_t words,
			    const uint32_t *at, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += mem[at[i] & (words - 1)];
	return sum;
}

static uint64_t ask(const struct table_view *v, const uint8_t *const *keys)
{
	static const struct query_rule rule = {.copies = COPIES};
	static uint8_t value[QUERY_BATCH * 4];
	static struct query_keywrite_answers a = {.value = value};
	uint64_t found = 0;

	for (size_t i = 0; i < KEYS; i += QUERY_BATCH) {
		query_keywrite(&a, v, &rule, keys + i, QUERY_BATCH);
		found += a.answer[0] == QUERY_FOUND;
	}
	return found;
}

/* Half of the keys are there. */
static void store_keys(const struct table *t, uint8_t *mem,
		       const uint8_t *const *keys)
{
	for (size_t i = 0; i < KEYS; i += 2) {
		uint32_t sum = htobe32(crc(CRC_CHECKSUM, keys[i], KEY_LEN));

		for (unsigned c = 0; c < COPIES; c++) {
			uint32_t h = crc(CRC_SLOT0 + c, keys[i], KEY_LEN);

			memcpy(mem + h % t->units * 8, &sum, 4);
		}
	}
}

static void bench_keywrite(void)
{
	static const char *const fields[][2] = {
		{"kind", "keywrite"}, {"key", "flow4"}, {"value", "4"}};
	uint64_t memory = 4ull << 30;
	struct region *r = make(fields, 3, &memory);
	const struct table *t = region_table(r, 0);
	uint8_t *room = malloc((size_t)KEYS * KEY_ROOM);
	const uint8_t **keys = malloc(KEYS * sizeof(*keys));
	uint32_t *at = malloc(KEYS * COPIES * sizeof(*at));
	double ours[BENCH_ROUNDS], limit[BENCH_ROUNDS];
	struct table_view v = {.t = t, .mem = region_read(r, t, 1)};
	struct rng rng = {.state = 1};
	volatile uint64_t sink;
	char path[80];

	for (size_t i = 0; i < (size_t)KEYS * KEY_ROOM; i++)
		room[i] = (uint8_t)rng_u64(&rng);
	for (size_t i = 0; i < KEYS; i++)
		keys[i] = room + i * KEY_ROOM + CRC_HEADROOM;
	for (size_t i = 0; i < KEYS * COPIES; i++)
		at[i] = (uint32_t)rng_u64(&rng);
	store_keys(t, (uint8_t *)v.mem, keys);
	for (int k = 0; k < BENCH_ROUNDS; k++) {
		double start = bench_now();

		sink = ask(&v, keys);
		ours[k] = KEYS / (bench_now() - start) / 1e6;
		start = bench_now();
		sink = read_random((const uint64_t *)v.mem, t->units, at,
				   KEYS * COPIES);
		limit[k] = KEYS / (bench_now() - start) / 1e6;
	}
	(void)sink;
	snprintf(path, sizeof(path), "query keywrite N=%d %g GiB", COPIES,
		 (double)memory / 0x1p30);
	bench_row(path, bench_median(ours, BENCH_ROUNDS),
		  bench_median(limit, BENCH_ROUNDS), region_page_kind(r));
	region_close(r);
	free(at);
	free(keys);
	free(room);
}

static void bench_list(void)
{
	static const char *const fields[][2] = {
		{"kind", "append"}, {"value", "4"}, {"lists", "1"}};
	static uint32_t buf[LIST_READ];
	uint64_t memory = 4ull * ENTRIES + 64;
	struct region *r = make(fields, 3, &memory);
	const struct table *t = region_table(r, 0);
	struct table_view v = {.t = t, .mem = region_read(r, t, 1)};
	uint64_t count = htobe64(t->units - t->batch), got = 0;
	double ours[BENCH_ROUNDS], limit[BENCH_ROUNDS];

	memset((uint8_t *)v.mem, 1, t->heads);
	memcpy((uint8_t *)v.mem + t->heads, &count, 8);
	for (int k = 0; k < BENCH_ROUNDS; k++) {
		uint64_t from = 0, lost;
		double start = bench_now();
		int64_t n;

		got = 0;
		while ((n = query_list_read(&v, 0, from, buf, LIST_READ, &from,
					    &lost)) > 0)
			got += (uint64_t)n;
		ours[k] = (double)got / (bench_now() - start) / 1e6;
		start = bench_now();
		for (uint64_t i = 0; i + LIST_READ <= got; i += LIST_READ) {
			memcpy(buf, v.mem + 4 * i, sizeof(buf));
			__asm__ volatile("" ::"r"(buf) : "memory");
		}
		limit[k] = (double)got / (bench_now() - start) / 1e6;
	}
	bench_row("read a list, 4 B entries", bench_median(ours, BENCH_ROUNDS),
		  bench_median(limit, BENCH_ROUNDS), region_page_kind(r));
	region_close(r);
}

int main(void)
{
	snprintf(name, sizeof(name), "dta-test-%d-bench-query", (int)getpid());
	bench_keywrite();
	bench_list();
	return 0;
}
