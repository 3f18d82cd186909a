/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DART's ways to write (keywrite.c) against dta(7), hashed bit by bit, and
 * against the closed form: how often a key is found after r reports, each
 * written to one random copy.
 */
#include <math.h>

#include "base/rng.h"
#include "model/model.h"
#include "query/query.h"
#include "ask_one.h"
#include "test.h"
#include "translate_transport.h"
#include "net/be.h"

enum {
	KEY = 13,
	SLOTS = 1 << 15,
	DRAWS = 20000,
};

/* A transport of one table of 8-byte slots. */
struct dart_transport {
	struct transport transport;
	uint8_t *mem;
	uint64_t writes;
	struct op last;
};

static int dart_exec(struct transport *transport, const struct op *ops,
		     size_t n, uint64_t ts_ns)
{
	struct dart_transport *r = (struct dart_transport *)transport;

	(void)ts_ns;
	for (size_t i = 0; i < n; i++) {
		uint8_t *at = r->mem + ops[i].offset;

		TEST(ops[i].length == 8 && ops[i].offset % 8 == 0 &&
		     ops[i].offset < SLOTS * 8);
		TEST(ops[i].verb == OP_WRITE || ops[i].verb == OP_WRITE_IMM);
		memcpy(at, ops[i].data, 8);
		r->writes++;
		r->last = ops[i];
	}
	return 0;
}

static uint64_t dart_begin(struct transport *transport)
{
	(void)transport;
	return 1;
}

static void dart_end(struct transport *transport)
{
	(void)transport;
}

static struct dart_transport *transport_new(void)
{
	struct dart_transport *r = calloc(1, sizeof(*r));

	r->transport = (struct transport){
		.begin = dart_begin,
		.exec = dart_exec,
		.end = dart_end,
	};
	r->mem = calloc(SLOTS, 8);
	return r;
}

static void transport_free(struct dart_transport *r)
{
	free(r->mem);
	free(r);
}

static struct translator *translator_new(const struct table *t,
					 struct dart_transport *r, bool dart,
					 uint64_t seed)
{
	struct translate_options o = {.dart = dart, .seed = seed};
	struct translator *tr = NULL;
	struct error err = {""};

	if (!TEST(translate_open(&tr, t, 1, &r->transport, &o, &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	return tr;
}

static void key_of(uint8_t key[KEY], uint64_t run, uint64_t i)
{
	struct rng r = {run << 40 ^ i};
	uint64_t a = rng_u64(&r), b = rng_u64(&r);

	memcpy(key, &a, 8);
	memcpy(key + 8, &b, KEY - 8);
}

static void add(struct frames *f, const struct table *t, uint64_t run,
		uint64_t i, unsigned copies, uint32_t value)
{
	uint8_t key[KEY], data[4];
	struct dta_report r = {
		.opcode = DTA_KEYWRITE,
		.copies = (uint8_t)copies,
		.table = t->id,
		.key_len = KEY,
		.data_len = 4,
		.key = key,
		.data = data,
	};

	key_of(key, run, i);
	be32_store(data, value);
	frames_report(f, &r);
}

static uint64_t slot_of(unsigned copy, const uint8_t key[KEY])
{
	return test_crc(poly_slot[copy], key, KEY) % SLOTS;
}

static void slot_bytes(uint8_t out[8], const uint8_t key[KEY], uint32_t value)
{
	be32_store(out, test_crc(poly_checksum, key, KEY));
	be32_store(out + 4, value);
}

static void pass(struct translator *tr, struct frames *f, size_t each)
{
	for (size_t i = 0; i < f->n; i += each)
		TEST(translate_rx(tr, f->pkt + i,
				  f->n - i < each ? f->n - i : each) == 0);
	frames_clear(f);
}

/* One write a report, to a slot of the key, copies equally often. */
static void one_random_copy(const struct table *t)
{
	unsigned seen[HASH_COPIES] = {0};
	struct dart_transport *r = transport_new();
	struct translator *tr = translator_new(t, r, true, 1);
	struct frames f = {.n = 0};
	uint8_t key[KEY], want[8];

	for (unsigned i = 0; i < DRAWS; i++) {
		unsigned c;

		key_of(key, 1, i);
		slot_bytes(want, key, i);
		add(&f, t, 1, i, 4, i);
		pass(tr, &f, 1);
		for (c = 0; c < HASH_COPIES; c++)
			if (r->last.offset == 8 * slot_of(c, key))
				break;
		if (!TEST(c < HASH_COPIES))
			break;
		TEST(!memcmp(r->mem + r->last.offset, want, 8));
		seen[c]++;
	}
	TEST(r->writes == DRAWS);
	for (unsigned c = 0; c < HASH_COPIES; c++) /* 4 standard deviations */
		TEST(fabs(seen[c] - DRAWS / 4.0) <
		     4 * sqrt(DRAWS * 0.25 * 0.75));
	TEST(translate_counters(tr)->ops == DRAWS);
	TEST(ledger_balanced(&translate_ledger, translate_counters(tr)));
	translate_close(tr);
	transport_free(r);
}

/* The same seed leaves the same memory, whatever the batches; another seed
 * another one. N = 1 is what it is without DART. */
static void seeds(const struct table *t)
{
	static const size_t each[] = {1,	 7,	    PKT_BATCH,
				      PKT_BATCH, PKT_BATCH, PKT_BATCH};
	struct dart_transport *r[6];
	struct frames f = {.n = 0};

	for (unsigned k = 0; k < 6; k++) {
		struct translator *tr;

		r[k] = transport_new();
		tr = translator_new(t, r[k], k == 5 ? false : true,
				    k == 3 ? 8 : 7);
		for (unsigned i = 0; i < PKT_BATCH; i++)
			add(&f, t, 2, i, k < 4 ? 3 : 1, i);
		pass(tr, &f, each[k]);
		translate_close(tr);
	}
	TEST(!memcmp(r[0]->mem, r[1]->mem, SLOTS * 8));
	TEST(!memcmp(r[0]->mem, r[2]->mem, SLOTS * 8));
	TEST(memcmp(r[0]->mem, r[3]->mem, SLOTS * 8) != 0);
	TEST(!memcmp(r[4]->mem, r[5]->mem, SLOTS * 8));
	for (unsigned k = 0; k < 6; k++)
		transport_free(r[k]);
}

/* Share of keys [0, n) that are found with their values. */
static double found(const struct table *t, const uint8_t *mem, uint64_t run,
		    unsigned copies, uint64_t n)
{
	struct table_view v = {.t = t, .mem = mem};
	struct query_rule rule = {.copies = (uint8_t)copies};
	uint64_t right = 0;

	for (uint64_t i = 0; i < n; i++) {
		struct query_reply a;
		uint8_t key[KEY];

		key_of(key, run, i);
		a = ask_one(&v, &rule, key);
		right += a.answer == QUERY_FOUND && be32_load(a.value) == i;
	}
	return (double)right / (double)n;
}

/* r reports of a key in a row, then the next key. */
static void success(const struct table *t, unsigned copies, unsigned reports,
		    double load, uint64_t run)
{
	struct dart_transport *r = transport_new();
	struct translator *tr = translator_new(t, r, true, run);
	uint64_t keys = (uint64_t)(load * SLOTS);
	struct frames f = {.n = 0};
	double got, want = plan_random_average(copies, reports, load);

	for (uint64_t i = 0; i < keys; i++)
		for (unsigned k = 0; k < reports; k++) {
			add(&f, t, run, i, copies, (uint32_t)i);
			if (f.n == PKT_BATCH)
				pass(tr, &f, PKT_BATCH);
		}
	pass(tr, &f, PKT_BATCH);
	got = found(t, r->mem, run, copies, keys);
	printf("N = %u, %u reports, load %.2f: %.2f %%, theory %.2f %%\n",
	       copies, reports, load, 100 * got, 100 * want);
	TEST(fabs(got - want) <
	     0.005 + 3 * sqrt(want * (1 - want) / (double)keys));
	translate_close(tr);
	transport_free(r);
}

/* The closed form itself, where it is known. */
static void theory(void)
{
	TEST(fabs(plan_random_success(1, 1, 0.5) - exp(-0.5)) < 1e-12);
	TEST(fabs(plan_random_success(1, 9, 0.5) - exp(-0.5)) < 1e-12);
	/* N = 2, one report: one slot a key. */
	TEST(fabs(plan_random_success(2, 1, 0.3) - exp(-0.3)) < 1e-12);
	/* Two: both with 1/2; 1.5 slots a key. */
	TEST(fabs(plan_random_success(2, 2, 0.2) -
		  (1 - (0.5 * (1 - exp(-0.3)) + 0.5 * pow(1 - exp(-0.3), 2)))) <
	     1e-12);
	/* Many: what N writes a report give. */
	TEST(fabs(plan_random_success(4, 500, 0.2) -
		  plan_at(4, 0.2, plan_pass_keywrite(32)).success) < 1e-8);
	TEST(plan_random_success(3, 0, 0.1) < 1e-12);
}

static void refused_without_keywrite(void)
{
	struct table inc = test_table(TABLE_KEYINC, 1, KEY, 8, 8, SLOTS);
	struct dart_transport *r = transport_new();
	struct translate_options o = {.dart = true};
	struct translator *tr;
	struct error err = {""};

	TEST(translate_open(&tr, &inc, 1, &r->transport, &o, &err) == -EINVAL);
	TEST(strstr(err.text, "Key-Write") != NULL);
	transport_free(r);
}

int main(void)
{
	struct table t = test_table(TABLE_KEYWRITE, 1, KEY, 4, 8, SLOTS);

	t.copies = 2;
	theory();
	one_random_copy(&t);
	seeds(&t);
	success(&t, 2, 1, 0.5, 10);
	success(&t, 2, 2, 0.5, 11);
	success(&t, 2, 4, 0.3, 12);
	success(&t, 4, 2, 0.2, 13);
	success(&t, 4, 6, 0.2, 14);
	refused_without_keywrite();
	return test_end();
}
