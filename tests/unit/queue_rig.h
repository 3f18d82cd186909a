/* SPDX-License-Identifier: BSD-2-Clause */
/* queue_rig.h - a database that is well, dead, stalls, takes a part, dies and
 * comes back, behind a queue. */
#ifndef TESTS_UNIT_QUEUE_RIG_H
#define TESTS_UNIT_QUEUE_RIG_H

#include "queue/queue.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "queue/driver.h"
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
	struct stop *stop;
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

static int fake_shape(void **out, void *self, const struct schema *s,
		      struct fault *f)
{
	*out = self;
	return s == &none ? fault_set(f, -EINVAL, "no such table") : 0;
}

static void fake_encode(void *self, void *shape, struct outbuf *to,
			const struct row_batch *b, unsigned row, uint32_t rows)
{
	(void)self;
	(void)shape;
	(void)rows;
	outbuf_bytes(to, (const char *)&row_batch_cell(b, row, 0)->u64, ROW);
}

static void take_row(struct block *b, struct tally *t)
{
	uint64_t n;

	memcpy(&n, b->bytes + b->at, ROW);
	if (db.mode == REFUSES && n % 3 == 0) {
		t->refused++;
		fault_set(&t->why, 0, "no threes");
	} else {
		db.got[db.n++ % ROWS_MAX] = n;
		t->written++;
	}
	b->at += ROW;
	b->rows--;
}

static int fake_send(void *self, struct block *b, struct tally *t,
		     struct fault *f)
{
	struct pollfd end = {.fd = db.stop->fd, .events = POLLIN};
	int mode = db.mode;
	unsigned n = mode == DEAD || mode == STALLS ? 0
		     : mode == PARTS		    ? 7
						    : b->rows;

	(void)self;
	db.tries++;
	if (mode == STALLS)
		poll(&end, 1, -1);
	while (n-- && b->rows)
		take_row(b, t);
	return b->rows ? fault_set(f, -EAGAIN, "mode %d", mode) : 0;
}

static const struct driver fake = {
	.close = fake_close,
	.shape = fake_shape,
	.unshape = fake_close,
	.encode = fake_encode,
	.send = fake_send,
};

static char dir[] = "/tmp/dta-test-queue-XXXXXX";

static struct row_sink *start(enum mode mode, const struct queue_options *o)
{
	struct queue *q = queue_make(o, NULL);
	struct fault f = {""};

	db.mode = mode;
	db.n = 0;
	db.tries = 0;
	db.stop = queue_stop(q);
	if (!TEST(queue_start(q, &fake, &db, "fake", &f) == 0))
		fprintf(stderr, "%s\n", f.text);
	return queue_sink(q);
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

#endif
