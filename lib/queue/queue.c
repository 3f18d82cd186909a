/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "queue/private.h"

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct queue_ledger, rows, LEDGER_IN),
	LEDGER_FIELD(struct queue_ledger, found, LEDGER_IN),
	LEDGER_FIELD(struct queue_ledger, written, LEDGER_DONE),
	LEDGER_LEVEL(struct queue_ledger, kept, LEDGER_DONE),
	LEDGER_FIELD(struct queue_ledger, full, LEDGER_LOSS),
	LEDGER_FIELD(struct queue_ledger, refused, LEDGER_LOSS),
	LEDGER_FIELD(struct queue_ledger, unsent, LEDGER_LOSS),
	LEDGER_FIELD(struct queue_ledger, damaged, LEDGER_LOSS),
	LEDGER_LEVEL(struct queue_ledger, waiting, LEDGER_HARMLESS),
	LEDGER_FIELD(struct queue_ledger, spooled, LEDGER_NOTE),
	LEDGER_FIELD(struct queue_ledger, blocks, LEDGER_NOTE),
	LEDGER_FIELD(struct queue_ledger, retries, LEDGER_NOTE),
	LEDGER_FIELD(struct queue_ledger, spool_full, LEDGER_NOTE),
};
LEDGER_COMPLETE(fields, struct queue_ledger);

const struct ledger queue_ledger = {
	.stage = "export",
	.unit = "rows",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

static size_t bytes_of(const struct row_batch *b)
{
	return b->size + sizeof(struct batch) +
	       (size_t)(b->room + 1) * b->schema->n * sizeof(b->cells[0]);
}

/* One that is like b, but empty; lock is held. NULL: there is none. */
static struct batch *spare_like(struct queue *x, const struct row_batch *b)
{
	for (struct batch **at = &x->spare; *at; at = &(*at)->next) {
		struct batch *n = *at;

		if (n->rows.schema != b->schema || n->rows.room != b->room)
			continue;
		*at = n->next;
		x->spares--;
		return n;
	}
	return NULL;
}

/* What b holds, which is empty then. NULL: no memory. */
static struct batch *take_rows(struct batch *spare, struct row_batch *b)
{
	struct batch *n = spare ? spare : malloc(sizeof(*n));
	struct row_batch empty;

	if (spare) {
		empty = spare->rows;
		spare->rows = *b;
		*b = empty;
	} else if (n && row_batch_take(&n->rows, b) < 0) {
		free(n);
		n = NULL;
	}
	return n;
}

static void append(struct queue *x, struct batch *n, size_t bytes)
{
	n->next = NULL;
	n->bytes = bytes;
	*x->last_batch = n;
	x->last_batch = &n->next;
	x->batch_bytes += bytes;
	if (++x->waiting >= x->wanted || x->batch_bytes >= x->room / 2)
		pthread_cond_signal(&x->batch);
}

enum {
	HURRY_NS = 250000000, /* how often is asked whether to hurry */
};

static bool is_hurried(const struct queue *x)
{
	return x->options.hurry && x->options.hurry();
}

/* One batch may be more than all the room. */
static bool has_room(const struct queue *x, size_t bytes)
{
	return !x->batch_bytes || x->batch_bytes + bytes <= x->room;
}

/* Whether put() waits: always while the spool takes rows, at a disk's pace. */
static bool holds(const struct queue *x)
{
	if (x->ending)
		return false;
	if (x->spool && !x->spool_stuck)
		return true;
	return x->hold_until ? clock_ns() < x->hold_until : x->options.hold;
}

void queue_last(struct row_sink *face)
{
	struct queue *x = (struct queue *)face;

	pthread_mutex_lock(&x->lock);
	if (!x->hold_until)
		x->hold_until = clock_ns() + x->options.end_ns;
	pthread_mutex_unlock(&x->lock);
}

/* lock is held, but while it is asked. */
static void wait_for_room(struct queue *x, size_t bytes)
{
	while (!has_room(x, bytes) && holds(x)) {
		sink_wait(x, &x->settled, clock_ns() + HURRY_NS);
		pthread_mutex_unlock(&x->lock);
		if (is_hurried(x))
			queue_last(&x->face);
		pthread_mutex_lock(&x->lock);
	}
}

static int sink_put(struct row_sink *face, struct row_batch *b)
{
	struct queue *x = (struct queue *)face;
	size_t bytes = bytes_of(b);
	unsigned rows = b->rows;
	struct batch *n;

	if (!rows)
		return 0;
	pthread_mutex_lock(&x->lock);
	x->status.ledger.rows += rows;
	wait_for_room(x, bytes);
	if (x->ending || !has_room(x, bytes) ||
	    !(n = take_rows(spare_like(x, b), b)))
		x->status.ledger.full += rows;
	else
		append(x, n, bytes);
	pthread_mutex_unlock(&x->lock);
	return 0;
}

static int sink_flush(struct row_sink *face)
{
	struct queue *x = (struct queue *)face;
	uint64_t until = clock_ns() + x->options.end_ns;
	int rc = 0;

	pthread_mutex_lock(&x->lock);
	while (!rc && ledger_rest(&queue_ledger, &x->status.ledger)) {
		x->flushing = true;
		pthread_cond_signal(&x->batch);
		sink_wait(x, &x->settled, until);
		if (clock_ns() >= until)
			rc = -ETIMEDOUT;
	}
	pthread_mutex_unlock(&x->lock);
	return rc;
}

/* Gives the threads their time; then ends them whatever they do. Who is asked
 * whether to hurry may ask for the status. */
static void end_threads(struct queue *x)
{
	uint64_t until = clock_ns() + x->options.end_ns, now, blocks;
	bool hurry = is_hurried(x);

	pthread_mutex_lock(&x->lock);
	x->ending = true;
	pthread_cond_broadcast(&x->batch);
	pthread_cond_broadcast(&x->block);
	blocks = x->status.ledger.blocks;
	while (!(x->sends ? x->sent : x->packed) &&
	       (now = clock_ns()) < until && !hurry) {
		if (x->options.hold && x->status.ledger.blocks != blocks)
			until = now + x->options.end_ns;
		blocks = x->status.ledger.blocks;
		sink_wait(x, &x->settled,
			  until - now < HURRY_NS ? until : now + HURRY_NS);
		pthread_mutex_unlock(&x->lock);
		hurry = is_hurried(x);
		pthread_mutex_lock(&x->lock);
	}
	x->stop.now = true;
	pthread_cond_broadcast(&x->block);
	pthread_mutex_unlock(&x->lock);
	eventfd_write(x->stop.fd, 1);
	if (x->packs)
		pthread_join(x->packer, NULL);
	if (x->sends)
		pthread_join(x->sender, NULL);
	x->packs = x->sends = false;
}

static void free_batches(struct batch *n)
{
	struct batch *next;

	for (; n; n = next) {
		next = n->next;
		batch_free(n);
	}
}

static void free_blocks(struct block *b)
{
	struct block *next;

	for (; b; b = next) {
		next = b->next;
		free(b->bytes);
		free(b);
	}
}

/* What the sender was at goes before what waits, unless it is in the spool as
 * it is. */
static struct block *in_hand(struct queue *x)
{
	struct block *hand = x->hand, *rest = x->blocks;

	x->hand = x->blocks = NULL;
	if (!hand)
		return rest;
	if (hand->spooled && hand->rows == x->hand_rows) {
		free_blocks(hand);
		return rest;
	}
	if (hand->spooled)
		spool_done(x->spool);
	hand->next = rest;
	return hand;
}

static void keep(struct queue *x)
{
	struct queue_ledger *l = &x->status.ledger;
	struct block *rest = in_hand(x);
	uint64_t rows = 0;

	for (struct block *b = rest; b; b = b->next)
		rows += b->rows;
	if (x->spool) {
		uint64_t had = spool_rows(x->spool);

		if (rest)
			spool_prepend(x->spool, rest, &x->status.spool);
		l->kept = spool_rows(x->spool);
		rows -= l->kept - had;
		l->spooled += l->kept - had;
	}
	l->unsent += rows;
	free_blocks(rest);
}

int queue_end(struct row_sink *face)
{
	struct queue *x = (struct queue *)face;

	if (x->packs) {
		end_threads(x);
		keep(x);
	}
	return x->status.ledger.unsent || x->status.ledger.kept ? -ETIMEDOUT
								: 0;
}

static int sink_close(struct row_sink *face)
{
	struct queue *x = (struct queue *)face;
	int rc = queue_end(face);

	if (x->driver)
		x->driver->close(x->self);
	spool_close(x->spool);
	if (x->stop.fd >= 0)
		close(x->stop.fd);
	free_batches(x->spare);
	pthread_cond_destroy(&x->batch);
	pthread_cond_destroy(&x->block);
	pthread_cond_destroy(&x->settled);
	pthread_mutex_destroy(&x->lock);
	free(x->owned);
	free(x);
	return rc;
}

/* Of what is under way, what is in the spool; more may just have come there. */
static uint64_t in_spool(const struct queue *x, uint64_t under_way)
{
	uint64_t rows = x->spool ? spool_rows(x->spool) : 0;

	return rows < under_way ? rows : under_way;
}

void queue_status(struct row_sink *face, struct queue_status *out)
{
	struct queue *x = (struct queue *)face;
	struct queue_ledger *l = &out->ledger;

	pthread_mutex_lock(&x->lock);
	*out = x->status;
	pthread_mutex_unlock(&x->lock);
	l->kept += in_spool(x, ledger_rest(&queue_ledger, l));
	l->waiting = ledger_rest(&queue_ledger, l);
	if (x->driver->port)
		out->port = x->driver->port(x->self);
}

static uint64_t time_of(uint64_t ns, uint64_t usual)
{
	return ns == QUEUE_NO_TIME ? 0 : ns ? ns : usual;
}

static void set_defaults(struct queue_options *o)
{
	if (!o->bytes)
		o->bytes = UINT64_C(32) << 20;
	if (!o->spool_size)
		o->spool_size = UINT64_C(1) << 30;
	if (!o->rows)
		o->rows = 5000;
	o->end_ns = time_of(o->end_ns, UINT64_C(5000000000));
	o->linger_ns = time_of(o->linger_ns, UINT64_C(200000000));
	if (!o->retry_ns)
		o->retry_ns = UINT64_C(10000000000);
}

struct queue *queue_make(const struct queue_options *o, void *owned)
{
	struct queue *x = calloc(1, sizeof(*x));
	pthread_condattr_t a;

	if (!x)
		return NULL;
	x->face = (struct row_sink){sink_put, sink_flush, sink_close};
	x->options = *o;
	set_defaults(&x->options);
	x->room = x->options.bytes / 2;
	x->last_batch = &x->batches;
	x->last_block = &x->blocks;
	pthread_mutex_init(&x->lock, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&x->batch, &a);
	pthread_cond_init(&x->block, &a);
	pthread_cond_init(&x->settled, &a);
	pthread_condattr_destroy(&a);
	x->stop.fd = eventfd(0, EFD_CLOEXEC);
	if (x->stop.fd < 0) {
		sink_close(&x->face);
		return NULL;
	}
	x->owned = owned;
	return x;
}

struct stop *queue_stop(struct queue *q)
{
	return &q->stop;
}

struct row_sink *queue_sink(struct queue *q)
{
	return &q->face;
}

int queue_start(struct queue *q, const struct driver *d, void *self,
		const char *name, struct fault *f)
{
	int rc = 0;

	q->driver = d;
	q->self = self;
	if (q->options.spool && d->send)
		rc = spool_open(&q->spool, q->options.spool, name,
				q->options.spool_size, &q->status.ledger.found,
				f);
	if (rc < 0)
		return rc;
	rc = pthread_create(&q->packer, NULL, sink_pack, q);
	q->packs = !rc;
	if (!rc && d->send) {
		rc = pthread_create(&q->sender, NULL, sink_send, q);
		q->sends = !rc;
	}
	return rc ? fault_set(f, -rc, "a thread: %s", strerror(rc)) : 0;
}
