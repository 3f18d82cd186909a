/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kill -9 between any two instructions of a writer: no slot is torn, not even
 * those too long for one store. A child writes slots of one repeated byte, as
 * fast as it can, to random places; it is killed a hundred times at random
 * moments. After each, the region opens and every slot holds one byte,
 * repeated.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "rdma/local.h"
#include "region/region.h"
#include "test.h"

enum {
	KILLS = 100,
	OPS = 64,
	TABLES = 6,
};

static const uint16_t value_len[TABLES] = {4, 12, 28, 60, 124, 1000};
static char name[64];

static void make_region(void)
{
	struct layout l = {.n = TABLES};
	struct region_options o = {.epochs = 1};
	struct error err = {""};
	char text[32];

	for (int i = 0; i < TABLES; i++) {
		struct table *t = &l.table[i];

		snprintf(t->name, sizeof(t->name), "t%d", i);
		t->id = (uint16_t)(i + 1);
		layout_set(t, "kind", "keywrite", &err);
		layout_set(t, "key", "u32", &err);
		snprintf(text, sizeof(text), "%u", value_len[i]);
		layout_set(t, "value", text, &err);
		layout_set(t, "slots", "64", &err);
		layout_set(t, "copies", "1", &err);
		layout_set(t, "stride", i % 2 ? "pow2" : "packed", &err);
	}
	region_remove(name, NULL);
	if (!TEST(region_create(NULL, name, &l, &o, &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		exit(test_end());
	}
}

/* The child: never returns. */
static void write_for_ever(uint64_t seed)
{
	static uint8_t data[OPS][1024];
	struct rng rng = {.state = seed};
	struct op ops[OPS];
	struct local_transport *l;
	struct region *r;
	struct transport *transport;

	if (region_open(&r, name, true, NULL) < 0 ||
	    local_open(&l, r, NULL) < 0)
		_exit(1);
	transport = local_transport(l);
	for (;;) {
		for (int i = 0; i < OPS; i++) {
			uint16_t k = (uint16_t)rng_below(&rng, TABLES);
			const struct table *t = region_table(r, k);
			uint32_t len = 4u + value_len[k];

			memset(data[i], (int)rng_u64(&rng), len);
			ops[i] = (struct op){
				.verb = OP_WRITE,
				.table = k,
				.offset = table_unit(t, rng_below(&rng, 64)),
				.length = len,
				.data = data[i],
			};
		}
		transport->begin(transport);
		if (transport->exec(transport, ops, OPS, 0) < 0)
			_exit(1);
		transport->end(transport);
	}
}

/* Slots that do not hold one byte, repeated. */
static unsigned torn_slots(const struct region *r, unsigned *written)
{
	unsigned torn = 0;

	for (unsigned k = 0; k < TABLES; k++) {
		const struct table *t = region_table(r, k);
		const uint8_t *mem = region_read(r, t, region_epoch(r));

		for (uint64_t u = 0; u < t->units; u++) {
			const uint8_t *slot = mem + table_unit(t, u);
			size_t len = 4u + value_len[k];

			torn += memcmp(slot, slot + 1, len - 1) != 0;
			*written += slot[0] != 0;
		}
	}
	return torn;
}

int main(void)
{
	unsigned written = 0;
	struct rng rng = {.state = 42};

	snprintf(name, sizeof(name), "dta-test-%d-kill", (int)getpid());
	make_region();
	for (int i = 0; i < KILLS; i++) {
		struct region *r;
		int status;
		pid_t pid = fork();

		if (!pid)
			write_for_ever(rng_u64(&rng) + (uint64_t)i);
		usleep((useconds_t)rng_below(&rng, 10000) + 500);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		TEST(WIFSIGNALED(status));
		if (!TEST(region_open(&r, name, true, NULL) == 0))
			break;
		TEST(torn_slots(r, &written) == 0);
		region_close(r);
	}
	TEST(written > 0);
	region_remove(name, NULL);
	return test_end();
}
