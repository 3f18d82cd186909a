/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_transport.c - the transport: its connection, the ticket that it reads
 * through it, and the ledger (verbs.h). */
#include "verbs/verbs.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "verbs/verbs_link.h"

enum {
	PAUSE_MS = 300,	     /* between attempts */
	ROTATION_MS = 10000, /* that a collector may take to rotate */
	TICKET_LENGTH_MAX = 256 << 20,
};

struct verbs_transport {
	struct transport transport;
	struct verbs_transport_options o;
	char address[256];
	struct ticket ticket;
	uint64_t generation;
	uint64_t *heads[TABLE_MAX];
	struct verbs_transport_ledger ctr;
	struct error unacked_reason;
	/* Of an outage: since when, and when to try again. */
	uint64_t since_ms, next_ms;
	struct verbs_link link;
};

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct verbs_transport_ledger, received, LEDGER_IN),
	LEDGER_FIELD(struct verbs_transport_ledger, completed, LEDGER_DONE),
	LEDGER_FIELD(struct verbs_transport_ledger, flushed, LEDGER_LOSS),
	LEDGER_FIELD(struct verbs_transport_ledger, access, LEDGER_LOSS),
	LEDGER_FIELD(struct verbs_transport_ledger, refused, LEDGER_LOSS),
	LEDGER_FIELD(struct verbs_transport_ledger, unanswered, LEDGER_LOSS),
	LEDGER_FIELD(struct verbs_transport_ledger, not_ready, LEDGER_LOSS),
	LEDGER_FIELD(struct verbs_transport_ledger, failed, LEDGER_LOSS),
	LEDGER_FIELD(struct verbs_transport_ledger, unconnected, LEDGER_LOSS),
	LEDGER_FIELD(struct verbs_transport_ledger, writes, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_transport_ledger, atomics, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_transport_ledger, immediates, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_transport_ledger, bytes, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_transport_ledger, inlined, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_transport_ledger, doorbells, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_transport_ledger, connections, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_transport_ledger, disconnections,
		     LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_transport_ledger, retries, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_transport_ledger, tickets, LEDGER_NOTE),
};

LEDGER_COMPLETE(fields, struct verbs_transport_ledger);

const struct ledger verbs_transport_ledger = {
	.stage = "transport",
	.unit = "operations",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

static inline struct verbs_transport *self(struct transport *r)
{
	return (struct verbs_transport *)r;
}

/* Says what happened to the connection, behind the collector's address. */
__attribute__((format(printf, 2, 3))) static void
report(const struct verbs_transport *v, const char *fmt, ...)
{
	char text[800];
	va_list ap;
	int n;

	if (!v->o.warn)
		return;
	n = snprintf(text, sizeof(text), "%s: ", v->address);
	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	v->o.warn(v->o.ctx, text);
}

/* The ticket, a text that is untrusted: ticket_parse() checks it. */
static int read_ticket(struct verbs_link *l, struct ticket *t,
		       struct error *err)
{
	size_t len = l->answer.length;
	char *text = len && len <= TICKET_LENGTH_MAX ? malloc(len) : NULL;
	struct memory_piece all = {.length = len, .to = text};
	FILE *in = NULL;
	int rc;

	if (!text)
		return error_set(err, -ENOMEM, "no memory for the ticket");
	rc = verbs_link_read(l, &all, 1, err);
	if (!rc) {
		in = fmemopen(text, len, "r");
		rc = in ? ticket_parse(t, in, "ticket", err)
			: error_set(err, -errno, "%s", strerror(errno));
	}
	if (in)
		fclose(in);
	free(text);
	return rc;
}

/* Whether the translator can write by a ticket: it was made for the tables of
 * the first one. */
static int check_ticket(const struct verbs_transport *v, const struct ticket *t,
			struct error *err)
{
	if (v->ticket.n &&
	    (t->n != v->ticket.n || memcmp(t->table, v->ticket.table,
					   t->n * sizeof(t->table[0])) != 0))
		return error_set(err, -ENOTSUP,
				 "the collector has other tables");
	for (unsigned i = 0; i < t->n; i++)
		if (table_counts(&t->table[i]) && !v->link.has_atomics)
			return error_set(err, -ENOTSUP,
					 "table %s: counters need atomics, "
					 "which the device here does not have",
					 t->table[i].name);
	return 0;
}

static int fetch_ticket(struct verbs_transport *v, struct error *err)
{
	struct ticket *t = calloc(1, sizeof(*t));
	int rc = t ? read_ticket(&v->link, t, err)
		   : error_set(err, -ENOMEM, "%s", strerror(ENOMEM));

	if (!rc) {
		rc = check_ticket(v, t, err);
		ticket_fini(rc < 0 ? t : &v->ticket);
	}
	if (!rc) {
		v->ticket = *t;
		v->ctr.tickets++;
		rc = ticket_take_heads(v->heads, t);
	}
	free(t);
	return rc;
}
static int connect_once(struct verbs_transport *v, struct error *err)
{
	int rc = verbs_link_connect(&v->link, VERBS_CM_WRITE, err);

	if (rc < 0)
		return rc;
	rc = fetch_ticket(v, err);
	if (rc < 0) {
		verbs_link_disconnect(&v->link);
		return rc;
	}
	v->link.q.ctr = &v->ctr; /* no more READs */
	v->link.q.tables = v->ticket.at;
	v->ctr.connections++;
	v->generation++;
	return 0;
}

/* Whether the connection is up; one that broke is closed. */
static bool check_link(struct verbs_transport *v)
{
	struct verbs_link *l = &v->link;

	if (!l->up)
		return false;
	verbs_link_poll(l);
	if (l->q.done != l->q.posted)
		verbs_queue_reap(&l->q);
	if (!l->disconnected && !l->q.broken)
		return true;
	v->ctr.disconnections++;
	verbs_link_disconnect(l);
	return false;
}

static void sleep_until(const struct verbs_transport *v, uint64_t until_ms)
{
	uint64_t now;

	while (!*v->link.stop && (now = clock_ms()) < until_ms)
		poll(NULL, 0, until_ms - now < 50 ? (int)(until_ms - now) : 50);
}

/* Makes a broken connection again. Waits for that, VERBS_TRANSPORT_WAIT_MS at
 * most; then each call makes one attempt, when it is due. */
static void reconnect(struct verbs_transport *v)
{
	bool waiting;

	if (!v->since_ms) {
		v->since_ms = v->next_ms = clock_ms();
		report(v, "connection lost");
	}
	do {
		struct error err = {""};
		int rc;

		waiting = clock_ms() - v->since_ms < VERBS_TRANSPORT_WAIT_MS;
		if (waiting)
			sleep_until(v, v->next_ms);
		if (*v->link.stop || clock_ms() < v->next_ms)
			return;
		rc = connect_once(v, &err);
		if (!rc) {
			v->since_ms = 0;
			report(v, "connected again, epoch %llu",
			       (unsigned long long)v->ticket.epoch);
			return;
		}
		v->ctr.retries++;
		v->next_ms = clock_ms() + PAUSE_MS;
		if (rc == -ENOTSUP)
			v->since_ms = 1; /* long ago: it is not waited for */
		if (waiting &&
		    clock_ms() - v->since_ms >= VERBS_TRANSPORT_WAIT_MS)
			report(v, "%s; counting what is lost meanwhile",
			       err.text);
	} while (waiting);
}

static uint64_t verbs_begin(struct transport *transport)
{
	struct verbs_transport *v = self(transport);

	if (!check_link(v))
		reconnect(v);
	return v->generation;
}

static int verbs_exec(struct transport *transport, const struct op *ops,
		      size_t n, uint64_t ts_ns)
{
	struct verbs_transport *v = self(transport);

	(void)ts_ns;
	for (size_t i = 0; i < n; i++) {
		if (ops[i].table >= v->ticket.n)
			return -ERANGE;
		ticket_note_head(v->heads, &v->ticket, &ops[i]);
	}
	v->ctr.received += n;
	if (v->link.up)
		verbs_queue_exec(&v->link.q, ops, n);
	else
		v->ctr.unconnected += n;
	return 0;
}

static uint64_t verbs_head(struct transport *transport, unsigned table,
			   uint32_t list)
{
	return self(transport)->heads[table][list];
}

/* Takes in what was completed meanwhile, without waiting for more. */
static bool verbs_account(struct transport *transport,
			  struct transport_account *out)
{
	struct verbs_transport *v = self(transport);

	if (v->link.up)
		verbs_queue_reap(&v->link.q);
	*out = (struct transport_account){
		.sent = v->ctr.received,
		.acked = v->ctr.completed,
	};
	return true;
}

/* Waits until all that was posted is completed or lost: then the ledger adds
 * up. */
static int verbs_finish(struct transport *transport)
{
	struct verbs_transport *v = self(transport);

	if (v->link.up)
		verbs_queue_settle(&v->link.q);
	return check_link(v) ? 0 : -ENOTCONN;
}

static unsigned verbs_ledgers(struct transport *transport,
			      struct transport_ledger out[TRANSPORT_LEDGERS])
{
	verbs_finish(transport);
	out[0] = (struct transport_ledger){&verbs_transport_ledger,
					   &self(transport)->ctr};
	return 1;
}

static const char *verbs_unacked_reason(struct transport *transport)
{
	struct verbs_transport *v = self(transport);
	uint64_t most;
	const char *worst = ledger_largest_loss(&verbs_transport_ledger,
						&v->ctr, &most);

	if (!v->ctr.received || v->ctr.completed || !most)
		return NULL;
	error_set(
		&v->unacked_reason, -1,
		"%.200s: nothing was acknowledged of all that was sent: %ju "
		"operations are %s: see FROM HOST TO HOST in dta-translate(1)",
		v->address, (uintmax_t)most, worst);
	return v->unacked_reason.text;
}

static void verbs_close(struct transport *transport)
{
	struct verbs_transport *v = self(transport);

	if (v->link.up)
		verbs_queue_settle(&v->link.q);
	verbs_link_close(&v->link);
	for (unsigned i = 0; i < TABLE_MAX; i++)
		free(v->heads[i]);
	ticket_fini(&v->ticket);
	free(v);
}

int verbs_transport_open(struct transport **out, const char *address,
			 const struct verbs_transport_options *o,
			 struct error *err)
{
	struct verbs_transport *v = calloc(1, sizeof(*v));
	uint64_t until = clock_ms() + ROTATION_MS;
	int rc;

	if (!v)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	v->transport = (struct transport){
		.begin = verbs_begin,
		.exec = verbs_exec,
		.head = verbs_head,
		.name = v->address,
		.table = v->ticket.table,
		.account = verbs_account,
		.finish = verbs_finish,
		.ledgers = verbs_ledgers,
		.unacked_reason = verbs_unacked_reason,
		.close = verbs_close,
	};
	if (o)
		v->o = *o;
	snprintf(v->address, sizeof(v->address), "%s", address);
	rc = verbs_link_open(&v->link, address, &v->o, err);
	if (!rc)
		rc = connect_once(v, err);
	/* Again only while the collector is about to begin another epoch. */
	for (; (rc == -EAGAIN || rc == -ECONNRESET) && !*v->link.stop &&
	       clock_ms() < until;
	     rc = connect_once(v, err))
		sleep_until(v, clock_ms() + PAUSE_MS);
	if (rc < 0) {
		verbs_close(&v->transport);
		return rc;
	}
	v->transport.tables = v->ticket.n;
	*out = &v->transport;
	return 0;
}
