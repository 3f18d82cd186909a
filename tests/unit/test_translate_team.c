/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A translator on several cores leaves what one alone does: memory, ledger,
 * NACKs, immediates in their order, the operations of each table on a road for
 * one at a time. Best run under ThreadSanitizer, too (make SAN=thread).
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "team_result.h"
#include "team_rig.h"
#include "op/local.h"
#include "store/prefetch.h"
#include "test.h"
#include "translate/team.h"

enum {
	REPORTS = 40000,
	WORKERS = 4,
};

/*
 * The local road, with pauses at places of its own choice before operations:
 * what others do in the meantime must not matter.
 */
struct pausing {
	struct road road, *inner;
	struct rng rng;
};

static struct road *inner(struct road *road)
{
	return ((struct pausing *)road)->inner;
}

static uint64_t pausing_begin(struct road *road)
{
	return inner(road)->begin(inner(road));
}

static int pausing_exec(struct road *road, const struct op *ops, size_t n,
			uint64_t ts_ns)
{
	struct pausing *p = (struct pausing *)road;

	if (rng_below(&p->rng, 40) == 0)
		usleep(200);
	return p->inner->exec(p->inner, ops, n, ts_ns);
}

static void pausing_end(struct road *road)
{
	inner(road)->end(inner(road));
}

static uint64_t pausing_head(struct road *road, unsigned table, uint32_t list)
{
	return inner(road)->head(inner(road), table, list);
}

static void pausing_close(struct road *road)
{
	inner(road)->close(inner(road));
	free(road);
}

static struct road *pausing_new(struct road *in, uint64_t seed);

static int pausing_twin(struct road *road, struct road **out, struct fault *f)
{
	struct pausing *p = (struct pausing *)road;
	struct road *in;
	int rc = p->inner->twin(p->inner, &in, f);

	if (!rc)
		*out = pausing_new(in, rng_u64(&p->rng));
	return rc;
}

static struct road *pausing_new(struct road *in, uint64_t seed)
{
	struct pausing *p = calloc(1, sizeof(*p));

	p->road = (struct road){.begin = pausing_begin,
				.exec = pausing_exec,
				.end = pausing_end,
				.head = pausing_head,
				.twin = pausing_twin,
				.close = pausing_close};
	p->inner = in;
	p->rng.state = seed;
	return &p->road;
}

static void check(bool ok, const char *what, unsigned workers)
{
	if (!TEST(ok))
		fprintf(stderr, "  %s, %u workers\n", what, workers);
}

/* All that traffic holds, by so many workers; 0: without a team. */
static void run(struct translator *t, struct traffic *tf, unsigned workers)
{
	struct translate_team_options o = {
		.workers = workers, .take = traffic_take, .ctx = tf};
	struct pkt pkts[TRANSLATE_TEAM_BATCH];
	struct translate_team *c = NULL;
	int n;

	tf->at = 0;
	if (workers)
		TEST(translate_team_open(&c, t, &o, NULL) == 0);
	while ((n = traffic_take(tf, NULL, pkts, TRANSLATE_TEAM_BATCH)))
		if (workers)
			TEST(translate_team_rx(c, pkts, (size_t)n) == 0);
		else
			TEST(translate_rx(t, pkts, (size_t)n) == 0);
	translate_team_close(c);
	TEST(translate_flush(t) == 0);
}

/* Traffic into a new region. */
static struct result into_region(struct traffic *tf, unsigned workers,
				 enum prefetch prefetch, enum dart dart,
				 const char *const (*fields)[3], size_t n)
{
	struct translate_options o = {.dart = dart, .seed = 7};
	struct result r = {{0}};
	struct table table[TABLE_MAX];
	struct local_road *local;
	struct translator *t;
	struct region *region;
	struct road *road;
	char name[64], path[] = "/tmp/dta-test-team-XXXXXX";
	struct fault f = {""};

	snprintf(name, sizeof(name), "dta-test-%d-team", (int)getpid());
	region_make(name, fields, n, &region);
	close(mkstemp(path));
	TEST(snk_open(&o.nacks, path, &f) == 0);
	prefetch_set(prefetch);
	TEST(local_open(&local, region, &f) == 0);
	TEST((local_road(local)->mem != NULL) == (prefetch == PREFETCH_ON));
	for (unsigned i = 0; i < region_tables(region); i++)
		table[i] = *region_table(region, i);
	road = workers ? pausing_new(local_road(local), workers)
		       : local_road(local);
	if (!TEST(translate_open(&t, table, region_tables(region), road, &o,
				 &f) == 0)) {
		fprintf(stderr, "%s\n", f.text);
		exit(test_end());
	}
	run(t, tf, workers);
	result_of(&r, region, t);
	translate_close(t);
	if (workers)
		free(road);
	local_close(local);
	region_close(region);
	region_remove(name, NULL);
	TEST(snk_close(o.nacks) == 0);
	read_all(path, &r);
	return r;
}

static void compare(const struct result *a, const struct result *b,
		    unsigned workers)
{
	check(!memcmp(a->digest, b->digest, sizeof(a->digest)), "memory",
	      workers);
	check(same_ledger(&a->ledger, &b->ledger), "ledger", workers);
	check(ledger_balanced(&translate_ledger, &b->ledger), "sum", workers);
	check(a->notified == b->notified &&
		      !memcmp(a->immediate, b->immediate, sizeof(a->immediate)),
	      "immediates", workers);
	check(a->nacks_len == b->nacks_len &&
		      !memcmp(a->nacks, b->nacks, a->nacks_len),
	      "NACKs", workers);
}

/* One alone, and so many workers, with lines asked for and not. */
static void by_all(struct traffic *tf, enum dart dart,
		   const char *const (*fields)[3], size_t n)
{
	struct result alone = into_region(tf, 0, PREFETCH_OFF, dart, fields, n),
		      r;

	TEST(alone.ledger.stored > tf->n / 20);
	for (unsigned workers = 0; workers <= WORKERS; workers++) {
		r = into_region(tf, workers, PREFETCH_ON, dart, fields, n);
		compare(&alone, &r, workers);
		free(r.nacks);
		if (!workers)
			continue;
		r = into_region(tf, workers, PREFETCH_OFF, dart, fields, n);
		compare(&alone, &r, workers);
		free(r.nacks);
	}
	free(alone.nacks);
}

#define ALL_OF(fields) (fields), sizeof(fields) / sizeof((fields)[0])

static void all_tables(enum dart dart)
{
	struct traffic *tf = traffic_new(REPORTS, 1 + dart, 0);
	struct result r = into_region(tf, 0, PREFETCH_OFF, dart,
				      ALL_OF(team_fields));

	/* Nothing is missing in this traffic. */
	TEST(r.ledger.gaps && r.ledger.missing && r.ledger.out_of_order &&
	     r.ledger.repeated && r.ledger.questions && r.ledger.malformed &&
	     r.ledger.bad_table && r.ledger.bad_list && r.ledger.early &&
	     r.ledger.chunks && r.ledger.duplicates && r.ledger.immediates &&
	     r.ledger.batches > r.ledger.partial_batches &&
	     r.ledger.partial_batches && r.nacks_len > 1000);
	free(r.nacks);
	by_all(tf, dart, ALL_OF(team_fields));
	traffic_free(tf);
}

/* One table's reports alone: its jobs are all of a stage's. */
static void one_table(bool quiet)
{
	for (unsigned table = 1; table <= TEAM_TABLES; table++) {
		struct traffic *tf = traffic_make(
			&(struct traffic){.n = REPORTS / 4,
					  .rng.state = table,
					  .only = table,
					  .quiet = quiet});

		by_all(tf, DART_OFF, ALL_OF(team_fields));
		traffic_free(tf);
	}
}

/*
 * Postcards whose batches are grouped before their turn (gather/groups.h), and
 * nothing else; with another table's among them; and with some immediates,
 * which come in the order of the postcards that complete a row.
 */
static void grouped(void)
{
	static const unsigned either[][2] = {
		{TEAM_PATHS, TEAM_PATHS},
		{TEAM_PATHS, TEAM_OTHERS},
		{TEAM_OTHERS, TEAM_COUNTED},
		{TEAM_LISTS, TEAM_PATHS},
	};

	for (unsigned i = 0; i < 8; i++) {
		struct traffic *tf = traffic_make(&(struct traffic){
			.n = REPORTS / 2,
			.rng.state = i + 1,
			.spell = 3,
			.either = {either[i / 2][0], either[i / 2][1]},
			.quiet = i % 2,
			.plain = true});

		by_all(tf, DART_OFF, ALL_OF(team_fields));
		traffic_free(tf);
	}
}

/* Two tables in turn, each for so many reports that stages of lines that are
 * asked for end with one of them, with both, or not before all packets are
 * looked at. */
static void two_tables(unsigned one, unsigned other, unsigned spell)
{
	struct traffic *tf = traffic_make(
		&(struct traffic){.n = REPORTS / 4,
				  .rng.state = spell,
				  .spell = spell,
				  .either = {one, other},
				  .quiet = spell % 2});

	by_all(tf, DART_OFF, ALL_OF(team_fields));
	traffic_free(tf);
}

/* A hop of a path of two, in the place of the i-th packet. */
static void put_hop(struct traffic *tf, size_t i, unsigned table, unsigned who,
		    unsigned hop)
{
	uint8_t *p = tf->block + (i + 1) * TEAM_ROOM, key[13] = {0};
	uint8_t data[4] = {0, 0, 0, 1}, frame[FRAME_ROOM];
	struct dta_report r = {
		.opcode = DTA_POSTCARD,
		.immediate = !hop,
		.table = (uint16_t)table,
		.hop = (uint8_t)hop,
		.path_len = 2,
		.key_len = sizeof(key),
		.data_len = sizeof(data),
		.key = key,
		.data = data,
	};
	uint32_t len;

	be32_store(key, who);
	len = (uint32_t)frame_of(frame, DTA_FORMAT_1, &r, 1, SHAPE_COMMON);
	memcpy(p, frame, len);
	tf->pkt[i] = (struct pkt){p, len, len, tf->pkt[i].ts_ns};
}

/*
 * Postcards of two tables, whose rows keep immediates of a batch before; the
 * table that comes first has its paths completed last, by the packets from
 * `last' on.
 */
static void late_immediates(size_t last)
{
	struct traffic *tf = traffic_make(
		&(struct traffic){.n = 4 * TRANSLATE_TEAM_BATCH,
				  .rng.state = 3,
				  .only = TEAM_COUNTED,
				  .quiet = true,
				  .batch = TRANSLATE_TEAM_BATCH});

	for (unsigned who = 0; who < 10; who++) {
		put_hop(tf, who, TEAM_PATHS, who, 0);
		put_hop(tf, 10 + who, TEAM_OTHERS, who, 0);
		put_hop(tf, tf->batch + who, TEAM_OTHERS, who, 1);
		put_hop(tf, last + who, TEAM_PATHS, who, 1);
	}
	by_all(tf, DART_OFF, ALL_OF(team_fields));
	traffic_free(tf);
}

static void swaps(void)
{
	static const char *const fields[][3] = {
		{"slots", "kind", "keywrite"}, {"slots", "key", "hex:13"},
		{"slots", "value", "4"},       {"slots", "slots", "2Ki"},
		{"slots", "copies", "2"},
	};
	struct traffic *tf = traffic_new(REPORTS, 5, TEAM_COUNTED);

	by_all(tf, DART_CAS, ALL_OF(fields));
	traffic_free(tf);
}

/* A road for one at a time, of several collectors: the sum of each table's
 * operations in their order. It is busy now and then. */
struct summing {
	struct road road;
	uint64_t sum[4 * TEAM_TABLES], begins;
	bool inside, bad;
};

static void mix(uint64_t *sum, uint64_t v)
{
	*sum = rng_mix(*sum ^ v);
}

static int summing_exec(struct road *road, const struct op *ops, size_t n,
			uint64_t ts_ns)
{
	struct summing *s = (struct summing *)road;

	s->bad = s->bad || !s->inside;
	for (size_t i = 0; i < n; i++) {
		uint64_t *sum = &s->sum[ops[i].table];

		mix(sum, ops[i].offset);
		mix(sum, ops[i].length);
		mix(sum, (uint64_t)ops[i].verb << 32 | ops[i].immediate);
		mix(sum, ts_ns);
		if (ops[i].verb == OP_FETCH_ADD)
			mix(sum, ops[i].add);
		for (unsigned k = 0;
		     ops[i].verb != OP_FETCH_ADD && k < ops[i].length; k++)
			mix(sum, ops[i].data[k]);
	}
	return 0;
}

static uint64_t summing_begin(struct road *road)
{
	struct summing *s = (struct summing *)road;

	s->bad = s->bad || s->inside;
	s->inside = true;
	s->begins++;
	return s->begins / 20; /* a new epoch now and then */
}

static void summing_end(struct road *road)
{
	((struct summing *)road)->inside = false;
}

static uint64_t summing_head(struct road *road, unsigned table, uint32_t list)
{
	return ((struct summing *)road)->begins * 3 + table + list;
}

static bool summing_busy(struct road *road, unsigned table)
{
	return ((struct summing *)road)->begins % 16 == table;
}

static struct summing summed(struct traffic *tf, unsigned workers,
			     const struct table *table, unsigned n,
			     unsigned collectors)
{
	struct summing s = {.road = {.begin = summing_begin,
				     .exec = summing_exec,
				     .end = summing_end,
				     .head = summing_head,
				     .busy = summing_busy}};
	struct translate_options o = {.collectors = collectors};
	struct translator *t;

	TEST(translate_open(&t, table, n, &s.road, &o, NULL) == 0);
	run(t, tf, workers);
	check(!s.bad, "one batch at a time", workers);
	for (unsigned i = 0; i < translate_ledger.n; i++)
		mix(&s.sum[0],
		    ledger_get(&translate_ledger, translate_counters(t), i));
	translate_close(t);
	return s;
}

static void in_turn(struct traffic *tf, unsigned collectors)
{
	struct table table[TABLE_MAX];
	struct summing alone, s;
	struct region *region;
	unsigned n;
	char name[64];

	snprintf(name, sizeof(name), "dta-test-%d-team", (int)getpid());
	region_make(name, ALL_OF(team_fields), &region);
	n = region_tables(region);
	for (unsigned i = 0; i < n; i++)
		table[i] = *region_table(region, i);
	region_close(region);
	region_remove(name, NULL);
	alone = summed(tf, 0, table, n, collectors);
	for (unsigned workers = 1; workers <= WORKERS; workers++) {
		s = summed(tf, workers, table, n, collectors);
		check(!memcmp(alone.sum, s.sum, sizeof(s.sum)) &&
			      alone.begins == s.begins,
		      "operations", workers);
	}
	traffic_free(tf);
}

int main(void)
{
	all_tables(DART_OFF);
	all_tables(DART_ONE);
	swaps();
	one_table(false);
	one_table(true);
	grouped();
	two_tables(TEAM_COUNTED, TEAM_PATHS, 20);
	two_tables(TEAM_OTHERS, TEAM_SUMS, 201);
	two_tables(TEAM_WIDE, TEAM_LISTS, 501);
	late_immediates(2 * TRANSLATE_TEAM_BATCH - 10);
	late_immediates(TRANSLATE_TEAM_BATCH + 500);
	in_turn(traffic_new(REPORTS, 9, 0), 1);
	in_turn(traffic_new(REPORTS, 9, 0), 3);
	/* Now and then nothing comes for lists. */
	in_turn(traffic_make(&(struct traffic){
			.n = REPORTS,
			.rng.state = 4,
			.spell = 1500,
			.either = {TEAM_COUNTED, TEAM_LISTS}}),
		1);
	return test_end();
}
