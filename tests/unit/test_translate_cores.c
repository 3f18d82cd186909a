/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A translator on several cores leaves what one alone does: memory, what is
 * counted of reports, as many immediates and NACKs; by a transport with clones,
 * and by one that has none. Best run under ThreadSanitizer, too (make
 * SAN=thread).
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "team_result.h"
#include "team_rig.h"
#include "rdma/local.h"
#include "region/memory.h"
#include "test.h"
#include "dta/cores.h"

enum {
	REPORTS = 40000,
	WORKERS = 4,
};

/*
 * The local transport, with pauses at places of its own choice before
 * operations: what others do in the meantime must not matter.
 */
struct pausing {
	struct transport transport, *inner;
	struct rng rng;
};

static bool clones = true; /* the transport has them */

static struct transport *inner(struct transport *transport)
{
	return ((struct pausing *)transport)->inner;
}

static uint64_t pausing_begin(struct transport *transport)
{
	return inner(transport)->begin(inner(transport));
}

static int pausing_exec(struct transport *transport, const struct op *ops,
			size_t n, uint64_t ts_ns)
{
	struct pausing *p = (struct pausing *)transport;

	if (rng_below(&p->rng, 40) == 0)
		usleep(200);
	return p->inner->exec(p->inner, ops, n, ts_ns);
}

static void pausing_end(struct transport *transport)
{
	inner(transport)->end(inner(transport));
}

static uint64_t pausing_head(struct transport *transport, unsigned table,
			     uint32_t list)
{
	return inner(transport)->head(inner(transport), table, list);
}

static void pausing_close(struct transport *transport)
{
	inner(transport)->close(inner(transport));
	free(transport);
}

static struct transport *pausing_new(struct transport *in, uint64_t seed);

static int pausing_clone(struct transport *transport, struct transport **out,
			 struct error *err)
{
	struct pausing *p = (struct pausing *)transport;
	struct transport *in;
	int rc = p->inner->clone(p->inner, &in, err);

	if (!rc)
		*out = pausing_new(in, rng_u64(&p->rng));
	return rc;
}

static struct transport *pausing_new(struct transport *in, uint64_t seed)
{
	struct pausing *p = calloc(1, sizeof(*p));

	p->transport = (struct transport){.begin = pausing_begin,
					  .exec = pausing_exec,
					  .end = pausing_end,
					  .head = pausing_head,
					  .clone = clones ? pausing_clone
							  : NULL,
					  .close = pausing_close};
	p->inner = in;
	p->rng.state = seed;
	return &p->transport;
}

static void check(bool ok, const char *what, unsigned workers)
{
	if (!TEST(ok))
		fprintf(stderr, "  %s, %u workers\n", what, workers);
}

/* The first batch by one core: lists wait when several begin. */
static bool one_begins;

/* All that traffic holds, by so many workers; 0: by translate_rx(). */
static void run(struct translator *t, struct traffic *tf, unsigned workers)
{
	struct translate_cores_options o = {
		.workers = workers, .take = traffic_take, .ctx = tf};
	struct pkt pkts[TRANSLATE_CORES_BATCH];
	struct translate_cores *c = NULL;
	int n;

	tf->at = 0;
	if (one_begins) {
		n = traffic_take(tf, NULL, pkts, TRANSLATE_CORES_BATCH);
		TEST(translate_rx(t, pkts, (size_t)n) == 0);
	}
	if (workers)
		TEST(translate_cores_open(&c, t, &o, NULL) == 0);
	while ((n = traffic_take(tf, NULL, pkts, TRANSLATE_CORES_BATCH)))
		if (workers)
			TEST(translate_cores_rx(c, pkts, (size_t)n) == 0);
		else
			TEST(translate_rx(t, pkts, (size_t)n) == 0);
	translate_cores_close(c);
	TEST(translate_flush(t) == 0);
}

/* Traffic into a new region. */
static struct result into_region(struct traffic *tf, unsigned workers,
				 enum prefetch prefetch, bool dart,
				 const char *const (*fields)[3], size_t n)
{
	struct translate_options o = {.dart = dart, .seed = 7};
	struct result r = {{0}};
	struct table table[TABLE_MAX];
	struct local_transport *local;
	struct translator *t;
	struct region *region;
	struct transport *transport;
	char name[64], path[] = "/tmp/dta-test-team-XXXXXX";
	struct error err = {""};

	snprintf(name, sizeof(name), "dta-test-%d-team", (int)getpid());
	region_make(name, fields, n, &region);
	close(mkstemp(path));
	TEST(snk_open(&o.nacks, path, &err) == 0);
	prefetch_set(prefetch);
	TEST(local_open(&local, region, &err) == 0);
	TEST((local_transport(local)->mem != NULL) ==
	     (prefetch == PREFETCH_ON));
	for (unsigned i = 0; i < region_tables(region); i++)
		table[i] = *region_table(region, i);
	transport = workers ? pausing_new(local_transport(local), workers)
			    : local_transport(local);
	if (!TEST(translate_open(&t, table, region_tables(region), transport,
				 &o, &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		exit(test_end());
	}
	run(t, tf, workers);
	result_of(&r, region, t);
	translate_close(t);
	if (workers)
		free(transport);
	local_close(local);
	region_close(region);
	region_remove(name, NULL);
	TEST(snk_close(o.nacks) == 0);
	read_all(path, &r);
	return r;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* When lists are written hangs on the batches: so do their operations. */
static struct translate_ledger without_lists(const struct result *r)
{
	struct translate_ledger l = r->ledger;

	l.batches = l.partial_batches = l.ops = l.bytes = 0;
	return l;
}

static void compare(struct result *a, struct result *b, unsigned workers)
{
	struct translate_ledger one = without_lists(a), several;

	several = without_lists(b);
	check(!memcmp(a->digest, b->digest, sizeof(a->digest)), "memory",
	      workers);
	check(same_ledger(&one, &several), "ledger", workers);
	check(ledger_balanced(&translate_ledger, &b->ledger), "sum", workers);
	qsort(a->immediate, REGION_IMMEDIATES, sizeof(a->immediate[0]),
	      by_value);
	qsort(b->immediate, REGION_IMMEDIATES, sizeof(b->immediate[0]),
	      by_value);
	check(a->notified == b->notified, "immediates", workers);
	check(a->notified > REGION_IMMEDIATES ||
		      !memcmp(a->immediate, b->immediate, sizeof(a->immediate)),
	      "immediates' values", workers);
	check(a->nacks_len == b->nacks_len, "NACKs", workers);
}

/* One alone, and so many workers, with lines asked for and not. */
static void by_all(struct traffic *tf, bool dart,
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

static void all_tables(bool dart)
{
	struct traffic *tf = traffic_new(REPORTS, 1 + dart, 0);
	struct result r = into_region(tf, 0, PREFETCH_OFF, dart,
				      ALL_OF(team_fields));

	/* Nothing is missing in this traffic. */
	TEST(r.ledger.gaps && r.ledger.missing && r.ledger.out_of_order &&
	     r.ledger.repeated && r.ledger.probes && r.ledger.malformed &&
	     r.ledger.bad_table && r.ledger.bad_list &&
	     r.ledger.early_emissions && r.ledger.chunks &&
	     r.ledger.duplicates && r.ledger.immediates &&
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

		by_all(tf, false, ALL_OF(team_fields));
		traffic_free(tf);
	}
}

/* Postcards, and nothing else; with another table's among them; with some
 * immediates. */
static void postcards(void)
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

		by_all(tf, false, ALL_OF(team_fields));
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

	by_all(tf, false, ALL_OF(team_fields));
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
		&(struct traffic){.n = 4 * TRANSLATE_CORES_BATCH,
				  .rng.state = 3,
				  .only = TEAM_COUNTED,
				  .quiet = true,
				  .batch = TRANSLATE_CORES_BATCH});

	for (unsigned who = 0; who < 10; who++) {
		put_hop(tf, who, TEAM_PATHS, who, 0);
		put_hop(tf, 10 + who, TEAM_OTHERS, who, 0);
		put_hop(tf, tf->batch + who, TEAM_OTHERS, who, 1);
		put_hop(tf, last + who, TEAM_PATHS, who, 1);
	}
	by_all(tf, false, ALL_OF(team_fields));
	traffic_free(tf);
}

/* Operations go with offsets of 40 bits: a larger table is for one core. And
 * with 8 bits of a table's number: so are more tables, of all collectors. */
static void too_large(void)
{
	const struct translate_options many = {.collectors = COLLECTORS_MAX};
	const struct translate_cores_options o = {.workers = 2};
	static struct transport nowhere;
	struct translate_cores *c;
	struct translator *t;
	struct region *region;
	struct table table, tables[TABLE_MAX];
	struct error err = {""};
	char name[64];

	snprintf(name, sizeof(name), "dta-test-%d-large", (int)getpid());
	region_make(name, ALL_OF(team_fields), &region);
	table = *region_table(region, TEAM_COUNTED - 1);
	region_close(region);
	region_remove(name, NULL);
	table.units = UINT64_C(1) << 32;
	table.stride = 512;
	table.value_len = 508;
	table.length = table.units * table.stride;
	if (!TEST(translate_open(&t, &table, 1, &nowhere, NULL, &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		return;
	}
	TEST(translate_cores_open(&c, t, &o, &err) == -ENOTSUP);
	TEST(strstr(err.text, "for one core") != NULL);
	translate_close(t);
	for (unsigned i = 0; i < TABLE_MAX; i++) {
		tables[i] = table;
		tables[i].id = (uint16_t)(i + 1);
	}
	TEST(translate_open(&t, tables, TABLE_MAX, &nowhere, &many, &err) == 0);
	TEST(translate_cores_open(&c, t, &o, &err) == -ENOTSUP);
	TEST(strstr(err.text, "at most") != NULL);
	translate_close(t);
}

/* A clock that is set back again and again: each owner writes its own lists. */
static void rewound(void)
{
	struct traffic *tf = traffic_make(&(struct traffic){.n = REPORTS,
							    .rng.state = 5,
							    .only = TEAM_LISTS,
							    .quiet = true,
							    .plain = true});

	for (size_t i = 0; i < tf->n; i++)
		tf->pkt[i].ts_ns = UINT64_C(1000000000) * (200 - i / 500);
	by_all(tf, false, ALL_OF(team_fields));
	traffic_free(tf);
}

static void begun_by_one(void)
{
	struct traffic *tf = traffic_make(&(struct traffic){
		.n = REPORTS, .rng.state = 6, .only = TEAM_LISTS});

	one_begins = true;
	by_all(tf, false, ALL_OF(team_fields));
	one_begins = false;
	traffic_free(tf);
}

int main(void)
{
	too_large();
	begun_by_one();
	rewound();
	all_tables(false);
	all_tables(true);
	one_table(false);
	one_table(true);
	postcards();
	two_tables(TEAM_COUNTED, TEAM_PATHS, 20);
	two_tables(TEAM_OTHERS, TEAM_SUMS, 201);
	two_tables(TEAM_WIDE, TEAM_LISTS, 501);
	late_immediates(2 * TRANSLATE_CORES_BATCH - 10);
	late_immediates(TRANSLATE_CORES_BATCH + 500);
	clones = false;
	all_tables(false);
	return test_end();
}
