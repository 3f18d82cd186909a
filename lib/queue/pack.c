/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.c - the thread that makes blocks of rows. */
#include <stdlib.h>

#include "base/clock.h"
#include "queue/private.h"

/* What the packer has of a schema: the block that is filled. */
struct form {
	struct form *next;
	const struct schema *schema;
	void *shape;	  /* the driver's; NULL: there is none */
	struct fault why; /* of that */
	struct outbuf o;
	uint32_t rows;
	uint64_t due_ns; /* when it is sent, whatever is in it */
};

static struct form *form_of(struct queue *x, struct form **forms,
			    const struct schema *s)
{
	struct form *m = *forms;

	while (m && m->schema != s)
		m = m->next;
	if (m || !(m = calloc(1, sizeof(*m))))
		return m;
	m->schema = s;
	if (x->driver->shape(&m->shape, x->self, s, &m->why) < 0)
		m->shape = NULL;
	m->next = *forms;
	*forms = m;
	return m;
}

static void free_forms(struct queue *x, struct form *m)
{
	struct form *next;

	for (; m; m = next) {
		next = m->next;
		x->driver->unshape(m->shape);
		free(m->o.text);
		free(m);
	}
}

static void refuse(struct queue *x, uint64_t rows, const char *why)
{
	struct tally t = {.refused = rows};

	fault_set(&t.why, 0, "%s", why);
	pthread_mutex_lock(&x->lock);
	sink_tally(x, &t);
	pthread_mutex_unlock(&x->lock);
}

/* Whether a block goes to the spool: it may not overtake, and memory is for
 * databases that answer. */
static bool to_spool(struct queue *x, const struct block *b)
{
	return x->spool &&
	       (x->status.failing || x->block_bytes + b->len > x->room ||
		spool_rows(x->spool));
}

enum {
	LOOK_NS = 100000000, /* for room on a disk that others fill, too */
};

/* False: it has no room, and why is told. lock is held, but while it writes. */
static bool spool(struct queue *x, const struct block *b)
{
	struct fault why;
	int rc;

	pthread_mutex_unlock(&x->lock);
	rc = spool_append(x->spool, b, &why);
	pthread_mutex_lock(&x->lock);
	if (rc < 0) {
		x->status.spool = why;
		x->status.ledger.spool_full += !x->spool_stuck;
		pthread_cond_broadcast(&x->settled); /* put() waits no more */
	} else {
		x->status.ledger.spooled += b->rows;
		pthread_cond_signal(&x->block);
	}
	x->spool_stuck = rc < 0;
	return rc == 0;
}

/* In memory. */
static bool has_room(const struct queue *x, const struct block *b)
{
	return !x->blocks || x->block_bytes + b->len <= x->room;
}

/* To the spool, or the sender. Waits for room, so that batches queue up; where
 * the spool has none, memory does only as long as nothing older is in it. */
static void hand_on(struct queue *x, struct block *b)
{
	bool done = false, behind;

	pthread_mutex_lock(&x->lock);
	while (!(to_spool(x, b) && (done = spool(x, b)))) {
		behind = x->spool && spool_rows(x->spool);
		if (!behind && (x->stop.now || has_room(x, b)))
			break;
		if (x->stop.now) {
			x->status.ledger.full += b->rows;
			done = true;
			break;
		}
		sink_wait(x, &x->block, clock_ns() + LOOK_NS);
	}
	x->spool_stuck = false;
	if (!done) {
		*x->last_block = b;
		x->last_block = &b->next;
		b->charged = b->len;
		x->block_bytes += b->charged;
		pthread_cond_broadcast(&x->block);
	}
	pthread_mutex_unlock(&x->lock);
	if (done) {
		free(b->bytes);
		free(b);
	}
}

static void finish(struct queue *x, struct form *m)
{
	struct block *b;

	if (!m->rows)
		return;
	b = calloc(1, sizeof(*b));
	if (b && !(b->bytes = outbuf_take(&m->o, &b->len))) {
		free(b);
		b = NULL;
	}
	if (b) {
		b->rows = m->rows;
		hand_on(x, b);
	} else {
		refuse(x, m->rows, "out of memory");
		outbuf_cut(&m->o, 0);
		m->o.err = 0;
	}
	m->rows = 0;
}

static void encode(struct queue *x, struct form *m, const struct row_batch *b)
{
	for (unsigned i = 0; i < b->rows; i++) {
		if (!m->rows)
			m->due_ns = clock_ns() + x->options.linger_ns;
		x->driver->encode(x->self, m->shape, &m->o, b, i, m->rows);
		m->rows++;
		if (m->rows >= x->options.rows ||
		    outbuf_len(&m->o) >= BLOCK_MAX)
			finish(x, m);
	}
}

static void take(struct queue *x, struct form *m, struct row_batch *b)
{
	struct tally t = {0};
	struct fault why = {""};

	x->driver->take(x->self, m->shape, b, &t, &why);
	pthread_mutex_lock(&x->lock);
	sink_tally(x, &t);
	x->status.ledger.blocks++;
	pthread_mutex_unlock(&x->lock);
}

static void pack_batch(struct queue *x, struct form **forms,
		       struct row_batch *b)
{
	struct form *m = form_of(x, forms, b->schema);

	if (!m || !m->shape)
		refuse(x, b->rows, m ? m->why.text : "out of memory");
	else if (x->driver->take)
		take(x, m, b);
	else
		encode(x, m, b);
}

/* The spare batch that has been one for longest, if there are too many: rows of
 * its schema come seldom. lock is held. */
static struct batch *one_too_many(struct queue *x)
{
	struct batch **at = &x->spare, *n;

	if (x->spares <= SPARE_MAX)
		return NULL;
	while ((*at)->next)
		at = &(*at)->next;
	n = *at;
	*at = NULL;
	x->spares--;
	return n;
}

/* A batch whose rows have been packed. */
static void release(struct queue *x, struct batch *n)
{
	struct batch *drop;

	row_batch_clear(&n->rows);
	pthread_mutex_lock(&x->lock);
	x->batch_bytes -= n->bytes;
	n->next = x->spare;
	x->spare = n;
	x->spares++;
	drop = one_too_many(x);
	pthread_cond_broadcast(&x->settled);
	pthread_mutex_unlock(&x->lock);
	batch_free(drop);
}

static void pack_all(struct queue *x, struct form **forms, struct batch *list)
{
	struct batch *next;

	for (; list; list = next) {
		next = list->next;
		pack_batch(x, forms, &list->rows);
		release(x, list);
	}
}

/* When the next block is due; of none: in a while. */
static uint64_t next_due(const struct form *m)
{
	uint64_t due = clock_ns() + 1000000000;

	for (; m; m = m->next)
		if (m->rows && m->due_ns < due)
			due = m->due_ns;
	return due;
}

enum {
	NAP_NS = 2000000,
	NAP_BATCHES = 16,
};

/* To wake a thread is dear for who puts rows: as long as they come, the packer
 * looks from time to time instead. lock is held. */
static void nap(struct queue *x)
{
	uint64_t until = clock_ns() + NAP_NS;

	x->wanted = NAP_BATCHES;
	while (x->waiting < x->wanted && x->batch_bytes < x->room / 2 &&
	       !x->ending && !x->flushing && clock_ns() < until)
		sink_wait(x, &x->batch, until);
	x->wanted = 1;
}

/* The batches that have come, or NULL: something is due, or the end. busy: some
 * had come before. */
static struct batch *take_batches(struct queue *x, const struct form *forms,
				  bool busy, bool *end, bool *all)
{
	uint64_t due = next_due(forms);
	struct batch *list;

	pthread_mutex_lock(&x->lock);
	if (busy && x->options.linger_ns)
		nap(x);
	while (!x->batches && !x->ending && !x->flushing && clock_ns() < due)
		sink_wait(x, &x->batch, due);
	list = x->batches;
	x->batches = NULL;
	x->last_batch = &x->batches;
	x->waiting = 0;
	*end = x->ending && !list;
	*all = *end || (x->flushing && !list);
	if (*all)
		x->flushing = false;
	pthread_mutex_unlock(&x->lock);
	return list;
}

static void finish_due(struct queue *x, struct form *m, bool all)
{
	struct fault why;

	if (x->driver->flush)
		x->driver->flush(x->self, &why);
	for (; m; m = m->next)
		if (all || clock_ns() >= m->due_ns)
			finish(x, m);
}

void *sink_pack(void *sink)
{
	struct queue *x = sink;
	struct form *forms = NULL;
	bool busy = false, end = false, all;

	while (!end) {
		struct batch *list = take_batches(x, forms, busy, &end, &all);

		busy = list != NULL;
		pack_all(x, &forms, list);
		finish_due(x, forms, all);
	}
	free_forms(x, forms);
	pthread_mutex_lock(&x->lock);
	x->packed = true;
	pthread_cond_broadcast(&x->block);
	pthread_cond_broadcast(&x->settled);
	pthread_mutex_unlock(&x->lock);
	return NULL;
}
