/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports in memory, through the translator, into a region: what a core does
 * when nobody has to read files for it.
 *
 * The reference loop is what one would write by hand for Key-Write: parse the
 * headers, make the checks that the translator makes, two CRC-32C of the key by
 * the CPU's own instruction, one 8-byte store into the slot; nothing else. It
 * runs in the same rounds over the same packets and the same memory. A second
 * one that looks at fewer fields is shown beside it: such loops wait for
 * address translation, and the fewer instructions they have, the more of them
 * wait at the same time. Others store a second copy, N = 2; or a line: five
 * hops with their metadata, 12 bytes each.
 */
#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "bench_reports.h"
#include "net/be.h"
#include "net/net.h"

/* Seconds for all packets through a translator, in full batches. */
static double run(struct translator *t, const struct traffic *tf)
{
	double start = bench_now();

	for (unsigned i = 0; i < REPORTS; i += PKT_BATCH)
		if (translate_rx(t, tf->pkt + i, PKT_BATCH))
			die("translate_rx failed");
	return bench_now() - start;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static inline uint32_t
crc32c_of(const uint8_t *key, uint32_t sum)
{
	uint64_t a, w;
	uint32_t b;

	memcpy(&a, key, 8);
	memcpy(&b, key + 8, 4);
	w = _mm_crc32_u64(sum, a);
	w = _mm_crc32_u32((uint32_t)w, b);
	return ~_mm_crc32_u8((uint32_t)w, key[12]);
}

/* Whether a frame is a Key-Write report of a table, by its fields. */
static inline bool fields_right(const uint8_t *p, uint32_t len,
				unsigned value_len, unsigned table)
{
	return len >= 63 + value_len && be16_load(p + 12) == 0x0800 &&
	       p[14] == 0x45 && p[23] == NET_PROTO_UDP &&
	       be16_load(p + 36) == DTA_PORT &&
	       be16_load(p + 38) == 8 + 8 + KEY + value_len &&
	       p[42] == (0x10 | DTA_KEYWRITE) && p[44] == KEY &&
	       be16_load(p + 46) == table;
}

/* And by all else that the translator wants of it: not a fragment, lengths that
 * agree, the sum of the IPv4 header, no UDP checksum, N. */
static inline bool rest_right(const uint8_t *p, unsigned value_len)
{
	uint64_t a = be64_load(p + 14), b = be64_load(p + 22);
	unsigned __int128 sum = (unsigned __int128)a + b + be32_load(p + 30);

	return !(be16_load(p + 20) & 0xbfff) &&
	       be16_load(p + 16) == 28 + 8 + KEY + value_len &&
	       !be16_load(p + 40) && (p[43] & 15) <= 4 &&
	       ((uint64_t)sum + (uint64_t)(sum >> 64)) % 0xffff == 0;
}

static inline void store_word(uint8_t *at, const uint8_t *p, uint64_t sum)
{
	*(volatile uint64_t *)at = (uint64_t)be32_load(p + 63) << 32 | sum;
}

/* The reference loop; returns its seconds. Without the rest of the checks, it
 * takes for a report what the translator would not. */
__attribute__((target("sse4.2"))) static inline
	__attribute__((always_inline)) double
	reference(const struct traffic *tf, uint8_t *mem, uint64_t slots,
		  bool rest, unsigned copies)
{
	double start = bench_now();

	for (unsigned i = 0; i < REPORTS; i++) {
		const uint8_t *p = tf->pkt[i].data;
		uint64_t slot;
		uint32_t sum;

		if (!fields_right(p, tf->pkt[i].len, 4, TABLE_KEYWRITE) ||
		    (rest && !rest_right(p, 4)))
			continue;
		slot = crc32c_of(p + 50, ~1u) & (slots - 1);
		sum = crc32c_of(p + 50, ~0u);
		store_word(mem + slot * 8, p, sum);
		if (copies == 1)
			continue;
		slot = crc32c_of(p + 50, ~2u) & (slots - 1);
		store_word(mem + slot * 8, p, sum);
	}
	return bench_now() - start;
}

__attribute__((target("sse4.2"), noinline)) static double
reference_full(const struct traffic *tf, uint8_t *mem, uint64_t slots)
{
	return reference(tf, mem, slots, true, 1);
}

__attribute__((target("sse4.2"), noinline)) static double
reference_fields(const struct traffic *tf, uint8_t *mem, uint64_t slots)
{
	return reference(tf, mem, slots, false, 1);
}

__attribute__((target("sse4.2"), noinline)) static double
reference_two(const struct traffic *tf, uint8_t *mem, uint64_t slots)
{
	return reference(tf, mem, slots, true, 2);
}

/* The same with all checks, and a line of memory for each report. */
__attribute__((target("sse4.2"), noinline)) static double
reference_line(const struct traffic *tf, uint8_t *mem, uint64_t lines)
{
	double start = bench_now();

	for (unsigned i = 0; i < REPORTS; i++) {
		const uint8_t *p = tf->pkt[i].data;
		uint8_t *at;
		uint32_t sum;

		if (!fields_right(p, tf->pkt[i].len, LINE_VALUE, LINE_TABLE) ||
		    !rest_right(p, LINE_VALUE))
			continue;
		at = mem + (crc32c_of(p + 50, ~1u) & (lines - 1)) * LINE;
		sum = crc32c_of(p + 50, ~0u);
		memcpy(at, &sum, sizeof(sum));
		memcpy(at + sizeof(sum), p + 63, LINE_VALUE);
		__asm__ volatile("" ::: "memory");
	}
	return bench_now() - start;
}
#else
/* A rate of 0: no limit is printed. */
static double reference_full(const struct traffic *tf, uint8_t *mem,
			     uint64_t slots)
{
	(void)tf, (void)mem, (void)slots;
	return INFINITY;
}

static double reference_fields(const struct traffic *tf, uint8_t *mem,
			       uint64_t slots)
{
	return reference_full(tf, mem, slots);
}

static double reference_two(const struct traffic *tf, uint8_t *mem,
			    uint64_t slots)
{
	return reference_full(tf, mem, slots);
}

static double reference_line(const struct traffic *tf, uint8_t *mem,
			     uint64_t lines)
{
	return reference_full(tf, mem, lines);
}
#endif

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

static void bench_keywrite(const struct bed *b)
{
	double rate[2][BENCH_ROUNDS], limit[2][BENCH_ROUNDS];
	double lean[BENCH_ROUNDS], full, ours[2];
	struct traffic tf[2] = {traffic_new(), traffic_new()};
	struct translator *t = translator_new(b);

	for (unsigned n = 0; n < 2; n++)
		keyed(&tf[n], &b->table[0], (uint8_t)(n + 1));
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		limit[0][i] = REPORTS /
			      reference_full(&tf[0], b->mem[0], b->slots);
		limit[1][i] = REPORTS /
			      reference_two(&tf[1], b->mem[0], b->slots);
		lean[i] = REPORTS /
			  reference_fields(&tf[0], b->mem[0], b->slots);
		for (unsigned n = 0; n < 2; n++)
			rate[n][i] = REPORTS / run(t, &tf[n]);
	}
	check(t);
	full = bench_median(limit[0], BENCH_ROUNDS) / 1e6;
	for (unsigned n = 0; n < 2; n++)
		ours[n] = bench_median(rate[n], BENCH_ROUNDS) / 1e6;
	bench_row("Key-Write, flow4, 4 B, N = 1", ours[0], full, b->pages);
	bench_row("Key-Write, flow4, 4 B, N = 2", ours[1], full, b->pages);
	bench_row("Key-Write, flow4, 4 B, N = 2 (limit: two stores)", ours[1],
		  bench_median(limit[1], BENCH_ROUNDS) / 1e6, b->pages);
	bench_row("Reference loop without IPv4 sum, lengths, fragment, N",
		  bench_median(lean, BENCH_ROUNDS) / 1e6, full, b->pages);
	translate_close(t);
	traffic_free(&tf[0]);
	traffic_free(&tf[1]);
}

static void bench_lines(const struct bed *b)
{
	double rate[BENCH_ROUNDS], limit[BENCH_ROUNDS];
	struct traffic tf = traffic_new_of(LINE_FRAME);
	struct translator *t = translator_new(b);

	keyed(&tf, &b->table[4], 1);
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		limit[i] = REPORTS /
			   reference_line(&tf, b->mem[4], b->table[4].units);
		rate[i] = REPORTS / run(t, &tf);
	}
	check(t);
	bench_row("Key-Write, flow4, 60 B: a line (limit: it is copied)",
		  bench_median(rate, BENCH_ROUNDS) / 1e6,
		  bench_median(limit, BENCH_ROUNDS) / 1e6, b->pages);
	translate_close(t);
	traffic_free(&tf);
}

static void bench_keyinc(const struct bed *b)
{
	double rate[BENCH_ROUNDS], limit[BENCH_ROUNDS];
	struct traffic tf = traffic_new();
	struct translator *t = translator_new(b);

	keyed(&tf, &b->table[2], 1);
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		limit[i] = REPORTS / reference_add(b->mem[2], b->slots / 4);
		rate[i] = REPORTS / run(t, &tf);
	}
	check(t);
	bench_row("Key-Increment, flow4, N = 1",
		  bench_median(rate, BENCH_ROUNDS) / 1e6,
		  bench_median(limit, BENCH_ROUNDS) / 1e6, b->pages);
	translate_close(t);
	traffic_free(&tf);
}

static void bench_postcards(const struct bed *b, const char *name,
			    unsigned between)
{
	double rate[BENCH_ROUNDS], limit[BENCH_ROUNDS];
	struct traffic tf = traffic_new();
	struct translator *t = translator_new(b);

	postcards(&tf, between);
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
	struct traffic tf = traffic_new();
	struct translator *t = translator_new(b);

	entries(&tf, lists);
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

	bed_make(&b, "translate", 1u << 30);
	bench_keywrite(&b);
	bench_lines(&b);
	bench_keyinc(&b);
	bench_postcards(&b, "Postcards, 5 hops, 32K rows, no interleaving", 1);
	bench_postcards(&b, "Postcards, 5 hops, 32K rows, 1K flows between",
			1024);
	bench_append(&b, "Append, 4 B, batch 16, one list", 1);
	bench_append(&b, "Append, 4 B, batch 16, 255 lists", LISTS);
	bed_unmake(&b);
	return 0;
}
