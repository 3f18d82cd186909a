/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * translate_transport.h - a transport for the translator's tests: plain memory,
 * each operation checked against the tables, the last ones kept to be looked
 * at. And reports in frames, to feed the translator with.
 */
#ifndef TESTS_UNIT_TRANSLATE_TRANSPORT_H
#define TESTS_UNIT_TRANSLATE_TRANSPORT_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/put.h"
#include "hash/family.h"
#include "rdma/op.h"
#include "dta/translate.h"
#include "net/dta.h"
#include "net/key.h"
#include "net/net.h"

enum {
	TRANSPORT_OPS = 4096,
	FRAME_ROOM = 2048,
	HEADROOM = 16, /* CRC_HEADROOM, readable before each frame */
};

struct test_transport {
	struct transport transport;
	const struct table *tables;
	unsigned n;
	uint8_t *mem[TABLE_MAX];
	uint64_t generation;
	uint64_t head; /* what every list starts with */
	struct op op[TRANSPORT_OPS];
	uint64_t ts_ns[TRANSPORT_OPS]; /* what was said of the time */
	uint64_t nops; /* in all; these hold the first TRANSPORT_OPS */
	uint64_t batches;
	bool inside, bad; /* bad: an operation that no table allows */
	int fail;	  /* exec() returns it */
	void (*look)(
		struct test_transport *r); /* after each operation, or NULL */
};

static inline void test_transport_judge(struct test_transport *r,
					const struct op *o)
{
	const struct table *t = &r->tables[o->table < r->n ? o->table : 0];
	uint64_t unit = t->kind == TABLE_APPEND && o->offset >= t->heads
				? 8
				: t->stride;

	if (!r->inside || o->table >= r->n || !o->length ||
	    o->offset > t->length || o->length > t->length - o->offset)
		r->bad = true;
	/* Nothing but an Append batch goes beyond its unit. */
	if (t->kind != TABLE_APPEND && o->offset % unit + o->length > unit)
		r->bad = true;
	if (t->kind == TABLE_APPEND && o->offset < t->heads &&
	    (o->offset % unit ||
	     o->offset / (unit * t->units) !=
		     (o->offset + o->length - 1) / (unit * t->units)))
		r->bad = true;
	if ((o->verb == OP_FETCH_ADD) != (t->kind == TABLE_KEYINC) ||
	    (o->verb == OP_FETCH_ADD && (o->length != 8 || o->offset % 8)) ||
	    o->verb > OP_FETCH_ADD)
		r->bad = true;
}

static inline int test_transport_exec(struct transport *transport,
				      const struct op *ops, size_t n,
				      uint64_t ts_ns)
{
	struct test_transport *r = (struct test_transport *)transport;

	if (r->fail)
		return r->fail;
	for (size_t i = 0; i < n; i++) {
		const struct op *o = &ops[i];
		uint8_t *at;
		uint64_t v;

		test_transport_judge(r, o);
		if (r->bad)
			return -EFAULT;
		at = r->mem[o->table] + o->offset;
		if (o->verb == OP_FETCH_ADD) {
			memcpy(&v, at, 8);
			v += o->add;
			memcpy(at, &v, 8);
		} else {
			memcpy(at, o->data, o->length);
		}
		if (r->nops < TRANSPORT_OPS) {
			r->op[r->nops] = *o;
			r->ts_ns[r->nops] = transport->stamps
						    ? transport->stamps[i]
						    : ts_ns;
		}
		r->nops++;
		if (r->look)
			r->look(r);
	}
	return 0;
}

static inline uint64_t test_transport_begin(struct transport *transport)
{
	struct test_transport *r = (struct test_transport *)transport;

	r->bad = r->bad || r->inside;
	r->inside = true;
	r->batches++;
	return r->generation;
}

static inline void test_transport_end(struct transport *transport)
{
	struct test_transport *r = (struct test_transport *)transport;

	r->bad = r->bad || !r->inside;
	r->inside = false;
}

static inline uint64_t test_transport_head(struct transport *transport,
					   unsigned table, uint32_t list)
{
	struct test_transport *r = (struct test_transport *)transport;

	if (table >= r->n || r->tables[table].kind != TABLE_APPEND ||
	    list >= r->tables[table].lists)
		r->bad = true;
	return r->head;
}

/* Memory for n tables; forgets what it had. */
static inline struct test_transport *
test_transport_new(const struct table *tables, unsigned n)
{
	struct test_transport *r = calloc(1, sizeof(*r));

	r->transport = (struct transport){
		test_transport_begin, test_transport_exec, test_transport_end,
		test_transport_head, NULL};
	r->tables = tables;
	r->n = n;
	r->generation = 1;
	for (unsigned i = 0; i < n; i++)
		r->mem[i] = calloc(1, tables[i].length);
	return r;
}

static inline void test_transport_free(struct test_transport *r)
{
	for (unsigned i = 0; i < r->n; i++)
		free(r->mem[i]);
	free(r);
}

/* Tables with what a layout would have filled in. */
static inline struct table test_table(uint8_t kind, uint16_t id,
				      uint16_t key_len, uint16_t value_len,
				      uint32_t stride, uint64_t units)
{
	return (struct table){
		.name = "t",
		.id = id,
		.kind = kind,
		.key_type = KEY_HEX,
		.copies = 1,
		.key_len = key_len,
		.value_len = value_len,
		.stride = stride,
		.units = units,
		.length = units * stride,
		.offset = 4096,
		.sequence = TABLE_SEQ_OFF,
	};
}

static inline struct table test_postcards(uint16_t id, uint8_t hops,
					  uint32_t stride, uint64_t units,
					  uint32_t rows)
{
	struct table t = test_table(TABLE_POSTCARD, id, 13, 4, stride, units);

	t.hops = hops;
	t.cache_rows = rows;
	t.value_min = 1;
	t.value_max = 262144;
	return t;
}

static inline struct table test_lists(uint16_t id, uint16_t value_len,
				      uint32_t stride, uint64_t entries,
				      uint32_t lists, uint16_t batch)
{
	struct table t = test_table(TABLE_APPEND, id, 4, value_len, stride,
				    entries);

	t.key_type = KEY_U32;
	t.lists = lists;
	t.batch = batch;
	t.flush_ms = 100;
	t.heads = (entries * stride * lists + 63) & ~UINT64_C(63);
	t.length = t.heads + 8ull * lists;
	return t;
}

/* Frames in one block, each with HEADROOM and exactly its own bytes behind. */
struct frames {
	struct pkt pkt[PKT_BATCH];
	uint8_t *block[PKT_BATCH];
	size_t n;
};

static inline void frames_clear(struct frames *f)
{
	while (f->n)
		free(f->block[--f->n]);
}

static inline void frames_add(struct frames *f, const uint8_t *frame,
			      size_t len, uint64_t ts_ns)
{
	uint8_t *b = malloc(HEADROOM + len);

	memset(b, 0xa5, HEADROOM);
	memcpy(b + HEADROOM, frame, len);
	f->block[f->n] = b;
	f->pkt[f->n++] = (struct pkt){b + HEADROOM, (uint32_t)len,
				      (uint32_t)len, ts_ns};
}

enum {
	SHAPE_COMMON,
	SHAPE_VLAN,    /* with a VLAN tag: not the common shape */
	SHAPE_TRAILER, /* with Ethernet padding behind */
	SHAPES,
};

/* A report in a frame; src: last byte of the reporter's address. */
static inline size_t frame_of(uint8_t *out, enum dta_format format,
			      const struct dta_report *r, uint8_t src,
			      int shape)
{
	struct net_udp4 h = {
		.eth_dst = {2, 0, 0, 0, 0, 2},
		.eth_src = {2, 0, 0, 0, 0, 1},
		.src = {10, 0, 1, src},
		.dst = {10, 0, 0, 51},
		.src_port = 50000,
		.dst_port = DTA_PORT,
		.ttl = 64,
	};
	size_t tag = shape == SHAPE_VLAN ? 4 : 0;
	uint8_t *p = out + tag;
	int len = dta_encode(p + 42, FRAME_ROOM - 46, format, r);

	if (len < 0 || net_udp4_encode(p, 42, &h, (size_t)len) != 42)
		abort();
	if (tag) {
		memmove(out, p, 12);
		memcpy(out + 12, (uint8_t[]){0x81, 0, 0, 7}, 4);
	}
	if (shape == SHAPE_TRAILER) {
		memset(p + 42 + len, 0xee, 9);
		len += 9;
	}
	return tag + 42 + (size_t)len;
}

static inline void frames_report(struct frames *f, const struct dta_report *r)
{
	uint8_t frame[FRAME_ROOM];

	frames_add(f, frame, frame_of(frame, DTA_FORMAT_1, r, 1, SHAPE_COMMON),
		   0);
}

/* Bit by bit, from the polynomial in normal form: independent of lib/hash. */
static inline uint32_t test_crc(uint32_t poly, const uint8_t *p, size_t len)
{
	uint32_t rev = 0, sum = 0xffffffff;

	for (int i = 0; i < 32; i++)
		rev |= (poly >> i & 1) << (31 - i);
	for (size_t i = 0; i < len; i++) {
		sum ^= p[i];
		for (int b = 0; b < 8; b++)
			sum = sum & 1 ? sum >> 1 ^ rev : sum >> 1;
	}
	return ~sum;
}

/* dta(7), HASHING. */
static const uint32_t poly_slot[4] = {0x04C11DB7, 0xF5D8E6B9, 0x38D956C9,
				      0xBE1BC3BB};
static const uint32_t poly_checksum = 0x1EDC6F41;
static const uint32_t poly_hop[8] = {0x1E671611, 0x42BA8535, 0x9459DBBF,
				     0x617C6A11, 0x7076CE85, 0x101CECEF,
				     0x5B8EA50B, 0x676BDD11};

#endif
