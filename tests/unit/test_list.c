/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists: every fill level from every position, and a writer at work between any
 * two loads of the reader. Each entry is its own number, so that one that was
 * overwritten, or not yet written, would show.
 */
#include <endian.h>
#include <errno.h>

#include "query/query.h"
#include "store_sample.h"

static struct layout layout;
static uint8_t *memory;

/* A view of zeroed memory of a table of the sample. */
static struct table_view fresh(unsigned table)
{
	const struct table *t = &layout.table[table];

	free(memory);
	memory = aligned_alloc(64, (t->length + 63) / 64 * 64);
	memset(memory, 0, t->length);
	return (struct table_view){
		.t = t,
		.values = layout.values[table],
		.mem = memory,
	};
}

/* A list that a writer works on between any two loads of the reader. */
struct busy {
	struct memory face;
	struct table_view inner;
	uint64_t count;
	uint64_t step; /* entries written before each load */
};

static void append(struct busy *b, uint64_t n)
{
	const struct table *t = b->inner.t;
	uint64_t be;

	for (; n; n--, b->count++) {
		uint32_t e = htobe32((uint32_t)b->count);

		memcpy(memory + table_entry(t, 1, b->count % t->units), &e, 4);
	}
	be = htobe64(b->count);
	memcpy(memory + table_head(t, 1), &be, 8);
}

/* A batch that is stored, but not counted yet. */
static void half_batch(const struct busy *b)
{
	const struct table *t = b->inner.t;

	for (uint64_t i = b->count; i < b->count + t->batch; i++)
		memset(memory + table_entry(t, 1, i % t->units), 0xff, 4);
}

static void busy_read(struct memory *m, struct memory_read *r, size_t n)
{
	struct busy *b = (struct busy *)m; /* its first member */

	for (size_t i = 0; i < n; i++) {
		append(b, b->step);
		half_batch(b);
		memcpy(r[i].to, memory + r[i].offset, r[i].length);
		r[i].rc = 0;
	}
}

static const struct memory_ops busy_ops = {.read = busy_read};

/* What came: entries from..next without those lost, each its own number. */
static void check_entries(const uint8_t *buf, int64_t n, uint64_t from,
			  uint64_t next, uint64_t lost)
{
	TEST(n >= 0 && next - from == (uint64_t)n + lost);
	for (int64_t i = 0; i < n; i++) {
		uint32_t e;

		memcpy(&e, buf + 4 * i, 4);
		TEST(be32toh(e) == next - (uint64_t)(n - i));
	}
}

static void test_list(void)
{
	static uint8_t buf[400];
	uint64_t next, lost, count, kept = 100 - 16;
	struct busy b = {.face.ops = &busy_ops, .inner = fresh(SAMPLE_LOSS)};
	struct table_view v = b.inner,
			  busy = {.t = b.inner.t, .memory = &b.face};
	int64_t n;

	TEST(query_list_read(&v, 1, 0, buf, 100, &next, &lost) == 0);
	TEST(next == 0 && lost == 0);
	/* Every fill level, from every position, a few lengths. */
	for (unsigned i = 0; i < 260; i++) {
		TEST(query_list_count(&count, &v, 1) == 0 && count == i);
		for (uint64_t from = 0; from <= i; from += 3)
			for (uint64_t max = 1; max <= 100; max += 33) {
				uint64_t had = i > kept ? i - kept : 0;

				n = query_list_read(&v, 1, from, buf, max,
						    &next, &lost);
				check_entries(buf, n, from, next, lost);
				TEST(lost == (from < had ? had - from : 0));
				had = from > had ? from : had;
				TEST((uint64_t)n ==
				     (i - had < max ? i - had : max));
			}
		append(&b, 1);
	}
	TEST(query_list_count(&count, &v, 0) == 0 && count == 0);
	/* A writer between the reader's loads, up to several laps. */
	for (b.step = 1; b.step < 250; b.step += 7) {
		uint64_t from = b.count;

		append(&b, 50);
		n = query_list_read(&busy, 1, from, buf, 100, &next, &lost);
		check_entries(buf, n, from, next, lost);
	}
	TEST(query_list_read(&v, 3, 0, buf, 1, &next, &lost) == -EINVAL);
	n = query_list_read(&v, 1, b.count + 5, buf, 9, &next, &lost);
	TEST(n == 0 && next == b.count && lost == 0);
}

/* Counts that no writer would write: within bounds, whatever they are. */
static void test_hostile_count(void)
{
	static const uint64_t counts[] = {UINT64_MAX, UINT64_MAX - 99,
					  1ull << 63, 12345678901};
	struct table_view v = fresh(SAMPLE_LOSS);
	uint8_t buf[400];

	for (unsigned i = 0; i < 4; i++) {
		uint64_t be = htobe64(counts[i]), next, lost;
		int64_t n;

		memcpy(memory + table_head(v.t, 2), &be, 8);
		n = query_list_read(&v, 2, 0, buf, 100, &next, &lost);
		TEST(n == 84 && next == counts[i] && lost == counts[i] - 84);
	}
}

int main(void)
{
	struct error err;

	sample_layout(&layout);
	for (unsigned i = 0; i < layout.n; i++) {
		layout.table[i].id = (uint16_t)(i + 1);
		TEST(table_finish(&layout.table[i], &err) == 0);
	}
	test_list();
	test_hostile_count();
	free(memory);
	layout_fini(&layout);
	return test_end();
}
