/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue.c - put(); the thread that makes blocks of rows, or hands them to a
 * driver that takes rows; the thread that sends blocks; the end. spool.c has
 * the blocks between these threads.
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
	struct spool *spool;
	struct export_stop *stop;
	pthread_t packer, sender;
	bool packs, sends; /* the threads run */

	pthread_mutex_t lock;	/* of all that follows */
	pthread_cond_t batches; /* have come, or the end */
	pthread_cond_t changed; /* anything else */
	struct batch *first, **last;
	unsigned waiting;   /* batches */
	unsigned wanted;    /* so many of them wake the packer */
	size_t bytes, room; /* of batches; as much again for blocks */
	bool stuck;	    /* the spool's disk, or its part of that, is full */
	uint64_t hold_until_ns; /* put() waits for room till then; 0: as the
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

/* Adds to a counter of the ledger. */
static void count(struct queue *x, uint64_t *counter, uint64_t rows)
{
	pthread_mutex_lock(&x->lock);
	*counter += rows;
	pthread_cond_broadcast(&x->changed);
	pthread_mutex_unlock(&x->lock);
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
	pthread_cond_broadcast(&x->changed);
	pthread_mutex_unlock(&x->lock);
}

/* Waits before another try, longer each time; at the end not for long. delay: 0
 * before the first. False: there is none. */
static bool pause_for(struct queue *x, uint64_t *delay_ns)
{
	uint64_t from = clock_ns(), until;

	*delay_ns = *delay_ns ? *delay_ns * 2 : RETRY_NS;
	if (*delay_ns > x->options.retry_ns)
		*delay_ns = x->options.retry_ns;
	until = from + *delay_ns;
	pthread_mutex_lock(&x->lock);
	while (!x->stop->now && clock_ns() < until) {
		if (x->ending && until > from + RETRY_NS)
			until = from + RETRY_NS;
		wait_until(x, &x->changed, until);
	}
	pthread_mutex_unlock(&x->lock);
	return !x->stop->now;
}

/* --- rows that come ------------------------------------------------------- */

static bool is_cancelled(const struct queue *x)
{
	return x->options.cancelled && x->options.cancelled();
}

/* One batch may be more than all the room. */
static bool has_room(const struct queue *x, size_t bytes)
{
	return !x->bytes || x->bytes + bytes <= x->room;
}

/* Whether put() waits: always while the spool takes rows, at a disk's pace. */
static bool waits_for_room(const struct queue *x)
{
	if (x->ending)
		return false;
	if (x->options.spool && !x->stuck)
		return true;
	return x->hold_until_ns ? clock_ns() < x->hold_until_ns
				: x->options.hold;
}

void queue_last(struct row_sink *face)
{
	struct queue *x = (struct queue *)face;

	pthread_mutex_lock(&x->lock);
	if (!x->hold_until_ns)
		x->hold_until_ns = clock_ns() + x->options.end_ns;
	pthread_mutex_unlock(&x->lock);
}

static int sink_put(struct row_sink *face, struct row_batch *b)
{
	struct queue *x = (struct queue *)face;
	size_t bytes = sizeof(struct batch) + b->used +
		       (size_t)b->rows * b->schema->n * sizeof(b->cells[0]);
	struct batch *n;

	if (!b->rows)
		return 0;
	pthread_mutex_lock(&x->lock);
	x->status.ledger.rows += b->rows;
	while (!has_room(x, bytes) && waits_for_room(x)) {
		wait_until(x, &x->changed, clock_ns() + CANCEL_POLL_NS);
		pthread_mutex_unlock(&x->lock);
		if (is_cancelled(x))
			queue_last(face);
		pthread_mutex_lock(&x->lock);
	}
	n = x->ending || !has_room(x, bytes) ? NULL : calloc(1, sizeof(*n));
	if (n && row_batch_copy(&n->rows, b) == 0) {
		n->bytes = bytes;
		*x->last = n;
		x->last = &n->next;
		x->bytes += bytes;
		if (++x->waiting >= x->wanted || x->bytes >= x->room / 2)
			pthread_cond_signal(&x->batches);
	} else {
		x->status.ledger.full += b->rows;
		free(n);
	}
	pthread_mutex_unlock(&x->lock);
	return 0;
}

static int sink_flush(struct row_sink *face)
{
	(void)face;
	return 0;
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

static void refuse_rows(struct queue *x, uint64_t rows, const char *why)
{
	pthread_mutex_lock(&x->lock);
	x->status.ledger.refused += rows;
	error_set(&x->status.refusal, 0, "%s", why);
	pthread_mutex_unlock(&x->lock);
}

/* To the sender; waits for room, so that batches queue up. */
static void hand_over(struct queue *x, struct export_block *b)
{
	struct queue_status *s = &x->status;
	uint32_t rows = b->rows;
	struct error why;
	int rc;

	while ((rc = spool_append(x->spool, b, &why)) < 0 && !x->stop->now) {
		pthread_mutex_lock(&x->lock);
		if (x->options.spool) {
			s->spool = why;
			s->ledger.spool_full += !x->stuck;
			x->stuck = true; /* put() waits no more */
			pthread_cond_broadcast(&x->changed);
		}
		wait_until(x, &x->changed, clock_ns() + LOOK_NS);
		pthread_mutex_unlock(&x->lock);
	}
	if (rc < 0) {
		free(b->bytes);
		free(b);
	}
	pthread_mutex_lock(&x->lock);
	x->stuck = false;
	if (x->options.spool)
		*(rc < 0 ? &s->ledger.full : &s->ledger.spooled) += rows;
	pthread_cond_broadcast(&x->changed);
	pthread_mutex_unlock(&x->lock);
}

static void finish_block(struct queue *x, struct form *m)
{
	struct export_block *b;

	if (!m->rows)
		return;
	b = calloc(1, sizeof(*b));
	if (b && (b->bytes = outbuf_take(&m->o, &b->len))) {
		b->rows = m->rows;
		hand_over(x, b);
	} else {
		free(b);
		refuse_rows(x, m->rows, "out of memory");
		outbuf_cut(&m->o, 0);
		m->o.err = 0;
	}
	m->rows = 0;
}

static void encode_rows(struct queue *x, struct form *m,
			const struct row_batch *b)
{
	for (unsigned i = 0; i < b->rows; i++) {
		if (!m->rows)
			m->due_ns = clock_ns() + x->options.linger_ns;
		x->driver->encode(x->self, m->shape, &m->o, b, i, m->rows);
		m->rows++;
		if (m->rows >= x->options.rows ||
		    outbuf_len(&m->o) >= BLOCK_MAX)
			finish_block(x, m);
	}
}

/* To a driver that takes rows itself; what it cannot take before the end is not
 * sent. */
static void pass_rows(struct queue *x, struct form *m, struct row_batch *b)
{
	uint64_t delay = 0;
	int rc;

	while (!x->stop->now) {
		struct export_tally t = {0};
		struct error why = {""};

		rc = x->driver->take(x->self, m->shape, b, &t, &why);
		if (rc < 0 || !x->driver->hear)
			count_try(x, &t, rc, &why);
		if (rc == 0 || !pause_for(x, &delay))
			break;
	}
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

static void pack_batch(struct queue *x, struct form **forms, struct batch *n)
{
	struct row_batch *b = &n->rows;
	struct form *m = form_of(x, forms, b->schema);

	if (!m || !m->shape)
		refuse_rows(x, b->rows, m ? m->why.text : "out of memory");
	else if (x->driver->take)
		pass_rows(x, m, b);
	else
		encode_rows(x, m, b);
	pthread_mutex_lock(&x->lock);
	x->bytes -= n->bytes;
	pthread_cond_broadcast(&x->changed);
	pthread_mutex_unlock(&x->lock);
	row_batch_fini(b);
	free(n);
}

/* Waking a thread costs the caller of put() much: as long as rows come, the
 * packer looks from time to time instead. lock is held. */
static void nap_for_rows(struct queue *x)
{
	uint64_t until = clock_ns() + NAP_NS;

	x->wanted = NAP_BATCHES;
	while (x->waiting < x->wanted && x->bytes < x->room / 2 && !x->ending &&
	       clock_ns() < until)
		wait_until(x, &x->batches, until);
	x->wanted = 1;
}

/* The batches that have come, or NULL: something is due, or the end. busy: some
 * had come before. */
static struct batch *take_batches(struct queue *x, const struct form *m,
				  bool busy, bool *end)
{
	uint64_t due = clock_ns() + (x->driver->hear ? LOOK_NS : SECOND_NS);
	struct batch *list;
	bool more = true;

	for (; m; m = m->next)
		if (m->rows && m->due_ns < due)
			due = m->due_ns;
	pthread_mutex_lock(&x->lock);
	if (busy && x->options.linger_ns)
		nap_for_rows(x);
	/* At the end, until all is heard of the rows that were taken. */
	while (!(list = x->first) && !x->stop->now &&
	       (more = !x->ending ||
		       (x->driver->hear &&
			ledger_rest(&queue_ledger, &x->status.ledger))) &&
	       clock_ns() < due)
		wait_until(x, &x->batches, due);
	*end = !list && (x->stop->now || !more);
	x->first = NULL;
	x->last = &x->first;
	x->waiting = 0;
	pthread_mutex_unlock(&x->lock);
	return list;
}

static void *pack_batches(void *queue)
{
	struct queue *x = queue;
	struct form *forms = NULL, *m;
	bool busy = false, end = false;
	struct batch *list, *next;

	while (!end) {
		list = take_batches(x, forms, busy, &end);
		for (busy = list; list; list = next) {
			next = list->next;
			pack_batch(x, &forms, list);
		}
		for (m = forms; m; m = m->next)
			if (end || clock_ns() >= m->due_ns)
				finish_block(x, m);
		hear_outcome(x);
	}
	while ((m = forms)) {
		forms = m->next;
		free_shape(x, m);
		free(m->o.text);
		free(m);
	}
	pthread_mutex_lock(&x->lock);
	x->packed = true;
	pthread_cond_broadcast(&x->changed);
	pthread_mutex_unlock(&x->lock);
	return NULL;
}

/* --- the sender ---------------------------------------------------------- */

/* False: the end has come before. A block in a file stays as it is then, and
 * all of it is sent again. */
static bool deliver_block(struct queue *x, struct export_block *b)
{
	struct queue_ledger *l = &x->status.ledger;
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
		if (t.written || t.refused)
			delay = 0;
		if (pause_for(x, &delay))
			continue;
		if (x->options.spool) {
			count(x, &l->written, -all.written);
			count(x, &l->refused, -all.refused);
		}
		return false;
	}
	return true;
}

/* Waits for the next block. NULL: there will be none. */
static struct export_block *next_block(struct queue *x)
{
	struct export_block *b = NULL;
	uint64_t lost, delay = 0;
	struct error why;
	int rc = 0;

	while (rc <= 0) {
		pthread_mutex_lock(&x->lock);
		while (!x->stop->now && !spool_rows(x->spool) && !x->packed)
			pthread_cond_wait(&x->changed, &x->lock);
		pthread_mutex_unlock(&x->lock);
		if (x->stop->now || !spool_rows(x->spool))
			return NULL;
		rc = spool_next(x->spool, &b, &lost);
		if (rc == -EBADMSG) {
			count(x, &x->status.ledger.damaged, lost);
		} else if (rc < 0) {
			error_set(&why, rc, "spool: %s", strerror(-rc));
			count_try(x, &(struct export_tally){0}, rc, &why);
			pause_for(x, &delay);
		}
	}
	return b;
}

static void *send_blocks(void *queue)
{
	struct queue *x = queue;
	struct export_block *b;

	while ((b = next_block(x)) && deliver_block(x, b)) {
		spool_done(x->spool);
		pthread_mutex_lock(&x->lock);
		pthread_cond_broadcast(&x->changed);
		pthread_mutex_unlock(&x->lock);
	}
	pthread_mutex_lock(&x->lock);
	x->sent = true;
	pthread_cond_broadcast(&x->changed);
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
	pthread_cond_broadcast(&x->batches);
	pthread_cond_broadcast(&x->changed);
	blocks = x->status.ledger.blocks;
	while (!(x->sends ? x->sent : x->packed) &&
	       (now = clock_ns()) < until && !cancelled) {
		if (x->options.hold && x->status.ledger.blocks != blocks)
			until = now + x->options.end_ns;
		blocks = x->status.ledger.blocks;
		wait_until(x, &x->changed,
			   until - now < CANCEL_POLL_NS ? until
							: now + CANCEL_POLL_NS);
		pthread_mutex_unlock(&x->lock);
		cancelled = is_cancelled(x);
		pthread_mutex_lock(&x->lock);
	}
	x->stop->now = true;
	pthread_cond_broadcast(&x->batches);
	pthread_cond_broadcast(&x->changed);
	pthread_mutex_unlock(&x->lock);
	if (x->driver->wake)
		x->driver->wake(x->self);
	pthread_join(x->packer, NULL);
	if (x->sends)
		pthread_join(x->sender, NULL);
	x->packs = x->sends = false;
}

/* Of what is under way, what is in files; more may just have come there. */
static uint64_t count_kept(const struct queue *x, const struct queue_ledger *l)
{
	uint64_t under_way = ledger_rest(&queue_ledger, l);
	uint64_t rows = x->options.spool ? spool_rows(x->spool) : 0;

	return rows < under_way ? rows : under_way;
}

int queue_end(struct row_sink *face)
{
	struct queue *x = (struct queue *)face;
	struct queue_ledger *l = &x->status.ledger;

	if (x->packs) {
		end_threads(x);
		l->kept = count_kept(x, l);
		l->unsent = ledger_rest(&queue_ledger, l);
	}
	return l->unsent || l->kept ? -ETIMEDOUT : 0;
}

static int sink_close(struct row_sink *face)
{
	struct queue *x = (struct queue *)face;
	int rc = queue_end(face);

	x->driver->close(x->self);
	spool_close(x->spool);
	pthread_cond_destroy(&x->batches);
	pthread_cond_destroy(&x->changed);
	pthread_mutex_destroy(&x->lock);
	free(x->owned);
	free(x);
	return rc;
}

void queue_status(struct row_sink *face, struct queue_status *out)
{
	struct queue *x = (struct queue *)face;
	struct queue_ledger *l = &out->ledger;

	pthread_mutex_lock(&x->lock);
	*out = x->status;
	pthread_mutex_unlock(&x->lock);
	l->kept += count_kept(x, l);
	l->waiting = ledger_rest(&queue_ledger, l);
}

/* Opens the spool, and starts the threads. */
static int start_queue(struct queue *x, const char *spool_name,
		       struct error *err)
{
	const struct queue_options *o = &x->options;
	int rc;

	if (x->driver->send) {
		rc = spool_open(&x->spool, o->spool, spool_name,
				o->spool ? o->spool_size : x->room,
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
	struct queue *x = calloc(1, sizeof(*x));
	pthread_condattr_t a;
	int rc;

	if (!x) {
		d->driver->close(d->self);
		return error_set(err, -ENOMEM, "out of memory");
	}
	x->face = (struct row_sink){sink_put, sink_flush, sink_close};
	x->driver = d->driver;
	x->self = d->self;
	x->stop = d->stop;
	x->options = *o;
	x->status.name = o->name;
	/* Of a driver that takes rows there are neither blocks nor files. */
	x->room = o->bytes / (x->driver->take ? 1 : 2);
	if (x->driver->take)
		x->options.spool = NULL;
	x->last = &x->first;
	pthread_mutex_init(&x->lock, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&x->batches, &a);
	pthread_cond_init(&x->changed, &a);
	pthread_condattr_destroy(&a);
	rc = start_queue(x, d->spool_name, err);
	if (rc < 0) {
		sink_close(&x->face);
		return rc;
	}
	x->owned = d->owned;
	*out = &x->face;
	return 0;
}
