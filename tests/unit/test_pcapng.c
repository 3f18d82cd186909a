/* SPDX-License-Identifier: BSD-2-Clause */
/* pcapng: every kind of block, both byte orders, all that can be wrong. */
#include "capture.h"

static void ng_block(uint32_t type, const void *body, size_t n)
{
	uint32_t len = (uint32_t)(12 + ((n + 3) & ~(size_t)3));

	add(type, 4);
	add(len, 4);
	add_bytes(body, n);
	add_bytes("\0\0\0", -n & 3);
	add(len, 4);
}

static void ng_section(void)
{
	add(0x0a0d0d0a, 4);
	add(28, 4);
	add(0x1a2b3c4d, 4);
	add(1, 2);
	add(0, 2);
	add(UINT64_MAX, 8);
	add(28, 4);
}

/* resolution: the option's code, -1 for none; offset: 0 for none. */
static void ng_interface(uint32_t snaplen, int resolution, int64_t offset)
{
	uint32_t len = 20u + (resolution >= 0 ? 8 : 0) + (offset ? 12 : 0) + 12;

	add(1, 4);
	add(len, 4);
	add(1, 2);
	add(0, 2);
	add(snaplen, 4);
	add(2, 2); /* if_name */
	add(3, 2);
	add_bytes("eth", 4);
	if (resolution >= 0) {
		add(9, 2);
		add(1, 2);
		add_bytes((uint8_t[4]){(uint8_t)resolution}, 4);
	}
	if (offset) {
		add(14, 2);
		add(8, 2);
		add((uint64_t)offset, 8);
	}
	add(0, 4);
	add(len, 4);
}

static void ng_packet(uint32_t id, uint64_t t, uint32_t cap, uint32_t wire)
{
	uint32_t len = 32 + ((cap + 3) & ~3u) + (cap % 5 ? 0 : 12);

	add(6, 4);
	add(len, 4);
	add(id, 4);
	add(t >> 32, 4);
	add(t & 0xffffffff, 4);
	add(cap, 4);
	add(wire, 4);
	for (uint32_t i = 0; i < ((cap + 3) & ~3u); i++)
		add(i * 31 + cap, 1);
	if (cap % 5 == 0) { /* a comment */
		add(1, 2);
		add(3, 2);
		add_bytes("abc", 4);
		add(0, 4);
	}
	add(len, 4);
}

static void ng_simple(uint32_t wire, uint32_t cap)
{
	uint32_t len = 16 + ((cap + 3) & ~3u);

	add(3, 4);
	add(len, 4);
	add(wire, 4);
	for (uint32_t i = 0; i < ((cap + 3) & ~3u); i++)
		add(i, 1);
	add(len, 4);
}

static void ng_file(bool big)
{
	static uint8_t statistics[600000];

	begin(big);
	ng_section();
	ng_block(10, "secrets", 7); /* before any interface */
	ng_interface(200, -1, 0);
	for (uint32_t k = 0; k < 3000; k++)
		ng_packet(0, 1700000000000000 + k, k % 200, k % 300);
	ng_interface(200, 9, 0);
	ng_packet(1, 1700000000123456789, 64, 64);
	ng_interface(200, 3, 0);
	ng_packet(2, 1700000000123, 60, 1500);
	ng_interface(200, 0x80 | 20, 0);
	ng_packet(3, ((uint64_t)1700000000 << 20) + 77, 61, 61);
	ng_interface(200, -1, 3600);
	ng_packet(4, 1700000000000001, 62, 62);
	ng_block(5, statistics, 40);
	ng_block(0x0bad, statistics, sizeof(statistics)); /* long */
	ng_packet(0, 5, 1, 1);
	ng_section(); /* forgets the interfaces */
	ng_interface(200, 6, 0);
	ng_simple(80, 80);
	ng_simple(1500, 200);
	ng_simple(0, 0);
	ng_packet(0, 6, 0, 0);
	save(image.len);
}

static void test_pcapng(void)
{
	for (int big = 0; big < 2; big++) {
		ng_file(big);
		TEST(compare_with_libpcap(1) == 3009);
		TEST(compare_with_libpcap(PKT_BATCH) == 3009);
	}
}

/* Why is libpcap's to say. */
static void test_bad_pcapng(void)
{
	begin(false);
	ng_section();
	image.bytes[12] = 2;
	expect(-EBADMSG, 0, "pcapng: ");
	begin(false);
	ng_section();
	image.bytes[8] = 0;
	expect(-EBADMSG, 0, "");
	begin(false);
	ng_section();
	ng_block(1, "\x71\0\0\0\0\0\0\0", 8);
	expect(-ENOTSUP, 0, "link type 113");
	begin(false);
	ng_section();
	ng_interface(0, 200, 0); /* 2^72 a second */
	expect(-EBADMSG, 0, "");
	begin(false);
	ng_section();
	ng_interface(0, 20, 0);
	expect(-EBADMSG, 0, "");
	begin(false);
	ng_section();
	ng_interface(0, 6, 0);
	ng_packet(0, 1, 60, 60);
	ng_packet(1, 1, 60, 60);
	expect(-EBADMSG, 1, "packet 2: ");
	begin(false);
	ng_section();
	ng_simple(60, 60);
	expect(-EBADMSG, 0, "");
	begin(false);
	ng_section();
	ng_interface(0, 6, 0);
	ng_packet(0, 1, 61, 61);
	image.bytes[image.len - 96 + 20] = 65; /* the block has room for 64 */
	expect(-EBADMSG, 0, "packet 1: ");
	begin(false);
	ng_section();
	ng_interface(0, 6, 0);
	ng_packet(0, 1, 60, 60);
	image.bytes[image.len - 4]++;
	expect(-EBADMSG, 0, "");
	begin(false);
	ng_section();
	add(6, 4);
	add(8, 4);
	add(0, 8);
	expect(-EBADMSG, 0, "");
	begin(false);
	ng_section();
	ng_interface(0, 6, 0);
	add(6, 4);
	add(400000, 4);
	add(0, 8);
	expect(-EBADMSG, 0, "");
	begin(false);
	ng_section();
	add(0x0bad, 4); /* a long unknown block that ends too early */
	add(2000000, 4);
	for (int i = 0; i < 1500000 / 8; i++)
		add(0, 8);
	expect(-EBADMSG, 0, "");
}

static void test_prefixes(void)
{
	size_t ends[5];

	begin(true);
	ng_section();
	ng_interface(0, 6, 0);
	ends[0] = image.len;
	for (uint32_t i = 1; i < 4; i++) {
		ng_packet(0, i, 14 + i, 60);
		ends[i] = image.len;
	}
	ng_simple(20, 20);
	ends[4] = image.len;
	check_prefixes(ends, 4, ends[0]);
}

static void add_packet(uint32_t len)
{
	ng_block(5, "statistics", 10);
	ng_packet(0, len, len, len);
}

static void test_arrival(void)
{
	begin(false);
	ng_section();
	ng_interface(0, 6, 0);
	check_arrival(add_packet);
}

int main(void)
{
	capture_init();
	test_pcapng();
	test_bad_pcapng();
	test_prefixes();
	test_arrival();
	return capture_end();
}
