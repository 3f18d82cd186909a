/* SPDX-License-Identifier: BSD-2-Clause */
/* The profiles that ship: sizes and places of words, from INT 2.1,
 * section 5.8, its earlier versions, the telemetry reports and the published
 * INTCollector. */
#include <stdbool.h>
#include <string.h>

#include "test.h"
#include "int/int_profile.h"

static const struct {
	const char *name;
	uint8_t len[16]; /* of each instruction's word; 0: reserved */
} sizes[] = {
	{"0.5", {4, 4, 4, 4, 4, 4, 4, 4}},
	{"1.0", {4, 4, 4, 4, 4, 4, 8, 4, [15] = 4}},
	{"2.0", {4, 4, 4, 4, 8, 8, 8, 4, 4, [15] = 4}},
	{"2.1", {4, 4, 4, 4, 8, 8, 8, 4, 4, [15] = 4}},
	{"smartnic", {4, 4, 4, 4, 8, 8, 8, 4, 4, [15] = 4}},
	{"bmv2", {4, 4, 4, 4, 8, 8, 4, 4, [15] = 4}},
	{"geant", {4, 4, 4, 4, 8, 8, 4, 4, [15] = 4}},
	{"intcollector", {4, 4, 4, 4, 4, 4, 4, 4, [15] = 4}},
	{"intcollector-0.5", {4, 4, 4, 4, 4, 4, 4, 4, [15] = 4}},
};

static void test_sizes(void)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct int_profile *p = int_profile_named(sizes[i].name);

		if (!TEST(p != NULL))
			continue;
		for (int bit = 0; bit < 16; bit++)
			TEST(p->instruction[bit].len == sizes[i].len[bit]);
	}
	TEST(!int_profile_named("3.0"));
}

/* No part leaves its word, and each profile is found by its name. */
static void test_parts(void)
{
	const struct int_profile *p;
	unsigned n;

	for (n = 0; (p = int_profile_at(n)); n++) {
		TEST(int_profile_named(p->name) == p);
		for (int bit = 0; bit < 16; bit++)
			for (int i = 0; i < 2; i++)
				TEST(p->instruction[bit].part[i].at +
					     p->instruction[bit].part[i].len <=
				     p->instruction[bit].len);
	}
	TEST(n == sizeof(sizes) / sizeof(sizes[0]) + 1); /* and "any" */
}

static uint64_t field_of(const struct int_word *words, unsigned bits,
			 uint32_t bitmap, enum int_field field)
{
	static const uint8_t hop[] = {
		0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07,
		0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
	};
	struct int_layout layout;
	uint64_t v = 0;

	if (!TEST(int_layout_make(&layout, words, bits, bitmap)) ||
	    !TEST(int_get(&layout, hop, field, &v)))
		return 0;
	return v;
}

static void test_fields(void)
{
	const struct int_profile *p = int_profile_named("2.1");

	/* node, queue: 8 + 24 bits */
	TEST(field_of(p->instruction, 16, 0x9000, INT_NODE) == 0x00010203);
	TEST(field_of(p->instruction, 16, 0x9000, INT_QUEUE) == 0x04);
	TEST(field_of(p->instruction, 16, 0x9000, INT_OCCUPANCY) == 0x050607);
	TEST(field_of(p->instruction, 16, 0x4080, INT_BUFFER) == 4);
	TEST(field_of(p->instruction, 16, 0x4080, INT_EGRESS) == 0x0203);
	TEST(field_of(p->instruction, 16, 0x8400, INT_EGRESS_TIME) ==
	     0x0405060708090a0b);
	TEST(field_of(p->instruction, 16, 0x8200, INT_EGRESS2) == 0x08090a0b);
	TEST(field_of(p->report1, 6, 0x02, INT_DROP_REASON) == 1);
	TEST(field_of(p->report2, 16, 0x4001, INT_DROP_REASON) == 5);
	TEST(field_of(p->report2, 16, 0x4001, INT_QUEUE) == 4);
	p = int_profile_named("0.5");
	TEST(field_of(p->instruction, 16, 0x8200, INT_CONGESTION) == 0x050607);
	p = int_profile_named("intcollector");
	TEST(field_of(p->instruction, 16, 0x9000, INT_OCCUPANCY) == 0x0607);
	p = int_profile_named("bmv2"); /* microseconds */
	TEST(field_of(p->instruction, 16, 0xa000, INT_LATENCY) ==
	     0x04050607 * 1000ULL);
}

/* "any" has the words of each header's version. */
static void test_any(void)
{
	const struct int_profile *any = int_profile_named("any");

	TEST(int_profile_words(any, INT_V0_5)[6].len == 4);
	TEST(int_profile_words(any, INT_V1_0)[6].len == 8);
	TEST(int_profile_words(any, INT_V1_0)[4].len == 4);
	TEST(int_profile_words(any, INT_V2_0)[4].len == 8);
	TEST(int_profile_words(any, INT_V2_1)[8].len == 4);
	TEST(int_profile_words(int_profile_named("bmv2"), INT_V1_0)[4].len ==
	     8);
}

int main(void)
{
	test_sizes();
	test_parts();
	test_fields();
	test_any();
	return test_end();
}
