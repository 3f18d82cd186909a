/* SPDX-License-Identifier: BSD-2-Clause */
/* The byte examples of the published system, and DTA/1 as its diagram says. */
#include <errno.h>
#include <stdbool.h>

#include "bytes.h"
#include "test.h"
#include "net/dta.h"

static void test_names(void)
{
	TEST(!dta_format_names[DTA_FORMATS]);
	TEST(!strcmp(dta_format_names[DTA_FORMAT_0A], "dta0a"));
	TEST(!strcmp(dta_opcode_name(1), "keywrite"));
	TEST(!strcmp(dta_opcode_name(2), "append"));
	TEST(!strcmp(dta_opcode_name(3), "keyinc"));
	TEST(!strcmp(dta_opcode_name(4), "postcard"));
	TEST(!strcmp(dta_opcode_name(15), "nack"));
	TEST(!dta_opcode_name(0) && !dta_opcode_name(5));
	TEST(!dta_opcode_name(16) && !dta_opcode_name(255));
}

/* Key and data as hex. */
static const struct sample {
	const char *hex;
	enum dta_format format;
	struct dta_report want;
	const char *key, *data;
} samples[] = {
	/* DTA/0, the published formats */
	{"0100 02 00000001 0000002a",
	 DTA_FORMAT_0A,
	 {.opcode = 1, .copies = 2, .table = DTA_NO_TABLE},
	 "00000001",
	 "0000002a"},
	{"010540 02 00000001 0000002a",
	 DTA_FORMAT_0B,
	 {.opcode = 1,
	  .copies = 2,
	  .table = DTA_NO_TABLE,
	  .tracked = true,
	  .sequence = 5},
	 "00000001",
	 "0000002a"},
	{"0200 00000003 0000002a",
	 DTA_FORMAT_0A,
	 {.opcode = 2, .table = DTA_NO_TABLE},
	 "00000003",
	 "0000002a"},
	{"0300 02 00000001 0000000000000005",
	 DTA_FORMAT_0A,
	 {.opcode = 3, .copies = 2, .table = DTA_NO_TABLE},
	 "00000001",
	 "0000000000000005"},
	{"0400 00000001 03 0000002a",
	 DTA_FORMAT_0A,
	 {.opcode = 4, .hop = 2, .table = DTA_NO_TABLE},
	 "00000001",
	 "0000002a"},
	{"0180 04 01020304 000102030405060708090a0b",
	 DTA_FORMAT_0A,
	 {.opcode = 1, .copies = 4, .table = DTA_NO_TABLE, .immediate = true},
	 "01020304",
	 "000102030405060708090a0b"},
	{"01ff80 01 01020304 00112233445566778899aabbccddeeff"
	 "00112233445566778899aabb",
	 DTA_FORMAT_0B,
	 {.opcode = 1,
	  .copies = 1,
	  .table = DTA_NO_TABLE,
	  .immediate = true,
	  .sequence = 255},
	 "01020304",
	 "00112233445566778899aabbccddeeff00112233445566778899aabb"},
	/* DTA/1, dta(7), REPORTS */
	{"11 c2 0d 00 0102 fffe 0a000001 0a000002 01bb 157d 06 0000002a",
	 DTA_FORMAT_1,
	 {.opcode = 1,
	  .copies = 2,
	  .immediate = true,
	  .tracked = true,
	  .table = 0x0102,
	  .sequence = 0xfffe},
	 "0a0000010a00000201bb157d06",
	 "0000002a"},
	{"12 00 04 00 0000 0001 00000003 00112233445566778899aabbccdd"
	 "ffeeddccbbaa99887766554433",
	 DTA_FORMAT_1,
	 {.opcode = 2, .sequence = 1},
	 "00000003",
	 "00112233445566778899aabbccddffeeddccbbaa99887766554433"},
	{"13 84 04 00 0007 0000 00000001 0000000000000005",
	 DTA_FORMAT_0A,
	 {.opcode = 3, .copies = 4, .immediate = true, .table = 7},
	 "00000001",
	 "0000000000000005"},
	{"14 41 04 25 0003 0010 00000001 0000002a",
	 DTA_FORMAT_0B,
	 {.opcode = 4,
	  .copies = 1,
	  .tracked = true,
	  .hop = 2,
	  .path_len = 5,
	  .table = 3,
	  .sequence = 16},
	 "00000001",
	 "0000002a"},
	{"1f 00 00 12 0000 0005",
	 DTA_FORMAT_1,
	 {.opcode = 15, .hop = 0x12, .sequence = 5},
	 "",
	 ""},
	{"11 00 00 00 ffff 0000",
	 DTA_FORMAT_1,
	 {.opcode = 1, .table = 0xffff},
	 "",
	 ""},
};

enum {
	SAMPLES = sizeof(samples) / sizeof(samples[0]),
};

static bool is_report(const struct dta_report *r, const struct sample *s)
{
	const struct dta_report *w = &s->want;
	uint8_t key[64], data[64];
	size_t key_len = unhex(key, sizeof(key), s->key);
	size_t data_len = unhex(data, sizeof(data), s->data);

	return r->opcode == w->opcode && r->copies == w->copies &&
	       r->hop == w->hop && r->path_len == w->path_len &&
	       r->immediate == w->immediate && r->tracked == w->tracked &&
	       r->table == w->table && r->sequence == w->sequence &&
	       r->key_len == key_len && r->data_len == data_len &&
	       !memcmp(r->key, key, key_len) &&
	       !memcmp(r->data, data, data_len);
}

static bool is_dta1(const uint8_t *payload)
{
	return payload[0] >> 4 == 1;
}

static bool is_keywrite0(const uint8_t *payload)
{
	return payload[0] == 1;
}

/*
 * A shorter DTA/1 report is a report with less data, so long as its header and
 * its key are there, and 28 bytes of DTA/0 Key-Write data shrink to 12 and 4.
 * All other prefixes are refused.
 */
static void check_prefixes(const struct sample *s, const uint8_t *buf,
			   size_t len)
{
	size_t enough = 8u + buf[2];
	struct dta_report r;

	for (size_t n = 0; n < len; n++) {
		uint8_t *copy = exact_copy(buf, n);
		int rc = dta_decode(&r, s->format, copy, n);

		if (is_dta1(buf) && n >= enough)
			TEST(rc == 0 && r.data_len == n - enough);
		else if (rc || !is_keywrite0(buf))
			TEST(rc == -EBADMSG);
		else
			TEST(r.data_len == 4 || r.data_len == 12);
		free(copy);
	}
}

static void test_samples(void)
{
	for (int i = 0; i < SAMPLES; i++) {
		const struct sample *s = &samples[i];
		uint8_t buf[128], again[128], *copy;
		size_t len = unhex(buf, sizeof(buf), s->hex);
		enum dta_format f = is_dta1(buf) ? DTA_FORMAT_1 : s->format;
		struct dta_report r;

		copy = exact_copy(buf, len);
		if (!TEST(dta_decode(&r, s->format, copy, len) == 0 &&
			  is_report(&r, s)))
			fprintf(stderr, "samples[%d]\n", i);
		TEST(dta_encode(again, sizeof(again), f, &r) == (int)len);
		TEST(!memcmp(again, buf, len));
		for (size_t n = 0; n < len; n++)
			TEST(dta_encode(again, n, f, &r) == -ENOBUFS);
		free(copy);
		check_prefixes(s, buf, len);
	}
}

static void test_refused(void)
{
	static const struct {
		const char *hex;
		enum dta_format format;
		int rc;
	} bad[] = {
		{"0100 02 00000001 0000002a", DTA_FORMAT_1, -EPROTONOSUPPORT},
		{"2100 0400 00000000 00000001", DTA_FORMAT_1, -EPROTONOSUPPORT},
		{"f100 0400 00000000 00000001", DTA_FORMAT_0A,
		 -EPROTONOSUPPORT},
		{"1000 0000 00000000", DTA_FORMAT_1, -EOPNOTSUPP},
		{"1500 0000 00000000", DTA_FORMAT_1, -EOPNOTSUPP},
		{"1e00 0000 00000000", DTA_FORMAT_1, -EOPNOTSUPP},
		{"0000 02 00000001 0000002a", DTA_FORMAT_0A, -EOPNOTSUPP},
		{"0500 02 00000001 0000002a", DTA_FORMAT_0A, -EOPNOTSUPP},
		{"0f00 02 00000001 0000002a", DTA_FORMAT_0B, -EOPNOTSUPP},
		{"1105 0400 00000000 00000001", DTA_FORMAT_1, -ERANGE},
		{"1109 0400 00000000 00000001", DTA_FORMAT_1, -ERANGE},
		{"130f 0400 00000000 00000001", DTA_FORMAT_1, -ERANGE},
		{"0100 00 00000001 0000002a", DTA_FORMAT_0A, -ERANGE},
		{"0100 05 00000001 0000002a", DTA_FORMAT_0A, -ERANGE},
		{"030000 09 00000001 0000000000000001", DTA_FORMAT_0B, -ERANGE},
		{"0400 00000001 00 0000002a", DTA_FORMAT_0A, -EBADMSG},
		/* one byte too many, or the other variant */
		{"0100 02 00000001 0000002a00", DTA_FORMAT_0A, -EBADMSG},
		{"0200 00000001 0000002a00", DTA_FORMAT_0A, -EBADMSG},
		{"0400 00000001 01 0000002a00", DTA_FORMAT_0A, -EBADMSG},
		{"0300 02 00000001 000000000000000500", DTA_FORMAT_0A,
		 -EBADMSG},
		{"0105 40 02 00000001 0000002a", DTA_FORMAT_0A, -ERANGE},
		{"0100 01 02000000 0000002a", DTA_FORMAT_0B, -EBADMSG},
		/* Key-Write of 8 bytes is not among the builds */
		{"0100 02 00000001 0000002a0000002a", DTA_FORMAT_0A, -EBADMSG},
		{"1100 0500 00000000 00000001", DTA_FORMAT_1, -EBADMSG},
		{"1100 ff00 00000000 00000001", DTA_FORMAT_1, -EBADMSG},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct dta_report r = {.table = 4711};
		uint8_t buf[64], *copy;
		size_t len = unhex(buf, sizeof(buf), bad[i].hex);

		copy = exact_copy(buf, len);
		if (!TEST(dta_decode(&r, bad[i].format, copy, len) ==
			  bad[i].rc))
			fprintf(stderr, "bad[%zu]\n", i);
		TEST(r.table == 4711);
		free(copy);
	}
}

/* Reserved bits mean nothing yet. */
static void test_reserved(void)
{
	uint8_t buf[64];
	size_t len = unhex(buf, sizeof(buf), "1131 0400 00000000 00000001 2a");
	struct dta_report r;

	TEST(dta_decode(&r, DTA_FORMAT_1, buf, len) == 0);
	TEST(r.copies == 1 && !r.immediate && !r.tracked);
	len = unhex(buf, sizeof(buf), "017f 02 00000001 0000002a");
	TEST(dta_decode(&r, DTA_FORMAT_0A, buf, len) == 0);
	TEST(!r.immediate && !r.tracked && r.copies == 2);
}

static int encode(struct dta_report r, enum dta_format f)
{
	static const uint8_t zero[300];
	uint8_t buf[400];

	r.key = r.data = zero;
	return dta_encode(buf, sizeof(buf), f, &r);
}

static void test_encode_refused(void)
{
	const struct dta_report kw = {.opcode = DTA_KEYWRITE,
				      .copies = 1,
				      .key_len = 4,
				      .data_len = 4};
	const struct dta_report pc = {
		.opcode = DTA_POSTCARD, .hop = 4, .key_len = 4, .data_len = 4};
	struct dta_report r;

	TEST(encode(kw, DTA_FORMAT_1) == 16 && encode(kw, DTA_FORMAT_0A) == 11);
	TEST(encode(kw, DTA_FORMAT_0B) == 12);
	TEST(encode(pc, DTA_FORMAT_0A) == 11 &&
	     encode(pc, DTA_FORMAT_0B) == 12);
	r = kw, r.copies = 5;
	TEST(encode(r, DTA_FORMAT_1) == -EINVAL);
	TEST(encode(r, DTA_FORMAT_0A) == -EINVAL);
	r = kw, r.copies = 0;
	TEST(encode(r, DTA_FORMAT_1) == 16);
	TEST(encode(r, DTA_FORMAT_0B) == -EINVAL);
	r = kw, r.key_len = 13;
	TEST(encode(r, DTA_FORMAT_0A) == -EINVAL);
	r = kw, r.key_len = 256;
	TEST(encode(r, DTA_FORMAT_1) == -EINVAL);
	r = kw, r.data_len = 8;
	TEST(encode(r, DTA_FORMAT_0A) == -EINVAL);
	r = kw, r.tracked = true;
	TEST(encode(r, DTA_FORMAT_0A) == -EINVAL);
	TEST(encode(r, DTA_FORMAT_0B) == 12);
	r = kw, r.opcode = 5;
	TEST(encode(r, DTA_FORMAT_1) == -EINVAL);
	r = kw, r.opcode = 33;
	TEST(encode(r, DTA_FORMAT_1) == -EINVAL);
	r = pc, r.hop = 5;
	TEST(encode(r, DTA_FORMAT_0A) == -EINVAL);
	r = pc, r.hop = 16;
	TEST(encode(r, DTA_FORMAT_1) == -EINVAL);
	r = pc, r.path_len = 16;
	TEST(encode(r, DTA_FORMAT_1) == -EINVAL);
}

/* The published translator: "NACK payload, last good seq 5". */
static void test_nack0(void)
{
	const struct dta_report r = {.opcode = DTA_NACK, .sequence = 5};
	uint8_t buf[8];

	TEST(dta_encode(buf, sizeof(buf), DTA_FORMAT_0B, &r) == 2);
	TEST(buf[0] == 0x05 && buf[1] == 0x80);
	TEST(dta_encode(buf, sizeof(buf), DTA_FORMAT_0A, &r) == -EINVAL);
	TEST(dta_encode(buf, sizeof(buf), DTA_FORMAT_1, &r) == 8);
}

int main(void)
{
	test_names();
	test_samples();
	test_refused();
	test_reserved();
	test_encode_refused();
	test_nack0();
	return test_end();
}
