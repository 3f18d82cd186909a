/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans: where the fields are that a bitmap asks for, what a node does not
 * tell, and how long a layout lasts. The words are made up, of every kind there
 * is. */
#include "bytes.h"
#include "test.h"
#include "int/int.h"
#include "net/key.h"

static const struct int_word words[8] = {
	{4, {{INT_HOP_LIMIT, 0, 1}, {INT_NODE, 1, 3, .alone = true}}},
	{4,
	 {{INT_INGRESS, 0, 2, .alone = true},
	  {INT_EGRESS, 2, 2, .alone = true}}},
	{4, {{INT_LATENCY, 0, 4, .scale = 1000}}},
	{0}, /* reserved */
	{8, {{INT_INGRESS_TIME, 0, 8, .scale = INT_SCALE_NTP}}},
	{4, {{INT_QUEUE, 0, 1}, {INT_OCCUPANCY, 1, 3}}},
	{8, {{INT_HOP_LIMIT, 0, 1}, {INT_NODE, 1, 7, .alone = true}}},
	{8,
	 {{INT_INGRESS, 0, 4, .alone = true},
	  {INT_EGRESS, 4, 4, .alone = true}}},
};

static bool get(const struct int_layout *layout, const char *hex,
		enum int_field field, uint64_t *v)
{
	uint8_t hop[64];

	TEST(unhex(hop, sizeof(hop), hex) == layout->len);
	*v = 0;
	return int_get(layout, hop, field, v);
}

static void test_places(void)
{
	struct int_layout p;
	uint64_t v;

	TEST(int_layout_make(&p, words, 8, 0x24)); /* bits 2 and 5 */
	TEST(p.len == 8 && !p.reserved && p.bitmap == 0x24);
	TEST(p.has ==
	     (1u << INT_LATENCY | 1u << INT_QUEUE | 1u << INT_OCCUPANCY));
	TEST(get(&p, "00000102 03000405", INT_LATENCY, &v) && v == 258000);
	TEST(get(&p, "00000102 03000405", INT_QUEUE, &v) && v == 3);
	TEST(get(&p, "00000102 03000405", INT_OCCUPANCY, &v) && v == 0x405);
	TEST(!get(&p, "00000102 03000405", INT_NODE, &v));

	/* a reserved word takes 4 bytes, INT 2.1, section 5.8 */
	TEST(!int_layout_make(&p, words, 8, 0x14));
	TEST(p.len == 8 && p.reserved);
	TEST(get(&p, "ffffffff 03000405", INT_OCCUPANCY, &v) && v == 0x405);
}

/* Of a word all ones say it; of fields that stand alone their own. */
static void test_ones(void)
{
	struct int_layout p;
	uint64_t v;

	int_layout_make(&p, words, 8, 0x04);
	TEST(!get(&p, "ffffffff", INT_QUEUE, &v));
	TEST(get(&p, "ff000001", INT_QUEUE, &v) && v == 255);
	TEST(get(&p, "00ffffff", INT_OCCUPANCY, &v) && v == 0xffffff);
	int_layout_make(&p, words, 8, 0xc0);
	TEST(!get(&p, "40ffffff ffff0007", INT_NODE, &v));
	TEST(get(&p, "40ffffff ffff0007", INT_HOP_LIMIT, &v) && v == 64);
	TEST(!get(&p, "40ffffff ffff0007", INT_INGRESS, &v));
	TEST(get(&p, "40ffffff ffff0007", INT_EGRESS, &v) && v == 7);
	int_layout_make(&p, words, 8, 0x08);
	TEST(!get(&p, "ffffffffffffffff", INT_INGRESS_TIME, &v));
	TEST(get(&p, "0000000280000000", INT_INGRESS_TIME, &v));
	TEST(v == 2500000000u);
}

/* The wide field is believed first, the short one if that is all ones. */
static void test_other(void)
{
	struct int_layout p;
	uint64_t v;

	int_layout_make(&p, words, 8, 0xc3);
	TEST(p.len == 24);
	TEST(get(&p, "40000007 00010002 4000000000000009 0000000300000004",
		 INT_NODE, &v));
	TEST(v == 9);
	TEST(get(&p, "40000007 00010002 40ffffffffffffff ffffffff00000004",
		 INT_NODE, &v));
	TEST(v == 7);
	TEST(get(&p, "40000007 00010002 40ffffffffffffff ffffffff00000004",
		 INT_INGRESS, &v));
	TEST(v == 1);
	TEST(get(&p, "40000007 00010002 40ffffffffffffff ffffffff00000004",
		 INT_EGRESS, &v));
	TEST(v == 4);
	TEST(!get(&p, "40ffffff ffff0002 40ffffffffffffff ffffffff00000004",
		  INT_INGRESS, &v));
}

static void test_put(void)
{
	static const uint64_t value[INT_FIELDS] = {
		[INT_NODE] = 7,	    [INT_HOP_LIMIT] = 64,
		[INT_EGRESS] = 2,   [INT_LATENCY] = 258000,
		[INT_QUEUE] = 3,    [INT_OCCUPANCY] = 0x405,
		[INT_INGRESS] = 99, [INT_INGRESS_TIME] = 2500000000u,
	};
	uint32_t has = 1u << INT_NODE | 1u << INT_HOP_LIMIT | 1u << INT_EGRESS |
		       1u << INT_LATENCY | 1u << INT_QUEUE |
		       1u << INT_OCCUPANCY | 1u << INT_INGRESS_TIME;
	uint8_t hop[64], want[64];
	struct int_layout p;

	int_layout_make(&p, words, 8, 0xff);
	int_put(hop, &p, has, value);
	TEST(unhex(want, sizeof(want),
		   "40000007 ffff0002 00000102 ffffffff 0000000280000000"
		   "03000405 4000000000000007 ffffffff00000002") == p.len);
	TEST(!memcmp(hop, want, p.len));
}

static void test_plans(void)
{
	static struct int_layouts c;
	const struct int_layout *first, *again;
	unsigned made;

	int_layouts_init(&c, words, 8);
	first = int_layouts_get(&c, 0);
	TEST(first->bitmap == 0 && first->len == 0);
	first = int_layouts_get(&c, 0x24);
	TEST(first->bitmap == 0x24 && first->len == 8);
	made = c.made;
	TEST(int_layouts_get(&c, 0x24) == first && c.made == made);

	/* It stays for INT_LAYOUTS_LAST more, whatever comes... */
	int_layouts_init(&c, words, 8);
	for (uint32_t old = 0; old < 1000; old++) {
		first = int_layouts_get(&c, old);
		for (uint32_t i = 0; i < INT_LAYOUTS_LAST; i++) {
			const struct int_layout *p = int_layouts_get(
				&c, (old * 7 + i * 13) % 256);

			TEST(p->bitmap == (old * 7 + i * 13) % 256);
		}
		TEST(first->bitmap == old);
	}
	/* ...and is made anew where it would not. */
	again = int_layouts_get(&c, 0x24);
	TEST(again->bitmap == 0x24 && again->len == 8);
}

/* The short way to a flow and the long one, for frames with any byte wrong and
 * of any length. */
static void same_flow(const uint8_t *frame, size_t len)
{
	uint8_t *copy = exact_copy(frame, len), key[KEY_MAX];
	struct int_record v = {.key_len = 99, .ip_len = 99}, w = v;
	struct net_packet p = {0};
	size_t key_len = 0;

	if (!net_packet_decode(&p, copy, len))
		key_len = key_of_packet(key, &p);
	int_record_set_frame(&v, copy, len);
	TEST(v.key_len == key_len && v.ip_len == p.ip_len);
	TEST(!memcmp(v.key, key, key_len));
	if (len >= 14) {
		memset(&p, 0, sizeof(p));
		key_len = 0;
		be16_store(copy + 12,
			   len > 14 && copy[14] >> 4 == 4 ? 0x0800 : 0x86dd);
		if (!net_packet_decode(&p, copy, len))
			key_len = key_of_packet(key, &p);
		int_record_set_ip(&w, copy + 14, len - 14);
		TEST(w.key_len == key_len && w.ip_len == p.ip_len);
		TEST(!memcmp(w.key, key, key_len));
	}
	free(copy);
}

static void test_flow(void)
{
	static const char *const frames[] = {
		"020000000002 020000000001 0800"
		"45000020123440004011aaaa0a0000010a000002"
		"03e80050000c0000 01020304",
		"020000000002 020000000001 0800"
		"4500002c123440004006aaaa0a0000010a000002"
		"03e80050000000010000000260100000aaaa0000 01010101",
		"020000000002 020000000001 86dd"
		"60000000000c1140 20010db8000000000000000000000001"
		"20010db8000000000000000000000002 03e80050000c0000 01020304",
		"020000000002 020000000001 81000064 86dd"
		"6000000000140040 20010db8000000000000000000000001"
		"20010db8000000000000000000000002 1100000000000000"
		"03e80050000c0000 01020304",
	};
	struct int_record v;
	uint8_t buf[128];

	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		size_t len = unhex(buf, sizeof(buf), frames[i]);

		int_record_set_frame(&v, buf, len);
		TEST(v.key_len == (i < 2 ? KEY_FLOW4_LEN : KEY_FLOW6_LEN));
		TEST(int_record_is_udp_to(&v, 80) == (i != 1));
		TEST(!int_record_is_udp_to(&v, 1000));
		for (size_t n = 0; n < len; n++)
			same_flow(buf, n);
		for (size_t at = 0; at < len; at++)
			for (unsigned bit = 0; bit < 256; bit++) {
				buf[at] ^= (uint8_t)bit;
				same_flow(buf, len);
				buf[at] ^= (uint8_t)bit;
			}
	}
	int_record_set_frame(&v, buf, 3);
	TEST(!int_record_is_udp_to(&v, 0));
}

int main(void)
{
	test_places();
	test_ones();
	test_other();
	test_put();
	test_plans();
	test_flow();
	return test_end();
}
