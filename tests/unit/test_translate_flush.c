/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When the partial batches of lists are written: by the packets' time, whatever
 * they are from and however they fall into batches.
 */
#include "append_rig.h"
#include "base/rng.h"
#include "test.h"

enum {
	MS = 1000000,
};

static const uint64_t long_ago = UINT64_C(1700000000000) * MS;

static uint64_t count_of(const struct test_transport *transport,
			 const struct table *t, uint32_t list)
{
	return be64_load(transport->mem[0] + t->heads + 8 * list);
}

/* A list that waits longer than its flush time is written, no other. */
static void flush_time(void)
{
	struct table t = test_lists(2, 4, 4, 100, 4, 16);
	struct test_transport *transport = test_transport_new(&t, 1);
	const uint8_t *data = (const uint8_t *)"abcd";
	struct translator *tr;
	uint64_t t0 = long_ago;

	TEST(translate_open(&tr, &t, 1, &transport->transport, NULL, NULL) ==
	     0);
	report(0, data, 4, false, t0);
	feed(tr);
	report(1, data, 4, false, t0 + 60 * MS);
	feed(tr);
	report(0, data, 4, false, t0 + 99 * MS);
	feed(tr);
	TEST(transport->nops == 0);
	report(2, data, 4, false, t0 + 100 * MS);
	feed(tr);
	TEST(transport->nops == 2 && transport->op[0].length == 8);
	TEST(count_of(transport, &t, 0) == 2);
	/* silence counts too, but only once: the next packet tells it again */
	TEST(translate_idle(tr, 50 * MS) == 0);
	TEST(transport->nops == 2);
	report(3, data, 4, false, t0 + 155 * MS);
	feed(tr);
	TEST(transport->nops == 2);
	TEST(translate_idle(tr, 4 * MS) == 0);
	TEST(transport->nops == 2);
	TEST(translate_idle(tr, 1 * MS) == 0);
	TEST(transport->nops == 4 && count_of(transport, &t, 1) == 1);
	TEST(translate_flush(tr) == 0);
	TEST(translate_counters(tr)->partial_batches == 4);
	translate_close(tr);
	test_transport_free(transport);
}

/* Wild times lose nothing, and nothing waits for a time that will not come. */
static void wild_times(void)
{
	struct table t = test_lists(2, 4, 4, 100, 4, 16);
	struct test_transport *transport = test_transport_new(&t, 1);
	const uint8_t *data = (const uint8_t *)"abcd";
	struct translator *tr;
	uint64_t t0 = long_ago;

	TEST(translate_open(&tr, &t, 1, &transport->transport, NULL, NULL) ==
	     0);
	/* out of order by less than a tenth of a second: time stands still */
	for (unsigned i = 0; i < 1000; i++)
		report(i % 4, data, 4, false, t0 + (i % 2 ? 0 : 90) * MS);
	feed(tr);
	TEST(translate_counters(tr)->partial_batches == 0);
	TEST(transport->nops > 100);
	TEST(translate_flush(tr) == 0);
	transport->nops = 0;
	/* the clock is set back: what waits is written, and time goes on */
	report(0, data, 4, false, t0 + 100 * MS);
	report(1, data, 4, false, 5);
	report(2, data, 4, false, 5 + 60 * MS);
	feed(tr);
	TEST(transport->nops == 2 && transport->op[1].offset == t.heads);
	report(2, data, 4, false, 5 + 100 * MS);
	feed(tr);
	TEST(transport->nops == 4 && transport->op[3].offset == t.heads + 8);
	/* one stamp from the end of time among others: early, not for ever */
	report(3, data, 4, false, UINT64_MAX);
	report(1, data, 4, false, 5 + 101 * MS);
	feed(tr);
	report(1, data, 4, false, 5 + 230 * MS);
	feed(tr);
	TEST(count_of(transport, &t, 1) == 252 &&
	     count_of(transport, &t, 2) == 252 &&
	     count_of(transport, &t, 3) == 251);
	/* the last of all */
	for (unsigned i = 0; i < 100; i++)
		report(i % 4, data, 4, false, UINT64_MAX - i % 7);
	feed(tr);
	TEST(translate_flush(tr) == 0);
	TEST(!transport->bad);
	TEST(ledger_balanced(&translate_ledger, translate_counters(tr)));
	translate_close(tr);
	test_transport_free(transport);
}

/*
 * A capture: each list's batches are those of a translator that looks at the
 * time with every packet, however the packets fall into batches; and what is
 * written bears the time of the entry that filled it, or when it was due.
 */
enum {
	SPAN = 3000, /* packets */
	SPAN_LISTS = 5,
	SPAN_BATCH = 8,
};

static struct span {
	uint64_t ts_ns;
	uint32_t list;
} span[SPAN];

struct written { /* a batch: where its list then stood, and when */
	uint64_t count, ts_ns;
};

static struct written model[SPAN_LISTS][SPAN + 1], seen[SPAN_LISTS][SPAN + 1];
static unsigned modelled[SPAN_LISTS], saw[SPAN_LISTS];

static void model_write(uint32_t i, uint64_t count, uint64_t ts_ns)
{
	model[i][modelled[i]++] = (struct written){count, ts_ns};
}

static void model_span(uint64_t flush_ns)
{
	uint64_t count[SPAN_LISTS] = {0}, oldest[SPAN_LISTS];
	unsigned waiting[SPAN_LISTS] = {0};

	memset(modelled, 0, sizeof(modelled));
	for (unsigned k = 0; k <= SPAN; k++) {
		uint64_t now = span[k < SPAN ? k : SPAN - 1].ts_ns;

		for (uint32_t i = 0; i < SPAN_LISTS; i++) {
			bool due = waiting[i] && now - oldest[i] >= flush_ns;

			if (!due && (k < SPAN || !waiting[i]))
				continue;
			count[i] += waiting[i];
			waiting[i] = 0;
			model_write(i, count[i],
				    due ? oldest[i] + flush_ns : now);
		}
		if (k == SPAN)
			break;
		if (!waiting[span[k].list]++)
			oldest[span[k].list] = now;
		if (waiting[span[k].list] < SPAN_BATCH)
			continue;
		waiting[span[k].list] = 0;
		count[span[k].list] += SPAN_BATCH;
		model_write(span[k].list, count[span[k].list], now);
	}
}

static void look_at_counts(struct test_transport *r)
{
	unsigned last = (unsigned)(r->nops - 1) % TRANSPORT_OPS;
	const struct op *op = &r->op[last];
	uint64_t list = (op->offset - r->tables->heads) / 8;

	if (op->offset >= r->tables->heads)
		seen[list][saw[list]++] = (struct written){
			be64_load(r->mem[0] + op->offset), r->ts_ns[last]};
	if (r->nops == TRANSPORT_OPS)
		r->nops = 0;
}

static void compare_span(void)
{
	for (uint32_t i = 0; i < SPAN_LISTS; i++) {
		TEST(saw[i] == modelled[i]);
		for (unsigned k = 0; k < saw[i] && k < modelled[i]; k++) {
			const struct written *m = &model[i][k];
			const struct written *s = &seen[i][k];

			TEST(s->count == m->count);
			TEST(s->ts_ns == m->ts_ns);
		}
	}
}

static void run_span(struct table *t, size_t step)
{
	struct test_transport *transport = test_transport_new(t, 1);
	struct translator *tr;
	const uint8_t data[4] = {0};

	memset(saw, 0, sizeof(saw));
	transport->look = look_at_counts;
	transport->transport.stamped = true;
	TEST(translate_open(&tr, t, 1, &transport->transport, NULL, NULL) == 0);
	for (size_t k = 0; k < SPAN; k++) {
		report(span[k].list, data, 4, false, span[k].ts_ns);
		if (fed.n == step)
			feed(tr);
	}
	feed(tr);
	TEST(translate_flush(tr) == 0);
	TEST(!transport->bad);
	translate_close(tr);
	test_transport_free(transport);
}

static void captures(void)
{
	/* the packets come so far apart, us */
	static const unsigned apart[] = {1, 100, 5000, 100000, 3000000};
	static const size_t step[] = {1, 7, 512, PKT_BATCH};
	struct table t = test_lists(2, 4, 4, 100, SPAN_LISTS, SPAN_BATCH);
	struct rng rng = {7};

	for (unsigned i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
		uint64_t now = long_ago;

		for (unsigned k = 0; k < SPAN; k++) {
			now += rng_below(&rng, 2000 * apart[i]);
			span[k] = (struct span){
				now, (uint32_t)rng_below(&rng, SPAN_LISTS)};
		}
		model_span(100 * MS);
		for (unsigned s = 0; s < sizeof(step) / sizeof(step[0]); s++) {
			run_span(&t, step[s]);
			compare_span();
		}
	}
}

int main(void)
{
	flush_time();
	wild_times();
	captures();
	return test_end();
}
