/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hold_rig.h - a translator that holds reports behind gaps, for tests: reports
 * of a few reporters, each for a list of its own, and what they are told.
 */
#ifndef TESTS_UNIT_HOLD_RIG_H
#define TESTS_UNIT_HOLD_RIG_H

#include <fcntl.h>
#include <unistd.h>

#include "base/rng.h"
#include "test.h"
#include "translate_road.h"
#include "wire/be.h"

enum {
	STRICT = 1, /* tables */
	COUNT = 2,
	LISTS = 4,
	ENTRIES = 65536,
	OTHER = 0x0a000900, /* addresses of reporters that only come to go */
	NOW = 5000,
};

static struct rig {
	struct table t[2];
	struct test_road *road;
	struct translator *tr;
	const struct translate_ledger *c;
	struct snk *nacks;
	struct src *told;
	int fd[2];
	struct frames f;
} rig;

static inline void rig_open(unsigned hold, const struct translate_options *more)
{
	struct translate_options o = *more;
	char path[32];

	memset(&rig, 0, sizeof(rig));
	TEST(pipe(rig.fd) == 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", rig.fd[1]);
	TEST(snk_open(&rig.nacks, path, NULL) == 0 &&
	     snk_flush(rig.nacks) == 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", rig.fd[0]);
	TEST(src_open(&rig.told, path, NULL) == 0);
	src_wait(rig.told, 0);
	rig.t[0] = test_lists(STRICT, 4, 4, ENTRIES, LISTS, 1);
	rig.t[0].sequence = TABLE_SEQ_STRICT;
	rig.t[1] = test_lists(COUNT, 4, 4, ENTRIES, LISTS, 1);
	rig.t[1].sequence = TABLE_SEQ_COUNT;
	rig.road = test_road_new(rig.t, 2);
	o.hold = hold;
	o.nacks = rig.nacks;
	TEST(translate_open(&rig.tr, rig.t, 2, &rig.road->road, &o, NULL) == 0);
	rig.c = translate_counters(rig.tr);
}

static inline void rig_with(unsigned hold)
{
	static const struct translate_options none;

	rig_open(hold, &none);
}

static inline void rig_close(void)
{
	TEST(!rig.f.n && !rig.road->bad);
	TEST(translate_flush(rig.tr) == 0);
	TEST(ledger_balanced(&translate_ledger, rig.c));
	translate_close(rig.tr);
	test_road_free(rig.road);
	src_close(rig.told);
	snk_close(rig.nacks);
	close(rig.fd[0]);
	close(rig.fd[1]);
}

static inline void go(void)
{
	TEST(translate_rx(rig.tr, rig.f.pkt, rig.f.n) == 0);
	frames_clear(&rig.f);
}

static inline void add(uint8_t src, const struct dta_report *r)
{
	uint8_t frame[FRAME_ROOM];

	frames_add(&rig.f, frame, frame_of(frame, DTA_FORMAT_1, r, src, 0),
		   NOW);
	if (rig.f.n == PKT_BATCH)
		go();
}

/* A report of reporter src, for the list of its own, that holds its number. */
static inline void report_to(uint16_t table, uint8_t src, uint32_t number,
			     unsigned bytes)
{
	uint8_t list[4] = {0, 0, 0, src}, value[4];

	be32_store(value, number);
	add(src, &(struct dta_report){.opcode = DTA_APPEND,
				      .tracked = true,
				      .table = table,
				      .sequence = (uint16_t)number,
				      .key_len = 4,
				      .key = list,
				      .data_len = (uint16_t)bytes,
				      .data = value});
}

static inline void report(uint8_t src, uint32_t number)
{
	report_to(STRICT, src, number, 4);
}

/* What each says comes in a batch, in this order. */
static inline void come(const uint16_t *number, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		report(1, number[i]);
	go();
}

#define COME(...)                                                              \
	come((const uint16_t[]){__VA_ARGS__},                                  \
	     sizeof((uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t))

static inline void ask(uint8_t src, uint8_t reason, uint16_t table,
		       uint16_t number)
{
	add(src, &(struct dta_report){.opcode = DTA_NACK,
				      .hop = reason,
				      .table = table,
				      .sequence = number});
	go();
}

/* What a list holds, from its first entry on. */
static inline bool holds(unsigned list, const uint16_t *number, unsigned n)
{
	const uint8_t *mem = rig.road->mem[0];
	uint64_t entries;
	bool right;

	TEST(translate_flush(rig.tr) == 0);
	entries = be64_load(mem + rig.t[0].heads + 8 * list);
	right = entries == n;
	for (unsigned i = 0; right && i < n; i++)
		right = be32_load(mem + 4 * (list * (size_t)ENTRIES + i)) ==
			number[i];
	return right;
}

#define HOLDS(list, ...)                                                       \
	holds(list, (const uint16_t[]){__VA_ARGS__},                           \
	      sizeof((uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t))

/* From one on, all are there once, in order. */
static inline bool holds_row(unsigned list, uint16_t from, unsigned n)
{
	static uint16_t number[ENTRIES];

	for (unsigned i = 0; i < n; i++)
		number[i] = (uint16_t)(from + i);
	return holds(list, number, n);
}

/* The next NACK tells this; reason 0xff: there is none. */
static inline bool told(uint8_t reason, uint16_t last)
{
	struct net_udp u;
	struct dta_report r;
	struct pkt p;
	int n;

	snk_flush(rig.nacks);
	n = src_rx(rig.told, &p, 1, NULL);
	if (reason == 0xff)
		return n <= 0;
	return n == 1 && net_udp_decode(&u, p.data, p.len) == 0 &&
	       dta_decode(&r, DTA_FORMAT_1, u.payload, u.len) == 0 &&
	       u.dst_port == DTA_NACK_PORT && u.dst[3] == 1 &&
	       r.opcode == DTA_NACK && r.hop == reason && r.sequence == last &&
	       (reason != DTA_NACK_GAP || r.table == STRICT);
}

static inline bool told_no_more(void)
{
	return told(0xff, 0);
}

#endif
