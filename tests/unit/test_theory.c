/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Simulation against theory: reports through the translator into a region, out
 * by the query, and the share of answers compared with the closed forms of
 * DART section 4 and DTA section 4. Every report takes the real path: an
 * Ethernet frame, decoded, hashed, stored by the local transport.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "hash/crc.h"
#include "model/model.h"
#include "rdma/local.h"
#include "query/query.h"
#include "region/region.h"
#include "test.h"
#include "dta/translate.h"
#include "net/dta.h"
#include "net/net.h"

enum {
	KEY_LEN = 13,
	HEADERS = NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN,
	FRAME_ROOM = 128,
};

static uint64_t slots = 1 << 18;

struct sim {
	char name[64];
	struct region *region;
	struct local_transport *transport;
	struct translator *translator;
	const struct table *table;
	uint8_t frames[PKT_BATCH][FRAME_ROOM];
	struct pkt pkts[PKT_BATCH];
};

/* Key and value of report i: random, but known again at query time. */
static void key_of(uint8_t key[KEY_LEN], uint64_t run, uint64_t i)
{
	struct rng r = {.state = run << 40 ^ i};
	uint64_t a = rng_u64(&r), b = rng_u64(&r);

	memcpy(key, &a, 8);
	memcpy(key + 8, &b, KEY_LEN - 8);
}

static void value_of(uint8_t *value, size_t len, uint64_t i)
{
	memset(value, 0, len);
	memcpy(value, &i, len < 8 ? len : 8);
}

static void sim_open(struct sim *s, uint16_t value_len, bool packed)
{
	struct layout l = {.n = 1};
	struct region_options o = {.epochs = 1};
	struct error err = {""};
	char text[32];
	struct table *t = &l.table[0];

	snprintf(s->name, sizeof(s->name), "dta-test-%d-theory", (int)getpid());
	snprintf(t->name, sizeof(t->name), "flows");
	t->id = 1;
	layout_set(t, "kind", "keywrite", &err);
	layout_set(t, "key", "flow4", &err);
	snprintf(text, sizeof(text), "%u", value_len);
	layout_set(t, "value", text, &err);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)slots);
	layout_set(t, "slots", text, &err);
	layout_set(t, "stride", packed ? "packed" : "pow2", &err);
	layout_set(t, "copies", "1", &err);
	region_remove(s->name, NULL);
	if (!TEST(region_create(NULL, s->name, &l, &o, &err) == 0) ||
	    !TEST(region_open(&s->region, s->name, true, &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		exit(test_end());
	}
	s->table = region_table(s->region, 0);
	TEST(local_open(&s->transport, s->region, &err) == 0);
	TEST(translate_open(&s->translator, s->table, 1,
			    local_transport(s->transport), NULL, &err) == 0);
}

static void sim_close(struct sim *s)
{
	translate_close(s->translator);
	local_close(s->transport);
	region_close(s->region);
	region_remove(s->name, NULL);
}

static void sim_send(struct sim *s, unsigned copies, uint64_t run,
		     uint64_t first, size_t n)
{
	struct net_udp4 h = {
		.src = {10, 1, 0, 1},
		.dst = {10, 0, 0, 51},
		.src_port = 49374,
		.dst_port = DTA_PORT,
		.ttl = 64,
	};

	for (size_t i = 0; i < n; i++) {
		uint8_t key[KEY_LEN], value[TABLE_VALUE_MAX];
		struct dta_report r = {
			.opcode = DTA_KEYWRITE,
			.copies = (uint8_t)copies,
			.table = 1,
			.key_len = KEY_LEN,
			.data_len = s->table->value_len,
			.key = key,
			.data = value,
		};
		uint8_t *frame = s->frames[i];
		int len;

		key_of(key, run, first + i);
		value_of(value, r.data_len, first + i);
		len = dta_encode(frame + HEADERS, FRAME_ROOM - HEADERS,
				 DTA_FORMAT_1, &r);
		net_udp4_encode(frame, FRAME_ROOM, &h, (size_t)len);
		s->pkts[i] = (struct pkt){
			.data = frame,
			.len = (uint32_t)(HEADERS + len),
			.wire_len = (uint32_t)(HEADERS + len),
		};
	}
	TEST(translate_rx(s->translator, s->pkts, n) == 0);
}

/* Share of keys [first, first + n) that are found and right. */
static double sim_success(struct sim *s, unsigned copies, uint64_t run,
			  uint64_t first, uint64_t n, uint64_t *wrong)
{
	static uint8_t keys[QUERY_BATCH + 1][32];
	static uint8_t values[QUERY_BATCH * TABLE_VALUE_MAX];
	const uint8_t *key[QUERY_BATCH];
	struct query_keywrite_answers a = {.value = values};
	struct query_rule rule = {.copies = (uint8_t)copies,
				  .policy = QUERY_UNIQUE};
	struct table_view v = {.t = s->table,
			       .mem = region_read(s->region, s->table,
						  region_epoch(s->region))};
	size_t len = s->table->value_len;
	uint64_t right = 0;

	for (uint64_t done = 0; done < n; done += QUERY_BATCH) {
		size_t m = n - done < QUERY_BATCH ? n - done : QUERY_BATCH;

		for (size_t i = 0; i < m; i++) {
			key_of(keys[i + 1], run, first + done + i);
			key[i] = keys[i + 1];
		}
		query_keywrite(&a, &v, &rule, key, m);
		for (size_t i = 0; i < m; i++) {
			uint8_t want[TABLE_VALUE_MAX];

			value_of(want, len, first + done + i);
			if (a.answer[i] != QUERY_FOUND)
				continue;
			if (!memcmp(values + i * len, want, len))
				right++;
			else
				++*wrong;
		}
	}
	return (double)right / (double)n;
}

static void expect(const char *what, unsigned copies, double load, double got,
		   double want, double within)
{
	printf("%-8s N = %u, load %.4f: simulated %.2f %%, theory %.2f %%\n",
	       what, copies, load, 100 * got, 100 * want);
	TEST(fabs(got - want) <= within);
}

/* One run at one load: shares of all keys, and of the oldest, that are right.
 */
static void simulate(uint16_t value_len, bool packed, unsigned copies,
		     double load, uint64_t run, uint64_t old, double *average,
		     double *oldest)
{
	static struct sim s;
	uint64_t keys = (uint64_t)(load * slots), wrong = 0;

	sim_open(&s, value_len, packed);
	for (uint64_t i = 0; i < keys; i += PKT_BATCH)
		sim_send(&s, copies, run, i,
			 keys - i < PKT_BATCH ? keys - i : PKT_BATCH);
	TEST(translate_flush(s.translator) == 0);
	TEST(ledger_balanced(&translate_ledger,
			     translate_counters(s.translator)));
	TEST(translate_counters(s.translator)->stored == keys);
	*average = sim_success(&s, copies, run, 0, keys, &wrong);
	*oldest = sim_success(&s, copies, run, 0, old, &wrong);
	TEST(wrong == 0); /* 1e-10 a key: none in any test's lifetime */
	sim_close(&s);
}

/* DTA, figure 12: the average over all keys, and the oldest 2 %. */
static void sweep(unsigned copies, double load, uint64_t run)
{
	uint64_t old = (uint64_t)(load * slots) / 50;
	double pass = plan_pass_keywrite(32), average, oldest;

	simulate(4, false, copies, load, run, old, &average, &oldest);
	expect("average", copies, load, average,
	       plan_at(copies, load, pass).average_success, 0.005);
	/* They have on average 99 % of the keys after them. */
	expect("oldest", copies, load, oldest,
	       plan_at(copies, 0.99 * load, pass).success,
	       0.005 + 2 / sqrt((double)old));
}

/*
 * DART, figure 4: 20-byte values in 24-byte slots. The oldest are few, so they
 * are gathered over runs: 0.2 % of the keys of each.
 */
static void dart(unsigned copies, double load, unsigned runs, uint64_t run)
{
	uint64_t old = (uint64_t)(load * slots) / 500;
	double pass = plan_pass_keywrite(32), average = 0, oldest = 0;

	for (unsigned i = 0; i < runs; i++) {
		double a, o;

		simulate(20, true, copies, load, run + i, old, &a, &o);
		average += a / runs;
		oldest += o / runs;
	}
	expect("average", copies, load, average,
	       plan_at(copies, load, pass).average_success, 0.005);
	expect("oldest", copies, load, oldest,
	       plan_at(copies, load, pass).success,
	       0.005 + 2 / sqrt((double)(old * runs)));
}

/* With "all", tables sixteen times as large. */
int main(int argc, char **argv)
{
	static const double loads[] = {0.1, 0.5, 1, 2};
	uint64_t run = 1;

	if (argc > 1 && !strcmp(argv[1], "all"))
		slots = 1 << 22;
	for (unsigned copies = 1; copies <= 4; copies++)
		for (unsigned i = 0; i < 4; i++)
			sweep(copies, loads[i], run++);
	dart(2, 0.764, 10, 100);
	dart(2, 0.0764, 1, 200);
	dart(4, 0.0764, 1, 300);
	return test_end();
}
