/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs/verbs_road.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "verbs/verbs_link.h"
#include "verbs/verbs_private.h"
#include "wire/be.h"

enum {
	PAUSE_MS = 100, /* before the first new attempt; then twice as long */
	PAUSE_MAX_MS = 2000,
	ROTATION_MS = 10000, /* how long a collector may be at one */
};

struct verbs_road {
	struct road road;
	struct verbs_road_options o;
	struct verbs_peer peer;
	char address[256];
	struct ticket ticket;
	uint64_t generation;
	uint64_t *heads[TABLE_MAX];
	struct verbs_road_ledger ctr;
	struct fault why;
	/* Of an outage: since when, and when to try again. */
	uint64_t since_ms, next_ms, pause_ms;
	struct verbs_link link[TABLE_MAX];
};

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct verbs_road_ledger, received, LEDGER_IN),
	LEDGER_FIELD(struct verbs_road_ledger, completed, LEDGER_DONE),
	LEDGER_FIELD(struct verbs_road_ledger, flushed, LEDGER_LOSS),
	LEDGER_FIELD(struct verbs_road_ledger, access, LEDGER_LOSS),
	LEDGER_FIELD(struct verbs_road_ledger, refused, LEDGER_LOSS),
	LEDGER_FIELD(struct verbs_road_ledger, unanswered, LEDGER_LOSS),
	LEDGER_FIELD(struct verbs_road_ledger, not_ready, LEDGER_LOSS),
	LEDGER_FIELD(struct verbs_road_ledger, failed, LEDGER_LOSS),
	LEDGER_FIELD(struct verbs_road_ledger, unconnected, LEDGER_LOSS),
	LEDGER_FIELD(struct verbs_road_ledger, writes, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_road_ledger, atomics, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_road_ledger, immediates, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_road_ledger, bytes, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_road_ledger, inlined, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_road_ledger, doorbells, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_road_ledger, connections, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_road_ledger, disconnections, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_road_ledger, retries, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_road_ledger, tickets, LEDGER_NOTE),
};

LEDGER_COMPLETE(fields, struct verbs_road_ledger);

const struct ledger verbs_road_ledger = {
	.stage = "road",
	.unit = "operations",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

static inline struct verbs_road *self(struct road *r)
{
	return (struct verbs_road *)r;
}

/* Says what happened to the connection, behind the collector's address. */
__attribute__((format(printf, 2, 3))) static void
report(const struct verbs_road *v, const char *fmt, ...)
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

/* The count of a list goes on from the ticket's. */
static int take_heads(struct verbs_road *v, unsigned i)
{
	const struct table *t = &v->ticket.table[i];

	if (t->kind != TABLE_APPEND)
		return 0;
	if (!v->heads[i])
		v->heads[i] = calloc(t->lists, sizeof(*v->heads[i]));
	if (!v->heads[i])
		return -ENOMEM;
	if (v->ticket.at[i].heads)
		memcpy(v->heads[i], v->ticket.at[i].heads,
		       t->lists * sizeof(*v->heads[i]));
	else
		memset(v->heads[i], 0, t->lists * sizeof(*v->heads[i]));
	return 0;
}

static int connect_table(struct verbs_road *v, unsigned i, struct fault *f)
{
	int rc = verbs_link_table(&v->link[i], &v->peer, &v->ticket.table[i],
				  v->ticket.epoch, &v->ctr, f);

	if (rc < 0)
		return rc;
	v->ctr.connections++;
	v->generation++; /* its lists go on elsewhere, whatever others do */
	rc = take_heads(v, i);
	return rc < 0 ? fault_set(f, rc, "%s", strerror(-rc)) : 0;
}

static void disconnect(struct verbs_road *v, unsigned i)
{
	if (!v->link[i].id)
		return;
	v->ctr.disconnections++;
	verbs_link_close(&v->link[i]);
}

/*
 * A new ticket in the place of the one at hand, unless the tables are others
 * than the translator was made for.
 */
static int renew_ticket(struct verbs_road *v, struct fault *f)
{
	struct ticket *t = calloc(1, sizeof(*t));
	int rc = t ? verbs_link_ticket(&v->peer, t, f) : -ENOMEM;

	if (rc < 0) {
		free(t);
		return rc;
	}
	v->ctr.tickets++;
	if (v->ticket.n &&
	    (t->n != v->ticket.n || memcmp(t->table, v->ticket.table,
					   t->n * sizeof(t->table[0])) != 0)) {
		rc = fault_set(f, -ENOTSUP, "the collector has other tables");
		ticket_fini(t);
	} else {
		for (unsigned i = 0;
		     t->epoch != v->ticket.epoch && i < v->ticket.n; i++)
			disconnect(v, i);
		ticket_fini(&v->ticket);
		v->ticket = *t;
	}
	free(t);
	return rc;
}

/* One attempt to have all tables connected. */
static int connect_all(struct verbs_road *v, struct fault *f)
{
	int rc = renew_ticket(v, f);

	for (unsigned i = 0; i < v->ticket.n && !rc; i++)
		if (!v->link[i].up)
			rc = connect_table(v, i, f);
	return rc;
}

/* Whether all links are up; those that broke are closed. */
static bool check_links(struct verbs_road *v)
{
	bool all_up = true;

	verbs_peer_poll(&v->peer);
	for (unsigned i = 0; i < v->ticket.n; i++) {
		struct verbs_link *l = &v->link[i];

		if (l->up && l->q.done != l->q.posted)
			verbs_queue_reap(&l->q);
		if (l->disconnected || l->q.broken)
			disconnect(v, i);
		all_up = all_up && l->up;
	}
	return all_up;
}

static void sleep_until(const struct verbs_road *v, uint64_t until_ms)
{
	uint64_t now;

	while (!*v->peer.stop && (now = clock_ms()) < until_ms)
		poll(NULL, 0, until_ms - now < 50 ? (int)(until_ms - now) : 50);
}

static void begin_outage(struct verbs_road *v)
{
	if (v->since_ms)
		return;
	v->since_ms = clock_ms();
	v->pause_ms = PAUSE_MS;
	v->next_ms = v->since_ms;
	report(v, "connection lost");
}

/*
 * Makes broken connections again. Waits for that, VERBS_ROAD_WAIT_MS at most;
 * then each call makes one attempt, when it is due.
 */
static void reconnect(struct verbs_road *v)
{
	bool waiting;

	begin_outage(v);
	do {
		struct fault f = {""};
		int rc;

		waiting = clock_ms() - v->since_ms < VERBS_ROAD_WAIT_MS;
		if (waiting)
			sleep_until(v, v->next_ms);
		if (*v->peer.stop || clock_ms() < v->next_ms)
			return;
		rc = connect_all(v, &f);
		if (!rc) {
			v->since_ms = 0;
			report(v, "connected again, epoch %llu",
			       (unsigned long long)v->ticket.epoch);
			return;
		}
		v->ctr.retries++;
		v->next_ms = clock_ms() + v->pause_ms;
		if (v->pause_ms < PAUSE_MAX_MS)
			v->pause_ms *= 2;
		if (rc == -ENOTSUP)
			v->since_ms = 1; /* not worth waiting for */
		if (waiting && clock_ms() - v->since_ms >= VERBS_ROAD_WAIT_MS)
			report(v, "%s; counting what is lost meanwhile",
			       f.text);
		check_links(v); /* half of them may be up */
	} while (waiting);
}

static uint64_t verbs_begin(struct road *road)
{
	struct verbs_road *v = self(road);

	if (!check_links(v))
		reconnect(v);
	return v->generation;
}

/* Keeps the count of a list that goes over the road, for head(). */
static void note_head(struct verbs_road *v, const struct table *t,
		      const struct op *op)
{
	uint64_t list = (op->offset - t->heads) / 8;

	if ((op->verb == OP_WRITE || op->verb == OP_WRITE_IMM) &&
	    op->length == 8 && op->offset >= t->heads && list < t->lists)
		v->heads[op->table][list] = be64_load(op->data);
}

/* Operations of one table, which is that of the first. Returns their number. */
static size_t run(struct verbs_road *v, const struct op *ops, size_t n)
{
	unsigned table = ops->table;
	const struct table *t = &v->ticket.table[table];
	struct verbs_link *l = &v->link[table];
	size_t same = 0;

	while (same < n && ops[same].table == table)
		same++;
	if (t->kind == TABLE_APPEND)
		for (size_t i = 0; i < same; i++)
			note_head(v, t, &ops[i]);
	v->ctr.received += same;
	if (l->up)
		verbs_queue_exec(&l->q, ops, same);
	else
		v->ctr.unconnected += same;
	return same;
}

static int verbs_exec(struct road *road, const struct op *ops, size_t n,
		      uint64_t ts_ns)
{
	struct verbs_road *v = self(road);

	(void)ts_ns;
	for (size_t done; n; ops += done, n -= done) {
		if (ops->table >= v->ticket.n)
			return -ERANGE;
		done = run(v, ops, n);
	}
	return 0;
}

static void verbs_end(struct road *road)
{
	(void)road;
}

static uint64_t verbs_head(struct road *road, unsigned table, uint32_t list)
{
	return self(road)->heads[table][list];
}

/* Takes in what was completed meanwhile, without waiting for more. */
static bool verbs_account(struct road *road, struct road_account *out)
{
	struct verbs_road *v = self(road);

	for (unsigned i = 0; i < v->ticket.n; i++)
		if (v->link[i].up)
			verbs_queue_reap(&v->link[i].q);
	*out = (struct road_account){
		.sent = v->ctr.received,
		.acked = v->ctr.completed,
		.waiting = ledger_rest(&verbs_road_ledger, &v->ctr),
	};
	return true;
}

/* Until all that was posted is completed or lost: the ledger adds up then. */
static int verbs_finish(struct road *road)
{
	struct verbs_road *v = self(road);

	for (unsigned i = 0; i < v->ticket.n; i++)
		if (v->link[i].up)
			verbs_queue_settle(&v->link[i].q);
	return check_links(v) ? 0 : -ENOTCONN;
}

static unsigned verbs_ledgers(struct road *road,
			      struct road_ledger out[ROAD_LEDGERS])
{
	verbs_finish(road);
	out[0] = (struct road_ledger){&verbs_road_ledger, &self(road)->ctr};
	return 1;
}

static const char *verbs_why(struct road *road)
{
	struct verbs_road *v = self(road);
	const struct ledger *l = &verbs_road_ledger;
	unsigned worst = ledger_worst(l, &v->ctr);

	if (!v->ctr.received || v->ctr.completed || worst == l->n)
		return NULL;
	fault_set(
		&v->why, -1,
		"%.200s: nothing was acknowledged of all that was sent: %ju "
		"operations are %s: see FROM HOST TO HOST in dta-translate(1)",
		v->address, (uintmax_t)ledger_get(l, &v->ctr, worst),
		l->fields[worst].name);
	return v->why.text;
}

static void verbs_close(struct road *road)
{
	verbs_road_close(self(road));
}

/* Tried again only while the collector is about to begin another epoch. */
static int connect_first(struct verbs_road *v, struct fault *f)
{
	uint64_t until = clock_ms() + ROTATION_MS;
	int rc;

	while (((rc = connect_all(v, f)) == -ESTALE || rc == -EAGAIN) &&
	       !*v->peer.stop && clock_ms() < until) {
		sleep_until(v, clock_ms() + PAUSE_MS);
		check_links(v); /* half of them may be up */
	}
	return rc;
}

int verbs_road_open(struct verbs_road **out, const char *address,
		    const struct verbs_road_options *o, struct fault *f)
{
	struct verbs_road *v = calloc(1, sizeof(*v));
	int rc;

	if (!v)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	v->road = (struct road){
		.begin = verbs_begin,
		.exec = verbs_exec,
		.end = verbs_end,
		.head = verbs_head,
		.name = v->address,
		.table = v->ticket.table,
		.account = verbs_account,
		.finish = verbs_finish,
		.ledgers = verbs_ledgers,
		.why = verbs_why,
		.close = verbs_close,
	};
	if (o)
		v->o = *o;
	verbs_raise_memlock();
	snprintf(v->address, sizeof(v->address), "%s", address);
	rc = verbs_peer_open(&v->peer, address, v->o.stop, f);
	if (!rc)
		rc = connect_first(v, f);
	if (rc < 0) {
		verbs_road_close(v);
		return rc;
	}
	v->road.tables = v->ticket.n;
	*out = v;
	return 0;
}

struct road *verbs_road(struct verbs_road *v)
{
	return &v->road;
}

void verbs_road_close(struct verbs_road *v)
{
	if (!v)
		return;
	for (unsigned i = 0; i < TABLE_MAX; i++) {
		if (v->link[i].up)
			verbs_queue_settle(&v->link[i].q);
		verbs_link_close(&v->link[i]);
		free(v->heads[i]);
	}
	verbs_peer_close(&v->peer);
	ticket_fini(&v->ticket);
	free(v);
}
