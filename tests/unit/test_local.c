/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The local transport against byte by byte copies: runs of every length and
 * alignment, mixed; and what it must refuse without touching anything.
 */
#include <errno.h>
#include <time.h>

#include "base/rng.h"
#include "region/memory.h"
#include "rdma_rig.h"
#include "test.h"

enum {
	OPS = 400,
	LEN_MAX = 200,
};

static struct rig g;
static struct local_transport *l;
static struct transport *transport;
static struct rng rng = {.state = 17};
static uint8_t bytes[OPS][LEN_MAX];
static struct op ops[OPS];
static uint8_t *expected[RIG_TABLES];

static void shadow(void)
{
	for (unsigned i = 0; i < RIG_TABLES; i++) {
		uint64_t n = region_table(g.region, i)->length;

		free(expected[i]);
		expected[i] = malloc(n);
		if (!expected[i])
			exit(1);
		memcpy(expected[i], rig_mem(&g, i), n);
	}
}

static bool as_expected(void)
{
	for (unsigned i = 0; i < RIG_TABLES; i++)
		if (memcmp(expected[i], rig_mem(&g, i),
			   region_table(g.region, i)->length) != 0)
			return false;
	return true;
}

/* What an operation means, one byte after the other. */
static void imagine(const struct op *op)
{
	uint8_t *at = expected[op->table] + op->offset;
	uint64_t v;

	switch (op->verb) {
	case OP_WRITE:
	case OP_WRITE_IMM:
		for (uint32_t i = 0; i < op->length; i++)
			at[i] = op->data[i];
		return;
	case OP_FETCH_ADD:
		memcpy(&v, at, 8);
		v += op->add;
		memcpy(at, &v, 8);
	}
}

static struct op random_op(unsigned i, unsigned table, uint8_t verb,
			   uint32_t length)
{
	uint64_t size = region_table(g.region, table)->length;
	struct op op = {
		.verb = verb,
		.table = (uint16_t)table,
		.length = length,
		.offset = rng_below(&rng, size - length + 1),
		.data = bytes[i],
	};

	for (unsigned b = 0; b < LEN_MAX; b++)
		bytes[i][b] = (uint8_t)rng_u64(&rng);
	if (verb == OP_FETCH_ADD || rng_below(&rng, 8))
		op.offset &= ~(uint64_t)(length > 16 ? 31 : 15);
	if (verb == OP_FETCH_ADD)
		op.add = rng_u64(&rng);
	return op;
}

/* Runs as translators make them, some of one operation, some of many. */
static void test_runs(void)
{
	static const uint32_t lengths[] = {8,  8,  16, 24, 32, 64, 5,
					   65, 20, 48, 12, 1,  63, 128};
	uint64_t notified = region_notified(g.region), immediates = 0;

	for (int round = 0; round < 300; round++) {
		unsigned n = 0;

		while (n < OPS) {
			unsigned table = (unsigned)rng_below(&rng, RIG_TABLES);
			uint8_t verb = (uint8_t)rng_below(&rng, 3);
			uint32_t length = lengths[rng_below(&rng, 14)];
			unsigned run = (unsigned)rng_below(&rng, 150) + 1;

			for (; run && n < OPS; run--, n++) {
				ops[n] = random_op(
					n, table, verb,
					verb == OP_FETCH_ADD ? 8 : length);
				imagine(&ops[n]);
				immediates += verb == OP_WRITE_IMM;
			}
		}
		TEST(transport->begin(transport) == 1);
		TEST(transport->exec(transport, ops, OPS, 0) == 0);
		transport->end(transport);
		if (!TEST(as_expected()))
			return;
	}
	TEST(region_notified(g.region) == notified + immediates);
}

/* Many atomics, of one table, then something else: what each finds is told.
 * Often enough that lines are asked for in all ways. */
static void test_fetch(void)
{
	static uint64_t old[OPS], want[OPS];

	for (unsigned round = 0; round < 150; round++) {
		unsigned n = OPS - (unsigned)rng_below(&rng, 5) * 90;
		unsigned table = round % 3 ? RIG_INC : RIG_KW;

		memset(old, 0xee, sizeof(old));
		for (unsigned i = 0; i < OPS; i++) {
			ops[i] = random_op(i, table, OP_FETCH_ADD, 8);
			memcpy(&want[i], expected[table] + ops[i].offset, 8);
			if (i < n)
				imagine(&ops[i]);
		}
		if (n < OPS && round % 2)
			ops[n].verb = OP_WRITE;
		else if (n < OPS)
			ops[n].table = RIG_LIST;
		transport->begin(transport);
		TEST(local_fetch(l, ops, OPS, old) == n);
		transport->end(transport);
		TEST(!memcmp(old, want, n * sizeof(*old)));
		if (!TEST(as_expected()))
			return;
	}
}

static unsigned looks; /* at the clock */

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	looks++;
	return __real_clock_gettime(id, t);
}

/* Additions to two tables by turns, or among writes: runs of one, the first
 * that the transport sees. The clock is looked at now and then at most. */
static void test_short_runs(uint16_t other, uint8_t verb)
{
	looks = 0;
	for (unsigned round = 0; round < 10; round++) {
		for (unsigned i = 0; i < OPS; i++) {
			ops[i] = random_op(i, i % 2 ? other : RIG_INC,
					   i % 2 ? verb : OP_FETCH_ADD, 8);
			imagine(&ops[i]);
		}
		transport->begin(transport);
		TEST(transport->exec(transport, ops, OPS, 0) == 0);
		transport->end(transport);
	}
	TEST(looks <= 10 * OPS / 16);
	TEST(as_expected());
}

/* In the middle of a run: what is before it is done, nothing after it. */
static void refuses(struct op wrong, int err)
{
	for (unsigned at = 0; at < 40; at += 13) {
		for (unsigned i = 0; i < 40; i++) {
			ops[i] = random_op(i, wrong.table % RIG_TABLES,
					   wrong.verb, 8);
			if (i < at)
				imagine(&ops[i]);
		}
		ops[at] = wrong;
		transport->begin(transport);
		TEST(transport->exec(transport, ops, 40, 0) == err);
		transport->end(transport);
		TEST(as_expected());
	}
}

static void test_refused(void)
{
	uint64_t size = region_table(g.region, RIG_KW)->length;
	struct op op = {.verb = OP_WRITE, .length = 8, .data = bytes[0]};

	op.offset = size - 7;
	refuses(op, -ERANGE);
	op.offset = size;
	refuses(op, -ERANGE);
	op.offset = UINT64_MAX - 3;
	refuses(op, -ERANGE);
	op.offset = 1;
	op.length = (uint32_t)size;
	refuses(op, -ERANGE);
	op.length = UINT32_MAX;
	refuses(op, -ERANGE);
	op.length = 8;
	op.table = RIG_TABLES;
	refuses(op, -ERANGE);
	op.table = UINT16_MAX;
	refuses(op, -ERANGE);
	op = (struct op){.verb = OP_FETCH_ADD, .table = RIG_INC, .length = 8};
	op.offset = 4;
	refuses(op, -EINVAL);
	op.offset = 8 * 256;
	refuses(op, -ERANGE);
	op.offset = 0;
	op.length = 4;
	refuses(op, -EINVAL);
}

/* An epoch more: begin() says so, and operations go there. */
static void test_epochs(void)
{
	struct error err;
	struct op op = random_op(0, RIG_KW, OP_WRITE, 8);

	op.offset = 8;
	TEST(region_rotate(g.region, NULL, &err) == 0);
	TEST(transport->begin(transport) == 2);
	TEST(transport->exec(transport, &op, 1, 0) == 0);
	TEST(!transport->mem || transport->mem[RIG_KW] == rig_mem(&g, RIG_KW));
	transport->end(transport);
	TEST(!memcmp(rig_mem(&g, RIG_KW) + 8, op.data, 8));
	TEST(!memcmp(region_read(g.region, region_table(g.region, RIG_KW), 1),
		     expected[RIG_KW], 8 * 1024));
}

static void test_transport(enum prefetch prefetch)
{
	struct error err = {""};

	prefetch_set(prefetch);
	rig_open(&g, NULL);
	if (local_open(&l, g.region, &err) < 0)
		rig_die("transport", &err);
	transport = local_transport(l);
	shadow();
	test_short_runs(RIG_KW, OP_FETCH_ADD);
	test_short_runs(RIG_INC, OP_WRITE);
	test_runs();
	test_fetch();
	test_refused();
	test_epochs();
	for (unsigned i = 0; i < RIG_TABLES; i++) {
		free(expected[i]);
		expected[i] = NULL;
	}
	local_close(l);
	rig_close(&g);
}

int main(void)
{
	test_transport(PREFETCH_OFF);
	test_transport(PREFETCH_ON);
	test_transport(PREFETCH_L2);
	return test_end();
}
