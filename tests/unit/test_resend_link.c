/* SPDX-License-Identifier: BSD-2-Clause */
/* Reporters that send again and a strict translator, over a bad link: what is
 * stored is what was sent, once and in order; or it is counted. */
#include "link_rig.h"

static void reliable(double bad, unsigned each, unsigned window)
{
	struct translate_options o = {0};

	sim_open(bad, &o);
	sim_reporters(window, true);
	run(each, 8, 0);
	all_there(each);
	if (bad == 0)
		TEST(resend_counters(sim.w).resent == 0 &&
		     translate_counters(sim.tr)->repeated == 0);
	resend_close(sim.w);
	sim_close();
}

/* As many reports as the link takes. What is sent again is bounded by what is
 * to be sent, not by losses: repetitions are lost, too. */
static void economical(double loss, double reorder, unsigned each,
		       uint64_t resent_max)
{
	struct translate_options o = {0};

	sim_open(0, &o);
	sim.loss = loss;
	sim.reorder = reorder;
	sim_reporters(1024, true);
	run(each, 256, 0);
	ledgers((uint64_t)each * REPORTERS);
	TEST(translate_counters(sim.tr)->lost_reports == 0);
	TEST((sim.there.lost > 0) == (loss > 0));
	TEST(resend_counters(sim.w).resent <= resent_max);
	resend_close(sim.w);
	sim_close();
}

/* A small window that does not wait: in order, none twice, the rest counted. */
static void lossy(double bad, unsigned each, unsigned window)
{
	struct translate_options o = {0};
	uint64_t lost;

	sim_open(bad, &o);
	sim_reporters(window, false);
	run(each, 4, 0);
	ledgers((uint64_t)each * REPORTERS);
	lost = translate_counters(sim.tr)->lost_reports;
	TEST(resend_counters(sim.w).lost >= lost);
	TEST(lost > 0);
	for (unsigned l = 0; l < REPORTERS; l++) {
		uint64_t i = 1;

		while (i < entries(l) && entry(l, i) > entry(l, i - 1))
			i++;
		TEST(i == entries(l) && entry(l, i - 1) < each);
	}
	resend_close(sim.w);
	sim_close();
}

/* A reporter that begins anew goes on with the numbers that are known there. */
static void reporter_again(void)
{
	struct translate_options o = {0};

	sim_open(0.05, &o);
	for (unsigned life = 0; life < 3; life++) {
		sim_reporters(256, true);
		run(3000, 8, 3000 * life);
		resend_close(sim.w);
	}
	TEST(translate_counters(sim.tr)->stored == 27000);
	TEST(translate_counters(sim.tr)->lost_reports == 0);
	for (unsigned l = 0; l < REPORTERS; l++)
		for (uint64_t i = 0; i < 9000; i++)
			if (!TEST(entry(l, i) == i))
				break;
	sim_close();
}

/* More reports than operations: refused, slowed down by NACKs alone, and all
 * there in the end. */
static void limited(void)
{
	struct translate_options o = {.op_rate = 1000, .op_burst = 8};
	const struct translate_ledger *c;

	sim_open(0.02, &o);
	sim_reporters(256, true);
	run(500, 8, 0);
	ledgers(1500);
	c = translate_counters(sim.tr);
	TEST(c->stored == 1500 && c->rate_limited > 0);
	TEST(resend_counters(sim.w).nacks_rate > 0);
	/* two operations a batch: no faster than the rate in all that time */
	TEST(c->ops <= 8 + 2 * 96 + sim.now / MS);
	resend_close(sim.w);
	sim_close();
}

static bool busy;

static bool is_busy(struct transport *r, unsigned table)
{
	(void)r;
	TEST(table == 0);
	return busy;
}

/* A transport that finds its way back: nothing is lost meanwhile. */
static void resynchronising(void)
{
	struct translate_options o = {0};

	sim_open(0.02, &o);
	sim.transport->transport.busy = is_busy;
	sim_reporters(64, true);
	for (unsigned i = 0; i < 40; i++)
		add(sim.w, 1, i);
	busy = true;
	for (unsigned i = 0; i < 500; i++)
		step();
	TEST(translate_counters(sim.tr)->stored == 0);
	TEST(translate_counters(sim.tr)->resyncing > 0);
	TEST(resend_counters(sim.w).nacks_resync > 0);
	busy = false;
	resend_finish(sim.w);
	while (!resend_settled(sim.w))
		step();
	TEST(translate_counters(sim.tr)->stored == 40);
	ledgers(40);
	resend_close(sim.w);
	sim_close();
}

/* One link after another, each with faults of its own. */
static void links(void)
{
	for (unsigned i = 0; i < 20; i++) {
		reliable(0.001, 2000, 1024);
		reliable(0.02, 1000, 300);
		reliable(0.2, 300, 50);
		lossy(0.02, 1000, 5);
	}
}

static void all(void)
{
	reliable(0, 2000, 1024);
	reliable(0.001, 5000, 1024);
	reliable(0.01, 5000, 256);
	reliable(0.1, 2000, 64);
	reliable(0.1, 300, 1);
	reliable(0.3, 500, 1024);
	reliable(0.01, 30000, 4096); /* numbers wrap with the next one */
	lossy(0.01, 5000, 16);
	lossy(0.1, 3000, 8);
	lossy(0.3, 2000, 3);
	links();
	reporter_again();
	limited();
	resynchronising();
}

int main(void)
{
	all();
	/* of 60000, 30000, 15000, 9000 reports */
	economical(0.001, 0, 20000, 30000);
	economical(0.01, 0, 10000, 45000);
	economical(0.05, 0, 5000, 30000);
	economical(0.1, 0, 3000, 18000);
	economical(0, 0.01, 10000, 40000);
	economical(0, 0.1, 10000, 40000);
	return test_end();
}
