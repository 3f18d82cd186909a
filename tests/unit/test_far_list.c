/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of a region on another machine: round trips, and what they find. */
#include "far_rig.h"
#include "net/be.h"

/* A region with a list of n entries of 4 bytes, padded to 8 or not, whose ring
 * has wrapped; behind a link. */
static struct memory *far_list(const char *name, bool padded, uint64_t n)
{
	struct region_options o = {.epochs = 1};
	struct layout l = {.n = 1};
	struct error err = {""};
	char ring[24];
	struct memory *m = NULL;
	const struct table *t;
	uint8_t *p;

	snprintf(ring, sizeof(ring), "%llu", (unsigned long long)n + 1);
	snprintf(l.table[0].name, TABLE_NAME_MAX, "long");
	TEST(layout_set(&l.table[0], "kind", "append", NULL) == 0);
	TEST(layout_set(&l.table[0], "value", padded ? "3" : "4", NULL) == 0);
	TEST(layout_set(&l.table[0], "ring", ring, NULL) == 0);
	TEST(layout_set(&l.table[0], "batch", "1", NULL) == 0);
	TEST(layout_set(&l.table[0], "lists", "1", NULL) == 0);
	if (!TEST(region_create(NULL, name, &l, &o, &err) == 0))
		fprintf(stderr, "%s\n", err.text);
	layout_fini(&l);
	region = sample_open(name, true);
	t = region_table(region, 0);
	p = (uint8_t *)region_read(region, t, 1);
	for (uint64_t i = 0; i < t->units; i++)
		be32_store(p + i * t->stride, (uint32_t)i << 8);
	be64_store(p + t->heads, t->units + 7);
	TEST((t->stride != t->value_len) == padded);
	TEST(far(&m, region_size(region), NULL) == 0);
	return m;
}

/* A list takes as many round trips whether it is short or long: for its count,
 * the entries, and the count again. */
static void test_list(uint64_t n, bool padded)
{
	struct region *sample = region;
	uint64_t next, lost, most;
	struct memory *m;
	struct table_view v;
	char name[64];
	uint8_t *buf;
	bool same = true;

	snprintf(name, sizeof(name), "dta-test-%d-list", (int)getpid());
	region_remove(name, NULL);
	m = far_list(name, padded, n);
	memory_view(&v, m, &m->table[0], m->newest);
	most = query_list_at_once(&v, n);
	TEST(most == n);
	buf = malloc(n * v.t->value_len);
	trips = 0;
	TEST(query_list_read(&v, 0, 0, buf, most, &next, &lost) == (int64_t)n);
	TEST(trips == 3);
	TEST(next == v.t->units + 7 && lost == next - n);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t want = (lost + i) % v.t->units;
		uint8_t word[4];

		be32_store(word, (uint32_t)want << 8);
		same &= !memcmp(buf + i * v.t->value_len, word, 3);
	}
	TEST(same);
	/* A link that breaks on the way. */
	TEST(memory_renew(m) == 0);
	for (unsigned i = 1; i <= 2; i++) {
		trips = 0;
		fail_at = i;
		TEST(query_list_read(&v, 0, 0, buf, most, &next, &lost) < 0);
	}
	fail_at = 0;
	free(buf);
	memory_close(m);
	region_close(region);
	region_remove(name, NULL);
	region = sample;
}

/* Far lists of up to 16 MiB at once, others of 64 KiB. */
static void test_at_once(void)
{
	struct memory *m, *near = region_memory(region);
	struct table_view v, w;

	if (!TEST(far(&m, region_size(region), NULL) == 0))
		return;
	memory_view(&v, m, &m->table[SAMPLE_LOSS], m->newest);
	memory_view(&w, near, &near->table[SAMPLE_LOSS], m->newest);
	TEST(query_list_at_once(&v, 7) == 7 && query_list_at_once(&w, 7) == 7);
	TEST(query_list_at_once(&v, UINT64_MAX) == (16 << 20) / 4);
	TEST(query_list_at_once(&w, UINT64_MAX) == (64 << 10) / 4);
	memory_close(m);
}

/* The counts of many lists come at once; what they were before entries were
 * read is forgotten then. */
static void test_counts(void)
{
	uint64_t n, next, lost;
	struct memory *m;
	uint8_t buf[64];
	struct table_view v;

	if (!TEST(far(&m, region_size(region), NULL) == 0))
		return;
	memory_view(&v, m, &m->table[SAMPLE_LOSS], m->newest);
	memset((uint8_t *)region_read(region, region_table(region, SAMPLE_LOSS),
				      m->newest) +
		       v.t->heads,
	       0, 24);
	trips = 0;
	for (uint32_t i = 0; i < 3; i++)
		TEST(query_list_count(&n, &v, i) == 0 && n == 0);
	for (uint32_t i = 0; i < 3; i++)
		TEST(query_list_read(&v, i, 0, buf, 1, &next, &lost) == 0);
	TEST(trips == 1);
	be64_store((uint8_t *)region_read(region,
					  region_table(region, SAMPLE_LOSS),
					  m->newest) +
			   v.t->heads,
		   1);
	TEST(query_list_count(&n, &v, 0) == 0 && n == 0 && trips == 1);
	TEST(memory_renew(m) == 0);
	TEST(query_list_read(&v, 0, 0, buf, 1, &next, &lost) == 1);
	TEST(trips == 5); /* the epochs, then the list */
	memory_close(m);
}

int main(void)
{
	const char *name = sample_create(1);

	region = sample_open(name, true);
	for (unsigned padded = 0; padded < 2; padded++) {
		test_list(3, padded);
		test_list(1 << 20, padded);
	}
	test_at_once();
	test_counts();
	region_close(region);
	region_remove(name, NULL);
	return test_end();
}
