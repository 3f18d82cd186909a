/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys hashed by each engine; the limit is a loop that only reads the keys.
 * Buffers count in megabytes.
 */
#include <stdint.h>
#include <string.h>

#include "base/rng.h"
#include "bench.h"
#include "hash/crc_engine.h"

enum {
	BATCH = 1024,
	STRIDE = 128, /* a packet in its buffer */
	KEY_AT = 50,  /* Ethernet, IPv4, UDP, DTA/1 */
	MAX_IDS = 5,
	TURNS = 200, /* batches a round */
	BUFFER = 1 << 20,
};

static uint8_t packets[BATCH * STRIDE];
static const uint8_t *keys[BATCH];
static uint32_t sums[MAX_IDS][BATCH];
static uint8_t buffer[BUFFER];
static volatile uint64_t sink; /* keeps what is not used otherwise */

static uint64_t word(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* From the end, as crc_batch() does, so that no read crosses more lines. */
static void read_keys(size_t len)
{
	uint64_t v = 0, w = 0;

	for (unsigned k = 0; k < BATCH; k += 2) {
		const uint8_t *a = keys[k] + len, *b = keys[k + 1] + len;

		v ^= word(a - 8);
		w ^= word(b - 8);
		for (size_t at = 16; at < len + 8; at += 8) {
			v ^= word(a - at);
			w ^= word(b - at);
		}
	}
	sink = v ^ w;
}

static void hash_keys(size_t len, unsigned nids)
{
	static const enum crc_id ids[MAX_IDS] = {
		CRC_SLOT0, CRC_CHECKSUM, CRC_SLOT1, CRC_SLOT2, CRC_SLOT3};
	uint32_t *const out[MAX_IDS] = {sums[0], sums[1], sums[2], sums[3],
					sums[4]};

	crc_batch(ids, nids, keys, len, BATCH, out);
	sink = sums[0][0];
}

static void bench_keys(size_t len, unsigned nids)
{
	double rate[BENCH_ROUNDS], limit[BENCH_ROUNDS];
	char path[80];

	for (int r = 0; r < BENCH_ROUNDS; r++) {
		double t = bench_now();

		for (int i = 0; i < TURNS; i++)
			hash_keys(len, nids);
		rate[r] = BATCH * TURNS / (bench_now() - t) / 1e6;
		t = bench_now();
		for (int i = 0; i < TURNS; i++)
			read_keys(len);
		limit[r] = BATCH * TURNS / (bench_now() - t) / 1e6;
	}
	snprintf(path, sizeof(path), "hash %zu-byte keys x %u (%s)", len, nids,
		 crc_engine->name);
	bench_row(path, bench_median(rate, BENCH_ROUNDS),
		  bench_median(limit, BENCH_ROUNDS), NULL);
}

static void bench_buffer(size_t len)
{
	double rate[BENCH_ROUNDS];
	char path[80];

	for (int r = 0; r < BENCH_ROUNDS; r++) {
		double t = bench_now();

		for (size_t at = 0; at + len <= BUFFER; at += len)
			sink = crc(CRC_SLOT0, buffer + at, len);
		rate[r] = (double)(BUFFER / len * len) / (bench_now() - t) /
			  1e6;
	}
	snprintf(path, sizeof(path), "CRC of %zu-byte buffers, MB (%s)", len,
		 crc_engine->name);
	bench_row(path, bench_median(rate, BENCH_ROUNDS), 0, NULL);
}

int main(void)
{
	struct rng r = {.state = 1};
	const struct crc_ops *engines[] = {&crc_table_ops, crc_clmul_probe(),
					   crc_vpclmul_probe()};

	for (size_t i = 0; i < sizeof(packets); i++)
		packets[i] = (uint8_t)rng_u64(&r);
	memset(buffer, 1, sizeof(buffer));
	for (size_t k = 0; k < BATCH; k++)
		keys[k] = packets + k * STRIDE + KEY_AT;
	for (unsigned e = 0; e < sizeof(engines) / sizeof(engines[0]); e++) {
		if (!engines[e])
			continue;
		crc_engine = engines[e];
		for (unsigned n = 1; n <= 3; n++)
			bench_keys(13, n);
		bench_buffer(84);
		bench_buffer(BUFFER);
	}
	bench_keys(13, 5);
	bench_keys(4, 2);
	bench_keys(37, 2);
	bench_keys(64, 2);
	return 0;
}
