/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers that did not come: each is counted once, and nothing else is. */
#include "base/rng.h"
#include "test.h"
#include "translate_transport.h"
#include "net/be.h"

enum {
	OFF = 1,
	COUNT = 2,
	STRICT = 3,
	TABLES = 3,
	MANY = 10000,	       /* reports of a run */
	REPORTER = 0x0a000101, /* the address of frame_of()'s first */
};

/* A translator, and how the reports for it look. */
struct rig {
	struct test_transport *transport;
	struct translator *tr;
	const struct translate_ledger *c;
	struct table t[TABLES];
	struct frames fed;
	enum dta_format format;
	bool tracked;
	int shape;
};

static struct rig rig_of(enum dta_format format, unsigned tables)
{
	static const uint8_t mode[] = {TABLE_SEQ_OFF, TABLE_SEQ_COUNT,
				       TABLE_SEQ_STRICT};
	const struct translate_options o = {.format = format};
	struct rig r = {.format = format};

	for (unsigned i = 0; i < TABLES; i++) {
		r.t[i] = test_table(TABLE_KEYWRITE, (uint16_t)(OFF + i), 4, 4,
				    8, 64);
		/* DTA/0's reports go to the first */
		r.t[i].sequence = format ? TABLE_SEQ_COUNT : mode[i];
	}
	r.transport = test_transport_new(r.t, tables);
	TEST(translate_open(&r.tr, r.t, tables, &r.transport->transport, &o,
			    NULL) == 0);
	r.c = translate_counters(r.tr);
	return r;
}

static void feed(struct rig *r)
{
	TEST(translate_rx(r->tr, r->fed.pkt, r->fed.n) == 0);
	frames_clear(&r->fed);
}

static void rig_end(struct rig *r)
{
	feed(r);
	TEST(r->c->received ==
	     r->c->stored + r->c->out_of_order + r->c->repeated + r->c->probes);
	TEST(ledger_balanced(&translate_ledger, r->c));
	translate_close(r->tr);
	test_transport_free(r->transport);
}

/* src: the reporter's address. */
static void send(struct rig *r, uint16_t table, uint32_t src, uint64_t number)
{
	struct dta_report d = {.opcode = DTA_KEYWRITE,
			       .copies = 1,
			       .tracked = r->tracked,
			       .table = table,
			       .sequence = (uint16_t)number,
			       .key_len = 4,
			       .data_len = 4,
			       .key = (const uint8_t *)"abcd",
			       .data = (const uint8_t *)"1234"};
	uint8_t frame[FRAME_ROOM];
	size_t len = frame_of(frame, r->format, &d, 1, r->shape);
	uint8_t *ip = frame + (r->shape == SHAPE_VLAN ? 18 : 14);

	be32_store(ip + 12, src);
	be16_store(ip + 10, 0);
	be16_store(ip + 10, net_checksum(ip, 20));
	frames_add(&r->fed, frame, len, 0);
	if (r->fed.n == PKT_BATCH)
		feed(r);
}

static void run(struct rig *r, uint32_t src, uint64_t from, uint64_t n)
{
	for (uint64_t i = from; i < from + n; i++)
		send(r, COUNT, src, i);
}

/* What is counted so far; gaps and restarts: of all. */
static void expect_at(struct rig *r, uint64_t missing, uint64_t gaps,
		      uint64_t restarts, int line)
{
	feed(r);
	if (!TEST(r->c->missing == missing && r->c->gaps == gaps &&
		  r->c->restarts == restarts))
		fprintf(stderr,
			"line %d: missing %ju, gaps %ju, restarts %ju\n", line,
			(uintmax_t)r->c->missing, (uintmax_t)r->c->gaps,
			(uintmax_t)r->c->restarts);
}

#define expect(r, m, g, s) expect_at(r, m, g, s, __LINE__)

/* Which of MANY are lost: a thousand of them, in one of these ways. */
static bool is_lost(unsigned way, unsigned i)
{
	switch (way) {
	case 0: /* in the middle */
		return i >= 4500 && i < 5500;
	case 1: /* ten times a hundred */
		return i % 1000 >= 700 && i % 1000 < 800;
	case 2: /* each tenth */
		return i % 10 == 5;
	default: /* one after the first, and all but the last */
		return i == 1 || i >= MANY - 1000;
	}
}

static void losses(bool tracked, int shape)
{
	static const uint64_t gaps[] = {1, 10, 1000, 1};

	for (unsigned way = 0; way < 4; way++) {
		struct rig r = rig_of(DTA_FORMAT_1, 2);

		r.tracked = tracked;
		r.shape = shape;
		for (unsigned i = 0; i < MANY; i++)
			for (uint32_t src = 1; src <= 3; src++)
				if (!is_lost(way, i))
					send(&r, COUNT, src,
					     60000 + 100 * src + i); /* wraps */
		/* What is lost at the end shows when more comes. */
		if (way == 3) {
			expect(&r, 3, 3, 0);
			for (uint32_t src = 1; src <= 3; src++)
				send(&r, COUNT, src, 60000 + 100 * src + MANY);
			expect(&r, 3 * 1001, 6, 0);
		} else {
			expect(&r, 3000, 3 * gaps[way], 0);
		}
		rig_end(&r);
	}
}

/* More than are remembered one by one: when the next one follows. */
static void long_losses(void)
{
	struct rig r = rig_of(DTA_FORMAT_1, 2);

	run(&r, 1, 100, 1000);
	send(&r, COUNT, 1, 7000);
	expect(&r, 0, 0, 0);
	send(&r, COUNT, 1, 7002);
	expect(&r, 7000 - 1100 + 1, 2, 0);
	run(&r, 1, 7003 + 16383, 10);
	expect(&r, 5901 + 16383, 3, 0);
	rig_end(&r);
}

static void late_and_twice(void)
{
	struct rng rng = {1};
	struct rig r = rig_of(DTA_FORMAT_1, 2);

	/* Blocks of a thousand, each in another order, and each twice. */
	for (unsigned block = 0; block < 100; block++)
		for (unsigned again = 0; again < 2; again++) {
			unsigned by = 2 * (unsigned)rng_below(&rng, 100) + 3;

			by += by % 5 ? 0 : 2;
			for (unsigned i = 0; i < 1000; i++)
				send(&r, COUNT, 1,
				     40000 + block * 1000 + i * by % 1000);
		}
	/* 0 is no stranger: what came before the first is no one's. */
	feed(&r);
	TEST(r.c->missing == 0 && r.c->restarts == 0);
	rig_end(&r);

	r = rig_of(DTA_FORMAT_1, 2);
	run(&r, 1, 65000, 100);
	run(&r, 1, 66000, 100);
	expect(&r, 900, 1, 0);
	run(&r, 1, 65100, 500);
	expect(&r, 400, 1, 0);
	run(&r, 1, 65100, 500);
	expect(&r, 400, 1, 0);
	rig_end(&r);
}

static void begun_anew(void)
{
	static const uint64_t end[] = {2000, 5000, 30000, 60000, 50000};
	static const uint64_t again[] = {0, 0, 0, 1, 20000};
	struct rig r = rig_of(DTA_FORMAT_1, 2);

	for (uint8_t i = 0; i < 5; i++) {
		run(&r, i, 0, end[i]);
		run(&r, i, again[i], 3000);
		expect(&r, 0, 0, i + 1u);
	}
	/* Below those that are remembered, all look like duplicates. */
	run(&r, 9, 0, 900);
	run(&r, 9, 0, 2000);
	expect(&r, 0, 0, 5);
	rig_end(&r);
}

/* Numbers that nothing follows, and those of two reporters in one. */
static void strangers(void)
{
	struct rig r = rig_of(DTA_FORMAT_1, 2);

	run(&r, 1, 0, 1000);
	send(&r, COUNT, 1, 9000);
	run(&r, 1, 1000, 2);
	send(&r, COUNT, 1, 50000);
	send(&r, COUNT, 1, 50000);
	run(&r, 1, 1002, 2);
	expect(&r, 0, 0, 0);
	for (unsigned i = 0; i < 20000; i++) {
		send(&r, COUNT, 2, i);
		send(&r, COUNT, 2, 9000 + i);
	}
	expect(&r, 0, 0, 0);
	/* No numbers at all. */
	for (unsigned i = 0; i < 1000; i++)
		send(&r, COUNT, 4, 0);
	feed(&r);
	TEST(r.c->missing == 0 && r.c->restarts == 0);
	rig_end(&r);
}

static void modes(void)
{
	struct rig r = rig_of(DTA_FORMAT_1, TABLES);

	/* off: neither its own, nor are they others' */
	send(&r, OFF, 1, 10);
	send(&r, OFF, 1, 20);
	send(&r, OFF, 1, 15);
	send(&r, COUNT, 1, 21);
	expect(&r, 0, 0, 0);
	send(&r, OFF, 1, 8000);
	send(&r, OFF, 1, 8001);
	expect(&r, 0, 0, 0);
	send(&r, COUNT, 1, 8004);
	send(&r, OFF, 1, 8003); /* but one that comes is there */
	expect(&r, 1, 1, 0);
	/* strict: what is sent again is not missing meanwhile, and other
	 * numbers are not looked at any more */
	r.tracked = true;
	send(&r, STRICT, 2, 1);
	send(&r, STRICT, 2, 5);
	send(&r, COUNT, 2, 6);
	r.tracked = false;
	send(&r, COUNT, 2, 900);
	send(&r, COUNT, 2, 950);
	r.tracked = true;
	for (unsigned i = 2; i < 10; i++)
		send(&r, i % 2 ? COUNT : STRICT, 2, i);
	expect(&r, 1, 2, 0);
	/* 10 and 11 are for the strict table to wait for */
	send(&r, STRICT, 2, 12);
	expect(&r, 1, 3, 0);
	send(&r, STRICT, 2, 30000);
	send(&r, COUNT, 2, 30001);
	expect(&r, 1, 3, 0);
	TEST(r.c->lost_reports == 30000 - 10);
	send(&r, COUNT, 2, 30011);
	expect(&r, 10, 4, 0);
	rig_end(&r);
}

/* A reporter that tells what will not come has it counted as that. */
static void told(void)
{
	struct dta_report d = {
		.opcode = DTA_NACK, .hop = DTA_NACK_GONE, .sequence = 149};
	struct rig r = rig_of(DTA_FORMAT_1, 2);
	uint8_t frame[FRAME_ROOM];

	run(&r, REPORTER, 0, 100);
	frames_add(&r.fed, frame, frame_of(frame, DTA_FORMAT_1, &d, 1, 0), 0);
	run(&r, REPORTER, 150, 100);
	expect(&r, 0, 0, 0);
	TEST(r.c->lost_reports == 50 && r.c->probes == 1);
	rig_end(&r);
}

static void narrow(void)
{
	struct rig r = rig_of(DTA_FORMAT_0B, 2);

	run(&r, 1, 0, 1000);
	run(&r, 1, 1010, 20);
	expect(&r, 10, 1, 0);
	run(&r, 1, 1005, 3);
	expect(&r, 7, 1, 0);
	run(&r, 1, 1030, 1000);
	run(&r, 1, 2030 + 120, 100); /* farther than such numbers tell */
	feed(&r);
	TEST(r.c->missing == 7);
	rig_end(&r);
	/* the other one of these formats has no numbers */
	r = rig_of(DTA_FORMAT_0A, 2);
	run(&r, 1, 0, 100);
	expect(&r, 0, 0, 0);
	rig_end(&r);
}

/* So many that they are in each other's way, in any order. */
static void crowd(void)
{
	enum { CROWD = 2000, EACH = 100 };
	static uint16_t next[CROWD];
	struct rng rng = {7};
	struct rig r = rig_of(DTA_FORMAT_1, 2);
	uint64_t lost = 0, gaps = 0;

	for (unsigned i = 0; i < CROWD * EACH; i++) {
		unsigned who = (unsigned)rng_below(&rng, CROWD);
		bool gap = next[who] && rng_below(&rng, 50) == 0;

		next[who] = (uint16_t)(next[who] + (gap ? 6 : 1));
		lost += gap ? 5 : 0;
		gaps += gap;
		send(&r, COUNT, (uint32_t)rng_mix(who), next[who]);
	}
	expect(&r, lost, gaps, 0);
	rig_end(&r);
}

/* Other collectors: what is known of reporters goes over. */
static void succeeded(void)
{
	struct rig r = rig_of(DTA_FORMAT_1, 2);

	run(&r, 1, 0, 100);
	run(&r, 1, 110, 100);
	feed(&r);
	TEST(translate_succeed(&r.tr, r.t, 2, &r.transport->transport, NULL,
			       NULL) == 0);
	r.c = translate_counters(r.tr);
	run(&r, 1, 210, 1);
	run(&r, 1, 105, 2);
	run(&r, 1, 212, 1);
	expect(&r, 9, 2, 0);
	rig_end(&r);
}

int main(void)
{
	for (int shape = 0; shape < SHAPES; shape++) {
		losses(false, shape);
		losses(true, shape);
	}
	long_losses();
	late_and_twice();
	begun_anew();
	strangers();
	modes();
	told();
	narrow();
	crowd();
	succeeded();
	return test_end();
}
