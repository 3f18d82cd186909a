/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uniform.c - random keys, for the theory and for benchmarks: any kind of
 * report, any type of key. Value: the number of the key, from 0, in the first
 * four bytes, zeros after them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "workload/private.h"
#include "wire/be.h"

enum {
	UNIFORM_HOPS = 5,
	UNIFORM_VALUES = 262144, /* postcards: values 1 .. this */
};

/*
 * Key i. Keys of 4 bytes are all different (the mix is a bijection of 32
 * bits: Mueller's hash); longer ones are as good as different. The seed goes in
 * twice: before the mix alone, it would only change the order of the keys.
 */
static void make_key(const struct workload_run *g, uint64_t i, uint8_t *key)
{
	uint64_t state = g->o.stream.base ^ rng_mix(i),
		 extra = g->o.stream.extra;
	unsigned len = g->o.key_len;
	uint64_t w;

	if (len == 4) {
		uint32_t x = (uint32_t)i ^ (uint32_t)rng_mix(g->o.seed);

		x = (x >> 16 ^ x) * 0x45d9f3b;
		x = (x ^ (uint32_t)extra) * ((uint32_t)(extra >> 32) | 1);
		x = (x >> 16 ^ x) * 0x45d9f3b;
		be32_store(key, x >> 16 ^ x);
		return;
	}
	for (unsigned at = 0; at < len; at += 8) {
		w = htole64(rng_mix(state += 0x9e3779b97f4a7c15));
		memcpy(key + at, &w, 8); /* there is room for what is over */
	}
}

/* The value of which only the number changes. */
int work_uniform_start(struct workload_run *g)
{
	g->state = calloc(1, g->o.value_len < 4 ? 4 : g->o.value_len);
	return g->state ? 0 : -ENOMEM;
}

void work_uniform(struct workload_run *g, const struct traffic_packet *p)
{
	uint8_t key[KEY_MAX + 8], *value = g->state;
	size_t len = g->o.value_len;
	uint64_t i = p->id;

	make_key(g, i, key);
	be32_store(value, (uint32_t)i);
	switch (g->o.kind) {
	case DTA_KEYWRITE:
		work_keywrite(g, false, key, g->o.key_len, value, len, 1,
			      p->ts_ns);
		break;
	case DTA_APPEND:
		work_append(g, false, (uint32_t)(i % g->o.lists), value, len, 1,
			    p->ts_ns);
		break;
	case DTA_KEYINC:
		work_keyinc(g, false, key, g->o.key_len, i + 1, 1, p->ts_ns);
		break;
	case DTA_POSTCARD:
		for (unsigned hop = 0; hop < UNIFORM_HOPS; hop++)
			work_postcard(
				g, false, key, g->o.key_len, hop, UNIFORM_HOPS,
				1 + (uint32_t)((i + hop) % UNIFORM_VALUES), 1,
				p->ts_ns);
		break;
	}
}
