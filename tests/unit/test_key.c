/* SPDX-License-Identifier: BSD-2-Clause */
/* Text and bytes of keys as dta(7), Keys, has them; addresses against the C
 * library's own parser. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>

#include "base/rng.h"
#include "bytes.h"
#include "test.h"
#include "net/key.h"

static void test_types(void)
{
	static const size_t lens[] = {
		[KEY_HEX] = 0,	 [KEY_FLOW4] = 13, [KEY_FLOW6] = 37,
		[KEY_HOP4] = 17, [KEY_HOP6] = 41,  [KEY_SRC4] = 4,
		[KEY_SRC6] = 16, [KEY_U32] = 4,
	};

	for (int t = 0; t < KEY_TYPES; t++) {
		TEST(key_type_of(key_type_name((enum key_type)t)) == t);
		TEST(key_type_len((enum key_type)t) == lens[t]);
	}
	TEST(!strcmp(key_type_name(KEY_FLOW4), "flow4"));
	TEST(!strcmp(key_type_name(KEY_HEX), "hex"));
	TEST(key_type_of("flow") == -1 && key_type_of("") == -1);
	TEST(!key_type_name(KEY_TYPES) && !key_type_len(KEY_TYPES));
}

/* Text that is the one way to write its bytes, so that it comes back. */
static const struct {
	enum key_type type;
	const char *text, *hex;
} pairs[] = {
	{KEY_FLOW4, "10.0.0.1:443>10.0.0.2:5501/tcp",
	 "0a000001 0a000002 01bb 157d 06"},
	{KEY_FLOW4, "255.255.255.255:65535>0.0.0.0:0/255",
	 "ffffffff 00000000 ffff 0000 ff"},
	{KEY_FLOW4, "1.20.100.9:9>99.109.10.200:10000/udp",
	 "01146409 636d0ac8 0009 2710 11"},
	{KEY_FLOW4, "1.2.3.4:0>5.6.7.8:0/icmp",
	 "01020304 05060708 00000000 01"},
	{KEY_FLOW4, "1.2.3.4:1>5.6.7.8:2/sctp",
	 "01020304 05060708 00010002 84"},
	{KEY_FLOW4, "1.2.3.4:0>5.6.7.8:0/gre", "01020304 05060708 00000000 2f"},
	{KEY_FLOW4, "1.2.3.4:0>5.6.7.8:0/esp", "01020304 05060708 00000000 32"},
	{KEY_FLOW4, "1.2.3.4:0>5.6.7.8:0/0", "01020304 05060708 00000000 00"},
	{KEY_FLOW4, "1.2.3.4:0>5.6.7.8:0/103", "01020304 05060708 00000000 67"},
	{KEY_FLOW6, "[2001:db8::1]:443>[2001:db8::2]:5501/udp",
	 "20010db8000000000000000000000001 20010db8000000000000000000000002"
	 "01bb 157d 11"},
	{KEY_FLOW6, "[::]:0>[ff02::1:2]:547/icmp6",
	 "00000000000000000000000000000000 ff020000000000000000000000010002"
	 "0000 0223 3a"},
	{KEY_HOP4, "7@10.0.0.1:443>10.0.0.2:5501/tcp",
	 "00000007 0a000001 0a000002 01bb 157d 06"},
	{KEY_HOP4, "4294967295@10.0.0.1:443>10.0.0.2:5501/tcp",
	 "ffffffff 0a000001 0a000002 01bb 157d 06"},
	{KEY_HOP6, "0@[2001:db8::1]:443>[2001:db8::2]:5501/udp",
	 "00000000 20010db8000000000000000000000001"
	 "20010db8000000000000000000000002 01bb 157d 11"},
	{KEY_SRC4, "10.0.0.1", "0a000001"},
	{KEY_SRC6, "2001:db8::1", "20010db8000000000000000000000001"},
	{KEY_U32, "1234", "000004d2"},
	{KEY_U32, "0", "00000000"},
	{KEY_U32, "4294967295", "ffffffff"},
	{KEY_HEX, "00ff12", "00ff12"},
	{KEY_HEX, "0a", "0a"},
};

static void test_pairs(void)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		uint8_t want[KEY_MAX], key[KEY_MAX];
		size_t len = unhex(want, sizeof(want), pairs[i].hex);
		char text[KEY_TEXT_MAX];

		if (!TEST(!key_parse(key, pairs[i].type, len, pairs[i].text) &&
			  !memcmp(key, want, len)))
			fprintf(stderr, "%s\n", pairs[i].text);
		TEST(key_format(text, pairs[i].type, want, len) ==
		     strlen(pairs[i].text));
		if (!TEST(!strcmp(text, pairs[i].text)))
			fprintf(stderr, "%s != %s\n", text, pairs[i].text);
	}
}

/* Other ways to write the same. */
static void test_spellings(void)
{
	static const struct {
		enum key_type type;
		const char *text, *hex;
	} other[] = {
		{KEY_U32, "0x4d2", "000004d2"},
		{KEY_U32, "0xFFFFFFFF", "ffffffff"},
		{KEY_U32, "0x00000001", "00000001"},
		{KEY_FLOW4, "10.0.0.1:443>10.0.0.2:5501/6",
		 "0a0000010a00000201bb157d06"},
		{KEY_FLOW4, "0x0a0000010a00000201bb157d06",
		 "0a0000010a00000201bb157d06"},
		{KEY_HOP4, "0x7@10.0.0.1:443>10.0.0.2:5501/tcp",
		 "000000070a0000010a00000201bb157d06"},
		/* as long as the key's hex text would be */
		{KEY_HOP4, "0x07@10.0.0.1:443>10.0.0.2:5501/tcp",
		 "000000070a0000010a00000201bb157d06"},
		{KEY_HOP4, "0x007@10.0.0.1:443>10.0.0.2:5501/tcp",
		 "000000070a0000010a00000201bb157d06"},
		{KEY_SRC4, "0x0A000001", "0a000001"},
		{KEY_SRC6, "[2001:db8::1]", "20010db8000000000000000000000001"},
		{KEY_SRC6, "2001:0DB8:0:0:0:0:0:1",
		 "20010db8000000000000000000000001"},
		{KEY_SRC6, "::ffff:10.0.0.1",
		 "00000000000000000000ffff0a000001"},
		{KEY_HEX, "00FF12", "00ff12"},
		{KEY_HEX, "0x00ff12", "00ff12"},
	};

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		uint8_t want[KEY_MAX], key[KEY_MAX];
		size_t len = unhex(want, sizeof(want), other[i].hex);

		if (!TEST(!key_parse(key, other[i].type, len, other[i].text) &&
			  !memcmp(key, want, len)))
			fprintf(stderr, "%s\n", other[i].text);
	}
}

static void test_refused(void)
{
	static const struct {
		enum key_type type;
		size_t len;
		const char *text;
	} bad[] = {
		{KEY_FLOW4, 13, "10.0.0.1:443>10.0.0.2:65536/tcp"},
		{KEY_FLOW4, 13, "10.0.0.1:443>10.0.0.2:5501/256"},
		{KEY_FLOW4, 13, "10.0.0.1:443>10.0.0.2:5501/TCP"},
		{KEY_FLOW4, 13, "10.0.0.1:443>10.0.0.2:5501/tcpx"},
		{KEY_FLOW4, 13, "10.0.0.1:443>10.0.0.2:5501/"},
		{KEY_FLOW4, 13, "10.0.0.1:443>10.0.0.2:5501"},
		{KEY_FLOW4, 13, "10.0.0.1:443>10.0.0.2:5501/tcp "},
		{KEY_FLOW4, 13, " 10.0.0.1:443>10.0.0.2:5501/tcp"},
		{KEY_FLOW4, 13, "10.0.0.1:-1>10.0.0.2:5501/tcp"},
		{KEY_FLOW4, 13, "10.0.0.1:+1>10.0.0.2:5501/tcp"},
		{KEY_FLOW4, 13, "10.0.0.1:>10.0.0.2:5501/tcp"},
		{KEY_FLOW4, 13, "10.0.0.256:1>10.0.0.2:5501/tcp"},
		{KEY_FLOW4, 13, "10.0.0.01:1>10.0.0.2:5501/tcp"},
		{KEY_FLOW4, 13, "10.0.0:1>10.0.0.2:5501/tcp"},
		{KEY_FLOW4, 13, "[::1]:1>[::2]:5501/tcp"},
		{KEY_FLOW4, 13, ""},
		{KEY_FLOW4, 12, "10.0.0.1:443>10.0.0.2:5501/tcp"},
		{KEY_FLOW4, 13, "0x0a0000010a00000201bb157d"},
		{KEY_FLOW4, 13, "0x0a0000010a00000201bb157d0600"},
		{KEY_FLOW4, 13, "0a0000010a00000201bb157d06"},
		{KEY_FLOW6, 37, "10.0.0.1:443>10.0.0.2:5501/tcp"},
		{KEY_FLOW6, 37, "2001:db8::1:443>2001:db8::2:5501/tcp"},
		{KEY_FLOW6, 37, "[2001:db8::1:443>[2001:db8::2]:5501/tcp"},
		{KEY_FLOW6, 37, "[2001:db8::1::]:443>[2001:db8::2]:5501/tcp"},
		{KEY_FLOW6, 37, "[fe80::1%eth0]:443>[2001:db8::2]:5501/tcp"},
		{KEY_HOP4, 17, "10.0.0.1:443>10.0.0.2:5501/tcp"},
		{KEY_HOP4, 17, "4294967296@10.0.0.1:443>10.0.0.2:5501/tcp"},
		{KEY_HOP4, 17, "@10.0.0.1:443>10.0.0.2:5501/tcp"},
		{KEY_SRC4, 4, "10.0.0."},
		{KEY_SRC4, 4, "10.0.0.1.2"},
		{KEY_SRC4, 4, "10.0.0.1/24"},
		{KEY_SRC4, 4, "10..0.1"},
		{KEY_SRC4, 4, "167772161"},
		{KEY_SRC6, 16, "[2001:db8::1"},
		{KEY_SRC6, 16, "2001:db8::1]"},
		{KEY_SRC6, 16, "10.0.0.1"},
		{KEY_SRC6, 16, "1:2:3:4:5:6:7:8:9"},
		{KEY_SRC6, 16,
		 "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb"},
		{KEY_U32, 4, "4294967296"},
		{KEY_U32, 4, "99999999999999999999999"},
		{KEY_U32, 4, "0x"},
		{KEY_U32, 4, "0x123456789"},
		{KEY_U32, 4, "0x12g"},
		{KEY_U32, 4, "007"},
		{KEY_U32, 4, "-1"},
		{KEY_U32, 4, "1 "},
		{KEY_U32, 8, "1"},
		{KEY_HEX, 3, "00ff1"},
		{KEY_HEX, 3, "00ff123"},
		{KEY_HEX, 3, "00ff1234"},
		{KEY_HEX, 3, "00fg12"},
		{KEY_HEX, 3, "0x"},
		{KEY_HEX, 0, ""},
		{KEY_HEX, KEY_MAX + 1, "00"},
		{KEY_TYPES, 4, "0"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t key[KEY_MAX] = {0x77};
		char *text = (char *)exact_copy(bad[i].text,
						strlen(bad[i].text) + 1);

		if (!TEST(key_parse(key, bad[i].type, bad[i].len, text) ==
			  -EINVAL))
			fprintf(stderr, "accepted: %s\n", bad[i].text);
		TEST(key[0] == 0x77);
		free(text);
	}
}

/* Any bytes of any type come back from their text. */
static void test_round_trip(void)
{
	struct rng r = {3};

	for (int i = 0; i < 20000; i++) {
		enum key_type t = (enum key_type)(i % KEY_TYPES);
		size_t len = key_type_len(t) ? key_type_len(t)
					     : 1 + rng_below(&r, KEY_MAX);
		uint8_t key[KEY_MAX], again[KEY_MAX];
		char text[KEY_TEXT_MAX];

		for (size_t k = 0; k < len; k++)
			key[k] = rng_u64(&r) % 3 ? (uint8_t)rng_u64(&r) : 0;
		TEST(key_format(text, t, key, len) == strlen(text));
		if (!TEST(!key_parse(again, t, len, text) &&
			  !memcmp(key, again, len)))
			fprintf(stderr, "%s\n", text);
	}
}

static void test_addresses(void)
{
	struct rng r = {4};
	char text[KEY_TEXT_MAX], want[INET_ADDRSTRLEN];
	uint8_t key[KEY_MAX];

	for (int i = 0; i < 20000; i++) {
		for (int k = 0; k < 4; k++)
			key[k] = (uint8_t)(rng_u64(&r) >> rng_below(&r, 8));
		inet_ntop(AF_INET, key, want, sizeof(want));
		key_format(text, KEY_SRC4, key, 4);
		TEST(!strcmp(text, want));
	}
	for (unsigned v = 0; v <= UINT16_MAX; v++) {
		snprintf(want, sizeof(want), "1.2.3.4:%u", v);
		memcpy(key, "\1\2\3\4\1\2\3\4", 8);
		key[8] = (uint8_t)(v >> 8);
		key[9] = (uint8_t)v;
		key_format(text, KEY_FLOW4, key, 13);
		TEST(!strncmp(text, want, strlen(want)) &&
		     text[strlen(want)] == '>');
	}
}

/* A key that is not as long as its type says is shown as its bytes. */
static void test_misfit(void)
{
	uint8_t key[KEY_MAX + 8] = {1, 2, 3};
	char text[KEY_TEXT_MAX];

	TEST(key_format(text, KEY_FLOW4, key, 3) == 8);
	TEST(!strcmp(text, "0x010203"));
	TEST(key_format(text, KEY_HEX, key, KEY_MAX + 8) == 2 * KEY_MAX);
	TEST(key_format(text, KEY_HEX, key, 0) == 0 && !*text);
}

static void test_of_packet(void)
{
	static const uint8_t a[32] = {10, 0, 0, 1, 10, 0, 0, 2};
	struct net_packet p = {
		.version = 4,
		.protocol = 6,
		.src = a,
		.dst = a + 4,
		.src_port = 443,
		.dst_port = 5501,
	};
	uint8_t key[KEY_MAX], want[KEY_MAX];
	size_t n = unhex(want, sizeof(want), "0a0000010a00000201bb157d06");

	TEST(key_of_packet(key, &p) == n && !memcmp(key, want, n));
	p.version = 6;
	p.dst = a + 16;
	memcpy(want, a, 32);
	memcpy(want + 32, "\x01\xbb\x15\x7d\x06", 5);
	TEST(key_of_packet(key, &p) == 37 && !memcmp(key, want, 37));
}

int main(void)
{
	test_types();
	test_pairs();
	test_spellings();
	test_refused();
	test_round_trip();
	test_addresses();
	test_misfit();
	test_of_packet();
	return test_end();
}
