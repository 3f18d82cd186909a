/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers and addresses in text: what is taken, and that nothing else is, nor
 * anything written then. */
#include "base/text.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

#include "test.h"

enum {
	UNTOUCHED = 4711,
};

static void check(bool ok, const char *text)
{
	if (!ok)
		fprintf(stderr, "  '%s'\n", text);
}

static void test_u64(void)
{
	static const char *const bad[] = {
		"",
		" 1",
		"1 ",
		"+1",
		"-1",
		"-0",
		"0x",
		"0x10",
		"1e3",
		"1.0",
		"10K",
		"x",
		"1\n",
		"\t1",
		"18446744073709551616",
		"99999999999999999999",
		"184467440737095516150",
	};
	uint64_t v;

	TEST(text_u64(&v, "0", 0) && v == 0);
	TEST(text_u64(&v, "007", 7) && v == 7);
	TEST(text_u64(&v, "18446744073709551615", UINT64_MAX) &&
	     v == UINT64_MAX);
	v = UNTOUCHED;
	TEST(!text_u64(&v, "8", 7) && v == UNTOUCHED);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check(TEST(!text_u64(&v, bad[i], UINT64_MAX) && v == UNTOUCHED),
		      bad[i]);
}

static void test_digits(void)
{
	const char *text = "12-34";
	uint64_t v = UNTOUCHED;

	TEST(text_digits(&v, text, 12) == text + 2 && v == 12);
	TEST(!text_digits(&v, text, 11) && !text_digits(&v, "-3", 9) &&
	     !text_digits(&v, "", 9) && v == 12);
}

static void test_number(void)
{
	static const char *const bad[] = {
		"",	"0x",
		"0X1F", "x1f",
		"0xg",	"0x1 ",
		"0x-1", "0x+1",
		"0x 1", "1f",
		"-1",	"0b1",
		"00x1", "0x10000000000000000",
	};
	uint64_t v;

	TEST(text_number(&v, "31", 31) && v == 31);
	TEST(text_number(&v, "0x1f", 31) && v == 31);
	TEST(text_number(&v, "0xFFFFFFFFffffffff", UINT64_MAX) &&
	     v == UINT64_MAX);
	TEST(text_number(&v, "0x00000000000000000001", 1) && v == 1);
	v = UNTOUCHED;
	TEST(!text_number(&v, "0x20", 31) && v == UNTOUCHED);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check(TEST(!text_number(&v, bad[i], UINT64_MAX) &&
			   v == UNTOUCHED),
		      bad[i]);
}

static void test_size(void)
{
	static const struct {
		const char *text;
		uint64_t v;
	} good[] = {
		{"0", 0},
		{"7", 7},
		{"1M", 1000000},
		{"3KiB", 3072},
		{"3KB", 3000},
		{"3Ki", 3072},
		{"3k", 3000},
		{"64MiB", 64 << 20},
		{"1.5K", 1500},
		{"1.5Ki", 1536},
		{"1e3", 1000},
		{"2Gi", UINT64_C(2) << 30},
		{"16777215Ti", UINT64_C(16777215) << 40},
		{"18446744T", UINT64_C(18446744000000000000)},
		{"18446744073709551615", UINT64_MAX},
	};
	static const struct {
		const char *text;
		int rc;
	} bad[] = {
		{"", -EINVAL},
		{"K", -EINVAL},
		{"10KK", -EINVAL},
		{"1iB", -EINVAL},
		{"1m", -EINVAL},
		{"1B", -EINVAL},
		{"1kBx", -EINVAL},
		{"+1", -EINVAL},
		{"-1", -EINVAL},
		{" 1", -EINVAL},
		{"1 K", -EINVAL},
		{"0x10", -EINVAL},
		{"1e-3", -EINVAL},
		{"1.5", -EINVAL},
		{"1.0001K", -EINVAL},
		{"1e20", -ERANGE},
		{"1KiBx", -EINVAL},
		{"1P", -EINVAL},
		{"16777216Ti", -ERANGE},
		{"18446745T", -ERANGE},
		{"18446744073709551616", -ERANGE},
	};
	uint64_t v;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		check(TEST(text_size(&v, good[i].text) == 0 && v == good[i].v),
		      good[i].text);
	v = UNTOUCHED;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check(TEST(text_size(&v, bad[i].text) == bad[i].rc &&
			   v == UNTOUCHED),
		      bad[i].text);
}

static void test_f64(void)
{
	static const char *const bad[] = {
		"",	 "-1",	 "+1",	" 1", "1 ",    "nan", "inf", "infinity",
		"0x1p3", "0X10", "1,5", "1e", "1e999", ".",   "e3",
	};
	double v;

	TEST(text_f64(&v, "0.5") && v == 0.5);
	TEST(text_f64(&v, ".5") && v == 0.5);
	TEST(text_f64(&v, "1e3") && v == 1000);
	v = UNTOUCHED;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check(TEST(!text_f64(&v, bad[i]) && v == UNTOUCHED), bad[i]);
}

static void test_duration(void)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{"0", 0},
		{"2", 2000000000},
		{"7ns", 7},
		{"250us", 250000},
		{"100ms", 100000000},
		{"1.5s", 1500000000},
		{"1m", 60000000000},
		{"2h", 7200000000000},
		{"1d", 86400000000000},
	};
	static const char *const bad[] = {
		"",	 "s",
		"-1s",	 "+1s",
		" 1s",	 "1s ",
		"1 s",	 "1ss",
		"1M",	 "1w",
		"0x1s",	 "infs",
		"1e18s", "9223372036854775808ns",
	};
	uint64_t v;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		check(TEST(text_duration_ns(&v, good[i].text) &&
			   v == good[i].ns),
		      good[i].text);
	v = UNTOUCHED;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check(TEST(!text_duration_ns(&v, bad[i]) && v == UNTOUCHED),
		      bad[i]);
}

static void test_hex(void)
{
	static const char text[] = "00fFA9x";
	uint8_t out[4];

	TEST(text_hex(out, text, 3) == text + 6 &&
	     !memcmp(out, "\x00\xff\xa9", 3));
	TEST(!text_hex(out, text, 4) && !text_hex(out, "0", 1) &&
	     !text_hex(out, "", 1) && !text_hex(out, "0x", 1) &&
	     !text_hex(out, " 1", 1));
	TEST(text_hex(out, "", 0) != NULL);
	/* what |= 0x20 takes for letters and digits */
	TEST(text_hex_digit('F') == 15 && text_hex_digit('G') < 0 &&
	     text_hex_digit('@') < 0 && text_hex_digit('`') < 0 &&
	     text_hex_digit('\x10') < 0 && text_hex_digit('\0') < 0);
}

static void test_mac(void)
{
	static const char *const bad[] = {
		"",
		"02:00:00:00:00",
		"02:00:00:00:00:",
		"02:00:00:00:00:2g",
		"02-00-00-00-00-02",
		"02:00:00:00:00:02:",
		"02:00:00:00:00:0 ",
		" 2:00:00:00:00:02",
		"2:0:0:0:0:2",
		"02:00:00:00:00:020",
		"0x:00:00:00:00:02",
		"020000000002",
		"02:00:00:00:00:+2",
	};
	uint8_t m[6] = {1, 2, 3, 4, 5, 6};
	char text[TEXT_MAC_MAX];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check(TEST(!text_mac(m, bad[i]) &&
			   !memcmp(m, "\1\2\3\4\5\6", 6)),
		      bad[i]);
	TEST(text_mac(m, "02:aB:00:FF:10:9f") &&
	     !memcmp(m, "\x02\xab\x00\xff\x10\x9f", 6));
	TEST(!strcmp(text_of_mac(text, m), "02:ab:00:ff:10:9f"));
}

static void test_ip(void)
{
	static const char *const bad[] = {
		"",
		"10.0.0",
		"10.0.0.256",
		"10.0.0.1 ",
		" 10.0.0.1",
		"10.0.0.1.",
		"0x0a.0.0.1",
		"10.0.0.-1",
		"::1::",
		":",
		"fe80::1%lo",
		"[::1]",
		"1:2:3:4:5:6:7",
		"10.0.0.1:80",
	};
	uint8_t ip[16] = {0};
	char text[TEXT_IP_MAX];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check(TEST(!text_ip(ip, bad[i]) && !ip[0] && !ip[15]), bad[i]);
	TEST(text_ip(ip, "10.0.0.51") == 4 && !memcmp(ip, "\12\0\0\63", 4));
	TEST(!strcmp(text_of_ip(text, 4, ip), "10.0.0.51"));
	TEST(text_ip(ip, "2001:DB8::1") == 6 && ip[0] == 0x20 && ip[15] == 1);
	TEST(!strcmp(text_of_ip(text, 6, ip), "2001:db8::1"));
	memset(ip, 0xff, sizeof(ip));
	TEST(strlen(text_of_ip(text, 6, ip)) == 39);
}

int main(void)
{
	/* A locale with another point must not matter, where there is one. */
	setlocale(LC_ALL, "de_DE.UTF-8");
	test_digits();
	test_u64();
	test_number();
	test_size();
	test_f64();
	test_duration();
	test_hex();
	test_mac();
	test_ip();
	return test_end();
}
