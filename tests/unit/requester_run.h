/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * requester_run.h - runs of a requester against the software responder, with
 * what the network does to their frames. The model is a sum for each counter,
 * and the last value written to each slot.
 */
#ifndef TESTS_UNIT_REQUESTER_RUN_H
#define TESTS_UNIT_REQUESTER_RUN_H

#include "requester_rig.h"
#include "test.h"

enum {
	COUNTERS = 16,
	SLOTS = 16,
	HELD = 4,
	PATIENCE = 200000, /* turns until a run must be over */
	TURN_NS = 2000000,
};

struct odds {
	double loss, duplication, reordering, flip;
};

static struct rig g;
static struct line there, back;
static struct roce_out *o;
static struct odds odds;
static struct rng rng;
static uint64_t now, sums[COUNTERS], last[SLOTS], turns;
static struct ticket tickets[2];
static unsigned most_adds; /* FETCH_ADDs that were under way at once */
static bool forgetful;	   /* answers as soft-RoCE's: as_soft_roce() */

static inline bool chance(double p)
{
	return rng_unit(&rng) < p;
}

/*
 * Duplicates that come before the first request are acknowledged by soft-RoCE
 * with PSN 0xffffff, whatever the queue pair expects (tests/rxe/matrix.py:
 * half-way-first), by our responder with the PSN before that.
 */
static inline size_t as_soft_roce(uint8_t *frame, size_t len)
{
	struct roce r;
	int n;

	if (!forgetful || roce_decode(&r, frame, len) < 0 || r.msn ||
	    r.opcode != ROCE_RC_ACK || r.syndrome >> 5 & 3)
		return len;
	r.psn = ROCE_PSN_MASK;
	n = roce_encode(frame, ROCE_FRAME_MAX, &r);
	return TEST(n > 0) ? (size_t)n : len;
}

static inline void arrive(bool requests, const struct pkt *p)
{
	uint8_t copy[CRC_HEADROOM + ROCE_FRAME_MAX] = {0};
	struct pkt one = *p;

	memcpy(copy + CRC_HEADROOM, p->data, p->len);
	one.data = copy + CRC_HEADROOM;
	if (!requests)
		one.len = as_soft_roce(copy + CRC_HEADROOM, p->len);
	if (chance(odds.flip))
		copy[CRC_HEADROOM + rng_below(&rng, p->len)] ^=
			(uint8_t)(1 << rng_below(&rng, 8));
	if (requests)
		TEST(responder_rx(g.p, &one, 1) == 0);
	else
		TEST(roce_out_answers(&o, 1, &one, 1, now) == 0);
}

static inline void carry(struct line *l, bool requests)
{
	size_t n = line_take(l);
	unsigned adds = 0;

	for (size_t i = 0; i < n; i++)
		adds += l->pkts[i].data[ROCE_AT_BTH] == ROCE_RC_FETCH_ADD;
	most_adds = adds > most_adds ? adds : most_adds;

	/* Some change places with one that comes later. */
	for (size_t i = 0; i + 1 < n; i++)
		if (chance(odds.reordering)) {
			size_t k = i + 1 + rng_below(&rng, HELD);
			struct pkt p = l->pkts[i];

			k = k < n ? k : n - 1;
			l->pkts[i] = l->pkts[k];
			l->pkts[k] = p;
		}
	for (size_t i = 0; i < n; i++) {
		if (chance(odds.loss))
			continue;
		arrive(requests, &l->pkts[i]);
		if (chance(odds.duplication))
			arrive(requests, &l->pkts[i]);
	}
}

static inline void turn(void)
{
	struct requester_ledger l;

	now += TURN_NS;
	carry(&there, true);
	carry(&back, false);
	TEST(roce_out_tick(o, now) == 0);
	l = roce_out_ledger(o, false);
	TEST(ledger_balanced(&requester_ledger, &l));
	turns++;
}

static inline int wait_a_turn(void *ctx)
{
	(void)ctx;
	turn();
	return turns < PATIENCE;
}

/* A run begins with memory of zeros and PSNs anywhere, also at the wrap. */
static inline void begin(unsigned window, const struct odds *with)
{
	struct responder_options ro = {.receives = UINT64_MAX};
	struct error err = {""};

	odds = *with;
	now = 1;
	turns = 0;
	memset(sums, 0, sizeof(sums));
	memset(last, 0, sizeof(last));
	memset((uint8_t *)rig_mem(&g, RIG_INC), 0, COUNTERS * 8);
	memset((uint8_t *)rig_mem(&g, RIG_KW), 0, SLOTS * 8);
	for (unsigned i = 0; i < g.t.n; i++)
		g.t.at[i].psn = (uint32_t)(chance(0.5) ? -rng_below(&rng, 100)
						       : rng_u64(&rng)) &
				ROCE_PSN_MASK;
	tickets[0] = tickets[1] = g.t;
	line_open(&there);
	line_open(&back);
	if (responder_open(&g.p, g.region, &tickets[0], back.sink, &ro, &err) <
		    0 ||
	    roce_out_open(&o, &tickets[0], there.sink, 0, &err) < 0 ||
	    roce_out_window(o, window, wait_a_turn, NULL, &err) < 0)
		rig_die("transport", &err);
}

static inline void end(void)
{
	roce_out_close(o);
	responder_close(g.p);
	line_close(&there);
	line_close(&back);
}

static inline void some_ops(unsigned n)
{
	struct transport *transport = roce_out_transport(o);
	uint64_t data[64];
	struct op ops[64];

	for (unsigned i = 0; i < n; i++) {
		unsigned at = (unsigned)rng_below(&rng, COUNTERS);

		if (chance(0.5)) {
			ops[i] = (struct op){
				.verb = OP_FETCH_ADD,
				.table = RIG_INC,
				.offset = 8 * at,
				.length = 8,
				.add = 1 + rng_below(&rng, 1000),
			};
			sums[at] += ops[i].add;
			continue;
		}
		data[i] = last[at] = rng_u64(&rng);
		ops[i] = (struct op){
			.verb = OP_WRITE,
			.table = RIG_KW,
			.offset = 8 * at,
			.length = 8,
			.data = (const uint8_t *)&data[i],
		};
	}
	transport->begin(transport);
	TEST(transport->exec(transport, ops, n, 1000) == 0);
}

static inline void settle(void)
{
	while (roce_out_pending(o) && turns < PATIENCE)
		turn();
	TEST(turns < PATIENCE);
}

/* exact: every sum; else none is above. */
static inline void check_memory(bool exact)
{
	const uint8_t *inc = rig_mem(&g, RIG_INC), *kw = rig_mem(&g, RIG_KW);

	for (unsigned i = 0; i < COUNTERS; i++) {
		uint64_t v;

		memcpy(&v, inc + 8 * i, 8);
		TEST(exact ? v == sums[i] : v <= sums[i]);
	}
	for (unsigned i = 0; i < SLOTS; i++)
		TEST(!memcmp(kw + 8 * i, &last[i], 8));
}

#endif
