/* SPDX-License-Identifier: BSD-2-Clause */
/* Reporters that send again and a translator that holds what comes behind a
 * gap: how much goes again, how long it takes, and a reporter's end. */
#include "link_rig.h"

struct bill {
	uint64_t ns, resent, lost; /* first or again */
};

/* All there, over a link that loses reports and answers alike. */
static struct bill over(double loss, uint64_t delay, unsigned each,
			unsigned hold)
{
	struct translate_options o = {.hold = hold};
	struct bill b;

	sim_open(0, &o);
	sim.loss = loss;
	sim.delay = delay;
	sim_reporters(1024, true);
	run(each, 256, 0);
	all_there(each);
	b.ns = sim.now;
	b.resent = resend_counters(sim.w).resent;
	b.lost = sim.there.reports_lost;
	resend_close(sim.w);
	sim_close();
	return b;
}

/*
 * By a translator that holds what comes behind a gap. What is lost goes again,
 * and little else; and a gap costs one round trip, which is no more than a way
 * back whose bursts double with every answer (limit_ms: the longest of eight
 * runs of that, which sent up to 90 for each that was lost), and less than one
 * of today's.
 */
static void selective(double loss, uint64_t delay, unsigned limit_ms)
{
	enum { EACH = 10000, RUNS = 4 };
	struct bill one, sum = {0};

	for (unsigned i = 0; i < RUNS; i++) {
		one = over(loss, delay, EACH, 16384);
		sum.ns += one.ns;
		sum.resent += one.resent;
		sum.lost += one.lost;
	}
	TEST(sum.lost > 0 && sum.resent >= sum.lost);
	TEST(10 * sum.resent <= 11 * sum.lost);
	TEST(sum.ns <= (uint64_t)RUNS * limit_ms * MS);
	one = over(loss, delay, EACH, 0);
	TEST(sum.ns <= RUNS * one.ns);
}

/* Room for few: what is dropped comes again. */
static void little_room(void)
{
	over(0.05, MS, 5000, 100);
	over(0.05, MS, 3000, 1);
}

/* One that is cut off while its reports are missing, and begins anew: what it
 * sends then is all there, behind some of what it sent before. */
static void reporter_cut_off(unsigned hold)
{
	enum { LIVES = 20, EACH = 2000 };
	struct translate_options o = {.hold = hold};

	sim_open(0.05, &o);
	for (uint32_t life = 0; life < LIVES; life++) {
		sim_reporters(256, true);
		for (unsigned i = 0, left = 50 + 10 * life; i < left; i++) {
			add(sim.w, i % REPORTERS, UINT32_MAX);
			if (i % 5 == 0)
				step();
		}
		resend_close(sim.w);
		sim.there.n = sim.back.n = 0;
	}
	sim_reporters(256, true);
	run(EACH, 8, 0);
	TEST(ledger_balanced(&translate_ledger, translate_counters(sim.tr)));
	TEST(!hold || translate_counters(sim.tr)->out_of_order > 0);
	for (unsigned l = 0; l < REPORTERS; l++) {
		uint64_t i = entries(l) - EACH, k = 0;

		TEST(entries(l) > EACH && entry(l, i - 1) == UINT32_MAX);
		while (k < EACH && entry(l, i + k) == k)
			k++;
		TEST(k == EACH);
	}
	resend_close(sim.w);
	sim_close();
}

int main(void)
{
	selective(0.01, MS, 343);
	selective(0.05, MS / 10, 227);
	selective(0.05, MS, 1558);
	selective(0.05, 5 * MS, 6063);
	little_room();
	reporter_cut_off(0);
	reporter_cut_off(16384);
	return test_end();
}
