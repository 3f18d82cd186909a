/* SPDX-License-Identifier: BSD-2-Clause */
/* What collector and host say to each other: bytes by hand, and all prefixes.
 */
#include <stdlib.h>
#include <string.h>

#include "verbs/verbs_cm.h"
#include "test.h"

static const uint8_t ask_bytes[VERBS_CM_ASK_LEN] = {
	'D', 'T', 'A', '1', 0, 1, 0x12, 0x34, 1, 2, 3, 4, 5, 6, 7, 8,
};
static const uint8_t place_bytes[VERBS_CM_PLACE_LEN] = {
	'D',  'T', 'A', '1', 0, 1,  0x12, 0x34, 0xde, 0xad, 0xbe,
	0xef, 0,   0,	0,   0, 11, 22,	  33,	44,   55,   66,
	77,   88,  1,	2,   3, 4,  5,	  6,	7,    8,
};

/* The copy is as long as the prefix: the sanitizer sees every read past it. */
static unsigned prefixes(const uint8_t *good, size_t len,
			 int (*decode)(const void *data, size_t len))
{
	unsigned taken = 0;

	for (size_t n = 0; n < len; n++) {
		uint8_t *copy = malloc(n ? n : 1);

		memcpy(copy, good, n);
		taken += decode(copy, n) != -EPROTO;
		free(copy);
	}
	return taken;
}

static int ask(const void *data, size_t len)
{
	struct verbs_cm_ask a;

	return verbs_cm_ask_decode(&a, data, len);
}

static int place(const void *data, size_t len)
{
	struct verbs_cm_place p;

	return verbs_cm_place_decode(&p, VERBS_CM_TABLE, data, len);
}

static int readable(const void *data, size_t len)
{
	struct verbs_cm_place p;

	return verbs_cm_place_decode(&p, VERBS_CM_READ, data, len);
}

static void test_ask(void)
{
	struct verbs_cm_ask a;
	uint8_t bytes[sizeof(ask_bytes)];

	TEST(verbs_cm_ask_decode(&a, ask_bytes, sizeof(ask_bytes)) == 0);
	TEST(a.kind == VERBS_CM_TABLE && a.table == 0x1234);
	TEST(a.epoch == UINT64_C(0x0102030405060708));
	verbs_cm_ask_encode(bytes, &a);
	TEST(!memcmp(bytes, ask_bytes, sizeof(bytes)));
	TEST(prefixes(ask_bytes, sizeof(ask_bytes), ask) == 0);
	bytes[5] = 2;
	TEST(verbs_cm_ask_decode(&a, bytes, sizeof(bytes)) == 0);
	TEST(a.kind == VERBS_CM_READ);
	bytes[5] = 3; /* no such kind */
	TEST(ask(bytes, sizeof(bytes)) == -EPROTO);
	bytes[5] = 0;
	TEST(ask(bytes, sizeof(bytes)) == 0);
	bytes[3] = '2';
	TEST(ask(bytes, sizeof(bytes)) == -EPROTO);
}

static void test_place(void)
{
	struct verbs_cm_place p;
	uint8_t bytes[sizeof(place_bytes)];

	TEST(!verbs_cm_place_decode(&p, VERBS_CM_TABLE, place_bytes,
				    sizeof(place_bytes)));
	TEST(p.table == 0x1234 && p.rkey == 0xdeadbeef);
	TEST(p.address == UINT64_C(0x0b16212c37424d58));
	TEST(p.epoch == UINT64_C(0x0102030405060708));
	verbs_cm_place_encode(bytes, &p);
	TEST(!memcmp(bytes, place_bytes, sizeof(bytes)));
	TEST(prefixes(place_bytes, sizeof(place_bytes), place) == 0);
	bytes[5] = 0;
	TEST(place(bytes, sizeof(bytes)) == -EPROTO);
	/* One kind of answer is not taken for another. */
	bytes[5] = 2;
	TEST(place(bytes, sizeof(bytes)) == -EPROTO);
	TEST(readable(place_bytes, sizeof(place_bytes)) == -EPROTO);
	TEST(!verbs_cm_place_decode(&p, VERBS_CM_READ, bytes, sizeof(bytes)));
	TEST(p.length == UINT64_C(0x0102030405060708));
	TEST(prefixes(bytes, sizeof(bytes), readable) == 0);
}

static void test_refusal(void)
{
	static const uint8_t stale[] = {0xff, 0xff, 0xff, 0x8c}; /* -116 */
	static const uint8_t zero[] = {0, 0, 0, 0};
	static const uint8_t large[] = {0x80, 0, 0, 0};
	uint8_t bytes[VERBS_CM_REFUSAL_LEN];

	TEST(verbs_cm_refusal_decode(stale, sizeof(stale)) == -ESTALE);
	verbs_cm_refusal_encode(bytes, -ESTALE);
	TEST(!memcmp(bytes, stale, sizeof(bytes)));
	TEST(verbs_cm_refusal_decode(stale, 3) == 0);
	TEST(verbs_cm_refusal_decode(zero, sizeof(zero)) == 0);
	TEST(verbs_cm_refusal_decode(large, sizeof(large)) == -EPROTO);
	TEST(verbs_cm_refusal_decode(NULL, 0) == 0);
}

int main(void)
{
	test_ask();
	test_place();
	test_refusal();
	return test_end();
}
