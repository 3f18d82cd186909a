/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Append against rings that are filled entry by entry; and what the operations
 * must be: entries first, then the count, never past the ring's end.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "append_rig.h"
#include "base/rng.h"
#include "region/layout.h"
#include "query/query.h"
#include "test.h"

/* Random lists, entries and batches; memory after the flush is the rings'. */
static void against_model(const struct table *t, uint64_t seed, uint64_t start)
{
	struct test_transport *transport = test_transport_new(t, 1);
	uint8_t *mem = calloc(1, t->length), data[1200];
	struct rng rng = {seed};
	struct translator *tr;
	uint64_t *count = malloc(t->lists * sizeof(*count));

	for (uint32_t i = 0; i < t->lists; i++)
		count[i] = start;
	transport->head = start;
	TEST(translate_open(&tr, t, 1, &transport->transport, NULL, NULL) == 0);
	for (int round = 0; round < 10; round++) {
		unsigned n = 1 + (unsigned)rng_below(&rng, PKT_BATCH);

		while (fed.n < n) {
			uint32_t list = (uint32_t)rng_below(&rng, t->lists);
			unsigned e = 1 +
				     (unsigned)rng_below(
					     &rng, 1200 / t->value_len < 40
							   ? 1200 / t->value_len
							   : 40);

			for (unsigned b = 0; b < e * t->value_len; b++)
				data[b] = (uint8_t)rng_u64(&rng);
			report(list, data, (uint16_t)(e * t->value_len),
			       !rng_below(&rng, 20), fed.n);
			for (unsigned k = 0; k < e; k++)
				memcpy(mem + (list * t->units +
					      count[list]++ % t->units) *
						       t->stride,
				       data + k * t->value_len, t->value_len);
			be64_store(mem + t->heads + 8 * list, count[list]);
		}
		feed(tr);
	}
	TEST(translate_flush(tr) == 0);
	TEST(!memcmp(mem, transport->mem[0], t->length));
	TEST(!transport->bad);
	TEST(ledger_balanced(&translate_ledger, translate_counters(tr)));
	translate_close(tr);
	test_transport_free(transport);
	free(mem);
	free(count);
}

static void geometries(void)
{
	struct table t;

	t = test_lists(2, 4, 4, 256, 7, 16);
	against_model(&t, 1, 0);
	t = test_lists(2, 4, 4, 101, 3, 16); /* batches meet the ring's end */
	against_model(&t, 2, 0);
	against_model(&t, 3, 1000007);
	t = test_lists(2, 18, 32, 65, 5, 64);
	against_model(&t, 4, 63);
	t = test_lists(2, 14, 16, 5, 2, 4);
	against_model(&t, 5, 3);
	t = test_lists(2, 13, 16, 2, 2, 1);
	against_model(&t, 6, 0);
	t = test_lists(2, 1000, 1024, 100, 2, 4);
	against_model(&t, 7, 50);
}

static void operations(void)
{
	struct table t = test_lists(2, 4, 4, 10, 4, 4);
	struct test_transport *transport = test_transport_new(&t, 1);
	const uint8_t *data = (const uint8_t *)"aaaabbbbccccddddeeee";
	struct translator *tr;
	const struct op *o = transport->op;

	transport->head = 7;
	TEST(translate_open(&tr, &t, 1, &transport->transport, NULL, NULL) ==
	     0);
	report(3, data, 12, false, 0);
	feed(tr);
	TEST(transport->nops == 0);
	report(3, data + 12, 8, false, 0); /* fills the batch, one is left */
	feed(tr);
	/* 7, 8, 9, then 0: two writes, then the count */
	TEST(transport->nops == 3);
	TEST(o[0].offset == (3 * 10 + 7) * 4 && o[0].length == 12);
	TEST(o[1].offset == 3 * 10 * 4 && o[1].length == 4);
	TEST(o[2].offset == t.heads + 8 * 3 && o[2].length == 8);
	TEST(be64_load(transport->mem[0] + t.heads + 24) == 11);
	TEST(!memcmp(transport->mem[0] + 120, "dddd", 4));
	/* the immediate flag: at once, and the count carries it */
	report(3, data, 4, true, 0);
	feed(tr);
	TEST(transport->nops == 5 && o[3].length == 8 &&
	     o[3].verb == OP_WRITE && o[4].verb == OP_WRITE_IMM &&
	     o[4].immediate == (2u << 16 | 5));
	TEST(be64_load(transport->mem[0] + t.heads + 24) == 13);
	/* an immediate report that ends with a full batch: one count */
	report(3, data, 16, true, 0);
	feed(tr);
	TEST(transport->nops == 7 && o[6].verb == OP_WRITE_IMM);
	TEST(translate_counters(tr)->batches == 3);
	TEST(translate_counters(tr)->partial_batches == 1);
	TEST(translate_counters(tr)->immediates == 2);
	TEST(!transport->bad);
	translate_close(tr);
	test_transport_free(transport);
}

/* A layout's list 1 after each operation: all that it promises is there. */
static uint64_t promised, looked;

static void look_at_list(struct test_transport *r)
{
	struct table_view v = {.t = r->tables, .mem = r->mem[0]};
	uint64_t count, next, lost, kept;
	uint8_t buf[64 * 4];
	int64_t n;

	TEST(query_list_count(&count, &v, 1) == 0);
	n = query_list_read(&v, 1, 0, buf, 64, &next, &lost);
	kept = count < promised ? count : promised;
	TEST(n == (int64_t)kept && lost == count - kept && next == count);
	for (int64_t i = 0; i < n; i++)
		TEST(be32_load(buf + 4 * i) == next - (uint64_t)(n - i));
	looked++;
}

static void always_whole(const char *fields, uint64_t promise)
{
	char text[200];
	int fd = memfd_create("layout", 0);
	struct rng rng = {promise};
	struct test_transport *transport;
	struct translator *tr;
	struct layout l;
	struct error err;
	uint32_t entry = 0;

	snprintf(text, sizeof(text),
		 "[a]\nid = 2\nkind = append\nvalue = 4\nlists = 3\n%s\n",
		 fields);
	TEST(write(fd, text, strlen(text)) > 0);
	snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
	if (!TEST(layout_read(&l, text, &err) == 0))
		return;
	close(fd);
	transport = test_transport_new(l.table, 1);
	promised = promise;
	transport->look = look_at_list;
	TEST(translate_open(&tr, l.table, 1, &transport->transport, NULL,
			    NULL) == 0);
	while (entry < 1000) {
		uint8_t data[7 * 4];
		unsigned n = 1 + (unsigned)rng_below(&rng, 7);

		for (unsigned i = 0; i < n; i++)
			be32_store(data + 4 * i, entry++);
		report(1, data, (uint16_t)(4 * n), !rng_below(&rng, 9), 0);
		if (!rng_below(&rng, 5))
			feed(tr);
	}
	feed(tr);
	TEST(translate_flush(tr) == 0);
	TEST(looked > 100 && !transport->bad);
	translate_close(tr);
	test_transport_free(transport);
	layout_fini(&l);
}

static void promises(void)
{
	always_whole("entries = 20\nbatch = 8", 20);
	always_whole("entries = 1\nbatch = 16", 1);
	always_whole("entries = 16\nbatch = 16", 16);
	always_whole("entries = 63\nbatch = 1", 63);
	always_whole("ring = 32\nbatch = 8", 24);
}

/* Another epoch: heads are asked again, what waits goes there. */
static void epochs(void)
{
	struct table t = test_lists(2, 4, 4, 100, 4, 2);
	struct test_transport *transport = test_transport_new(&t, 1);
	const uint8_t *data = (const uint8_t *)"abcdefghijkl";
	struct translator *tr;

	transport->head = 10;
	TEST(translate_open(&tr, &t, 1, &transport->transport, NULL, NULL) ==
	     0);
	report(0, data, 12, false, 0);
	feed(tr);
	TEST(be64_load(transport->mem[0] + t.heads) == 12);
	transport->generation = 2;
	transport->head = 0;
	report(1, data, 4, false, 0);
	feed(tr);
	TEST(translate_flush(tr) == 0);
	TEST(be64_load(transport->mem[0] + t.heads) == 1);
	TEST(!memcmp(transport->mem[0], "ijkl", 4));
	translate_close(tr);
	test_transport_free(transport);
}

/* Entries of the published system lie little-endian. */
static void dta0(void)
{
	struct table t = test_lists(2, 4, 4, 100, 4, 1);
	struct translate_options o = {.format = DTA_FORMAT_0A};
	struct test_transport *transport = test_transport_new(&t, 1);
	struct dta_report r = {.opcode = DTA_APPEND,
			       .key_len = 4,
			       .data_len = 4,
			       .key = (const uint8_t *)"\0\0\0\3",
			       .data = (const uint8_t *)"\0\0\0\x2a"};
	struct translator *tr;
	uint8_t frame[FRAME_ROOM];

	t.hash = HASH_DTA0;
	TEST(translate_open(&tr, &t, 1, &transport->transport, &o, NULL) == 0);
	frames_add(&fed, frame, frame_of(frame, DTA_FORMAT_0A, &r, 1, 0), 0);
	feed(tr);
	TEST(!memcmp(transport->mem[0] + 3 * 400, "\x2a\0\0\0", 4));
	translate_close(tr);
	test_transport_free(transport);
}

static void limit(void)
{
	struct table t = test_lists(2, 60, 64, 65, 131072, 64);
	struct test_transport transport = {.n = 0};
	struct translator *tr;
	struct error why = {0};

	TEST(translate_open(&tr, &t, 1, &transport.transport, NULL, &why) ==
	     -EINVAL);
	TEST(strstr(why.text, "batch") != NULL);
}

int main(void)
{
	geometries();
	operations();
	promises();
	epochs();
	dta0();
	limit();
	return test_end();
}
