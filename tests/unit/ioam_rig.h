/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ioam_rig.h - packets with IOAM, laid out byte by byte from the diagrams of
 * RFC 9197, 9326 and 9486; the first is of the kind that Linux was seen to
 * make: three hops, trace type 0xfff000.
 */
#ifndef TESTS_UNIT_IOAM_RIG_H
#define TESTS_UNIT_IOAM_RIG_H

#include "bytes.h"
#include "int/ioam.h"
#include "test.h"
#include "net/key.h"

#define ETH6 "020000000002 020000000001 86dd"
#define ADDRESSES                                                              \
	"20010db8000000000000000000000001 20010db8000000000000000000000002 "
#define UDP   " 03e80050000c0000 01020304"
#define ZERO4 "00000000 00000000 00000000 00000000 "

/* 200 bytes of options, 12 of UDP. The last forwarder, then the first. */
#define NODE3                                                                  \
	"3e000003 00150016 6789abcd 00068e2b ffffffff deadbee2 00000124 "      \
	"ffffffff 3e000000000000bb 0000001500000016 0badcafe00000002 "         \
	"ffffffff "
#define NODE2                                                                  \
	"3f000002 000b000c 6789abcd 00068e00 ffffffff deadbee1 00000000 "      \
	"ffffffff 3fffffffffffffff ffffffff0000000c ffffffffffffffff "         \
	"ffffffff "
#define LINUX                                                                  \
	ETH6 "6000000000d40040" ADDRESSES "1118 0100 31be0000 007b780f "       \
	     "fff00000" ZERO4 ZERO4 ZERO4                                      \
	     "00000000 00000000 00000000 " NODE3 NODE2 "01020000" UDP

/* Nodes of 8 bytes, one with a snapshot of 2 words, one with none; a word is
 * free. */
#define OPAQUE                                                                 \
	ETH6 "6000000000440040" ADDRESSES                                      \
	     "1106 0100 312e0000 00051001 c0000200 00000000 "                  \
	     "3e000003 00150016 02abcdef 11111111 22222222 "                   \
	     "3f000002 000b000c 00ffffff 01020000" UDP

struct found {
	uint8_t *copy;
	unsigned n;
	enum ioam_reason why[8];
	struct ioam t[8];
};

static struct ioam_decoder d;
static struct int_profile profile;

static inline void find_bytes(struct found *f, const uint8_t *data, size_t len)
{
	struct ioam_reader r;

	f->n = 0;
	f->copy = exact_copy(data, len);
	ioam_begin(&r, &d, f->copy, len);
	while (f->n < 8) {
		f->why[f->n] = ioam_next(&r, &f->t[f->n]);
		if (f->why[f->n] == IOAM_END)
			return;
		f->n++;
	}
}

static inline void find(struct found *f, const char *hex)
{
	uint8_t buf[4096];

	find_bytes(f, buf, unhex(buf, sizeof(buf), hex));
}

static inline bool node_is(const struct ioam *t, unsigned i,
			   enum int_field field, uint64_t want)
{
	uint64_t v;

	return i < t->record.stack.n &&
	       int_get(t->record.stack.layout, int_hop(&t->record.stack, i),
		       field, &v) &&
	       v == want;
}

static inline bool node_has(const struct ioam *t, unsigned i,
			    enum int_field field)
{
	uint64_t v;

	return i < t->record.stack.n &&
	       int_get(t->record.stack.layout, int_hop(&t->record.stack, i),
		       field, &v);
}

static inline bool flow_is(const struct ioam *t, const char *text)
{
	char buf[KEY_TEXT_MAX];

	key_format(buf,
		   t->record.key_len == KEY_FLOW4_LEN ? KEY_FLOW4 : KEY_FLOW6,
		   t->record.key, t->record.key_len);
	return t->record.key_len && !strcmp(buf, text);
}

static inline void set_up(void)
{
	profile = *int_profile_named("any");
	ioam_init(&d, &profile);
}

#endif
