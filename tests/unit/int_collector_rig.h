/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_collector_rig.h - the tests of the INT sink on several cores: frames with
 * INT and reports made by hand, and all rows of a run, in any order, as a sum.
 */
#ifndef TESTS_UNIT_INT_COLLECTOR_RIG_H
#define TESTS_UNIT_INT_COLLECTOR_RIG_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "hash/bytes.h"
#include "int/int_md.h"
#include "int/treport.h"
#include "packet/kind.h"
#include "telemetry/int_collector.h"
#include "test.h"

enum {
	ROOM = 512, /* bytes of a frame, at most */
	HOPS_MAX = 9,
};

/* Sets what a hop tells, the sink's is 0; returns the fields that it can tell,
 * bits. */
typedef uint32_t rig_hop(void *ctx, uint64_t v[INT_FIELDS], unsigned hop);

/* Plain UDP of a flow with INT 2.1 in it. Returns its length. */
static inline size_t rig_frame(uint8_t *out, const struct int_profile *profile,
			       unsigned flow, uint16_t bitmap, unsigned hops,
			       rig_hop *set, void *ctx)
{
	uint8_t plain[128] = {0}, stack[HOPS_MAX * 64];
	const struct net_udp4 u = {
		.src = {10, 0, (uint8_t)(flow >> 8), (uint8_t)flow},
		.dst = {10, 1, 0, (uint8_t)(flow % 7)},
		.src_port = 1000,
		.dst_port = 2000,
		.ttl = 64};
	struct int_source s = {.version = INT_V2_1,
			       .type = INT_TYPE_MD,
			       .over = INT_OVER_L4,
			       .hops_max = 20,
			       .stack = stack,
			       .hops = (uint8_t)hops,
			       .bitmap = bitmap};
	uint64_t value[INT_FIELDS];
	struct int_layout layout;
	int len;

	int_layout_make(&layout, int_profile_words(profile, INT_V2_1), 16,
			bitmap);
	for (unsigned i = 0; i < hops; i++) {
		uint32_t told = set(ctx, value, i);

		int_put(stack + (size_t)i * layout.len, &layout, told, value);
	}
	s.stack_len = hops * layout.len;
	len = net_udp4_encode(plain, sizeof(plain), &u, 20);
	len = int_insert(out, ROOM, profile, &s, plain, (size_t)len + 20);
	if (!TEST(len > 0))
		exit(1);
	return (size_t)len;
}

/* A datagram with a report, of which cut bytes are there, or all: 0. */
static inline size_t rig_report(uint8_t *out, const struct int_profile *profile,
				const struct treport_fields *say, size_t cut)
{
	const struct net_udp4 u = {.src = {10, 9, 0, (uint8_t)say->from.node},
				   .dst = {10, 9, 9, 9},
				   .src_port = 1,
				   .dst_port = profile->report_port,
				   .ttl = 64};
	uint8_t payload[ROOM];
	int len = treport_encode(payload, sizeof(payload), say), head;

	if (!TEST(len > 0))
		exit(1);
	if (cut)
		len = (int)cut;
	head = net_udp4_encode(out, 2 * (size_t)ROOM, &u, (size_t)len);
	memcpy(out + head, payload, (size_t)len);
	return (size_t)(head + len);
}

/* What a run tells: all of its rows, in any order. */
struct result {
	struct row_sink sink;
	uint64_t rows, sum;
	struct int_collector_ledgers ledgers;
};

static inline uint64_t rig_hash(uint64_t h, const struct row_batch *b,
				const struct row_cell *c)
{
	if (c->kind == ROW_NULL)
		return rng_mix(h ^ 1);
	if (c->kind == ROW_STR || c->kind == ROW_BYTES)
		return hash_bytes(h, b->bytes + c->at, c->len);
	if (c->kind == ROW_LIST)
		return hash_bytes(h, b->bytes + c->at, c->len * 8);
	return rng_mix(h ^ c->u64);
}

static inline int rig_put(struct row_sink *s, struct row_batch *b)
{
	struct result *r = (struct result *)s;

	for (unsigned i = 0; i < b->rows; i++) {
		uint64_t h = hash_bytes(0, (const uint8_t *)b->schema->name,
					strlen(b->schema->name));

		for (unsigned k = 0; k < b->schema->n; k++)
			h = rig_hash(h, b, row_batch_cell(b, i, k));
		r->sum += rng_mix(h);
		r->rows++;
	}
	return 0;
}

static inline int rig_nothing(struct row_sink *s)
{
	(void)s;
	return 0;
}

/* To be told all there is. */
static inline struct telemetry_sinks rig_sinks(struct result *r)
{
	struct row_sink *s = &r->sink;

	*r = (struct result){.sink = {rig_put, rig_nothing, rig_nothing}};
	return (struct telemetry_sinks){{s, s, s, s, s, s, s}};
}

/* On one core, without a team. */
struct rig_one {
	struct telemetry *t;
	struct int_frame_decoder *in;
};

static inline int rig_views(void *t, const struct int_record *v, size_t n)
{
	return telemetry_add_records(t, v, n);
}

static inline int rig_number(void *t, uint64_t ts_ns,
			     const struct int_from *from)
{
	return telemetry_add_numbers(t, ts_ns, from, 1);
}

static inline void rig_one_open(struct rig_one *one, struct result *r,
				const struct int_profile *profile,
				const struct telemetry_options *to,
				const struct telemetry_thresholds *th)
{
	const struct telemetry_sinks sinks = rig_sinks(r);
	struct int_frame_decoder_options io = {
		.profile = profile, .records = rig_views, .number = rig_number};

	if (!TEST(!telemetry_open(&one->t, to, th, &sinks)))
		exit(1);
	io.ctx = one->t;
	TEST(!int_frame_decoder_open(&one->in, &io));
}

static inline void rig_one_close(struct rig_one *one, struct result *r)
{
	TEST(!telemetry_flush(one->t));
	r->ledgers.telemetry = *telemetry_counters(one->t);
	int_frame_decoder_close(one->in);
	telemetry_close(one->t);
}

/* o: all but telemetry. */
static inline struct int_collector *
rig_collector_open(struct result *r, const struct int_collector_options *o,
		   const struct telemetry_options *to,
		   const struct telemetry_thresholds *th, struct snk *out,
		   int (*take)(void *ctx, struct pkt *room, int max), void *ctx)
{
	const struct telemetry_sinks sinks = rig_sinks(r);
	struct int_collector_options own = *o;
	struct int_collector *c;
	struct error err = {0};

	own.telemetry = *to;
	if (!TEST(!int_collector_open(&c, &own, th, &sinks)) ||
	    !TEST(!int_collector_start(c, out, take, ctx, &err)))
		exit(1);
	return c;
}

static inline void rig_collector_close(struct int_collector *c,
				       struct result *r)
{
	TEST(!int_collector_flush(c));
	int_collector_ledgers(c, &r->ledgers);
	int_collector_close(c);
}

#endif
