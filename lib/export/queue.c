/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue.c - put(); the thread that makes blocks of rows, or hands them to a
 * driver that takes rows; the thread that sends blocks; the end. spool.c has
 * the files.
 *
 * With a spool all blocks go through it, in order: one thread appends, the
 * other reads. Without one they wait in memory.
 */
#include "export/queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "export/driver.h"
#include "export/spool.h"

enum {
	BLOCK_MAX = 1 << 20,	    /* bytes at which a block is sent */
	CANCEL_POLL_NS = 250000000, /* how often it is asked whether the wait is
				       cancelled */
	LOOK_NS = 100000000,  /* for room on a disk that others fill, too; and
				 for what became of rows that were taken */
	RETRY_NS = 100000000, /* the first time; it doubles */
	SECOND_NS = 1000000000,
	FAILING_LINGER = 10, /* s that a block waits for rows then */
	NAP_NS = 2000000,
	NAP_BATCHES = 16,
};

struct batch {
	struct batch *next;
	struct row_batch rows;
	size_t bytes; /* that it takes */
};

struct queue {
	struct row_sink face;
	const struct export_driver *driver;
	void *self;  /* the driver's */
	void *owned; /* what it looks at */
	struct queue_options options;
	struct spool *spool; /* NULL: none */
	struct export_stop *stop;
	pthread_t packer, sender;
	bool packs, sends; /* the threads run */

	pthread_mutex_t lock;	/* of all that follows */
	pthread_cond_t batch;	/* the packer waits: for batches, an end */
	pthread_cond_t block;	/* the sender waits: for blocks, an end; and the
				   packer for room for one */
	pthread_cond_t settled; /* the caller's flush or end waits */
	struct batch *batches, **last_batch;
	unsigned waiting; /* batches */
	unsigned wanted;  /* so many of them wake the packer */
	struct export_block *blocks, **last_block; /* without a spool */
	size_t batch_bytes, block_bytes, room;	   /* room: for each of them */
	uint64_t linger_ns;  /* the packer's: that a block waits now */
	bool flushing;	     /* blocks do not wait for more rows */
	bool spool_stuck;    /* the packer waits for room in it */
	uint64_t hold_until; /* put() waits for room till then; 0: as the
				options say */
	bool ending, packed, sent;
	struct queue_status status;
};

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

/* Until a time, of clock_ns(), or a signal; lock is held. */
static void wait_until(struct queue *x, pthread_cond_t *cond, uint64_t until_ns)
{
	struct timespec t = {(time_t)(until_ns / SECOND_NS),
			     (long)(until_ns % SECOND_NS)};

	pthread_cond_timedwait(cond, &x->lock, &t);
}

/* What became of rows in one try: rc of the driver, and why. */
static void count_try(struct queue *x, const struct export_tally *t, int rc,
		      const struct error *why)
{
	struct queue_status *s = &x->status;

	pthread_mutex_lock(&x->lock);
	s->ledger.written += t->written;
	s->ledger.refused += t->refused;
	if (t->refused)
		s->refusal = t->why;
	s->changes += s->failing != (rc < 0);
	/* a try that the end has broken off has no other reason */
	if (rc < 0 && (!s->failing || !x->stop->now))
		s->why = *why;
	s->failing = rc < 0;
	s->ledger.retries += rc < 0;
	s->ledger.blocks += rc >= 0;
	pthread_cond_broadcast(&x->settled);
	pthread_mutex_unlock(&x->lock);
}

/* Waits before another try; at the end not for long. False: there is none. */
static bool pause_for(struct queue *x, uint64_t delay_ns)
{
	uint64_t from = clock_ns(), until = from + delay_ns;

	pthread_mutex_lock(&x->lock);
	while (!x->stop->now && clock_ns() < until) {
		if (x->ending && until > from + RETRY_NS)
			until = from + RETRY_NS;
		wait_until(x, &x->block, until);
	}
	pthread_mutex_unlock(&x->lock);
	return !x->stop->now;
}

/* The pause after one of so long; 0: the first. */
static uint64_t next_delay(const struct queue *x, uint64_t delay)
{
	delay = delay ? delay * 2 : RETRY_NS;
	return delay < x->options.retry_ns ? delay : x->options.retry_ns;
}

static uint64_t spool_holds(const struct queue *x)
{
	return x->spool ? spool_rows(x->spool) : 0;
}

static void block_free(struct export_block *b)
{
	free(b->bytes);
	free(b);
}

/* --- rows that come ------------------------------------------------------- */

static size_t batch_bytes_of(const struct row_batch *b)
{
	return b->size + sizeof(struct batch) +
	       (size_t)(b->room + 1) * b->schema->n * sizeof(b->cells[0]);
}

static void append_batch(struct queue *x, struct batch *n, size_t bytes)
{
	n->next = NULL;
	n->bytes = bytes;
	*x->last_batch = n;
	x->last_batch = &n->next;
	x->batch_bytes += bytes;
	if (++x->waiting >= x->wanted || x->batch_bytes >= x->room / 2)
		pthread_cond_signal(&x->batch);
}

static bool is_cancelled(const struct queue *x)
{
	return x->options.cancelled && x->options.cancelled();
}

/* One batch may be more than all the room. */
static bool has_room(const struct queue *x, size_t bytes)
{
	return !x->batch_bytes || x->batch_bytes + bytes <= x->room;
}

/* Whether put() waits: always while the spool takes rows, at a disk's pace. */
static bool waits_for_room(const struct queue *x)
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
	while (!has_room(x, bytes) && waits_for_room(x)) {
		wait_until(x, &x->settled, clock_ns() + CANCEL_POLL_NS);
		pthread_mutex_unlock(&x->lock);
		if (is_cancelled(x))
			queue_last(&x->face);
		pthread_mutex_lock(&x->lock);
	}
}

static int sink_put(struct row_sink *face, struct row_batch *b)
{
	struct queue *x = (struct queue *)face;
	size_t bytes = batch_bytes_of(b);
	unsigned rows = b->rows;
	struct batch *n;

	if (!rows)
		return 0;
	pthread_mutex_lock(&x->lock);
	x->status.ledger.rows += rows;
	wait_for_room(x, bytes);
	n = x->ending || !has_room(x, bytes) ? NULL : malloc(sizeof(*n));
	if (n && row_batch_take(&n->rows, b) == 0) {
		append_batch(x, n, bytes);
	} else {
		x->status.ledger.full += rows;
		free(n);
	}
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
		wait_until(x, &x->settled, until);
		if (clock_ns() >= until)
			rc = -ETIMEDOUT;
	}
	pthread_mutex_unlock(&x->lock);
	return rc;
}

/* --- the packer: blocks of rows ------------------------------------------ */

/* What the packer has of a schema: the block that is filled. */
struct form {
	struct form *next;
	const struct schema *schema;
	void *shape;	  /* the driver's; NULL: there is none */
	struct error why; /* of that */
	struct outbuf o;
	uint32_t rows;
	uint64_t due_ns; /* when it is sent, whatever is in it */
};

static void free_shape(struct queue *x, struct form *m)
{
	if (m->shape && x->driver->unshape)
		x->driver->unshape(m->shape);
	free(m->shape);
	m->shape = NULL;
}

static struct form *form_of(struct queue *x, struct form **forms,
			    const struct schema *s)
{
	struct form *m = *forms;

	while (m && m->schema != s)
		m = m->next;
	if (m || !(m = calloc(1, sizeof(*m))))
		return m;
	m->schema = s;
	m->shape = calloc(1, x->driver->shape_size);
	if (!m->shape)
		error_set(&m->why, -ENOMEM, "out of memory");
	else if (x->driver->shape(m->shape, x->self, s, &m->why) < 0)
		free_shape(x, m);
	m->next = *forms;
	*forms = m;
	return m;
}

static void free_forms(struct queue *x, struct form *m)
{
	struct form *next;

	for (; m; m = next) {
		next = m->next;
		free_shape(x, m);
		free(m->o.text);
		free(m);
	}
}

static void refuse_rows(struct queue *x, uint64_t rows, const char *why)
{
	pthread_mutex_lock(&x->lock);
	x->status.ledger.refused += rows;
	error_set(&x->status.refusal, 0, "%s", why);
	pthread_cond_broadcast(&x->settled);
	pthread_mutex_unlock(&x->lock);
}

/* False: the spool has no room, and why is told. lock is held, but while it
 * writes. */
static bool spool_block(struct queue *x, const struct export_block *b)
{
	struct error why;
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

/* Waits for room in the spool, so that batches queue up. */
static void hand_to_spool(struct queue *x, struct export_block *b)
{
	pthread_mutex_lock(&x->lock);
	while (!spool_block(x, b)) {
		if (x->stop->now) {
			x->status.ledger.full += b->rows;
			break;
		}
		wait_until(x, &x->block, clock_ns() + LOOK_NS);
	}
	x->spool_stuck = false;
	pthread_mutex_unlock(&x->lock);
	block_free(b);
}

/* The same in memory, which has room for one block whatever its size. */
static void hand_to_sender(struct queue *x, struct export_block *b)
{
	pthread_mutex_lock(&x->lock);
	while (x->blocks && x->block_bytes + b->len > x->room && !x->stop->now)
		wait_until(x, &x->block, clock_ns() + SECOND_NS);
	*x->last_block = b;
	x->last_block = &b->next;
	b->charged = b->len;
	x->block_bytes += b->charged;
	pthread_cond_broadcast(&x->block);
	pthread_mutex_unlock(&x->lock);
}

static void finish_block(struct queue *x, struct form *m)
{
	struct export_block *b;

	if (!m->rows)
		return;
	b = calloc(1, sizeof(*b));
	if (b && !(b->bytes = outbuf_take(&m->o, &b->len))) {
		free(b);
		b = NULL;
	}
	if (!b) {
		refuse_rows(x, m->rows, "out of memory");
		outbuf_cut(&m->o, 0);
		m->o.err = 0;
	} else {
		b->rows = m->rows;
		if (x->spool)
			hand_to_spool(x, b);
		else
			hand_to_sender(x, b);
	}
	m->rows = 0;
}

static void encode_rows(struct queue *x, struct form *m,
			const struct row_batch *b)
{
	for (unsigned i = 0; i < b->rows; i++) {
		if (!m->rows)
			m->due_ns = clock_ns() + x->linger_ns;
		x->driver->encode(x->self, m->shape, &m->o, b, i, m->rows);
		m->rows++;
		if (m->rows >= x->options.rows ||
		    outbuf_len(&m->o) >= BLOCK_MAX)
			finish_block(x, m);
	}
}

/* A driver that takes rows itself; what it cannot take before the end is not
 * sent. */
static void pass_rows(struct queue *x, struct form *m, struct row_batch *b)
{
	uint64_t delay = 0;
	int rc;

	do {
		struct export_tally t = {0};
		struct error why = {""};

		rc = x->driver->take(x->self, m->shape, b, &t, &why);
		if (rc < 0 || !x->driver->hear)
			count_try(x, &t, rc, &why);
		delay = next_delay(x, delay);
	} while (rc < 0 && pause_for(x, delay));
}

/* What has become of rows that were taken. */
static void hear_outcome(struct queue *x)
{
	struct export_tally t = {0};
	struct error why = {""};
	int rc = x->driver->hear ? x->driver->hear(x->self, &t, &why) : 0;

	if (rc)
		count_try(x, &t, rc, &why);
}

static void pack_batch(struct queue *x, struct form **forms,
		       struct row_batch *b)
{
	struct form *m = form_of(x, forms, b->schema);

	if (!m || !m->shape)
		refuse_rows(x, b->rows, m ? m->why.text : "out of memory");
	else if (x->driver->take)
		pass_rows(x, m, b);
	else
		encode_rows(x, m, b);
}

/* A batch whose rows have been packed. */
static void release_batch(struct queue *x, struct batch *n)
{
	pthread_mutex_lock(&x->lock);
	x->batch_bytes -= n->bytes;
	pthread_cond_broadcast(&x->settled);
	pthread_mutex_unlock(&x->lock);
	row_batch_fini(&n->rows);
	free(n);
}

static void pack_all(struct queue *x, struct form **forms, struct batch *list)
{
	struct batch *next;

	for (; list; list = next) {
		next = list->next;
		pack_batch(x, forms, &list->rows);
		release_batch(x, list);
	}
}

/* When the next block is due, or something may be heard; else in a while. */
static uint64_t next_due(const struct queue *x, const struct form *m)
{
	uint64_t due = clock_ns() + (x->driver->hear ? LOOK_NS : SECOND_NS);

	for (; m; m = m->next)
		if (m->rows && m->due_ns < due)
			due = m->due_ns;
	return due;
}

/* Waking a thread costs the caller of put() much: as long as rows come, the
 * packer looks from time to time instead. lock is held. */
static void nap_for_rows(struct queue *x)
{
	uint64_t until = clock_ns() + NAP_NS;

	x->wanted = NAP_BATCHES;
	while (x->waiting < x->wanted && x->batch_bytes < x->room / 2 &&
	       !x->ending && !x->flushing && clock_ns() < until)
		wait_until(x, &x->batch, until);
	x->wanted = 1;
}

/* Whether rows were taken of which nothing is heard yet. lock is held. */
static bool is_under_way(const struct queue *x)
{
	return x->driver->hear && ledger_rest(&queue_ledger, &x->status.ledger);
}

/* The batches that have come, or NULL: something is due, or the end. busy: some
 * had come before. */
static struct batch *take_batches(struct queue *x, const struct form *forms,
				  bool busy, bool *end, bool *all)
{
	uint64_t due = next_due(x, forms);
	struct batch *list;

	pthread_mutex_lock(&x->lock);
	if (busy && x->options.linger_ns)
		nap_for_rows(x);
	while (!x->batches && !x->flushing && clock_ns() < due &&
	       (!x->ending || is_under_way(x)) && !x->stop->now)
		wait_until(x, &x->batch, due);
	/* Full blocks are fewer files. */
	x->linger_ns = x->spool && x->status.failing
			       ? FAILING_LINGER * UINT64_C(1000000000)
			       : x->options.linger_ns;
	list = x->batches;
	x->batches = NULL;
	x->last_batch = &x->batches;
	x->waiting = 0;
	*end = x->ending && !list && (x->stop->now || !is_under_way(x));
	*all = *end || (x->flushing && !list);
	if (*all)
		x->flushing = false;
	pthread_mutex_unlock(&x->lock);
	return list;
}

static void finish_due(struct queue *x, struct form *m, bool all)
{
	for (; m; m = m->next)
		if (all || clock_ns() >= m->due_ns)
			finish_block(x, m);
}

static void *pack_batches(void *queue)
{
	struct queue *x = queue;
	struct form *forms = NULL;
	bool busy = false, end = false, all;

	while (!end) {
		struct batch *list = take_batches(x, forms, busy, &end, &all);

		busy = list != NULL;
		pack_all(x, &forms, list);
		finish_due(x, forms, all);
		hear_outcome(x);
	}
	free_forms(x, forms);
	pthread_mutex_lock(&x->lock);
	x->packed = true;
	pthread_cond_broadcast(&x->block);
	pthread_cond_broadcast(&x->settled);
	pthread_mutex_unlock(&x->lock);
	return NULL;
}

/* --- the sender ---------------------------------------------------------- */

/* False: the end has come before. A block of the spool stays there as it is,
 * then, and all of it is sent again. */
static bool deliver_block(struct queue *x, struct export_block *b)
{
	struct export_tally all = {0};
	uint64_t delay = 0;

	while (b->rows) {
		struct export_tally t = {0};
		struct error why = {""};
		int rc = x->driver->send(x->self, b, &t, &why);

		count_try(x, &t, rc, &why);
		if (rc == 0)
			break;
		all.written += t.written;
		all.refused += t.refused;
		delay = next_delay(x, t.written || t.refused ? 0 : delay);
		if (pause_for(x, delay))
			continue;
		if (x->spool) {
			pthread_mutex_lock(&x->lock);
			x->status.ledger.written -= all.written;
			x->status.ledger.refused -= all.refused;
			pthread_mutex_unlock(&x->lock);
		}
		return false;
	}
	return true;
}

/* The oldest of the spool; NULL: it could not be read, now. */
static struct export_block *block_from_spool(struct queue *x)
{
	struct error why;
	struct export_block *b;
	uint64_t lost;
	int rc = spool_next(x->spool, &b, &lost);

	if (rc >= 0)
		return b;
	if (rc == -EBADMSG) {
		pthread_mutex_lock(&x->lock);
		x->status.ledger.damaged += lost;
		pthread_cond_broadcast(&x->settled);
		pthread_mutex_unlock(&x->lock);
		return NULL;
	}
	error_set(&why, rc, "spool: %s", strerror(-rc));
	count_try(x, &(struct export_tally){0}, rc, &why);
	pause_for(x, x->options.retry_ns);
	return NULL;
}

static struct export_block *block_from_memory(struct queue *x)
{
	struct export_block *b = x->blocks;

	if (b && !(x->blocks = b->next))
		x->last_block = &x->blocks;
	return b;
}

/* Waits for the next block. NULL: there will be none. */
static struct export_block *next_block(struct queue *x)
{
	struct export_block *b = NULL;

	pthread_mutex_lock(&x->lock);
	while (!x->stop->now && !(b = block_from_memory(x))) {
		if (spool_holds(x)) {
			pthread_mutex_unlock(&x->lock);
			b = block_from_spool(x);
			pthread_mutex_lock(&x->lock);
			if (b)
				break;
		} else if (x->packed) {
			break;
		} else {
			pthread_cond_wait(&x->block, &x->lock);
		}
	}
	pthread_mutex_unlock(&x->lock);
	return b;
}

static void release_block(struct queue *x, const struct export_block *b)
{
	if (x->spool)
		spool_done(x->spool);
	pthread_mutex_lock(&x->lock);
	x->block_bytes -= b->charged;
	pthread_cond_broadcast(&x->block);
	pthread_cond_broadcast(&x->settled);
	pthread_mutex_unlock(&x->lock);
}

static void *send_blocks(void *queue)
{
	struct queue *x = queue;
	bool more = true;
	struct export_block *b;

	while (more && (b = next_block(x))) {
		if ((more = deliver_block(x, b)))
			release_block(x, b);
		block_free(b);
	}
	pthread_mutex_lock(&x->lock);
	x->sent = true;
	pthread_cond_broadcast(&x->settled);
	pthread_mutex_unlock(&x->lock);
	return NULL;
}

/* --- the end ------------------------------------------------------------- */

/* Gives the threads their time; then ends them whatever they do. cancelled()
 * is called without the lock: it may call queue_status(). */
static void end_threads(struct queue *x)
{
	uint64_t until = clock_ns() + x->options.end_ns, now, blocks;
	bool cancelled = is_cancelled(x);

	pthread_mutex_lock(&x->lock);
	x->ending = true;
	pthread_cond_broadcast(&x->batch);
	pthread_cond_broadcast(&x->block);
	blocks = x->status.ledger.blocks;
	while (!(x->sends ? x->sent : x->packed) &&
	       (now = clock_ns()) < until && !cancelled) {
		if (x->options.hold && x->status.ledger.blocks != blocks)
			until = now + x->options.end_ns;
		blocks = x->status.ledger.blocks;
		wait_until(x, &x->settled,
			   until - now < CANCEL_POLL_NS ? until
							: now + CANCEL_POLL_NS);
		pthread_mutex_unlock(&x->lock);
		cancelled = is_cancelled(x);
		pthread_mutex_lock(&x->lock);
	}
	x->stop->now = true;
	pthread_cond_broadcast(&x->batch);
	pthread_cond_broadcast(&x->block);
	pthread_mutex_unlock(&x->lock);
	if (x->driver->wake)
		x->driver->wake(x->self);
	if (x->packs)
		pthread_join(x->packer, NULL);
	if (x->sends)
		pthread_join(x->sender, NULL);
	x->packs = x->sends = false;
}

static void free_blocks(struct export_block *b)
{
	struct export_block *next;

	for (; b; b = next) {
		next = b->next;
		block_free(b);
	}
}

int queue_end(struct row_sink *face)
{
	struct queue *x = (struct queue *)face;
	struct queue_ledger *l = &x->status.ledger;

	if (x->packs) {
		end_threads(x);
		l->kept = spool_holds(x);
		l->unsent = ledger_rest(&queue_ledger, l);
		free_blocks(x->blocks);
		x->blocks = NULL;
	}
	return l->unsent || l->kept ? -ETIMEDOUT : 0;
}

static int sink_close(struct row_sink *face)
{
	struct queue *x = (struct queue *)face;
	int rc = queue_end(face);

	x->driver->close(x->self);
	spool_close(x->spool);
	pthread_cond_destroy(&x->batch);
	pthread_cond_destroy(&x->block);
	pthread_cond_destroy(&x->settled);
	pthread_mutex_destroy(&x->lock);
	free(x->owned);
	free(x);
	return rc;
}

/* Of what is under way, what is in the spool; more may just have come there. */
static uint64_t rows_in_spool(const struct queue *x, uint64_t under_way)
{
	uint64_t rows = spool_holds(x);

	return rows < under_way ? rows : under_way;
}

void queue_status(struct row_sink *face, struct queue_status *out)
{
	struct queue *x = (struct queue *)face;
	struct queue_ledger *l = &out->ledger;

	pthread_mutex_lock(&x->lock);
	*out = x->status;
	pthread_mutex_unlock(&x->lock);
	l->kept += rows_in_spool(x, ledger_rest(&queue_ledger, l));
	l->waiting = ledger_rest(&queue_ledger, l);
	if (x->driver->port)
		out->port = x->driver->port(x->self);
}

static uint64_t time_or_default(uint64_t ns, uint64_t usual)
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
	o->end_ns = time_or_default(o->end_ns, UINT64_C(5000000000));
	o->linger_ns = time_or_default(o->linger_ns, UINT64_C(200000000));
	if (!o->retry_ns)
		o->retry_ns = UINT64_C(10000000000);
}

static struct queue *make_queue(const struct queue_options *o)
{
	struct queue *x = calloc(1, sizeof(*x));
	pthread_condattr_t a;

	if (!x)
		return NULL;
	x->face = (struct row_sink){sink_put, sink_flush, sink_close};
	x->options = *o;
	x->status.name = o->name;
	set_defaults(&x->options);
	x->last_batch = &x->batches;
	x->last_block = &x->blocks;
	pthread_mutex_init(&x->lock, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&x->batch, &a);
	pthread_cond_init(&x->block, &a);
	pthread_cond_init(&x->settled, &a);
	pthread_condattr_destroy(&a);
	return x;
}

/* Opens the spool, and starts the threads. */
static int start_queue(struct queue *x, const char *spool_name,
		       struct error *err)
{
	const struct queue_options *o = &x->options;
	int rc;

	if (o->spool && x->driver->send) {
		rc = spool_open(&x->spool, o->spool, spool_name, o->spool_size,
				&x->status.ledger.found, err);
		if (rc < 0)
			return rc;
	}
	rc = pthread_create(&x->packer, NULL, pack_batches, x);
	x->packs = !rc;
	if (!rc && x->driver->send) {
		rc = pthread_create(&x->sender, NULL, send_blocks, x);
		x->sends = !rc;
	}
	return rc ? error_set(err, -rc, "a thread: %s", strerror(rc)) : 0;
}

int queue_open(struct row_sink **out, const struct queue_options *o,
	       const struct queue_driver *d, struct error *err)
{
	struct queue *x = make_queue(o);
	int rc;

	if (!x) {
		d->driver->close(d->self);
		return error_set(err, -ENOMEM, "out of memory");
	}
	x->driver = d->driver;
	x->self = d->self;
	x->stop = d->stop;
	/* Of a driver that takes rows there are no blocks. */
	x->room = x->options.bytes / (x->driver->take ? 1 : 2);
	rc = start_queue(x, d->spool_name, err);
	if (rc < 0) {
		sink_close(&x->face);
		return rc;
	}
	x->owned = d->owned;
	*out = &x->face;
	return 0;
}
