/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rings_rig.h - the tests of a source with a ring for each worker: frames of
 * many flows, and workers that take them in turn and look at their order.
 */
#ifndef TESTS_UNIT_RINGS_RIG_H
#define TESTS_UNIT_RINGS_RIG_H

#include <netinet/in.h>

#include "live_net.h"
#include "packet/clock.h"
#include "wire/be.h"

enum {
	PORT = 40040,
	WHO = 47, /* flows: prime to what goes in turn */
	WORKERS = 3,
	HEAD = 14 + 2 * 4 + 40 + 8, /* at most, before what is ours */
	BTH = 12,
	LONG = 1400,
};

/* What a frame carries behind its UDP header and BTH. */
struct mark {
	uint32_t who, number;
};

/* The kinds of frames that one flow has. */
struct form {
	unsigned tags;	  /* VLAN */
	unsigned options; /* of IPv4, 4 bytes each */
	bool six;
};

static inline uint8_t *put_ip4(uint8_t *p, const struct form *form,
			       uint32_t src, size_t len)
{
	size_t own = 20 + form->options * 4;

	memset(p, 0, own);
	p[0] = (uint8_t)(0x40 | own / 4);
	be16_store(p + 2, (uint16_t)(own + len));
	p[8] = 64;
	p[9] = IPPROTO_UDP;
	be32_store(p + 12, 0x0a000000 | src);
	be32_store(p + 16, 0x0a0000fe);
	return p + own;
}

static inline uint8_t *put_ip6(uint8_t *p, uint32_t src, size_t len)
{
	memset(p, 0, 40);
	p[0] = 0x60;
	be16_store(p + 4, (uint16_t)len);
	p[6] = IPPROTO_UDP;
	p[7] = 64;
	p[8] = 0xfd;
	p[15] = (uint8_t)src; /* networks and hosts differ */
	be32_store(p + 20, src >> 1);
	p[24] = 0xfd;
	return p + 40;
}

/* What is not address or port changes all the time. */
static inline size_t make(uint8_t *frame, const struct form *form,
			  struct mark m)
{
	static const uint8_t ether[12] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
	size_t len = 8 + BTH + sizeof(m);
	uint8_t *p = frame;

	memcpy(p, ether, 12);
	p += 12;
	for (unsigned i = 0; i < form->tags; i++, p += 4)
		be32_store(p, (i + 1 < form->tags ? 0x88a80000 : 0x81000000) |
				      (m.number & 0xff));
	be16_store(p, form->six ? 0x86dd : 0x0800);
	p = form->six ? put_ip6(p + 2, m.who, len)
		      : put_ip4(p + 2, form, m.who, len);
	be16_store(p, (uint16_t)(1024 + m.who));
	be16_store(p + 2, PORT);
	be32_store(p + 4, (uint32_t)len << 16);
	p += 8;
	memset(p, 0, BTH);
	be32_store(p + 4,
		   (m.number & 1 ? 0x80000000 : 0) | (0x11 + m.number % 5));
	memcpy(p + BTH, &m, sizeof(m));
	return (size_t)(p + BTH + sizeof(m) - frame);
}

static inline void put(struct snk *k, const struct form *form, struct mark m)
{
	uint8_t *at = snk_room(k, HEAD + 60 + BTH + sizeof(m));

	if (!TEST(at != NULL))
		exit(test_end());
	snk_done(k, make(at, form, m), 0);
}

/* Workers in turn, as their programs have them: packets are looked at when the
 * worker is about to take others. */
struct rig {
	struct src *s;
	unsigned workers;
	struct pkt pkts[WORKERS][PKT_BATCH];
	int n[WORKERS];
	uint32_t next[WHO]; /* number */
	uint64_t last_ns;
	uint32_t got, bad, set; /* set: clocks that were set */
	unsigned with[WHO];	/* seen in one batch with that one: by chains */
	uint32_t calls[WORKERS][WHO];
};

static inline unsigned chain_end(const struct rig *r, unsigned who)
{
	while (r->with[who] != who)
		who = r->with[who];
	return who;
}

static inline void look(struct rig *r, unsigned worker)
{
	uint32_t first = WHO;
	struct mark m;

	for (int i = 0; i < r->n[worker]; i++) {
		const struct pkt *p = &r->pkts[worker][i];

		memcpy(&m, p->data + p->len - sizeof(m), sizeof(m));
		if (!TEST(m.who < WHO))
			exit(test_end());
		if (i == 0)
			first = m.who;
		r->bad += m.number != r->next[m.who]++;
		r->set += clock_was_set(r->last_ns, p->ts_ns);
		clock_step(&r->last_ns, p->ts_ns);
		r->with[chain_end(r, m.who)] = chain_end(r, first);
		r->got++;
	}
	if (first < WHO)
		r->calls[worker][first]++;
	r->n[worker] = 0;
}

/* A round, as cli_loop() and a team have it. */
static inline void turn(struct rig *r, int max)
{
	struct fault f = {0};
	int n = src_rx(r->s, r->pkts[0], max, &f);

	if (n <= 0) {
		TEST(n == -EAGAIN);
		for (unsigned w = 0; w < r->workers; w++)
			look(r, w); /* they rest */
		return;
	}
	r->n[0] = n;
	for (unsigned w = 1; w < r->workers; w++) {
		look(r, w);
		n = src_rx_now(r->s, r->pkts[w], max, &f);
		r->n[w] = n > 0 ? n : 0;
	}
	look(r, 0);
}

/* Until so many have come, or none came for long. */
static inline void go(struct rig *r, uint32_t n, int max, int patience)
{
	for (int idle = 0; r->got < n && idle < patience;) {
		uint32_t before = r->got;

		turn(r, max);
		idle = r->got > before ? 0 : idle + 1;
	}
}

static inline void until(struct rig *r, uint32_t n, int max)
{
	go(r, n, max, 100);
	TEST(r->got == n);
}

static inline void rig_open(struct rig *r, unsigned workers,
			    const struct live_options *o)
{
	struct live_options own = *o;
	char kind[32];

	*r = (struct rig){.workers = workers};
	own.kind = LIVE_PACKET;
	own.workers = workers;
	for (unsigned i = 0; i < WHO; i++)
		r->with[i] = i;
	r->s = net_source("vb", &own);
	snprintf(kind, sizeof(kind),
		 workers > 1 ? "AF_PACKET, %u rings" : "AF_PACKET", workers);
	TEST(!strcmp(src_kind(r->s), kind));
	src_wait(r->s, 100);
	TEST(workers == 1 || !src_keep(r->s, workers));
}

/* How many there are that were never seen in one batch. */
static inline unsigned apart(const struct rig *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < WHO; i++)
		n += r->with[i] == i;
	return n;
}

#endif
