/* SPDX-License-Identifier: BSD-2-Clause */
/* What collector and host say to each other: bytes by hand, and all prefixes.
 */
#include <stdlib.h>
#include <string.h>

#include "verbs/verbs_cm.h"
#include "test.h"

static const uint8_t good[VERBS_CM_LEN] = {
	'D', 'T', 'A', '2', 0,	0,  0,	1,  0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 0,
	11,  22,  33,  44,  55, 66, 77, 88, 1,	  2,	3,    4,    5, 6, 7, 8,
};

static int decode(const void *data, size_t len)
{
	struct verbs_cm m;

	return verbs_cm_decode(&m, data, len);
}

/* The copy is as long as the prefix: the sanitizer sees every read past it. */
static void test_prefixes(void)
{
	for (size_t n = 0; n < sizeof(good); n++) {
		uint8_t *copy = malloc(n ? n : 1);

		memcpy(copy, good, n);
		TEST(decode(copy, n) == -EPROTO);
		free(copy);
	}
	TEST(decode(NULL, 0) == -EPROTO);
}

static void test_message(void)
{
	uint8_t bytes[sizeof(good)];
	struct verbs_cm m;

	TEST(verbs_cm_decode(&m, good, sizeof(good)) == 0);
	TEST(m.kind == VERBS_CM_READ && m.rkey == 0xdeadbeef && !m.error);
	TEST(m.address == UINT64_C(0x0b16212c37424d58));
	TEST(m.length == UINT64_C(0x0102030405060708));
	verbs_cm_encode(bytes, &m);
	TEST(!memcmp(bytes, good, sizeof(bytes)));
	bytes[7] = 2; /* no such kind */
	TEST(decode(bytes, sizeof(bytes)) == -EPROTO);
	bytes[7] = 0;
	TEST(decode(bytes, sizeof(bytes)) == 0);
	bytes[3] = '1';
	TEST(decode(bytes, sizeof(bytes)) == -EPROTO);
}

static void test_refusal(void)
{
	static const uint8_t again[] = {0xff, 0xff, 0xff, 0xf5}; /* -11 */
	uint8_t bytes[VERBS_CM_LEN];
	struct verbs_cm m;

	verbs_cm_encode(bytes, &(struct verbs_cm){.error = -EAGAIN});
	TEST(!memcmp(bytes + 12, again, sizeof(again)));
	TEST(!verbs_cm_decode(&m, bytes, sizeof(bytes)) && m.error == -EAGAIN);
	bytes[12] = 0x80; /* no errno */
	TEST(decode(bytes, sizeof(bytes)) == -EPROTO);
	bytes[12] = 0;
	TEST(decode(bytes, sizeof(bytes)) == -EPROTO);
}

int main(void)
{
	test_prefixes();
	test_message();
	test_refusal();
	return test_end();
}
