/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Append against rings that are filled entry by entry; and what the operations
 * must be: entries first, then the count, never past the ring's end.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "store/layout.h"
#include "store/query.h"
#include "test.h"
#include "translate_road.h"
#include "wire/be.h"

static struct frames fed;

static void report(uint32_t list, const uint8_t *data, uint16_t len,
		   bool immediate, uint64_t ts_ns)
{
	uint8_t key[4], frame[FRAME_ROOM];
	struct dta_report r = {.opcode = DTA_APPEND,
			       .immediate = immediate,
			       .table = 2,
			       .sequence = 5,
			       .key_len = 4,
			       .data_len = len,
			       .key = key,
			       .data = data};

	be32_store(key, list);
	frames_add(&fed, frame, frame_of(frame, DTA_FORMAT_1, &r, 1, 0), ts_ns);
}

static void feed(struct translator *tr)
{
	TEST(translate_rx(tr, fed.pkt, fed.n) == 0);
	frames_clear(&fed);
}

/* Random lists, entries and batches; memory after the flush is the rings'. */
static void against_model(const struct table *t, uint64_t seed, uint64_t start)
{
	struct test_road *road = test_road_new(t, 1);
	uint8_t *mem = calloc(1, t->length), data[1200];
	struct rng rng = {seed};
	struct translator *tr;
	uint64_t *count = malloc(t->lists * sizeof(*count));

	for (uint32_t i = 0; i < t->lists; i++)
		count[i] = start;
	road->head = start;
	TEST(translate_open(&tr, t, 1, &road->road, NULL, NULL) == 0);
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
	TEST(!memcmp(mem, road->mem[0], t->length));
	TEST(!road->bad);
	TEST(ledger_balanced(&translate_ledger, translate_counters(tr)));
	translate_close(tr);
	test_road_free(road);
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
	struct test_road *road = test_road_new(&t, 1);
	const uint8_t *data = (const uint8_t *)"aaaabbbbccccddddeeee";
	struct translator *tr;
	const struct op *o = road->op;

	road->head = 7;
	TEST(translate_open(&tr, &t, 1, &road->road, NULL, NULL) == 0);
	report(3, data, 12, false, 0);
	feed(tr);
	TEST(road->nops == 0);
	report(3, data + 12, 8, false, 0); /* fills the batch, one is left */
	feed(tr);
	/* 7, 8, 9, then 0: two writes, then the count */
	TEST(road->nops == 3);
	TEST(o[0].offset == (3 * 10 + 7) * 4 && o[0].length == 12);
	TEST(o[1].offset == 3 * 10 * 4 && o[1].length == 4);
	TEST(o[2].offset == t.heads + 8 * 3 && o[2].length == 8);
	TEST(be64_load(road->mem[0] + t.heads + 24) == 11);
	TEST(!memcmp(road->mem[0] + 120, "dddd", 4));
	/* the immediate flag: at once, and the count carries it */
	report(3, data, 4, true, 0);
	feed(tr);
	TEST(road->nops == 5 && o[3].length == 8 && o[3].verb == OP_WRITE &&
	     o[4].verb == OP_WRITE_IMM && o[4].immediate == (2u << 16 | 5));
	TEST(be64_load(road->mem[0] + t.heads + 24) == 13);
	/* an immediate report that ends with a full batch: one count */
	report(3, data, 16, true, 0);
	feed(tr);
	TEST(road->nops == 7 && o[6].verb == OP_WRITE_IMM);
	TEST(translate_counters(tr)->batches == 3);
	TEST(translate_counters(tr)->partial_batches == 1);
	TEST(translate_counters(tr)->immediates == 2);
	TEST(!road->bad);
	translate_close(tr);
	test_road_free(road);
}

enum {
	MS = 1000000,
};

static const uint64_t long_ago = UINT64_C(1700000000000) * MS;

static uint64_t count_of(const struct test_road *road, const struct table *t,
			 uint32_t list)
{
	return be64_load(road->mem[0] + t->heads + 8 * list);
}

/* A list that waits longer than its flush time is written, no other. */
static void flush_time(void)
{
	struct table t = test_lists(2, 4, 4, 100, 4, 16);
	struct test_road *road = test_road_new(&t, 1);
	const uint8_t *data = (const uint8_t *)"abcd";
	struct translator *tr;
	uint64_t t0 = long_ago;

	TEST(translate_open(&tr, &t, 1, &road->road, NULL, NULL) == 0);
	report(0, data, 4, false, t0);
	feed(tr);
	report(1, data, 4, false, t0 + 60 * MS);
	feed(tr);
	report(0, data, 4, false, t0 + 99 * MS);
	feed(tr);
	TEST(road->nops == 0);
	report(2, data, 4, false, t0 + 100 * MS);
	feed(tr);
	TEST(road->nops == 2 && road->op[0].length == 8);
	TEST(count_of(road, &t, 0) == 2);
	/* silence counts too, but only once: the next packet tells it again */
	TEST(translate_idle(tr, 50 * MS) == 0);
	TEST(road->nops == 2);
	report(3, data, 4, false, t0 + 155 * MS);
	feed(tr);
	TEST(road->nops == 2);
	TEST(translate_idle(tr, 4 * MS) == 0);
	TEST(road->nops == 2);
	TEST(translate_idle(tr, 1 * MS) == 0);
	TEST(road->nops == 4 && count_of(road, &t, 1) == 1);
	TEST(translate_flush(tr) == 0);
	TEST(translate_counters(tr)->partial_batches == 4);
	translate_close(tr);
	test_road_free(road);
}

/* Wild times lose nothing, and nothing waits for a time that will not come. */
static void wild_times(void)
{
	struct table t = test_lists(2, 4, 4, 100, 4, 16);
	struct test_road *road = test_road_new(&t, 1);
	const uint8_t *data = (const uint8_t *)"abcd";
	struct translator *tr;
	uint64_t t0 = long_ago;

	TEST(translate_open(&tr, &t, 1, &road->road, NULL, NULL) == 0);
	/* out of order by less than a tenth of a second: time stands still */
	for (unsigned i = 0; i < 1000; i++)
		report(i % 4, data, 4, false, t0 + (i % 2 ? 0 : 90) * MS);
	feed(tr);
	TEST(translate_counters(tr)->partial_batches == 0);
	TEST(road->nops > 100);
	TEST(translate_flush(tr) == 0);
	road->nops = 0;
	/* the clock is set back: what waits is written, and time goes on */
	report(0, data, 4, false, t0 + 100 * MS);
	report(1, data, 4, false, 5);
	report(2, data, 4, false, 5 + 60 * MS);
	feed(tr);
	TEST(road->nops == 2 && road->op[1].offset == t.heads);
	report(2, data, 4, false, 5 + 100 * MS);
	feed(tr);
	TEST(road->nops == 4 && road->op[3].offset == t.heads + 8);
	/* one stamp from the end of time among others: early, not for ever */
	report(3, data, 4, false, UINT64_MAX);
	report(1, data, 4, false, 5 + 101 * MS);
	feed(tr);
	report(1, data, 4, false, 5 + 230 * MS);
	feed(tr);
	TEST(count_of(road, &t, 1) == 252 && count_of(road, &t, 2) == 252 &&
	     count_of(road, &t, 3) == 251);
	/* the last of all */
	for (unsigned i = 0; i < 100; i++)
		report(i % 4, data, 4, false, UINT64_MAX - i % 7);
	feed(tr);
	TEST(translate_flush(tr) == 0);
	TEST(!road->bad);
	TEST(ledger_balanced(&translate_ledger, translate_counters(tr)));
	translate_close(tr);
	test_road_free(road);
}

/*
 * A capture: each list's batches are those of a translator that looks at the
 * time with every packet, however the packets fall into batches; and what is
 * written because of the time says when that was.
 */
enum {
	SPAN = 3000, /* packets */
	SPAN_LISTS = 5,
	SPAN_BATCH = 8,
};

static struct span {
	uint64_t ts_ns;
	uint32_t list;
} span[SPAN];

struct written { /* a batch: where its list then stood, and when */
	uint64_t count, ts_ns;
	bool due;
};

static struct written model[SPAN_LISTS][SPAN + 1], seen[SPAN_LISTS][SPAN + 1];
static unsigned modelled[SPAN_LISTS], saw[SPAN_LISTS];

static void model_write(uint32_t i, uint64_t count, uint64_t ts_ns, bool due)
{
	model[i][modelled[i]++] = (struct written){count, ts_ns, due};
}

static void model_span(uint64_t flush_ns)
{
	uint64_t count[SPAN_LISTS] = {0}, oldest[SPAN_LISTS];
	unsigned waiting[SPAN_LISTS] = {0};

	memset(modelled, 0, sizeof(modelled));
	for (unsigned k = 0; k <= SPAN; k++) {
		uint64_t now = span[k < SPAN ? k : SPAN - 1].ts_ns;

		for (uint32_t i = 0; i < SPAN_LISTS; i++) {
			bool due = waiting[i] && now - oldest[i] >= flush_ns;

			if (!due && (k < SPAN || !waiting[i]))
				continue;
			count[i] += waiting[i];
			waiting[i] = 0;
			model_write(i, count[i],
				    due ? oldest[i] + flush_ns : now, due);
		}
		if (k == SPAN)
			break;
		if (!waiting[span[k].list]++)
			oldest[span[k].list] = now;
		if (waiting[span[k].list] < SPAN_BATCH)
			continue;
		waiting[span[k].list] = 0;
		count[span[k].list] += SPAN_BATCH;
		model_write(span[k].list, count[span[k].list], now, false);
	}
}

static void look_at_counts(struct test_road *r)
{
	unsigned last = (unsigned)(r->nops - 1) % ROAD_OPS;
	const struct op *op = &r->op[last];
	uint64_t list = (op->offset - r->tables->heads) / 8;

	if (op->offset >= r->tables->heads)
		seen[list][saw[list]++] = (struct written){
			be64_load(r->mem[0] + op->offset), r->ts_ns[last],
			false};
	if (r->nops == ROAD_OPS)
		r->nops = 0;
}

static void compare_span(void)
{
	for (uint32_t i = 0; i < SPAN_LISTS; i++) {
		TEST(saw[i] == modelled[i]);
		for (unsigned k = 0; k < saw[i] && k < modelled[i]; k++) {
			const struct written *m = &model[i][k];
			const struct written *s = &seen[i][k];

			TEST(s->count == m->count);
			TEST(s->ts_ns >= m->ts_ns &&
			     (!m->due || s->ts_ns < m->ts_ns + 2 * MS));
		}
	}
}

static void run_span(struct table *t, size_t step)
{
	struct test_road *road = test_road_new(t, 1);
	struct translator *tr;
	const uint8_t data[4] = {0};

	memset(saw, 0, sizeof(saw));
	road->look = look_at_counts;
	TEST(translate_open(&tr, t, 1, &road->road, NULL, NULL) == 0);
	for (size_t k = 0; k < SPAN; k++) {
		report(span[k].list, data, 4, false, span[k].ts_ns);
		if (fed.n == step)
			feed(tr);
	}
	feed(tr);
	TEST(translate_flush(tr) == 0);
	TEST(!road->bad);
	translate_close(tr);
	test_road_free(road);
}

static void captures(void)
{
	/* the packets come so far apart, us */
	static const unsigned apart[] = {1, 100, 5000, 100000, 3000000};
	static const size_t step[] = {1, 7, 512, PKT_BATCH};
	struct table t = test_lists(2, 4, 4, 100, SPAN_LISTS, SPAN_BATCH);
	struct rng rng = {7};

	for (unsigned i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
		uint64_t now = long_ago;

		for (unsigned k = 0; k < SPAN; k++) {
			now += rng_below(&rng, 2000 * apart[i]);
			span[k] = (struct span){
				now, (uint32_t)rng_below(&rng, SPAN_LISTS)};
		}
		model_span(100 * MS);
		for (unsigned s = 0; s < sizeof(step) / sizeof(step[0]); s++) {
			run_span(&t, step[s]);
			compare_span();
		}
	}
}

/* A layout's list 1 after each operation: all that it promises is there. */
static uint64_t promised, looked;

static void look_at_list(struct test_road *r)
{
	struct view v = {.t = r->tables, .mem = r->mem[0]};
	uint64_t count, next, lost, kept;
	uint8_t buf[64 * 4];
	int64_t n;

	TEST(list_count(&count, &v, 1) == 0);
	n = list_read(&v, 1, 0, buf, 64, &next, &lost);
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
	struct test_road *road;
	struct translator *tr;
	struct layout l;
	struct fault f;
	uint32_t entry = 0;

	snprintf(text, sizeof(text),
		 "[a]\nid = 2\nkind = append\nvalue = 4\nlists = 3\n%s\n",
		 fields);
	TEST(write(fd, text, strlen(text)) > 0);
	snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
	if (!TEST(layout_read(&l, text, &f) == 0))
		return;
	close(fd);
	road = test_road_new(l.table, 1);
	promised = promise;
	road->look = look_at_list;
	TEST(translate_open(&tr, l.table, 1, &road->road, NULL, NULL) == 0);
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
	TEST(looked > 100 && !road->bad);
	translate_close(tr);
	test_road_free(road);
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
	struct test_road *road = test_road_new(&t, 1);
	const uint8_t *data = (const uint8_t *)"abcdefghijkl";
	struct translator *tr;

	road->head = 10;
	TEST(translate_open(&tr, &t, 1, &road->road, NULL, NULL) == 0);
	report(0, data, 12, false, 0);
	feed(tr);
	TEST(be64_load(road->mem[0] + t.heads) == 12);
	road->generation = 2;
	road->head = 0;
	report(1, data, 4, false, 0);
	feed(tr);
	TEST(translate_flush(tr) == 0);
	TEST(be64_load(road->mem[0] + t.heads) == 1);
	TEST(!memcmp(road->mem[0], "ijkl", 4));
	translate_close(tr);
	test_road_free(road);
}

/* Entries of the published system lie little-endian (wire-facts 2.4). */
static void dta0(void)
{
	struct table t = test_lists(2, 4, 4, 100, 4, 1);
	struct translate_options o = {.format = DTA_FORMAT_0A};
	struct test_road *road = test_road_new(&t, 1);
	struct dta_report r = {.opcode = DTA_APPEND,
			       .key_len = 4,
			       .data_len = 4,
			       .key = (const uint8_t *)"\0\0\0\3",
			       .data = (const uint8_t *)"\0\0\0\x2a"};
	struct translator *tr;
	uint8_t frame[FRAME_ROOM];

	t.hash = HASH_DTA0;
	TEST(translate_open(&tr, &t, 1, &road->road, &o, NULL) == 0);
	frames_add(&fed, frame, frame_of(frame, DTA_FORMAT_0A, &r, 1, 0), 0);
	feed(tr);
	TEST(!memcmp(road->mem[0] + 3 * 400, "\x2a\0\0\0", 4));
	translate_close(tr);
	test_road_free(road);
}

static void limit(void)
{
	struct table t = test_lists(2, 60, 64, 65, 131072, 64);
	struct test_road road = {.n = 0};
	struct translator *tr;
	struct fault why = {0};

	TEST(translate_open(&tr, &t, 1, &road.road, NULL, &why) == -EINVAL);
	TEST(strstr(why.text, "batch") != NULL);
}

int main(void)
{
	geometries();
	operations();
	flush_time();
	wild_times();
	captures();
	promises();
	epochs();
	dta0();
	limit();
	return test_end();
}
