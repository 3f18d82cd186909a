/* SPDX-License-Identifier: BSD-2-Clause */
/* Telemetry reports, written: as the samples are, and as they are read again.
 */
#include <errno.h>

#include "base/rng.h"
#include "report_group.h"
#include "treport_rig.h"

/* A report said again as it was heard. */
static struct treport_fields echo(const struct treport *t)
{
	const struct int_record *v = t->record;
	struct treport_fields s = {
		.from = v->from,
		.flags = v->flags,
		.metadata = v->own.n,
		.md = v->own.data,
		.md_len = v->own.len,
		.inner_type = t->inner_type,
		.inner = t->inner,
		.inner_len = t->inner_len,
	};

	if (v->own.n)
		s.bits = (uint16_t)v->own.layout->bitmap;
	if (v->from.version == 0)
		s.bits = !v->own.n	    ? TREPORT_PLAIN
			 : v->own.len == 12 ? TREPORT_DROP
					    : TREPORT_LOCAL;
	return s;
}

static void test_encode(void)
{
	uint8_t buf[256], again[256];
	struct treport_fields s;
	struct heard h;

	for (unsigned i = 0; i < SAMPLES; i++) {
		size_t len = unhex(buf, sizeof(buf), samples[i]), at;

		hear_bytes(&h, buf, len);
		TEST(h.why[0] == TREPORT_OK);
		if (i == 8 || h.n > 1) { /* what a domain adds is not said */
			free(h.copy);
			continue;
		}
		s = echo(&h.t[0]);
		at = (size_t)treport_encode(again, sizeof(again), &s);
		TEST(at == len && !memcmp(again, buf, len));
		for (size_t cap = 0; cap < len; cap++)
			TEST(treport_encode(again, cap, &s) == -ENOBUFS);
		free(h.copy);
	}
}

/* Trap S5: a packet of any length; zeros to the end of the word; and lengths of
 * 254 words, 255 and more. */
static void test_encode_padding(void)
{
	static uint8_t packet[1100], buf[1200];
	struct treport_fields s = {
		.from = {.version = 2, .node = 1},
		.inner_type = TREPORT_IP4,
		.inner = packet,
	};
	struct heard h;

	unhex(packet, sizeof(packet), UDP4);
	memset(packet + 32, 0xee, sizeof(packet) - 32);
	for (size_t len = 28; len < sizeof(packet); len++) {
		size_t padded = (len + 3) / 4 * 4;
		size_t words = padded / 4 < 255 ? padded / 4 : 255;

		memset(buf, 0xdd, sizeof(buf));
		s.inner_len = len;
		TEST(treport_encode(buf, sizeof(buf), &s) ==
		     (int)(12 + padded));
		TEST(buf[9] == words && buf[12 + padded] == 0xdd);
		for (size_t i = len; i < padded; i++)
			TEST(buf[12 + i] == 0);
		hear_bytes(&h, buf, 12 + padded);
		TEST(h.n == 1 && h.why[0] == TREPORT_OK);
		TEST(h.t[0].inner_len == padded);
		TEST(flow_is(&h.t[0], flow_udp4));
		free(h.copy);
	}
}

/* What a version cannot say. */
static void test_encode_refused(void)
{
	const uint8_t md[64] = {0};
	const struct treport_fields bad[] = {
		{.from.version = 3, .inner_type = TREPORT_ETHERNET},
		{.from.version = 0, .inner_type = TREPORT_IP4},
		{.bits = 3, .inner_type = TREPORT_ETHERNET},
		{.bits = TREPORT_DROP,
		 .inner_type = TREPORT_ETHERNET,
		 .md = md,
		 .md_len = 16},
		{.from.version = 1, .inner_type = TREPORT_NONE},
		{.from.version = 1, .inner_type = TREPORT_IP4, .bits = 64},
		{.from.version = 1,
		 .inner_type = TREPORT_IP4,
		 .md = md,
		 .md_len = 48},
		{.from.version = 1,
		 .inner_type = TREPORT_IP4,
		 .md = md,
		 .md_len = 3},
		{.from.version = 2,
		 .inner_type = TREPORT_NONE,
		 .inner = md,
		 .inner_len = 4},
		{.from.version = 2, .inner_type = 6},
		{.from.version = 2, .md = md, .md_len = 4},
		{.from.version = 2, .metadata = true, .md = md, .md_len = 5},
	};
	uint8_t buf[256];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		TEST(treport_encode(buf, sizeof(buf), &bad[i]) == -EINVAL);
}

/* A group of reports of random metadata, bit by bit as it was said. */
static void test_encode_group(void)
{
	uint8_t buf[2048], md[8][64], packet[64];
	struct rng rng = {1};

	unhex(packet, sizeof(packet), TCP4);
	for (unsigned round = 0; round < 500; round++) {
		struct int_layout layout[8];
		uint64_t value[8][INT_FIELDS], v;
		size_t len = 0;
		struct heard h;

		for (unsigned i = 0; i < 8; i++) {
			struct treport_fields s = {
				.from = {.version = 2, .node = round},
				.flags = rng_u64(&rng) & 15,
				.bits = rng_u64(&rng) & 0x7f81,
				.metadata = true,
				.md = md[i],
				.inner_type = TREPORT_IP4,
				.inner = packet,
				.inner_len = 40,
			};
			int n;

			int_layout_make(&layout[i], profile.report2, 16,
					s.bits);
			for (unsigned f = 0; f < INT_FIELDS; f++)
				value[i][f] = rng_u64(&rng) & 0x7f;
			int_put(md[i], &layout[i], UINT32_MAX, value[i]);
			s.md_len = layout[i].len;
			n = add_report(buf, len, sizeof(buf), &s);
			TEST(n > 0);
			len += (size_t)n;
		}
		hear_bytes(&h, buf, len);
		TEST(h.n == 8);
		for (unsigned i = 0; i < 8; i++) {
			const struct int_hops *own = &h.t[i].record->own;

			TEST(h.why[i] == TREPORT_OK);
			TEST(own->n == (layout[i].len > 0));
			for (unsigned f = 0; own->n && f < INT_FIELDS; f++) {
				if (!(layout[i].has & 1u << f))
					continue;
				v = 0;
				TEST(int_get(own->layout, own->data, f, &v));
				/* the queue's id may be there twice */
				TEST(v == value[i][f]);
			}
		}
		free(h.copy);
	}
}

int main(void)
{
	set_up();
	test_encode();
	test_encode_padding();
	test_encode_refused();
	test_encode_group();
	return test_end();
}
