/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue.c - put(); the packer, a thread that makes blocks of rows, or hands
 * batches to a driver that takes rows; the sender, a thread that sends blocks;
 * the end. spool.c holds the blocks between these threads.
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
	CANCEL_POLL_NS = 250000000, /* between calls of cancelled() */
	POLL_NS = 100000000,	    /* between looks for room and results */
	RETRY_NS = 100000000,	    /* the first pause; each one doubles */
	SECOND_NS = 1000000000,
	NAP_NS = 2000000, /* nap_for_rows() */
	NAP_BATCHES = 16,
};

struct batch {
	struct batch *next;
	struct row_batch rows;
	size_t bytes; /* of memory that it takes */
};

struct queue {
	struct row_sink face; /* first: a queue is a row_sink to callers */
	const struct export_driver *driver;
	void *self;  /* the driver's */
	void *owned; /* freed after the driver's close() */
	struct queue_options options;
	struct spool *spool;
	struct export_stop *stop;
	pthread_t packer, sender;
	bool packs, sends; /* the threads run */

	pthread_mutex_t lock;	/* of all that follows */
	pthread_cond_t batches; /* signalled when some came, or at the end */
	pthread_cond_t changed; /* when anything else changed */
	struct batch *first, **last; /* batches that wait for the packer */
	unsigned waiting;	     /* their number */
	unsigned wanted;	     /* the number that wakes the packer */
	size_t bytes, room;	     /* used and allowed for batches */
	bool spool_full;
	uint64_t hold_until_ns; /* put() waits until then; 0: see hold */
	bool ending;
	bool packed, sent; /* the packer, the sender has ended */
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

const struct ledger queue_ledger = {"export", "rows", fields,
				    sizeof(fields) / sizeof(fields[0])};

/* Waits for a signal, until clock_ns() is until_ns; lock is held. */
static void wait_until(struct queue *q, pthread_cond_t *cond, uint64_t until_ns)
{
	struct timespec t = {(time_t)(until_ns / SECOND_NS),
			     (long)(until_ns % SECOND_NS)};

	pthread_cond_timedwait(cond, &q->lock, &t);
}

/* Adds to a counter of the ledger. */
static void count(struct queue *q, uint64_t *counter, uint64_t rows)
{
	pthread_mutex_lock(&q->lock);
	*counter += rows;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

/* Counts the outcome of a call of the driver: rc, and if it failed, why. */
static void count_try(struct queue *q, const struct export_tally *t, int rc,
		      const struct error *why)
{
	struct queue_status *s = &q->status;

	pthread_mutex_lock(&q->lock);
	s->ledger.written += t->written;
	s->ledger.refused += t->refused;
	if (t->refused)
		s->refusal = t->why;
	s->changes += s->failing != (rc < 0);
	/* A try that the end broke off does not hide the reason before it. */
	if (rc < 0 && (!s->failing || !q->stop->now))
		s->why = *why;
	s->failing = rc < 0;
	s->ledger.retries += rc < 0;
	s->ledger.blocks += rc >= 0;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

/* Waits before another try, longer each time; at the end for RETRY_NS at most.
 * *delay_ns: 0 before the first. False: there is to be no other try. */
static bool pause_for(struct queue *q, uint64_t *delay_ns)
{
	uint64_t from = clock_ns(), until;

	*delay_ns = *delay_ns ? *delay_ns * 2 : RETRY_NS;
	if (*delay_ns > q->options.retry_ns)
		*delay_ns = q->options.retry_ns;
	until = from + *delay_ns;
	pthread_mutex_lock(&q->lock);
	while (!q->stop->now && clock_ns() < until) {
		if (q->ending && until > from + RETRY_NS)
			until = from + RETRY_NS;
		wait_until(q, &q->changed, until);
	}
	pthread_mutex_unlock(&q->lock);
	return !q->stop->now;
}

/* --- rows that come ------------------------------------------------------- */

static bool is_cancelled(const struct queue *q)
{
	return q->options.cancelled && q->options.cancelled();
}

/* One batch may be more than all the room. */
static bool has_room(const struct queue *q, size_t bytes)
{
	return !q->bytes || q->bytes + bytes <= q->room;
}

/* Whether put() waits: always while the spool takes rows, at a disk's pace. */
static bool waits_for_room(const struct queue *q)
{
	if (q->ending)
		return false;
	if (q->options.spool && !q->spool_full)
		return true;
	return q->hold_until_ns ? clock_ns() < q->hold_until_ns
				: q->options.hold;
}

void queue_last(struct row_sink *face)
{
	struct queue *q = (struct queue *)face;

	pthread_mutex_lock(&q->lock);
	if (!q->hold_until_ns)
		q->hold_until_ns = clock_ns() + q->options.end_ns;
	pthread_mutex_unlock(&q->lock);
}

static int sink_put(struct row_sink *face, struct row_batch *b)
{
	struct queue *q = (struct queue *)face;
	size_t bytes = sizeof(struct batch) + b->used +
		       (size_t)b->rows * b->schema->n * sizeof(b->cells[0]);
	struct batch *n;

	if (!b->rows)
		return 0;
	pthread_mutex_lock(&q->lock);
	q->status.ledger.rows += b->rows;
	while (!has_room(q, bytes) && waits_for_room(q)) {
		wait_until(q, &q->changed, clock_ns() + CANCEL_POLL_NS);
		pthread_mutex_unlock(&q->lock);
		if (is_cancelled(q))
			queue_last(face);
		pthread_mutex_lock(&q->lock);
	}
	n = q->ending || !has_room(q, bytes) ? NULL : calloc(1, sizeof(*n));
	if (n && row_batch_copy(&n->rows, b) == 0) {
		n->bytes = bytes;
		*q->last = n;
		q->last = &n->next;
		q->bytes += bytes;
		if (++q->waiting >= q->wanted || q->bytes >= q->room / 2)
			pthread_cond_signal(&q->batches);
	} else {
		q->status.ledger.full += b->rows;
		free(n);
	}
	pthread_mutex_unlock(&q->lock);
	return 0;
}

static int sink_flush(struct row_sink *face)
{
	(void)face;
	return 0;
}

/* --- the packer: blocks of rows ------------------------------------------ */

/* Makes the blocks of one schema. */
struct builder {
	struct builder *next;
	const struct schema *schema;
	void *state;	     /* the driver's; NULL: there is none */
	struct error why;    /* why there is none */
	struct outbuf block; /* the block that is being filled */
	uint32_t rows;	     /* in it */
	uint64_t due_ns;     /* when it is sent, full or not */
};

static void free_schema_state(struct queue *q, struct builder *builder)
{
	if (builder->state && q->driver->close_schema)
		q->driver->close_schema(builder->state);
	free(builder->state);
	builder->state = NULL;
}

static struct builder *find_builder(struct queue *q, struct builder **builders,
				    const struct schema *s)
{
	struct builder *builder = *builders;

	while (builder && builder->schema != s)
		builder = builder->next;
	if (builder || !(builder = calloc(1, sizeof(*builder))))
		return builder;
	builder->schema = s;
	builder->state = calloc(1, q->driver->state_size);
	if (!builder->state)
		error_set(&builder->why, -ENOMEM, "out of memory");
	else if (q->driver->open_schema &&
		 q->driver->open_schema(builder->state, q->self, s,
					&builder->why) < 0)
		free_schema_state(q, builder);
	builder->next = *builders;
	*builders = builder;
	return builder;
}

static void refuse_rows(struct queue *q, uint64_t rows, const char *why)
{
	pthread_mutex_lock(&q->lock);
	q->status.ledger.refused += rows;
	error_set(&q->status.refusal, 0, "%s", why);
	pthread_mutex_unlock(&q->lock);
}

/* Gives a block to the sender; waits while the spool has no room. */
static void hand_over(struct queue *q, struct export_block *b)
{
	struct queue_status *s = &q->status;
	uint32_t rows = b->rows;
	struct error why;
	int rc;

	while ((rc = spool_append(q->spool, b, &why)) < 0 && !q->stop->now) {
		pthread_mutex_lock(&q->lock);
		if (q->options.spool) {
			s->spool = why;
			s->ledger.spool_full += !q->spool_full;
			q->spool_full = true; /* put() waits no more */
			pthread_cond_broadcast(&q->changed);
		}
		wait_until(q, &q->changed, clock_ns() + POLL_NS);
		pthread_mutex_unlock(&q->lock);
	}
	if (rc < 0) {
		free(b->bytes);
		free(b);
	}
	pthread_mutex_lock(&q->lock);
	q->spool_full = false;
	if (q->options.spool)
		*(rc < 0 ? &s->ledger.full : &s->ledger.spooled) += rows;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

static void finish_block(struct queue *q, struct builder *builder)
{
	struct export_block *b;

	if (!builder->rows)
		return;
	b = calloc(1, sizeof(*b));
	if (b && (b->bytes = outbuf_take(&builder->block, &b->len))) {
		b->rows = builder->rows;
		hand_over(q, b);
	} else {
		free(b);
		refuse_rows(q, builder->rows, "out of memory");
		outbuf_cut(&builder->block, 0);
		builder->block.err = 0;
	}
	builder->rows = 0;
}

static void encode_rows(struct queue *q, struct builder *builder,
			const struct row_batch *b)
{
	for (unsigned i = 0; i < b->rows; i++) {
		if (!builder->rows)
			builder->due_ns = clock_ns() + q->options.linger_ns;
		q->driver->encode(q->self, builder->state, &builder->block, b,
				  i, builder->rows);
		builder->rows++;
		if (builder->rows >= q->options.rows ||
		    outbuf_len(&builder->block) >= BLOCK_MAX)
			finish_block(q, builder);
	}
}

/* Gives rows to a driver that takes them itself, until the end. */
static void pass_rows(struct queue *q, struct builder *builder,
		      struct row_batch *b)
{
	uint64_t delay = 0;
	int rc;

	while (!q->stop->now) {
		struct export_tally t = {0};
		struct error why = {""};

		rc = q->driver->take(q->self, builder->state, b, &t, &why);
		if (rc < 0 || !q->driver->poll_results)
			count_try(q, &t, rc, &why);
		if (rc == 0 || !pause_for(q, &delay))
			break;
	}
}

/* Counts what has become of rows that the driver took. */
static void poll_results(struct queue *q)
{
	struct export_tally t = {0};
	struct error why = {""};
	int rc = q->driver->poll_results
			 ? q->driver->poll_results(q->self, &t, &why)
			 : 0;

	if (rc)
		count_try(q, &t, rc, &why);
}

static void pack_batch(struct queue *q, struct builder **builders,
		       struct batch *n)
{
	struct row_batch *b = &n->rows;
	struct builder *builder = find_builder(q, builders, b->schema);

	if (!builder || !builder->state)
		refuse_rows(q, b->rows,
			    builder ? builder->why.text : "out of memory");
	else if (q->driver->take)
		pass_rows(q, builder, b);
	else
		encode_rows(q, builder, b);
	pthread_mutex_lock(&q->lock);
	q->bytes -= n->bytes;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	row_batch_fini(b);
	free(n);
}

/* Waking a thread costs the caller of put() much: as long as rows come, the
 * packer looks from time to time instead. lock is held. */
static void nap_for_rows(struct queue *q)
{
	uint64_t until = clock_ns() + NAP_NS;

	q->wanted = NAP_BATCHES;
	while (q->waiting < q->wanted && q->bytes < q->room / 2 && !q->ending &&
	       clock_ns() < until)
		wait_until(q, &q->batches, until);
	q->wanted = 1;
}

/* Waits for batches. NULL: none came before a block or poll_results() was due,
 * or it is the *end. busy: the call before returned some. */
static struct batch *take_batches(struct queue *q,
				  const struct builder *builder, bool busy,
				  bool *end)
{
	uint64_t due = clock_ns() +
		       (q->driver->poll_results ? POLL_NS : SECOND_NS);
	struct batch *list;
	bool more = true;

	for (; builder; builder = builder->next)
		if (builder->rows && builder->due_ns < due)
			due = builder->due_ns;
	pthread_mutex_lock(&q->lock);
	if (busy && q->options.linger_ns)
		nap_for_rows(q);
	/* At the end, wait for the results of rows that the driver took. */
	while (!(list = q->first) && !q->stop->now &&
	       (more = !q->ending ||
		       (q->driver->poll_results &&
			ledger_rest(&queue_ledger, &q->status.ledger))) &&
	       clock_ns() < due)
		wait_until(q, &q->batches, due);
	*end = !list && (q->stop->now || !more);
	q->first = NULL;
	q->last = &q->first;
	q->waiting = 0;
	pthread_mutex_unlock(&q->lock);
	return list;
}

static void *pack_batches(void *queue)
{
	struct queue *q = queue;
	struct builder *builders = NULL, *builder;
	bool busy = false, end = false;
	struct batch *list, *next;

	while (!end) {
		list = take_batches(q, builders, busy, &end);
		for (busy = list; list; list = next) {
			next = list->next;
			pack_batch(q, &builders, list);
		}
		for (builder = builders; builder; builder = builder->next)
			if (end || clock_ns() >= builder->due_ns)
				finish_block(q, builder);
		poll_results(q);
	}
	while ((builder = builders)) {
		builders = builder->next;
		free_schema_state(q, builder);
		free(builder->block.text);
		free(builder);
	}
	pthread_mutex_lock(&q->lock);
	q->packed = true;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

/* --- the sender ---------------------------------------------------------- */

/* Sends a block, with retries. False: the end came first. A block in a file is
 * left there whole then, and the next run sends all of it. */
static bool deliver_block(struct queue *q, struct export_block *b)
{
	struct queue_ledger *l = &q->status.ledger;
	struct export_tally all = {0};
	uint64_t delay = 0;

	while (b->rows) {
		struct export_tally t = {0};
		struct error why = {""};
		int rc = q->driver->send(q->self, b, &t, &why);

		count_try(q, &t, rc, &why);
		if (rc == 0)
			break;
		all.written += t.written;
		all.refused += t.refused;
		if (t.written || t.refused)
			delay = 0;
		if (pause_for(q, &delay))
			continue;
		if (q->options.spool) {
			count(q, &l->written, -all.written);
			count(q, &l->refused, -all.refused);
		}
		return false;
	}
	return true;
}

/* Waits for the next block. NULL: there will be none. */
static struct export_block *next_block(struct queue *q)
{
	struct export_block *b = NULL;
	uint64_t lost, delay = 0;
	struct error why;
	int rc = 0;

	while (rc <= 0) {
		pthread_mutex_lock(&q->lock);
		while (!q->stop->now && !spool_rows(q->spool) && !q->packed)
			pthread_cond_wait(&q->changed, &q->lock);
		pthread_mutex_unlock(&q->lock);
		if (q->stop->now || !spool_rows(q->spool))
			return NULL;
		rc = spool_next(q->spool, &b, &lost);
		if (rc == -EBADMSG) {
			count(q, &q->status.ledger.damaged, lost);
		} else if (rc < 0) {
			error_set(&why, rc, "spool: %s", strerror(-rc));
			count_try(q, &(struct export_tally){0}, rc, &why);
			pause_for(q, &delay);
		}
	}
	return b;
}

static void *send_blocks(void *queue)
{
	struct queue *q = queue;
	struct export_block *b;

	while ((b = next_block(q)) && deliver_block(q, b)) {
		spool_done(q->spool);
		pthread_mutex_lock(&q->lock);
		pthread_cond_broadcast(&q->changed);
		pthread_mutex_unlock(&q->lock);
	}
	pthread_mutex_lock(&q->lock);
	q->sent = true;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

/* --- the end ------------------------------------------------------------- */

/* Gives the threads their time; then ends them whatever they do. cancelled()
 * is called without the lock: it may call queue_status(). */
static void end_threads(struct queue *q)
{
	uint64_t until = clock_ns() + q->options.end_ns, now, blocks;
	bool cancelled = is_cancelled(q);

	pthread_mutex_lock(&q->lock);
	q->ending = true;
	pthread_cond_broadcast(&q->batches);
	pthread_cond_broadcast(&q->changed);
	blocks = q->status.ledger.blocks;
	while (!(q->sends ? q->sent : q->packed) &&
	       (now = clock_ns()) < until && !cancelled) {
		if (q->options.hold && q->status.ledger.blocks != blocks)
			until = now + q->options.end_ns;
		blocks = q->status.ledger.blocks;
		wait_until(q, &q->changed,
			   until - now < CANCEL_POLL_NS ? until
							: now + CANCEL_POLL_NS);
		pthread_mutex_unlock(&q->lock);
		cancelled = is_cancelled(q);
		pthread_mutex_lock(&q->lock);
	}
	q->stop->now = true;
	pthread_cond_broadcast(&q->batches);
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	if (q->driver->wake)
		q->driver->wake(q->self);
	pthread_join(q->packer, NULL);
	if (q->sends)
		pthread_join(q->sender, NULL);
	q->packs = q->sends = false;
}

/* Rows in the spool, at most those without an outcome: threads still run. */
static uint64_t count_kept(const struct queue *q, const struct queue_ledger *l)
{
	uint64_t under_way = ledger_rest(&queue_ledger, l);
	uint64_t rows = q->options.spool ? spool_rows(q->spool) : 0;

	return rows < under_way ? rows : under_way;
}

int queue_end(struct row_sink *face)
{
	struct queue *q = (struct queue *)face;
	struct queue_ledger *l = &q->status.ledger;

	if (q->packs) {
		end_threads(q);
		l->kept = count_kept(q, l);
		l->unsent = ledger_rest(&queue_ledger, l);
	}
	return l->unsent || l->kept ? -ETIMEDOUT : 0;
}

static int sink_close(struct row_sink *face)
{
	struct queue *q = (struct queue *)face;
	int rc = queue_end(face);

	q->driver->close(q->self);
	spool_close(q->spool);
	pthread_cond_destroy(&q->batches);
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
	free(q->owned);
	free(q);
	return rc;
}

void queue_status(struct row_sink *face, struct queue_status *out)
{
	struct queue *q = (struct queue *)face;
	struct queue_ledger *l = &out->ledger;

	pthread_mutex_lock(&q->lock);
	*out = q->status;
	pthread_mutex_unlock(&q->lock);
	l->kept += count_kept(q, l);
	l->waiting = ledger_rest(&queue_ledger, l);
}

/* Opens the spool, and starts the threads. */
static int start_queue(struct queue *q, const char *spool_name,
		       struct error *err)
{
	const struct queue_options *o = &q->options;
	int rc;

	if (q->driver->send) {
		rc = spool_open(&q->spool, o->spool, spool_name,
				o->spool ? o->spool_size : q->room,
				&q->status.ledger.found, err);
		if (rc < 0)
			return rc;
	}
	rc = pthread_create(&q->packer, NULL, pack_batches, q);
	q->packs = !rc;
	if (!rc && q->driver->send) {
		rc = pthread_create(&q->sender, NULL, send_blocks, q);
		q->sends = !rc;
	}
	return rc ? error_set(err, -rc, "a thread: %s", strerror(rc)) : 0;
}

int queue_open(struct row_sink **out, const struct queue_options *o,
	       const struct queue_driver *d, struct error *err)
{
	struct queue *q = calloc(1, sizeof(*q));
	pthread_condattr_t a;
	int rc;

	if (!q) {
		d->driver->close(d->self);
		return error_set(err, -ENOMEM, "out of memory");
	}
	q->face = (struct row_sink){sink_put, sink_flush, sink_close};
	q->driver = d->driver;
	q->self = d->self;
	q->stop = d->stop;
	q->options = *o;
	q->status.name = o->name;
	/* A driver that takes rows has neither blocks nor a spool. */
	q->room = o->bytes / (q->driver->take ? 1 : 2);
	if (q->driver->take)
		q->options.spool = NULL;
	q->last = &q->first;
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&q->batches, &a);
	pthread_cond_init(&q->changed, &a);
	pthread_condattr_destroy(&a);
	rc = start_queue(q, d->spool_name, err);
	if (rc < 0) {
		sink_close(&q->face);
		return rc;
	}
	q->owned = d->owned;
	*out = &q->face;
	return 0;
}
