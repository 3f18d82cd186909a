/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The image of a region against the region itself; and against files that were
 * cut short, bent, or cannot be fetched.
 */
#include <errno.h>

#include "store/region_file.h"
#include "store_sample.h"

static struct region *region;
static unsigned fetches, fail_at;
static uint64_t end, highest; /* of the file, as fetched */
static struct region_header bent;
static bool use_bent;

static int fetch(void *ctx, uint64_t offset, void *buf, size_t len)
{
	TEST(ctx == &fetches);
	if (++fetches == fail_at)
		return -ECONNRESET;
	if (!TEST(offset <= end && len <= end - offset))
		return -ERANGE;
	highest = offset + len > highest ? offset + len : highest;
	memcpy(buf, region_file(region) + offset, len);
	if (!offset && use_bent)
		memcpy(buf, &bent, sizeof(bent));
	return 0;
}

static int image(struct region **out, uint64_t size, struct fault *f)
{
	fetches = 0;
	end = size;
	return region_image(out, "there", size, fetch, &fetches, f);
}

static void same(const struct region *a, const struct region *b)
{
	TEST(region_tables(a) == SAMPLE_TABLES);
	TEST(region_tables(a) == region_tables(b));
	TEST(region_size(a) == region_size(b));
	TEST(region_epochs(a) == region_epochs(b));
	TEST(region_epoch(a) == region_epoch(b));
	TEST(region_oldest(a) == region_oldest(b));
	for (unsigned i = 0; i < region_tables(a); i++) {
		const struct table *t = region_table(a, i);
		const struct table *u = region_table(b, i);

		TEST(!memcmp(t, u, sizeof(*t)));
		for (uint64_t e = region_oldest(a); e <= region_epoch(a); e++)
			TEST(region_offset(a, t, e) == region_offset(b, u, e));
		TEST(!region_values(a, t) == !region_values(b, u));
		if (region_values(a, t))
			TEST(!memcmp(region_values(a, t), region_values(b, u),
				     t->values * sizeof(uint32_t)));
	}
}

static void test_same(void)
{
	struct fault f = {""};
	struct region *r;

	if (!TEST(image(&r, region_size(region), &f) == 0))
		return;
	same(r, region);
	TEST(region_values(r, region_table(r, SAMPLE_PATHS))[2] == 500);
	/* Nothing of the tables comes over. */
	TEST(highest <= region->h.set_at);
	TEST(region_rotate(region, NULL, NULL) == 0);
	TEST(region_epoch(r) == 1);
	for (unsigned i = 0; i < 4; i++) {
		TEST(region_renew(r, fetch, &fetches) == 0);
		same(r, region);
		TEST(region_rotate(region, NULL, NULL) == 0);
	}
	fetches = 0;
	fail_at = 1;
	TEST(region_renew(r, fetch, &fetches) == -ECONNRESET);
	fail_at = 0;
	TEST(region_epoch(r) == region_epoch(region) - 1);
	region_close(r);
}

/* Whatever size is said: nothing behind it is fetched. */
static void test_short(void)
{
	uint64_t size = region_size(region);
	struct region *r;

	for (uint64_t n = 0; n < size;
	     n += n < 4096 || n > size - 4096 ? 1 : 4093) {
		struct fault f = {""};

		TEST(image(&r, n, &f) < 0 && says(&f, "there: "));
	}
}

static void test_failing(void)
{
	unsigned all;
	struct region *r;
	struct fault f;

	TEST(image(&r, region_size(region), &f) == 0);
	region_close(r);
	all = fetches;
	TEST(all == 3);
	for (fail_at = 1; fail_at <= all; fail_at++) {
		TEST(image(&r, region_size(region), &f) == -ECONNRESET);
		TEST(says(&f, "there: "));
	}
	fail_at = 0;
}

/* Each byte of the header in turn is another; the checksum finds it. Those that
 * a stranger made right again are judged as a file's. */
static void test_bent(void)
{
	struct region *r;
	struct fault f = {""};

	use_bent = true;
	for (size_t i = 0; i < sizeof(bent); i += i < 1024 ? 1 : 37) {
		bent = region->h;
		((uint8_t *)&bent)[i] ^= 0x41;
		TEST(image(&r, region_size(region), &f) < 0);
	}
	bent = region->h;
	bent.set_at += UINT64_C(1) << 40;
	bent.crc = region_header_crc(&bent);
	TEST(image(&r, region_size(region), &f) == -EBADMSG);
	bent = region->h;
	bent.file_size = UINT64_C(1) << 62;
	bent.crc = region_header_crc(&bent);
	TEST(image(&r, region_size(region), &f) == -ESTALE);
	/* It may be said to be there; but there is no room for it here. */
	TEST(image(&r, UINT64_MAX, &f) == -ENOMEM);
	bent = region->h;
	bent.values_crc ^= 1;
	bent.crc = region_header_crc(&bent);
	TEST(image(&r, region_size(region), &f) == -EBADMSG);
	TEST(says(&f, "sets of values"));
	use_bent = false;
}

int main(void)
{
	const char *name = sample_create(3);

	region = sample_open(name, true);
	test_same();
	test_short();
	test_failing();
	test_bent();
	region_close(region);
	region_remove(name, NULL);
	return test_end();
}
