/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The requester against the software responder, with everything between them
 * that can go wrong, in thousands of random runs: what the ledger says is what
 * is in memory.
 */
#include "requester_run.h"

enum {
	RUNS = 1500,
};

static struct odds some_odds(void)
{
	static const double most[] = {0, 0.01, 0.1, 0.3};

	return (struct odds){
		.loss = most[rng_below(&rng, 4)],
		.duplication = most[rng_below(&rng, 4)],
		.reordering = most[rng_below(&rng, 4)],
		.flip = most[rng_below(&rng, 3)],
	};
}

static void test_faults(void)
{
	for (unsigned run = 0; run < RUNS; run++) {
		struct requester_ledger l;
		struct odds with;

		rng.state = run;
		with = some_odds();
		begin(1u << (1 + rng_below(&rng, 7)), &with);
		for (unsigned i = 0; i < 5; i++) {
			some_ops((unsigned)rng_below(&rng, 64) + 1);
			if (chance(0.5))
				turn();
		}
		settle();
		l = roce_out_ledger(o, false);
		TEST(l.acked == l.requests && l.requests > 0);
		TEST(responder_counters(g.p)->bytes == 8 * l.acked);
		check_memory(true);
		end();
	}
}

/* The collector is made anew at any time; with a ticket, or found again. */
static void test_restarts(void)
{
	struct responder_options ro = {.receives = UINT64_MAX};

	for (unsigned run = 0; run < RUNS; run++) {
		struct odds with = {.loss = run % 3 * 0.1};
		struct requester_ledger l;
		struct error err = {""};

		rng.state = 1000000 + run;
		begin(32, &with);
		some_ops((unsigned)rng_below(&rng, 64) + 1);
		for (uint64_t k = rng_below(&rng, 6); k--;)
			turn();
		responder_close(g.p);
		/* Far away, as a start at random would be. */
		for (unsigned i = 0; i < g.t.n; i++)
			tickets[1].at[i].psn ^= 0x1000 +
						(uint32_t)rng_below(&rng,
								    0x7f0000);
		if (responder_open(&g.p, g.region, &tickets[1], back.sink, &ro,
				   &err) < 0)
			rig_die("responder", &err);
		if (run & 1)
			TEST(roce_out_reticket(o, &tickets[1], &err) == 0);
		some_ops((unsigned)rng_below(&rng, 64) + 1);
		settle();
		l = roce_out_ledger(o, false);
		TEST(l.acked + l.unanswered == l.requests);
		check_memory(!l.unanswered);
		end();
	}
}

/* First probes that are lost, to a queue pair that does not know yet what to
 * say of the others. */
static void test_first_lost(void)
{
	struct responder_options ro = {.receives = UINT64_MAX};
	const struct odds with = {.loss = 0.3};

	forgetful = true;
	for (unsigned run = 0; run < RUNS; run++) {
		struct requester_ledger l;
		struct error err = {""};

		rng.state = 6000000 + run;
		begin(32, &with);
		some_ops((unsigned)rng_below(&rng, 64) + 1);
		settle();
		responder_close(g.p);
		for (unsigned i = 0; i < g.t.n; i++) {
			tickets[1].at[i].qpn ^= 0x100;
			tickets[1].at[i].psn = (uint32_t)rng_u64(&rng) &
					       ROCE_PSN_MASK;
		}
		if (responder_open(&g.p, g.region, &tickets[1], back.sink, &ro,
				   &err) < 0)
			rig_die("responder", &err);
		TEST(roce_out_reticket(o, &tickets[1], &err) == 0);
		some_ops((unsigned)rng_below(&rng, 64) + 1);
		turns = 0;
		settle();
		l = roce_out_ledger(o, false);
		TEST(l.acked == l.requests && !l.unanswered);
		check_memory(true);
		end();
	}
	forgetful = false;
}

/* The same ticket again, or one with another first PSN, of a collector that was
 * there all the time: nothing is lost, nothing is sent twice, and all goes on.
 */
static void test_ticket_again(void)
{
	for (unsigned run = 0; run < RUNS; run++) {
		struct odds none = {0};
		struct requester_ledger l;
		struct error err = {""};

		rng.state = 3000000 + run;
		begin(64, &none);
		some_ops(60); /* more than a new connection would have done */
		settle();
		some_ops((unsigned)rng_below(&rng, 32) + 1);
		for (uint64_t k = rng_below(&rng, 4); k--;)
			turn();
		if (run & 1)
			for (unsigned i = 0; i < g.t.n; i++)
				tickets[1].at[i].psn ^= 0x123456;
		TEST(roce_out_reticket(o, &tickets[1], &err) == 0);
		some_ops(40);
		settle();
		l = roce_out_ledger(o, false);
		TEST(l.acked == l.requests && !l.unanswered && !l.resyncs);
		check_memory(true);
		end();
	}
}

/* The same ticket again, of a collector that has begun anew and had answered
 * all: what comes then does not go to where nobody is. */
static void test_ticket_of_restarted(void)
{
	struct responder_options ro = {.receives = UINT64_MAX};

	for (unsigned run = 0; run < RUNS; run++) {
		struct odds with = {.loss = run % 3 * 0.1};
		struct requester_ledger l;
		struct error err = {""};

		rng.state = 5000000 + run;
		begin(64, &with);
		some_ops(60);
		settle();
		responder_close(g.p);
		if (responder_open(&g.p, g.region, &tickets[1], back.sink, &ro,
				   &err) < 0)
			rig_die("responder", &err);
		TEST(roce_out_reticket(o, &tickets[1], &err) == 0);
		some_ops((unsigned)rng_below(&rng, 60) + 1);
		settle();
		l = roce_out_ledger(o, false);
		TEST(l.acked == l.requests && !l.unanswered);
		check_memory(true);
		end();
	}
}

/* A ticket of another epoch for a connection that lives: what is under way may
 * have been carried out, and all goes on. */
static void test_ticket_renewed(void)
{
	for (unsigned run = 0; run < RUNS; run++) {
		struct odds with = {.loss = run % 3 * 0.1};
		struct requester_ledger l;
		struct error err = {""};

		rng.state = 4000000 + run;
		begin(64, &with);
		some_ops(60); /* more than a new connection would have done */
		settle();
		some_ops((unsigned)rng_below(&rng, 60) + 1);
		for (uint64_t k = rng_below(&rng, 4); k--;)
			turn();
		tickets[1].epoch++;
		if (run & 1)
			for (unsigned i = 0; i < g.t.n; i++)
				tickets[1].at[i].psn ^= 0x123456;
		turns = 0;
		TEST(roce_out_reticket(o, &tickets[1], &err) == 0);
		some_ops(40);
		settle();
		TEST(turns < 200 || run % 3);
		l = roce_out_ledger(o, false);
		TEST(l.acked + l.unanswered == l.requests);
		check_memory(!l.unanswered);
		end();
	}
}

/* A refusal: what comes after is not carried out, and waits for a ticket. */
static void test_refused(void)
{
	struct odds none = {0};
	struct requester_ledger l;
	struct error err = {""};

	rng.state = 5;
	begin(256, &none);
	some_ops(50);
	settle();
	for (unsigned i = 0; i < g.t.n; i++)
		tickets[1].at[i].rkey ^= 1;
	TEST(roce_out_reticket(o, &tickets[1], &err) == 0);
	some_ops(60);
	for (unsigned i = 0; i < 2000; i++)
		turn();
	l = roce_out_ledger(o, false);
	TEST(l.acked == 50 && l.refused == 60 && l.naks_access >= 2);
	TEST(roce_out_stalled(o) && roce_out_stale(o));
	TEST(roce_out_pending(o) == 60); /* for a ticket to come */
	/* Queue pairs made anew are not killed with the same R_Keys. */
	TEST(responder_reopen(g.p, &tickets[0], &err) == 0);
	for (unsigned i = 0; i < 250; i++)
		turn();
	TEST(roce_out_ledger(o, false).naks_access == l.naks_access);
	TEST(!responder_is_dead(g.p));
	TEST(roce_out_reticket(o, &tickets[0], &err) == 0);
	settle();
	l = roce_out_ledger(o, false);
	TEST(l.acked == 110);
	check_memory(true);
	end();
}

/* A device remembers the answers of so many additions, and refuses more. */
static void test_atomics(void)
{
	struct odds none = {0};

	for (unsigned limit = 0; limit <= 16; limit += 4) {
		rng.state = 7;
		begin(256, &none);
		tickets[0].atomics = (uint16_t)limit;
		most_adds = 0;
		some_ops(64);
		settle();
		TEST(limit ? most_adds == limit : most_adds > 16);
		check_memory(true);
		end();
	}
}

/*
 * A lost frame costs what was sent behind it. So a transport that loses now and
 * then has fewer requests under way, and again as many as it may when it does
 * not.
 */
static void test_economical(void)
{
	enum {
		OPS = 40000,
		WINDOW = 4096,
		RESENT_MAX = OPS / 10,
		TURNS_MAX = 100,
	};
	struct odds with = {.loss = 0.001};
	struct requester_ledger l;
	uint64_t before;

	rng.state = 9;
	begin(WINDOW, &with);
	for (unsigned i = 0; i < OPS; i += 64)
		some_ops(64);
	settle();
	l = roce_out_ledger(o, false);
	TEST(l.acked == OPS && l.resent > 0 && l.resent <= RESENT_MAX);
	odds.loss = 0;
	before = turns;
	for (unsigned i = 0; i < OPS; i += 64)
		some_ops(64);
	settle();
	TEST(turns - before < TURNS_MAX);
	TEST(roce_out_ledger(o, false).resent == l.resent);
	check_memory(true);
	end();
}

/* No collector at all: the window fills, and what does not fit is counted. */
static void test_full(void)
{
	struct odds all = {.loss = 1};
	struct requester_ledger l;

	rng.state = 6;
	begin(8, &all);
	turns = PATIENCE; /* so that nothing waits */
	some_ops(64);
	l = roce_out_ledger(o, false);
	TEST(l.requests == 64 && l.unsent <= 16);
	TEST(l.window_full == 64 - l.unsent && !l.acked && !l.unanswered);
	end();
}

/* A new ticket comes while half of an operation waits for room; the old one is
 * not looked at any more. */
static int wait_for_ticket(void *ctx)
{
	struct ticket **at = ctx, *old = *at;
	struct error err = {""};

	if (old) {
		*at = NULL;
		TEST(responder_reopen(g.p, &tickets[1], &err) == 0);
		TEST(roce_out_reticket(o, &tickets[1], &err) == 0);
		memset(old, 0xff, sizeof(*old));
	}
	return wait_a_turn(NULL);
}

static void test_ticket_within(void)
{
	enum { SLOT = 1024, PIECES = 8 };
	static uint8_t data[SLOT];
	const struct op op = {
		.verb = OP_WRITE,
		.table = RIG_WIDE,
		.length = SLOT,
		.data = data,
	};
	static struct ticket first;
	struct ticket *at = &first;
	struct transport *transport;
	struct odds none = {0};
	struct error err = {""};

	rng.state = 8;
	begin(2, &none);
	roce_out_close(o);
	tickets[0].mtu = tickets[1].mtu = SLOT / PIECES;
	first = tickets[0];
	memset(data, 0x5a, sizeof(data));
	if (roce_out_open(&o, &first, there.sink, 0, &err) < 0 ||
	    roce_out_window(o, 2, wait_for_ticket, &at, &err) < 0)
		rig_die("transport", &err);
	transport = roce_out_transport(o);
	transport->begin(transport);
	TEST(transport->exec(transport, &op, 1, 1000) == 0);
	settle();
	TEST(!at);
	TEST(roce_out_ledger(o, false).acked == PIECES);
	TEST(!memcmp(rig_mem(&g, RIG_WIDE), data, SLOT));
	end();
}

int main(void)
{
	rig_open(&g, NULL);
	responder_close(g.p);
	g.p = NULL;
	test_faults();
	test_restarts();
	test_first_lost();
	test_ticket_again();
	test_ticket_of_restarted();
	test_ticket_renewed();
	test_refused();
	test_atomics();
	test_economical();
	test_full();
	test_ticket_within();
	g.p = NULL;
	rig_restart(&g, NULL);
	rig_close(&g);
	return test_end();
}
