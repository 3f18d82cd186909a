/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs transport's send queue against a device that carries requests out
 * late and in its own time: the memory must be that of the operations done one
 * after the other; and whatever fails, completed + lost = posted, to the
 * operation.
 */
#include "verbs/verbs_link.h"

#include "base/rng.h"
#include "fake_verbs.h"
#include "test.h"

enum {
	TABLE = 1 << 16,
	OPS = 20000,
	LEN_MAX = VERBS_PAYLOAD,
	FEW = 300,
	CALL = 200, /* operations at once */
};

static struct fake_verbs fake;
static struct verbs_queue q;
static struct verbs_transport_ledger ctr;
static uint64_t table[TABLE / 8], expected[TABLE / 8];
static uint8_t memory[VERBS_MEMORY];
static const struct ticket_table place[] = {
	{.address = 0x7000, .rkey = FAKE_RKEY}};
static struct rng rng = {.state = 5};
static struct verbs_transport_ledger wanted; /* its notes on operations */

static void start(void)
{
	memset(table, 0, sizeof(table));
	memset(expected, 0, sizeof(expected));
	memset(&ctr, 0, sizeof(ctr));
	memset(&wanted, 0, sizeof(wanted));
	fake_init(&fake, (uint8_t *)table, 0x7000, TABLE);
	fake.registered = memory;
	fake.registered_len = sizeof(memory);
	q.qp = &fake.qp;
	q.cq = &fake.cq;
	q.tables = place;
	q.lkey = FAKE_LKEY;
	q.inline_max = FAKE_INLINE;
	q.depth = FAKE_DEPTH;
	q.memory = memory;
	q.ctr = &ctr;
	verbs_queue_init(&q);
}

static uint64_t lost(void)
{
	return ctr.flushed + ctr.access + ctr.refused + ctr.unanswered +
	       ctr.not_ready + ctr.failed;
}

static void imagine(const struct op *op)
{
	uint8_t *at = (uint8_t *)expected + op->offset;
	uint64_t v;

	if (op->verb == OP_WRITE || op->verb == OP_WRITE_IMM) {
		memcpy(at, op->data, op->length);
		wanted.writes++;
		wanted.immediates += op->verb == OP_WRITE_IMM;
		wanted.inlined += op->length <= FAKE_INLINE;
		wanted.bytes += op->length;
		return;
	}
	wanted.atomics++;
	memcpy(&v, at, 8);
	v += op->add;
	memcpy(at, &v, 8);
}

/* An operation of any kind; its data is at data. */
static struct op any(uint8_t *data, uint32_t len_max)
{
	struct op op = {.verb = (uint8_t)rng_below(&rng, 3), .length = 8};

	if (op.verb == OP_WRITE || op.verb == OP_WRITE_IMM) {
		op.length = (uint32_t)rng_below(
			&rng, rng_below(&rng, 8) ? 130 : len_max);
		op.offset = rng_below(&rng, TABLE - op.length);
		for (uint32_t i = 0; i < op.length; i++)
			data[i] = (uint8_t)rng_u64(&rng);
		op.data = data;
		return op;
	}
	op.offset = 8 * rng_below(&rng, TABLE / 8);
	op.add = rng_u64(&rng);
	return op;
}

/* Data is gone after exec(): the next round writes over it. */
static void same_memory(unsigned pace)
{
	static uint8_t data[CALL][LEN_MAX];
	static struct op op[CALL];
	uint64_t n;

	start();
	fake.pace = pace;
	for (uint64_t done = 0; done < OPS; done += n) {
		n = 1 + rng_below(&rng, rng_below(&rng, 2) ? CALL : 3);
		n = n < OPS - done ? n : OPS - done;
		for (uint64_t i = 0; i < n; i++) {
			op[i] = any(data[i], LEN_MAX);
			imagine(&op[i]);
		}
		verbs_queue_exec(&q, op, n);
		memset(data, 0xee, sizeof(data));
	}
	verbs_queue_settle(&q);
	TEST(!fake.wrong && !q.broken);
	TEST(memcmp(table, expected, TABLE) == 0);
	TEST(ctr.completed == OPS && !lost());
	TEST(ctr.writes + ctr.atomics == OPS);
	TEST(ctr.writes == wanted.writes && ctr.atomics == wanted.atomics);
	TEST(ctr.immediates == wanted.immediates);
	TEST(ctr.inlined == wanted.inlined && ctr.bytes == wanted.bytes);
	TEST(q.done == OPS && q.posted == OPS && fake.posted == OPS);
	TEST(fake.most > FAKE_DEPTH / 2 && fake.most <= FAKE_DEPTH);
	TEST(ctr.inlined > OPS / 8 && ctr.inlined < ctr.writes);
}

/* n writes of 1, one after the other in the table. */
static void ones(unsigned n)
{
	static const uint64_t one = 1;
	static struct op op[10 * VERBS_CHAIN + 1];

	for (unsigned i = 0; i < n; i++)
		op[i] = (struct op){.verb = OP_WRITE,
				    .length = 8,
				    .offset = 8 * i,
				    .data = (const uint8_t *)&one};
	verbs_queue_exec(&q, op, n);
}

static void doorbells(void)
{
	start();
	ones(10 * VERBS_CHAIN + 1);
	TEST(fake.doorbells == 11 && ctr.doorbells == 11);
	verbs_queue_settle(&q);
	TEST(ctr.completed == 10 * VERBS_CHAIN + 1);
}

/* One request fails at the collector: those before it are done, and only
 * those. */
static void fails(uint64_t at, enum ibv_wc_status status,
		  const uint64_t *reason)
{
	start();
	fake.fail_at = at;
	fake.status = status;
	fake.pace = 7;
	ones(FEW);
	verbs_queue_settle(&q);
	TEST(q.broken && q.done == q.posted);
	TEST(ctr.completed == at && lost() == FEW - at);
	TEST(*reason == (reason == &ctr.flushed ? FEW - at : 1));
	TEST(ctr.flushed == FEW - at - (reason != &ctr.flushed));
	for (unsigned i = 0; i < FEW; i++)
		TEST(table[i] == (i < at));
}

/* The device does not take one: that and the rest of its chain are lost. */
static void refused(uint64_t at)
{
	start();
	fake.refuse_at = at;
	ones(FEW);
	TEST(q.broken && q.posted == at && !q.chained);
	fake.error = true; /* what a disconnection does */
	verbs_queue_settle(&q);
	TEST(q.done == q.posted);
	TEST(ctr.completed + ctr.flushed == at);
	TEST(ctr.failed > 0 && ctr.failed <= VERBS_CHAIN);
	TEST(at + ctr.failed + ctr.unconnected == FEW);
	TEST(fake.posted == at);
}

/* Completions that never were ours. */
static void strange(void)
{
	start();
	fake.pace = 0;
	ones(100);
	fake.pace = 16;
	fake.wqe[0].wr.wr_id = 1 << 20;
	fake.wqe[0].wr.send_flags = IBV_SEND_SIGNALED;
	verbs_queue_reap(&q);
	TEST(ctr.completed == 0);
}

/* Payloads that fill their places, the longest there may be. */
static void big_payloads(void)
{
	static uint8_t data[VERBS_PAYLOAD + 1];
	struct op op = {.verb = OP_WRITE, .data = data};

	start();
	fake.pace = 1;
	for (unsigned i = 0; i < 5000; i++) {
		op.length = (uint32_t)(VERBS_PAYLOAD - rng_below(&rng, 100));
		op.offset = rng_below(&rng, TABLE - op.length);
		memset(data, (int)i, op.length);
		imagine(&op);
		verbs_queue_exec(&q, &op, 1);
	}
	verbs_queue_settle(&q);
	TEST(!fake.wrong && ctr.completed == 5000 && !ctr.inlined);
	TEST(memcmp(table, expected, TABLE) == 0);
	op.length = VERBS_PAYLOAD + 1;
	verbs_queue_exec(&q, &op, 1);
	TEST(ctr.failed == 1 && !q.broken);
}

/* As many READs as there are places, each to its own. */
static void reads(void)
{
	enum { LEN = 12, N = VERBS_DEPTH };
	const uint8_t *to[N];

	start();
	for (unsigned i = 0; i < TABLE / 8; i++)
		table[i] = rng_u64(&rng);
	for (unsigned i = 0; i < N; i++)
		to[i] = verbs_queue_read(&q, 0x7000 + TABLE - LEN - 7 * i,
					 FAKE_RKEY, LEN);
	verbs_queue_settle(&q);
	TEST(!fake.wrong && !q.broken && q.done == N && ctr.completed == N);
	TEST(fake.doorbells == (N + VERBS_CHAIN - 1) / VERBS_CHAIN);
	for (unsigned i = 0; i < N; i++)
		TEST(!memcmp(to[i], (uint8_t *)table + TABLE - LEN - 7 * i,
			     LEN));
	start();
	fake.fail_at = 100;
	fake.status = IBV_WC_REM_ACCESS_ERR;
	for (unsigned i = 0; i < FEW; i++)
		verbs_queue_read(&q, 0x7000 + 8 * i, FAKE_RKEY, 8);
	verbs_queue_settle(&q);
	TEST(q.broken && ctr.access == 1 && ctr.completed == 100);
}

int main(void)
{
	static const struct {
		enum ibv_wc_status status;
		const uint64_t *reason;
	} ways[] = {
		{IBV_WC_WR_FLUSH_ERR, &ctr.flushed},
		{IBV_WC_REM_ACCESS_ERR, &ctr.access},
		{IBV_WC_REM_INV_REQ_ERR, &ctr.refused},
		{IBV_WC_REM_OP_ERR, &ctr.refused},
		{IBV_WC_RETRY_EXC_ERR, &ctr.unanswered},
		{IBV_WC_RNR_RETRY_EXC_ERR, &ctr.not_ready},
		{IBV_WC_LOC_PROT_ERR, &ctr.failed},
	};

	for (unsigned pace = 1; pace <= 64; pace *= 4)
		same_memory(pace);
	doorbells();
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		for (uint64_t at = 0; at < FEW; at += 1 + at / 20)
			fails(at, ways[i].status, ways[i].reason);
	for (uint64_t at = 0; at < FEW; at += 1 + at / 20)
		refused(at);
	strange();
	big_payloads();
	reads();
	return test_end();
}
