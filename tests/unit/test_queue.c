/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue before a database that is well, dead, stalls, takes a part, dies
 * and comes back: each row is there once, in order, or counted. */
#include "export/queue.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/driver.h"
#include "row/row.h"
#include "test.h"

enum {
	ROWS_MAX = 200000,
	GATHER = 10,
	ROW = 8, /* bytes of one in a block: its number */
};

enum mode {
	WELL,
	DEAD,
	STALLS,	 /* takes nothing, says nothing */
	PARTS,	 /* takes seven rows, then fails */
	REFUSES, /* every third row */
};

/* The database. */
static struct {
	atomic_int mode;
	atomic_uint tries;
	struct export_stop *stop;
	uint64_t got[ROWS_MAX];
	unsigned n;
} db;

static const struct row_field fields[] = {{"n", ROW_U64, 0}};
static const struct schema schema = {"numbers", fields, 1};
static const struct schema none = {"none", fields, 1};

static void fake_close(void *self)
{
	(void)self;
}

static int fake_open_schema(void *schema_state, void *self,
			    const struct schema *s, struct error *err)
{
	(void)schema_state;
	(void)self;
	return s == &none ? error_set(err, -EINVAL, "no such table") : 0;
}

static void fake_encode(void *self, void *schema_state, struct outbuf *to,
			const struct row_batch *b, unsigned row, uint32_t rows)
{
	(void)self;
	(void)schema_state;
	(void)rows;
	outbuf_bytes(to, (const char *)&row_batch_cell(b, row, 0)->u64, ROW);
}

static void take_row(struct export_block *b, struct export_tally *t)
{
	uint64_t n;

	memcpy(&n, b->bytes + b->at, ROW);
	if (db.mode == REFUSES && n % 3 == 0) {
		t->refused++;
		error_set(&t->why, 0, "no threes");
	} else {
		db.got[db.n++ % ROWS_MAX] = n;
		t->written++;
	}
	b->at += ROW;
	b->rows--;
}

static int fake_send(void *self, struct export_block *b, struct export_tally *t,
		     struct error *err)
{
	int mode = db.mode;
	unsigned n = mode == DEAD || mode == STALLS ? 0
		     : mode == PARTS		    ? 7
						    : b->rows;

	(void)self;
	db.tries++;
	while (mode == STALLS && !db.stop->now)
		usleep(1000);
	while (n-- && b->rows)
		take_row(b, t);
	return b->rows ? error_set(err, -EAGAIN, "mode %d", mode) : 0;
}

static const struct export_driver fake = {
	.close = fake_close,
	.state_size = 1,
	.open_schema = fake_open_schema,
	.encode = fake_encode,
	.send = fake_send,
};

static char dir[] = "/tmp/dta-test-queue-XXXXXX";

static struct row_sink *start(enum mode mode, const struct queue_options *o)
{
	static struct export_stop stop;
	const struct queue_driver d = {.driver = &fake,
				       .self = &db,
				       .stop = &stop,
				       .spool_name = "fake"};
	struct row_sink *sink = NULL;
	struct error err = {""};

	db.mode = mode;
	db.n = 0;
	db.tries = 0;
	stop.now = false;
	db.stop = &stop;
	if (!TEST(queue_open(&sink, o, &d, &err) == 0))
		fprintf(stderr, "%s\n", err.text);
	return sink;
}

/* Fast: retries and blocks come at once. */
/* For what must come to an end, however busy the machine is. */
#define LONG_NS UINT64_C(60000000000)

static struct queue_options options(uint64_t bytes, bool spool)
{
	return (struct queue_options){.bytes = bytes,
				      .spool = spool ? dir : NULL,
				      .spool_size = 1 << 24,
				      .end_ns = 50000000,
				      .rows = 100,
				      .linger_ns = 1000000,
				      .retry_ns = 1000000};
}

static void put(struct row_sink *s, unsigned from, unsigned n)
{
	struct rows *r = rows_open(s, &schema, GATHER);

	for (unsigned i = from; i < from + n; i++) {
		row_u64(r, 0, i);
		TEST(row_end(r) == 0);
	}
	rows_close(r);
}

static struct queue_status status(struct row_sink *s)
{
	struct queue_status st;

	queue_status(s, &st);
	return st;
}

static struct queue_ledger end(struct row_sink *s)
{
	struct queue_status st;

	queue_end(s);
	st = status(s);
	TEST(ledger_balanced(&queue_ledger, &st.ledger));
	s->close(s);
	return st.ledger;
}

/* Waits until a condition holds; not for ever. */
#define UNTIL(cond)                                                            \
	do {                                                                   \
		unsigned tries_ = 0;                                           \
		while (!(cond) && tries_++ < 200000)                           \
			usleep(100);                                           \
		TEST(cond);                                                    \
	} while (0)

/* The database has n rows, from a number on, in order. */
static bool has(unsigned from, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (db.got[i] != from + i)
			return false;
	return db.n == n;
}

static void test_well(void)
{
	struct queue_options o = options(1 << 30, false);
	struct row_sink *s;

	o.end_ns = LONG_NS;
	s = start(WELL, &o);
	put(s, 0, 100000);
	UNTIL(status(s).ledger.written == 100000);
	TEST(has(0, 100000));
	put(s, 100000, 5);
	TEST(end(s).written == 100005);
	TEST(has(0, 100005));
}

/* Less memory than a batch takes is room for one. */
static void test_narrow(void)
{
	struct queue_options o = options(100, false);
	struct row_sink *s;

	o.end_ns = LONG_NS;
	s = start(WELL, &o);
	put(s, 0, GATHER);
	UNTIL(status(s).ledger.written == GATHER);
	put(s, GATHER, GATHER);
	TEST(end(s).written == 2 * GATHER);
	TEST(has(0, 2 * GATHER));
}

static void test_dead(void)
{
	struct queue_options o = options(20000, false);
	struct row_sink *s = start(DEAD, &o);
	struct queue_ledger l;

	put(s, 0, 50000); /* it does not wait */
	UNTIL(status(s).failing);
	TEST(!strcmp(status(s).why.text, "mode 1"));
	l = end(s);
	TEST(l.rows == 50000 && l.written == 0);
	TEST(l.full > 40000 && l.unsent > 0 && l.full + l.unsent == 50000);
}

/* Room is waited for where that is allowed, and at the end a database that
 * takes rows, however slowly. */
static void test_hold(void)
{
	struct queue_options o = options(20000, false);
	struct row_sink *s;

	o.hold = true;
	o.end_ns = LONG_NS;
	s = start(PARTS, &o);
	put(s, 0, 20000);
	TEST(status(s).ledger.full == 0);
	TEST(end(s).written == 20000);
	TEST(has(0, 20000));
}

static unsigned asked;

static bool third_time(void)
{
	return ++asked >= 3;
}

/* A database that is dead holds it up, until it is told to cancel. */
static void test_held(void)
{
	struct queue_options o = options(20000, false);
	struct queue_ledger l;
	struct row_sink *s;

	o.hold = true;
	o.cancelled = third_time;
	s = start(DEAD, &o);
	put(s, 0, 50000);
	TEST(asked >= 3);
	l = end(s);
	TEST(l.full > 0 && l.full + l.unsent == 50000);
}

/* Nobody may be held up, but the spool takes what has no room. */
static void test_spool_takes(void)
{
	struct queue_options o = options(20000, true);
	struct row_sink *s = start(DEAD, &o);
	struct queue_ledger l;

	put(s, 0, 50000);
	l = end(s);
	TEST(l.full == 0 && l.kept == 50000);
	o.end_ns = LONG_NS;
	s = start(WELL, &o);
	TEST(end(s).written == 50000);
	TEST(has(0, 50000));
}

/* The spool's room is bounded: then rows are lost, and why is told. */
static void test_spool_full(void)
{
	struct queue_options o = options(20000, true);
	struct queue_ledger l;
	struct row_sink *s;
	unsigned n;

	o.spool_size = 100000;
	s = start(DEAD, &o);
	put(s, 0, 50000);
	UNTIL(status(s).ledger.full > 0);
	TEST(!!strstr(status(s).spool.text, "/fake: it may hold 100000 bytes"));
	TEST(status(s).ledger.spool_full > 0);
	l = end(s);
	n = (unsigned)l.kept;
	TEST(n > 10000 && l.full + n + l.unsent == 50000);
	o.end_ns = LONG_NS;
	s = start(WELL, &o);
	TEST(end(s).written == n);
	for (unsigned i = 1; i < n; i++)
		TEST(db.got[i] > db.got[i - 1]);
}

/* That the end has broken off the last try is not why rows were not sent. */
static void test_why(void)
{
	struct queue_options o = options(1 << 25, false);
	struct row_sink *s = start(DEAD, &o);

	put(s, 0, 10);
	UNTIL(status(s).failing);
	db.mode = STALLS;
	queue_end(s);
	TEST(!strcmp(status(s).why.text, "mode 1"));
	TEST(end(s).unsent == 10);
}

static void test_stalls(void)
{
	struct queue_options o = options(20000, false);
	struct row_sink *s = start(STALLS, &o);
	struct queue_ledger l;

	put(s, 0, 50000);
	l = end(s); /* it comes back */
	TEST(l.full + l.unsent == 50000 && l.unsent > 0);
}

static void test_parts(void)
{
	struct queue_options o = options(1 << 25, false);
	struct row_sink *s;

	o.end_ns = UINT64_C(20000000000);
	s = start(PARTS, &o);
	put(s, 0, 50);
	TEST(end(s).written == 50);
	TEST(has(0, 50)); /* none twice */
	TEST(db.tries >= 7);
}

static void test_refused(void)
{
	struct queue_options o = options(1 << 25, false);
	struct row_sink *s;
	struct queue_ledger l;
	struct row_batch b;

	o.end_ns = UINT64_C(20000000000);
	s = start(REFUSES, &o);
	put(s, 0, 3000);
	UNTIL(status(s).ledger.refused == 1000);
	TEST(!strcmp(status(s).refusal.text, "no threes"));
	TEST(row_batch_init(&b, &none, 1) == 0);
	row_batch_end(&b);
	TEST(s->put(s, &b) == 0);
	UNTIL(status(s).ledger.refused == 1001);
	TEST(!strcmp(status(s).refusal.text, "no such table"));
	row_batch_fini(&b);
	l = end(s);
	TEST(l.written == 2000 && l.refused == 1001 && l.retries == 0);
}

/* What was there when it died, what came meanwhile, what comes after. */
static void test_back(bool spool)
{
	struct queue_options o = options(1 << 25, spool);
	struct row_sink *s;
	struct queue_ledger l;

	o.end_ns = UINT64_C(20000000000);
	s = start(WELL, &o);
	put(s, 0, 1000);
	UNTIL(status(s).ledger.written == 1000);
	db.mode = DEAD;
	put(s, 1000, 5000);
	UNTIL(status(s).failing);
	put(s, 6000, 5000);
	db.mode = PARTS;
	UNTIL(status(s).ledger.written >= 1100);
	db.mode = WELL;
	put(s, 11000, 5000);
	l = end(s);
	TEST(l.written == 16000 && l.retries > 0);
	TEST(l.spooled == (spool ? 16000 : 0));
	TEST(has(0, 16000));
}

/* Three runs: the last one's database has all, in order. */
static void test_restart(void)
{
	struct queue_options o = options(200000, true);
	struct row_sink *s = start(DEAD, &o);
	struct queue_ledger l;
	unsigned kept;

	put(s, 0, 10);
	UNTIL(status(s).failing); /* from now on all goes to the spool */
	for (unsigned i = 10; i < 5000; i += 10) {
		put(s, i, 10);
		UNTIL(status(s).ledger.spooled + 500 > i); /* it is slower */
	}
	l = end(s);
	TEST(l.rows == 5000 && l.kept == 5000);
	s = start(STALLS, &o);
	l = end(s);
	TEST(l.found == 5000 && l.kept == 5000);
	/* a part of one block is taken, then it is over */
	s = start(PARTS, &o);
	put(s, 5000, 10);
	UNTIL(status(s).ledger.written >= 7);
	db.mode = STALLS;
	l = end(s);
	kept = (unsigned)l.kept;
	/* a block of which a part was taken is sent again, whole */
	TEST(l.found == 5000 && l.written + l.kept == 5010);
	TEST(db.n >= l.written && has(0, db.n));
	o.end_ns = UINT64_C(20000000000);
	s = start(WELL, &o);
	put(s, 5010, 10);
	TEST(end(s).written == kept + 10);
	TEST(has(5010 - kept, kept + 10));
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	test_well();
	test_narrow();
	test_dead();
	test_hold();
	test_held();
	test_spool_takes();
	test_spool_full();
	test_stalls();
	test_why();
	test_parts();
	test_refused();
	test_back(false);
	test_back(true);
	test_restart();
	if (chdir(dir) == 0)
		TEST(rmdir("fake") == 0);
	TEST(rmdir(dir) == 0);
	return test_end();
}
