/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reporters that send again and a strict translator, a bad link between them,
 * in a time of its own.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/rng.h"
#include "resend_rig.h"
#include "translate_road.h"

enum {
	REPORTERS = 3,
	FLIGHT_MAX = 8192,
};

struct flight {
	uint64_t at; /* 0: nothing here */
	size_t len;
	uint8_t frame[128];
};

struct link {
	struct flight flight[FLIGHT_MAX];
	unsigned n; /* in use, with holes */
	uint64_t lost;
};

static struct sim {
	struct rng rng;
	double loss, duplication, reorder;
	uint64_t now;
	struct link there, back;
	struct resend *w;
	struct translator *tr;
	struct test_road *road;
	struct table t;
	struct snk *nacks;
	struct src *answers;
	int fd[2];
} sim;

static bool chance(double p)
{
	return rng_unit(&sim.rng) < p;
}

static void fly(struct link *l, const uint8_t *frame, size_t len)
{
	struct flight *f = l->flight;

	if (chance(sim.loss)) {
		l->lost++;
		return;
	}
	while (f < l->flight + l->n && f->at)
		f++;
	if (f == l->flight + l->n && ++l->n == FLIGHT_MAX)
		abort();
	f->at = sim.now + MS + (chance(sim.reorder) ? MS : 0);
	f->len = len;
	memcpy(f->frame, frame, len);
}

static void fly_twice(struct link *l, const uint8_t *frame, size_t len)
{
	fly(l, frame, len);
	if (chance(sim.duplication))
		fly(l, frame, len);
}

/* What has arrived, in some order. */
static void land(struct link *l, struct frames *out)
{
	for (unsigned i = 0; i < l->n && out->n < PKT_BATCH; i++)
		if (l->flight[i].at && l->flight[i].at <= sim.now) {
			frames_add(out, l->flight[i].frame, l->flight[i].len,
				   sim.now);
			l->flight[i].at = 0;
		}
	while (l->n && !l->flight[l->n - 1].at)
		l->n--;
}

static int transmit(void *ctx, unsigned reporter, const uint8_t *payload,
		    size_t len, uint64_t ts_ns)
{
	struct net_udp4 h = {.src = {10, 1, 0, (uint8_t)reporter},
			     .dst_port = DTA_PORT};
	uint8_t frame[128];

	(void)ctx;
	(void)ts_ns;
	TEST(net_udp4_encode(frame, 42, &h, len) == 42);
	memcpy(frame + 42, payload, len);
	fly_twice(&sim.there, frame, 42 + len);
	return 0;
}

static uint64_t seed = 1; /* the next link's */

static void sim_reporters(unsigned window, bool wait)
{
	struct resend_options o = {.reporters = REPORTERS,
				   .window = window,
				   .payload_max = 64,
				   .address = ADDRESS,
				   .wait = wait,
				   .send = transmit};

	TEST(resend_open(&sim.w, &o, NULL) == 0);
}

static void sim_open(double bad, const struct translate_options *p)
{
	struct translate_options o = *p;
	char path[32];

	memset(&sim, 0, sizeof(sim));
	sim.rng.state = rng_mix(seed++);
	sim.loss = sim.duplication = sim.reorder = bad;
	sim.now = MS;
	TEST(pipe(sim.fd) == 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", sim.fd[1]);
	TEST(snk_open(&sim.nacks, path, NULL) == 0 &&
	     snk_flush(sim.nacks) == 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", sim.fd[0]);
	TEST(src_open(&sim.answers, path, NULL) == 0);
	src_wait(sim.answers, 0);
	sim.t = test_lists(1, 4, 4, 65536, REPORTERS, 16);
	sim.t.sequence = TABLE_SEQ_STRICT;
	sim.road = test_road_new(&sim.t, 1);
	o.nacks = sim.nacks;
	TEST(translate_open(&sim.tr, &sim.t, 1, &sim.road->road, &o, NULL) ==
	     0);
}

static void sim_close(void)
{
	translate_close(sim.tr);
	test_road_free(sim.road);
	src_close(sim.answers);
	snk_close(sim.nacks);
	close(sim.fd[0]);
	close(sim.fd[1]);
}

/* A tenth of a millisecond. */
static void step(void)
{
	static struct frames f;
	struct pkt pkt[64];
	int n;

	sim.now += MS / 10;
	land(&sim.there, &f);
	if (f.n)
		TEST(translate_rx(sim.tr, f.pkt, f.n) == 0);
	frames_clear(&f);
	snk_flush(sim.nacks);
	while ((n = src_rx(sim.answers, pkt, 64, NULL)) > 0)
		for (int i = 0; i < n; i++)
			fly_twice(&sim.back, pkt[i].data, pkt[i].len);
	land(&sim.back, &f);
	resend_rx(sim.w, f.pkt, f.n, sim.now);
	frames_clear(&f);
	resend_tick(sim.w, sim.now);
	resend_pump(sim.w, 64, sim.now);
}

/* So many reports of each, a few a step; then all that comes of it. */
static void run(unsigned each, unsigned a_step, uint32_t from)
{
	unsigned left[REPORTERS];
	unsigned all = each * REPORTERS;

	for (unsigned i = 0; i < REPORTERS; i++)
		left[i] = each;
	while (all) {
		for (unsigned k = 0; k < a_step; k++) {
			unsigned i = (unsigned)rng_below(&sim.rng, REPORTERS);

			if (!left[i] || !resend_room(sim.w, i))
				continue;
			add(sim.w, i, from + each - left[i]--);
			all--;
		}
		step();
	}
	resend_finish(sim.w);
	for (unsigned i = 0; i < 10000000 && !resend_settled(sim.w); i++)
		step();
	TEST(resend_settled(sim.w));
	for (unsigned i = 0; i < 100; i++)
		step(); /* what is still under way */
	TEST(translate_flush(sim.tr) == 0);
}

static uint64_t entries(unsigned list)
{
	return be64_load(sim.road->mem[0] + sim.t.heads + 8 * list);
}

static uint32_t entry(unsigned list, uint64_t i)
{
	return be32_load(sim.road->mem[0] +
			 ((uint64_t)list * sim.t.units + i) * 4);
}

static void ledgers(uint64_t reports)
{
	const struct translate_ledger *c = translate_counters(sim.tr);
	struct resend_ledger r = resend_counters(sim.w);

	TEST(ledger_balanced(&translate_ledger, c));
	TEST(ledger_balanced(&resend_ledger, &r));
	TEST(c->stored + c->lost_reports == reports);
	TEST(r.unconfirmed == 0 && r.deaf == 0);
}

/* All that was sent, once, in order. */
static void reliable(double bad, unsigned each, unsigned window)
{
	struct translate_options o = {0};

	sim_open(bad, &o);
	sim_reporters(window, true);
	run(each, 8, 0);
	ledgers((uint64_t)each * REPORTERS);
	TEST(translate_counters(sim.tr)->lost_reports == 0);
	TEST(resend_counters(sim.w).lost == 0);
	for (unsigned l = 0; l < REPORTERS; l++) {
		uint64_t i = 0;

		TEST(entries(l) == each);
		while (i < each && entry(l, i) == i)
			i++;
		TEST(i == each);
	}
	if (bad == 0)
		TEST(resend_counters(sim.w).resent == 0 &&
		     translate_counters(sim.tr)->repeated == 0);
	resend_close(sim.w);
	sim_close();
}

/* As many reports as the link takes. What is sent again is bounded by what is
 * to be sent, not by losses: repetitions are lost, too. */
static void economical(double loss, unsigned each, uint64_t resent_max)
{
	struct translate_options o = {0};

	sim_open(0, &o);
	sim.loss = loss;
	sim_reporters(1024, true);
	run(each, 256, 0);
	ledgers((uint64_t)each * REPORTERS);
	TEST(translate_counters(sim.tr)->lost_reports == 0);
	TEST(sim.there.lost > 0);
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

static bool is_busy(struct road *r, unsigned table)
{
	(void)r;
	TEST(table == 0);
	return busy;
}

/* A road that finds its way back: nothing is lost meanwhile. */
static void resynchronising(void)
{
	struct translate_options o = {0};

	sim_open(0.02, &o);
	sim.road->road.busy = is_busy;
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

int main(void)
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
	/* of 60000, 30000, 15000, 9000 reports */
	economical(0.001, 20000, 30000);
	economical(0.01, 10000, 45000);
	economical(0.05, 5000, 30000);
	economical(0.1, 3000, 18000);
	return test_end();
}
