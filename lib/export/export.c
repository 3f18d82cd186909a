/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/export.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zlib.h>

#include "base/clock.h"
#include "export/sink.h"

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct export_ledger, rows, LEDGER_IN),
	LEDGER_FIELD(struct export_ledger, found, LEDGER_IN),
	LEDGER_FIELD(struct export_ledger, written, LEDGER_DONE),
	LEDGER_FIELD(struct export_ledger, kept, LEDGER_DONE),
	LEDGER_FIELD(struct export_ledger, full, LEDGER_DROP),
	LEDGER_FIELD(struct export_ledger, refused, LEDGER_DROP),
	LEDGER_FIELD(struct export_ledger, unsent, LEDGER_DROP),
	LEDGER_FIELD(struct export_ledger, damaged, LEDGER_DROP),
	LEDGER_FIELD(struct export_ledger, spooled, LEDGER_NOTE),
	LEDGER_FIELD(struct export_ledger, blocks, LEDGER_NOTE),
	LEDGER_FIELD(struct export_ledger, retries, LEDGER_NOTE),
};
LEDGER_COMPLETE(fields, struct export_ledger);

const struct ledger export_ledger = {
	.stage = "export",
	.unit = "rows",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

static const struct driver *const drivers[] = {
	&influx_driver,
	&prometheus_driver,
	&file_driver,
};

enum {
	DRIVERS = sizeof(drivers) / sizeof(drivers[0]),
	ROWS_MAX = 1000000,
};

/* clang-format off */
static const struct field say_fields[] = {
	{"rows", FIELD_NUMBER, 8, offsetof(struct sink_options, rows), 1,
	 ROWS_MAX},
	{"linger", FIELD_OTHER, 0, offsetof(struct sink_options, linger_ns),
	 .set = export_set_duration},
	{"retry", FIELD_OTHER, 0, offsetof(struct sink_options, retry_ns),
	 .set = export_set_duration},
	{NULL},
};
/* clang-format on */

static const struct driver *driver_of(const char *scheme)
{
	for (unsigned i = 0; i < DRIVERS; i++)
		if (!strcmp(scheme, drivers[i]->scheme))
			return drivers[i];
	return NULL;
}

static size_t bytes_of(const struct row_batch *b)
{
	return b->size + sizeof(struct batch) +
	       (size_t)(b->room + 1) * b->schema->n * sizeof(b->cells[0]);
}

static int sink_put(struct row_sink *face, struct row_batch *b)
{
	struct sink *x = (struct sink *)face;
	size_t bytes = bytes_of(b);
	struct batch *n;
	unsigned rows = b->rows;
	bool room;

	if (!rows)
		return 0;
	pthread_mutex_lock(&x->lock);
	x->status.ledger.rows += rows;
	room = x->batch_bytes + bytes <= x->room && !x->ending;
	if (!room)
		x->status.ledger.full += rows;
	pthread_mutex_unlock(&x->lock);
	if (!room)
		return 0;
	n = malloc(sizeof(*n));
	if (!n || row_batch_take(&n->rows, b) < 0) {
		free(n);
		n = NULL;
	}
	pthread_mutex_lock(&x->lock);
	if (n) {
		n->next = NULL;
		n->bytes = bytes;
		*x->last_batch = n;
		x->last_batch = &n->next;
		x->batch_bytes += bytes;
		pthread_cond_signal(&x->batch);
	} else {
		x->status.ledger.full += rows;
	}
	pthread_mutex_unlock(&x->lock);
	return 0;
}

static int sink_flush(struct row_sink *face)
{
	struct sink *x = (struct sink *)face;
	uint64_t until = clock_ns() + x->options.end_ns;
	int rc = 0;

	pthread_mutex_lock(&x->lock);
	while (!rc && ledger_rest(&export_ledger, &x->status.ledger)) {
		x->flushing = true;
		pthread_cond_signal(&x->batch);
		sink_wait(x, &x->settled, until);
		if (clock_ns() >= until)
			rc = -ETIMEDOUT;
	}
	pthread_mutex_unlock(&x->lock);
	return rc;
}

/* Gives the threads their time; then ends them whatever they do. */
static void end_threads(struct sink *x)
{
	uint64_t until = clock_ns() + x->options.end_ns;

	pthread_mutex_lock(&x->lock);
	x->ending = true;
	pthread_cond_broadcast(&x->batch);
	pthread_cond_broadcast(&x->block);
	while (!(x->sends ? x->sent : x->packed) && clock_ns() < until)
		sink_wait(x, &x->settled, until);
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
static struct block *leftovers(struct sink *x)
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

static void keep(struct sink *x)
{
	struct export_ledger *l = &x->status.ledger;
	struct block *rest = leftovers(x);
	uint64_t rows = 0;

	for (struct block *b = rest; b; b = b->next)
		rows += b->rows;
	if (x->spool) {
		uint64_t had = spool_rows(x->spool);

		if (rest)
			spool_prepend(x->spool, rest);
		l->kept = spool_rows(x->spool);
		rows -= l->kept - had;
		l->spooled += l->kept - had;
	}
	l->unsent += rows;
	free_blocks(rest);
}

int export_end(struct row_sink *face)
{
	struct sink *x = (struct sink *)face;

	if (x->packs) {
		end_threads(x);
		keep(x);
	}
	return x->status.ledger.unsent || x->status.ledger.kept ? -ETIMEDOUT
								: 0;
}

static int sink_close(struct row_sink *face)
{
	struct sink *x = (struct sink *)face;
	int rc = export_end(face);

	x->driver->close(x->self);
	spool_close(x->spool);
	if (x->stop.fd >= 0)
		close(x->stop.fd);
	pthread_cond_destroy(&x->batch);
	pthread_cond_destroy(&x->block);
	pthread_cond_destroy(&x->settled);
	pthread_mutex_destroy(&x->lock);
	free(x);
	return rc;
}

void export_status(struct row_sink *face, struct export_status *out)
{
	struct sink *x = (struct sink *)face;

	pthread_mutex_lock(&x->lock);
	*out = x->status;
	pthread_mutex_unlock(&x->lock);
	if (x->driver->port)
		out->port = x->driver->port(x->self);
}

static void init(struct sink *x, const struct export_options *o)
{
	pthread_condattr_t a;

	x->face = (struct row_sink){sink_put, sink_flush, sink_close};
	x->options = *o;
	if (!o->queue)
		x->options.queue = UINT64_C(32) << 20;
	if (!o->spool_size)
		x->options.spool_size = UINT64_C(1) << 30;
	if (!o->end_ns)
		x->options.end_ns = UINT64_C(5000000000);
	x->room = x->options.queue / 2;
	x->say = (struct sink_options){5000, 200000000, 10000000000};
	x->last_batch = &x->batches;
	x->last_block = &x->blocks;
	x->stop.fd = -1;
	pthread_mutex_init(&x->lock, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&x->batch, &a);
	pthread_cond_init(&x->block, &a);
	pthread_cond_init(&x->settled, &a);
	pthread_condattr_destroy(&a);
}

/* The spool's directory: of a URL, whatever its options and password. */
static int open_spool(struct sink *x, struct fault *f)
{
	char name[64];

	if (!x->options.spool || x->driver->take)
		return 0;
	snprintf(name, sizeof(name), "%s-%08lx", x->driver->scheme,
		 crc32(0, (const Bytef *)x->url.shown,
		       (uInt)strlen(x->url.shown)));
	return spool_open(&x->spool, x->options.spool, name,
			  x->options.spool_size, &x->status.ledger.found, f);
}

/* With all signals blocked: they are for others. */
static int start_threads(struct sink *x, struct fault *f)
{
	int rc = pthread_create(&x->packer, NULL, sink_pack, x);

	x->packs = !rc;
	if (!rc && x->driver->send) {
		rc = pthread_create(&x->sender, NULL, sink_send, x);
		x->sends = !rc;
	}
	return rc ? fault_set(f, -rc, "a thread: %s", strerror(rc)) : 0;
}

static int open_all(struct sink *x, const char *url, struct fault *f)
{
	int rc = export_url_read(&x->url, url, f);

	if (rc == 0 && !(x->driver = driver_of(x->url.scheme)))
		rc = fault_set(f, -EINVAL,
			       "'%s' is none of influx clickhouse redis kafka "
			       "prometheus file",
			       x->url.scheme);
	if (rc == 0)
		rc = export_url_set(&x->url, say_fields, &x->say, f);
	if (rc == 0 && (x->stop.fd = eventfd(0, EFD_CLOEXEC)) < 0)
		rc = fault_set(f, -errno, "eventfd: %s", strerror(errno));
	if (rc == 0)
		rc = x->driver->open(&x->self, &x->url, &x->options, &x->stop,
				     f);
	if (rc == 0)
		rc = export_url_rest(&x->url, f);
	if (rc == 0)
		rc = open_spool(x, f);
	return rc < 0 ? rc : start_threads(x, f);
}

int export_open(struct row_sink **out, const char *url,
		const struct export_options *o, struct fault *f)
{
	static const struct export_options none;
	struct sink *x = calloc(1, sizeof(*x));
	sigset_t all, before;
	struct fault why;
	int rc;

	if (!x)
		return fault_set(f, -ENOMEM, "out of memory");
	init(x, o ? o : &none);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = open_all(x, url, &why);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc < 0) {
		fault_of(f, rc, x->driver ? x->url.shown : "export", &why);
		if (x->driver)
			sink_close(&x->face);
		else
			free(x);
		return rc;
	}
	*out = &x->face;
	return 0;
}
