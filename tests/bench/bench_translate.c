/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports in memory, through the translator, into a region: what a core does
 * when nobody has to read files for it. Key-Write is bench_keywrite.c's.
 */
#include "bed.h"

enum {
	HOPS = 5,
	LISTS = 255,
	INCS_PART = 4, /* counters: 1 for so many slots */
};

/* Random read-modify-writes of 8 bytes: the limit of Key-Increment. */
static double reference_add(uint8_t *mem, uint64_t slots)
{
	struct rng r = {1};
	double start = bench_now();

	for (unsigned i = 0; i < REPORTS; i++)
		++*(volatile uint64_t *)(mem + (rng_u64(&r) & (slots - 1)) * 8);
	return bench_now() - start;
}

/* Every byte of the packets, a cache line at a time. */
static double reference_stream(const struct traffic *tf)
{
	const uint64_t *p = (const void *)(tf->block + FRAME);
	double start = bench_now();
	volatile uint64_t out;
	uint64_t a = 0, b = 0, c = 0, d = 0;

	for (size_t i = 0; i < (size_t)REPORTS * FRAME / 8; i += 8) {
		a += p[i] + p[i + 4];
		b += p[i + 1] + p[i + 5];
		c += p[i + 2] + p[i + 6];
		d += p[i + 3] + p[i + 7];
	}
	out = a + b + c + d;
	(void)out;
	return bench_now() - start;
}

/* A table of each kind; counters are 1 GiB, if the machine has that. */
static struct layout layout_of(uint64_t slots)
{
	struct layout l = {.n = 3};

	l.table[0] = table_of(TABLE_APPEND, 4, 4, 4, 1 << 16);
	l.table[0].key_type = KEY_U32;
	l.table[0].lists = LISTS;
	l.table[0].batch = 16;
	l.table[0].flush_ms = 1000;
	l.table[1] = table_of(TABLE_KEYINC, KEY, 8, 8, slots / INCS_PART);
	l.table[2] = table_of(TABLE_POSTCARD, KEY, 4, 32, 1 << 22);
	l.table[2].hops = HOPS;
	l.table[2].cache_rows = 32768;
	l.table[2].value_min = 1;
	l.table[2].value_max = 1 << 18;
	return l;
}

static void bench_keyinc(const struct bed *b)
{
	double rate[BENCH_ROUNDS], limit[BENCH_ROUNDS];
	struct traffic tf = traffic_new(FRAME);
	struct translator *t = translator_new(b);

	keyed(&tf, &b->table[1], 1);
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		limit[i] = REPORTS /
			   reference_add(b->mem[1], b->slots / INCS_PART);
		rate[i] = REPORTS / run(t, &tf);
	}
	check(t);
	bench_row("Key-Increment, flow4, N = 1",
		  bench_median(rate, BENCH_ROUNDS) / 1e6,
		  bench_median(limit, BENCH_ROUNDS) / 1e6, b->pages);
	translate_close(t);
	traffic_free(&tf);
}

/* Packets' postcards in order of the hops, between packets of other flows. */
static void bench_postcards(const struct bed *b, const char *name,
			    unsigned between)
{
	double rate[BENCH_ROUNDS], limit[BENCH_ROUNDS];
	struct traffic tf = traffic_new(FRAME);
	struct translator *t = translator_new(b);
	uint8_t key[16], value[4];
	struct dta_report r = {.opcode = TABLE_POSTCARD,
			       .path_len = HOPS,
			       .table = TABLE_POSTCARD,
			       .key_len = KEY,
			       .data_len = 4,
			       .key = key,
			       .data = value};

	for (unsigned i = 0; i < REPORTS; i++) {
		r.hop = (uint8_t)(i / between % HOPS);
		key_of(key, i / (between * HOPS) * between + i % between);
		be32_store(value, 1 + i % 1000);
		traffic_set(&tf, i, &r);
	}
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		limit[i] = REPORTS / reference_stream(&tf);
		rate[i] = REPORTS / run(t, &tf);
	}
	check(t);
	bench_row(name, bench_median(rate, BENCH_ROUNDS) / 1e6,
		  bench_median(limit, BENCH_ROUNDS) / 1e6, b->pages);
	translate_close(t);
	traffic_free(&tf);
}

static void bench_append(const struct bed *b, const char *name, unsigned lists)
{
	double rate[BENCH_ROUNDS], limit[BENCH_ROUNDS];
	struct traffic tf = traffic_new(FRAME);
	struct translator *t = translator_new(b);
	uint8_t key[4], value[4];
	struct dta_report r = {.opcode = TABLE_APPEND,
			       .table = TABLE_APPEND,
			       .key_len = 4,
			       .data_len = 4,
			       .key = key,
			       .data = value};

	for (unsigned i = 0; i < REPORTS; i++) {
		be32_store(key, (uint32_t)(rng_mix(i) % lists));
		be32_store(value, i);
		traffic_set(&tf, i, &r);
	}
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		limit[i] = REPORTS / reference_stream(&tf);
		rate[i] = REPORTS / run(t, &tf);
	}
	check(t);
	bench_row(name, bench_median(rate, BENCH_ROUNDS) / 1e6,
		  bench_median(limit, BENCH_ROUNDS) / 1e6, b->pages);
	translate_close(t);
	traffic_free(&tf);
}

int main(void)
{
	struct bed b;

	bed_make(&b, layout_of);
	bench_keyinc(&b);
	bench_postcards(&b, "Postcards, 5 hops, 32K rows, no interleaving", 1);
	bench_postcards(&b, "Postcards, 5 hops, 32K rows, 1K flows between",
			1024);
	bench_append(&b, "Append, 4 B, batch 16, one list", 1);
	bench_append(&b, "Append, 4 B, batch 16, 255 lists", LISTS);
	bed_unmake(&b);
	return 0;
}
