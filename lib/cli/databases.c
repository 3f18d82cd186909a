/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/databases.h"

#include <inttypes.h>
#include <pthread.h>

#include "cli/cli.h"

/* For cancelled(): the databases; cli_stop when databases_end() began, or 0. */
static struct databases *all;
static int stops_before_end;

/* A signal ends a queue's wait; in databases_end(), only a new one does. */
static bool cancelled(void)
{
	databases_warn(all);
	return cli_stop > stops_before_end;
}

struct row_sink *databases_add(struct databases *d, const char *option,
			       const char *url, const struct export_options *o)
{
	struct export_options copy = *o;
	struct error err = {0};
	int rc;

	all = d;
	copy.queue.cancelled = cancelled;
	copy.queue.hold = d->hold;
	rc = export_open(&d->sink[d->n], url, &copy, &err);
	if (rc < 0)
		cli_fail_option(option, rc, &err);
	return d->sink[d->n++];
}

/* Any thread may call this, since any may wait for a queue (cancelled()). */
void databases_warn(struct databases *d)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct queue_status st;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < d->n; i++) {
		queue_status(d->sink[i], &st);
		if (*st.spool.text && !d->spool_warned[i])
			cli_warn("%s: no room in the spool: %s", st.name,
				 st.spool.text);
		d->spool_warned[i] = *st.spool.text;
		if (*st.refusal.text && !d->refusal_warned[i] && !d->hold)
			cli_warn("%s: rows are refused: %s", st.name,
				 st.refusal.text);
		d->refusal_warned[i] = *st.refusal.text;
		if (st.changes != d->changes[i] && st.failing)
			cli_warn("%s: rows wait: %s", st.name, st.why.text);
		else if (st.changes != d->changes[i])
			cli_warn("%s: rows are taken again", st.name);
		d->changes[i] = st.changes;
	}
	pthread_mutex_unlock(&lock);
}

void databases_begin_end(struct databases *d)
{
	for (unsigned i = 0; i < d->n; i++)
		queue_last(d->sink[i]);
}

static void warn_of_rows(const struct queue_status *st, uint64_t rows,
			 const char *what, const char *why)
{
	if (rows)
		cli_warn("%s: %" PRIu64 " rows %s%s%s", st->name, rows, what,
			 *why ? ": " : "", why);
}

/* Warns of rows that the database did not get; false: there are none. */
static bool warn_of_losses(const struct queue_status *st)
{
	const struct queue_ledger *l = &st->ledger;
	const char *why = *st->spool.text ? st->spool.text : st->why.text;

	warn_of_rows(st, l->refused, "were refused", st->refusal.text);
	warn_of_rows(st, l->full,
		     *st->spool.text ? "found no room in the spool"
				     : "found no room in the queue",
		     why);
	warn_of_rows(st, l->damaged, "were damaged in the spool", "");
	warn_of_rows(st, l->unsent, "could not be sent", why);
	warn_of_rows(st, l->kept, "wait in the spool for the next run",
		     st->why.text);
	return l->refused || l->full || l->damaged || l->unsent || l->kept;
}

int databases_end(struct databases *d)
{
	int status = 0;

	stops_before_end = cli_stop;
	for (unsigned i = 0; i < d->n; i++)
		queue_end(d->sink[i]);
	for (unsigned i = 0; i < d->n; i++) {
		struct queue_status st;

		queue_status(d->sink[i], &st);
		if (warn_of_losses(&st))
			status = -1;
	}
	return status;
}

void databases_ledgers(const struct databases *d, enum row_format fmt)
{
	for (unsigned i = 0; i < d->n; i++) {
		struct queue_status st;

		queue_status(d->sink[i], &st);
		cli_ledger(&queue_ledger, &st.ledger, fmt);
	}
}

void databases_close(struct databases *d)
{
	for (unsigned i = 0; i < d->n; i++)
		d->sink[i]->close(d->sink[i]);
	d->n = 0;
}
