/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link_rig.h - reporters that send again and a strict translator, a bad link
 * between them, in a time of its own.
 */
#ifndef TESTS_UNIT_LINK_RIG_H
#define TESTS_UNIT_LINK_RIG_H

#include <fcntl.h>
#include <unistd.h>

#include "base/rng.h"
#include "resend_rig.h"
#include "translate_transport.h"

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
	uint64_t lost, reports_lost;
};

static struct sim {
	struct rng rng;
	double loss, duplication, reorder;
	uint64_t now, delay;
	struct link there, back;
	struct resend *w;
	struct translator *tr;
	struct test_transport *transport;
	struct table t;
	struct snk *nacks;
	struct src *answers;
	int fd[2];
} sim;

static inline bool chance(double p)
{
	return rng_unit(&sim.rng) < p;
}

static inline void fly(struct link *l, const uint8_t *frame, size_t len)
{
	struct flight *f = l->flight;

	if (chance(sim.loss)) {
		l->lost++;
		l->reports_lost += (frame[42] & 15) != DTA_NACK;
		return;
	}
	while (f < l->flight + l->n && f->at)
		f++;
	if (f == l->flight + l->n && ++l->n == FLIGHT_MAX)
		abort();
	f->at = sim.now + sim.delay + (chance(sim.reorder) ? MS : 0);
	f->len = len;
	memcpy(f->frame, frame, len);
}

static inline void fly_twice(struct link *l, const uint8_t *frame, size_t len)
{
	fly(l, frame, len);
	if (chance(sim.duplication))
		fly(l, frame, len);
}

/* What has arrived, in some order. */
static inline void land(struct link *l, struct frames *out)
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

static inline int transmit(void *ctx, unsigned reporter, const uint8_t *payload,
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

static inline void sim_reporters(unsigned window, bool wait)
{
	struct resend_options o = {.reporters = REPORTERS,
				   .window = window,
				   .payload_max = 64,
				   .address = ADDRESS,
				   .wait = wait,
				   .send = transmit};

	TEST(resend_open(&sim.w, &o, NULL) == 0);
}

static inline void sim_open(double bad, const struct translate_options *p)
{
	struct translate_options o = *p;
	char path[32];

	memset(&sim, 0, sizeof(sim));
	sim.rng.state = rng_mix(seed++);
	sim.loss = sim.duplication = sim.reorder = bad;
	sim.now = sim.delay = MS;
	TEST(pipe(sim.fd) == 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", sim.fd[1]);
	TEST(snk_open(&sim.nacks, path, NULL) == 0 &&
	     snk_flush(sim.nacks) == 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", sim.fd[0]);
	TEST(src_open(&sim.answers, path, NULL) == 0);
	src_wait(sim.answers, 0);
	sim.t = test_lists(1, 4, 4, 65536, REPORTERS, 16);
	sim.t.sequence = TABLE_SEQ_STRICT;
	sim.transport = test_transport_new(&sim.t, 1);
	o.nacks = sim.nacks;
	TEST(translate_open(&sim.tr, &sim.t, 1, &sim.transport->transport, &o,
			    NULL) == 0);
}

static inline void sim_close(void)
{
	translate_close(sim.tr);
	test_transport_free(sim.transport);
	src_close(sim.answers);
	snk_close(sim.nacks);
	close(sim.fd[0]);
	close(sim.fd[1]);
}

/* A tenth of a millisecond. */
static inline void step(void)
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
static inline void run(unsigned each, unsigned a_step, uint32_t from)
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

static inline uint64_t entries(unsigned list)
{
	return be64_load(sim.transport->mem[0] + sim.t.heads + 8 * list);
}

static inline uint32_t entry(unsigned list, uint64_t i)
{
	return be32_load(sim.transport->mem[0] +
			 ((uint64_t)list * sim.t.units + i) * 4);
}

static inline void ledgers(uint64_t reports)
{
	const struct translate_ledger *c = translate_counters(sim.tr);
	struct resend_ledger r = resend_counters(sim.w);

	TEST(ledger_balanced(&translate_ledger, c));
	TEST(ledger_balanced(&resend_ledger, &r));
	TEST(c->stored + c->lost_reports == reports);
	TEST(r.unconfirmed == 0 && r.unanswered == 0);
}

/* All that was sent is there, once, in order: as without a loss. */
static inline void all_there(unsigned each)
{
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
}

#endif
