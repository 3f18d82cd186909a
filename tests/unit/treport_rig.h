/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * treport_rig.h - reports laid out byte by byte, from the bit diagrams of
 * Telemetry Report 0.5, 1.0 and 2.0 and the examples of 2.0.
 */
#ifndef TESTS_UNIT_TREPORT_RIG_H
#define TESTS_UNIT_TREPORT_RIG_H

#include "bytes.h"
#include "test.h"
#include "net/key.h"
#include "int/treport.h"

/* 10.0.0.1:1000 > 10.0.0.2:80, UDP of 12 bytes and TCP without data. */
#define UDP4                                                                   \
	"45000028123440004011aaaa0a0000010a000002 03e80050000c0000 01020304"
#define TCP4                                                                   \
	"45000028123440004006aaaa0a0000010a000002"                             \
	" 03e80050000000010000000250100000aaaa0000"
#define UDP6                                                                   \
	"60000000000c1140 20010db8000000000000000000000001"                    \
	" 20010db8000000000000000000000002 03e80050000c0000 01020304"
#define ETH  "020000000002 020000000001 "
#define ETH4 ETH "0800" UDP4
#define ETH6 ETH "86dd" UDP6

static struct int_profile profile;
static struct treport_decoder d;

/* The reports of a datagram, 8 at most, in a copy of exactly its length, which
 * the caller frees. */
struct heard {
	uint8_t *copy;
	unsigned n; /* read, those refused among them */
	enum treport_reason why[8];
	struct treport t[8];
	struct int_record view[8]; /* of t */
};

static inline void hear_bytes(struct heard *h, const uint8_t *data, size_t len)
{
	struct treport_reader r;

	memset(h, 0, sizeof(*h));
	h->copy = exact_copy(data, len);
	h->why[0] = treport_begin(&r, &d, h->copy, len);
	if (h->why[0] != TREPORT_OK) {
		h->n = 1;
		return;
	}
	while (h->n < 8) {
		h->why[h->n] = treport_next(&r, &h->t[h->n], &h->view[h->n]);
		if (h->why[h->n] == TREPORT_END)
			break;
		h->n++;
	}
}

static inline void hear(struct heard *h, const char *hex)
{
	uint8_t buf[4096];

	hear_bytes(h, buf, unhex(buf, sizeof(buf), hex));
}

/* Of one report alone: what became of it. */
static inline enum treport_reason fate(const char *hex)
{
	struct heard h;

	hear(&h, hex);
	free(h.copy);
	TEST(h.n == 1);
	return h.why[0];
}

static inline bool own_is(const struct treport *t, enum int_field field,
			  uint64_t want)
{
	uint64_t v;

	return t->record->own.n == 1 &&
	       int_get(t->record->own.layout, t->record->own.data, field, &v) &&
	       v == want;
}

static inline bool flow_is(const struct treport *t, const char *text)
{
	char buf[KEY_TEXT_MAX];

	key_format(buf,
		   t->record->key_len == KEY_FLOW4_LEN ? KEY_FLOW4 : KEY_FLOW6,
		   t->record->key, t->record->key_len);
	return t->record->key_len && !strcmp(buf, text);
}

static const char flow_udp4[] = "10.0.0.1:1000>10.0.0.2:80/udp";
static const char flow_tcp4[] = "10.0.0.1:1000>10.0.0.2:80/tcp";
static const char flow_udp6[] = "[2001:db8::1]:1000>[2001:db8::2]:80/udp";

#define GROUP "23c00005 00000009 " /* hw_id 15, sequence 5, node 9 */

/* The first example of the specification: ReportLength 14. */
static const char example14[] = GROUP "140e0220 50000000 00000000 00010002"
				      " 00000123" TCP4;

/* The third: INT-MD in a new UDP header, ReportLength 23; not 0x900.
 */
static const char example23[] = GROUP
	"14170120 10000000 00000000 00000123"
	" 45000050 12344000 4011aaaa 0a000001 0a000002"
	" c0001000 003c0000 18070006 20000206 90000000 00000000"
	" 00000002 00000022 00000001 00000011"
	" 03e80050 00000001 00000002 50100000 aaaa0000";

static const char *const samples[] = {
	"00a0002a 00000007 11223344" ETH4,
	"01800001 00000008 11223344 00000009 0001 0002 033c0000" ETH4,
	"02400000 00000008 11223344 00000009 0001 0002 03000102 55667788" ETH6,
	"1a1f81c5 00000009 80000001 11223344"
	"00010002 00000abc 03000405 55667788 033d0000 00001388" ETH4,
	"14200000 00000009 00000001 11223344" TCP4,
	"14400000 00000009 00000001 11223344" UDP6,
	example14,
	example23,
	GROUP "11120320 50000007 8000000a 00010002 00000123 0badcafe"
	      " 0001abcd 5eed5eed 200a0000" TCP4,
	GROUP "0408ff2f" UDP4 "00000000 0508 0040" UDP4 "02010000 5eed5eed",
};

enum {
	SAMPLES = sizeof(samples) / sizeof(samples[0]),
};

static inline void set_up(void)
{
	profile = *int_profile_named("any");
	profile.report_port = 32766;
	treport_init(&d, &profile);
}

#endif
