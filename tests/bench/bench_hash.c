/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_hash.c - keys hashed per second by each engine, as NDJSON rows: path,
 * rate_mps and limit_mps (millions per second), ratio. The limit is a loop that
 * only reads the keys. Buffers count in megabytes, and their limit is null.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "hash/crc.h"
#include "hash/family.h"

enum {
	BATCH = 1024,
	STRIDE = 128, /* a packet in its buffer */
	KEY_AT = 50,  /* Ethernet, IPv4, UDP, DTA/1 */
	MAX_IDS = 5,
	ROUNDS = 5, /* the best counts */
	BUFFER = 1 << 20,
};

static uint8_t packets[BATCH * STRIDE];
static const uint8_t *keys[BATCH];
static uint32_t sums[MAX_IDS][BATCH];
static uint8_t buffer[BUFFER];
static volatile uint64_t sink; /* keeps loops that only read */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void run_read(size_t len, unsigned nids)
{
	uint64_t v = 0;

	(void)nids;
	for (unsigned k = 0; k < BATCH; k++)
		for (size_t at = 0; at < len; at += 8)
			v ^= *(const volatile uint64_t *)(keys[k] + at);
	sink = v;
}

static void run_batch(size_t len, unsigned nids)
{
	static const enum crc_id ids[MAX_IDS] = {
		CRC_SLOT0, CRC_CHECKSUM, CRC_SLOT1, CRC_SLOT2, CRC_SLOT3};
	uint32_t *const out[MAX_IDS] = {sums[0], sums[1], sums[2], sums[3],
					sums[4]};

	crc_batch(ids, nids, keys, len, BATCH, out);
}

static void run_buffer(size_t len, unsigned nids)
{
	(void)nids;
	for (size_t at = 0; at + len <= BUFFER; at += len)
		sink = crc(CRC_SLOT0, buffer + at, len);
}

static double seconds(void (*run)(size_t, unsigned), size_t len, unsigned nids,
		      unsigned turns)
{
	double best = 1e9;

	for (unsigned i = 0; i < ROUNDS; i++) {
		double t = now();

		for (unsigned j = 0; j < turns; j++)
			run(len, nids);
		t = now() - t;
		if (t < best)
			best = t;
	}
	return best / turns;
}

static void bench_keys(const char *name, size_t len, unsigned nids)
{
	double rate = BATCH / seconds(run_batch, len, nids, 400) / 1e6;
	double limit = BATCH / seconds(run_read, len, nids, 400) / 1e6;

	printf("{\"path\": \"hash %s, %zu-byte keys, %u polynomials\", "
	       "\"rate_mps\": %.1f, \"limit_mps\": %.1f, \"ratio\": %.3f}\n",
	       name, len, nids, rate, limit, rate / limit);
}

static void bench_buffer(const char *name, size_t len)
{
	double bytes = (double)(BUFFER / len * len);

	printf("{\"path\": \"crc %s, buffers of %zu bytes, megabytes\", "
	       "\"rate_mps\": %.1f, \"limit_mps\": null, \"ratio\": null}\n",
	       name, len, bytes / seconds(run_buffer, len, 1, 4) / 1e6);
}

int main(void)
{
	static const size_t lens[] = {4, 13, 17, 37, 64};
	struct rng r = {.state = 1};

	for (size_t i = 0; i < sizeof(packets); i++)
		packets[i] = (uint8_t)rng_u64(&r);
	for (size_t i = 0; i < BUFFER; i++)
		buffer[i] = (uint8_t)i;
	for (size_t k = 0; k < BATCH; k++)
		keys[k] = packets + k * STRIDE + KEY_AT;
	for (unsigned e = 0; e < CRC_ENGINES; e++) {
		const char *name = crc_engine_name(e);

		if (crc_set_engine(e))
			continue;
		for (unsigned n = 1; n <= MAX_IDS; n += n < 3 ? 1 : 2)
			bench_keys(name, 13, n);
		for (unsigned i = 0; i < sizeof(lens) / sizeof(*lens); i++)
			if (lens[i] != 13)
				bench_keys(name, lens[i], 2);
		bench_buffer(name, 13);
		bench_buffer(name, 84);
		bench_buffer(name, BUFFER);
	}
	return 0;
}
