/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_transport.c - the transport of packets. From top to bottom: the
 * collectors, each by its region or its ticket; tickets that are written anew;
 * the collectors' answers, from the interface that packets go to, or from a
 * capture, which may be a pipe; SIGHUP; the transport itself.
 */
#include "cluster/packet_transport.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cluster/cluster.h"
#include "rdma/local.h"
#include "rdma/roce_out.h"
#include "rdma/ticket.h"
#include "net/roce.h"

enum {
	MS = 1000000,	      /* ns */
	LOOK_AROUND_MS = 100, /* between looks at tickets, and at health */
	AWAY_MS = 1000,	      /* without a look: we were stopped */
	PIECE = 512,	      /* operations handed on at once */
};

/* A collector that confirms nothing for so long is given up. */
static const uint64_t give_up_ns = UINT64_C(5000000000);

struct collector {
	struct packet_transport *owner;
	char path[CLUSTER_TEXT]; /* of the region or the ticket */
	struct transport *transport;
	uint64_t generation;   /* of its last begin() */
	struct roce_out *roce; /* NULL: it is a region */
	struct ticket *ticket;
	struct ticket_stamp seen; /* of the last file that was judged */
	bool refused;		  /* a message said that its ticket is */
	uint64_t acked, since_ns; /* confirmed; since when no more is */
	struct roce_out_health health;
};

/* The members of a generation, in their order; or the one of a ticket. */
struct members {
	unsigned n, tables;
	struct collector member[CLUSTER_MAX];
	struct table table[TABLE_MAX];
	struct op piece[PIECE]; /* copies with a member's table numbers */
};

struct packet_transport {
	struct transport transport;
	struct packet_transport_options o;
	struct snk *sink;
	struct src *answers;
	struct members *m;
	uint64_t generation; /* grows when a member's changes */
	struct cluster cluster;

	/* Of members that were taken out: what became of their requests, and
	 * their last tickets. */
	struct requester_ledger past_requests;
	struct dart_ledger past_darts;
	struct ticket_stamp past_ticket[CLUSTER_MAX];
	unsigned past_tickets;
	uint64_t tickets_ns; /* when tickets are looked at next */

	/* Answers. */
	bool windows;	    /* requests wait for answers: requests is used */
	bool answers_ended; /* their source has ended */
	uint64_t progress_ns, health_ns;    /* when they were last noted */
	struct roce_out *roce[CLUSTER_MAX]; /* of members with tickets */
	unsigned roces;
	struct pkt pkts[PKT_BATCH];

	bool failed;		  /* an operation could not be carried out */
	struct dart_ledger darts; /* sums of all members, past ones too */
	struct requester_ledger requests;
	char region[TICKET_REGION];
	struct error unacked_reason;
	uint64_t unsent;
};

static inline struct packet_transport *self(struct transport *r)
{
	return (struct packet_transport *)r;
}

__attribute__((format(printf, 2, 3))) static void
warn_text(const struct packet_transport *p, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p->o.warn(p->o.ctx, text);
}

/* Prints "object: why", the object once even if why begins with it. */
static void warn_about(const struct packet_transport *p, const char *object,
		       const struct error *why)
{
	struct error all;

	error_about(&all, 0, object, why);
	warn_text(p, "%s", all.text);
}

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
}

static bool is_same_table(const struct table *a, const struct table *b)
{
	return a->id == b->id && a->kind == b->kind && a->hash == b->hash &&
	       a->key_type == b->key_type && a->key_len == b->key_len &&
	       a->value_len == b->value_len && a->stride == b->stride &&
	       a->units == b->units && a->lists == b->lists &&
	       a->hops == b->hops && a->copies == b->copies &&
	       a->batch == b->batch && a->qp == b->qp;
}

/* All collectors must have the tables of the first, which are stored. */
static int check_tables(struct members *m, const struct table *tables,
			unsigned n, struct error *err)
{
	if (!m->tables) {
		memcpy(m->table, tables, n * sizeof(tables[0]));
		m->tables = n;
	}
	if (n != m->tables)
		return error_set(err, -EINVAL,
				 "%u tables, where the first collector has %u",
				 n, m->tables);
	for (unsigned i = 0; i < n; i++)
		if (!is_same_table(&m->table[i], &tables[i]))
			return error_set(err, -EINVAL,
					 "table %.*s: not what the first "
					 "collector has",
					 TABLE_NAME_MAX, tables[i].name);
	return 0;
}

/* Takes over a ticket, read from path, and opens its transport. */
static int open_roce(struct members *m, struct collector *c, struct ticket *t,
		     const char *path, struct error *err)
{
	const struct packet_transport *p = c->owner;
	int rc;

	c->ticket = t;
	c->seen = t->stamp;
	c->since_ns = clock_ns();
	snprintf(c->path, sizeof(c->path), "%s", path);
	rc = check_tables(m, t->table, t->n, err);
	if (!rc)
		rc = roce_out_open(&c->roce, t, p->sink, p->o.ack_every, err);
	if (rc < 0)
		return rc;
	c->transport = roce_out_transport(c->roce);
	return p->o.dart ? roce_out_dart(c->roce, err) : 0;
}

static void drop_ticket(struct ticket *t)
{
	if (t)
		ticket_fini(t);
	free(t);
}

static int read_ticket(struct ticket **out, const char *path, struct error *err)
{
	struct ticket *t = malloc(sizeof(*t));
	int rc = t ? ticket_read(t, path, err) : no_memory(err);

	if (rc < 0)
		free(t);
	else
		*out = t;
	return rc;
}

/* Writes a member's present PSNs and list heads into a ticket. */
static int save_state(const struct collector *c, struct ticket *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		struct ticket_table *at = &t->at[i];
		uint32_t lists = t->table[i].lists;

		at->psn = roce_out_psn(c->roce, i);
		if (!lists)
			continue;
		if (!at->heads && !(at->heads = calloc(lists, 8)))
			return -ENOMEM;
		for (uint32_t k = 0; k < lists; k++)
			at->heads[k] = c->transport->head(c->transport, i, k);
	}
	return 0;
}

static const struct collector *find_ticket(const struct members *m,
					   const struct ticket_stamp *stamp)
{
	for (unsigned i = 0; m && i < m->n; i++)
		if (m->member[i].ticket &&
		    ticket_stamps_equal(&m->member[i].ticket->stamp, stamp))
			return &m->member[i];
	return NULL;
}

/* Under a ticket that was used already, PSNs and lists continue where they are,
 * if its collector still is a member. If it was taken out, they are no longer
 * known: the same ticket's heads would overwrite what was stored since. */
static int continue_sequence(const struct packet_transport *p, struct ticket *t,
			     struct error *err)
{
	const struct collector *was = find_ticket(p->m, &t->stamp);

	if (was)
		return save_state(was, t) < 0 ? no_memory(err) : 0;
	for (unsigned i = 0; i < CLUSTER_MAX; i++)
		if (p->past_ticket[i].inode &&
		    ticket_stamps_equal(&p->past_ticket[i], &t->stamp))
			return error_set(err, -ESTALE,
					 "its ticket is from before it was "
					 "taken out: have its dta-collect "
					 "write another (SIGHUP)");
	return 0;
}

static int open_collector(struct members *m, struct collector *c,
			  const struct cluster_collector *entry,
			  struct error *err)
{
	const struct packet_transport *p = c->owner;
	struct ticket *t;
	int rc;

	if (p->sink && *entry->ticket) {
		if (!ticket_stamp(entry->ticket).inode &&
		    !access(entry->ticket, F_OK))
			return error_set(err, -EINVAL,
					 "%s: no ordinary file, as a cluster's "
					 "tickets must be: they are read again",
					 entry->ticket);
		rc = read_ticket(&t, entry->ticket, err);
		if (rc < 0)
			return rc;
		if ((rc = continue_sequence(p, t, err)) < 0) {
			drop_ticket(t);
			return rc;
		}
		return open_roce(m, c, t, entry->ticket, err);
	}
	if (*entry->region && !*entry->host && !p->o.dart) {
		snprintf(c->path, sizeof(c->path), "%s", entry->region);
		rc = local_transport_open(&c->transport, c->path, err);
		return rc < 0 ? rc
			      : check_tables(m, c->transport->table,
					     c->transport->tables, err);
	}
	if (p->sink)
		return error_set(err, -EINVAL, "needs a ticket");
	return error_set(err, -EINVAL,
			 *entry->ticket
				 ? "a ticket: where do RoCEv2 packets go?"
				 : "its region is on another machine, and "
				   "there is no ticket");
}

static void close_members(struct members *m)
{
	if (!m)
		return;
	for (unsigned i = 0; i < m->n; i++) {
		struct collector *c = &m->member[i];

		if (c->roce)
			roce_out_close(c->roce);
		else if (c->transport)
			c->transport->close(c->transport);
		drop_ticket(c->ticket);
	}
	free(m);
}

/* Opens the newest generation's collectors: with a sink, by ticket what has
 * one. Refused where their tables are not the same. */
static int open_members(struct members **out, struct packet_transport *p,
			const struct cluster *cluster, struct error *err)
{
	const struct cluster_generation *g = cluster_newest(cluster);
	struct members *m = calloc(1, sizeof(*m));
	struct error why = {""};
	int rc = 0;

	if (!m)
		return no_memory(err);
	while (m->n < g->n && !rc) {
		const struct cluster_collector *entry =
			&cluster->collector[g->member[m->n].collector];
		struct collector *c = &m->member[m->n++];

		c->owner = p;
		rc = open_collector(m, c, entry, &why);
		if (rc < 0)
			error_set(err, rc, "collector %u: %.400s", entry->id,
				  why.text);
	}
	if (rc < 0)
		close_members(m);
	else
		*out = m;
	return rc;
}

/* Sums what became of all requests: if this is the end, or (open) so far. */
static void sum_ledgers(struct packet_transport *p, bool open)
{
	p->requests = p->past_requests;
	p->darts = p->past_darts;
	for (unsigned i = 0; i < p->roces; i++) {
		struct requester_ledger l = roce_out_ledger(p->roce[i], open);
		struct dart_ledger d = roce_out_dart_ledger(p->roce[i]);

		ledger_add(&requester_ledger, &p->requests, &l);
		ledger_add(&dart_ledger, &p->darts, &d);
	}
}

static int renew_ticket(struct members *m, struct collector *c,
			struct error *err)
{
	struct ticket *t;
	int rc = read_ticket(&t, c->path, err);

	if (rc < 0)
		return rc;
	rc = check_tables(m, t->table, t->n, err);
	if (!rc)
		rc = roce_out_reticket(c->roce, t, err);
	if (rc < 0) {
		drop_ticket(t);
		return rc;
	}
	drop_ticket(c->ticket);
	c->ticket = t;
	c->seen = t->stamp;
	c->since_ns = clock_ns();
	c->refused = false;
	return 0;
}

/*
 * Takes a member's ticket if its file is not the last that was judged. One that
 * cannot be used is reported, and ignored until it is written again. An equal
 * ticket in a new file is taken once more: a collector that has started again
 * may have written it, and is probed.
 */
static bool check_ticket(const struct packet_transport *p, struct collector *c)
{
	struct ticket_stamp now = ticket_stamp(c->path);
	struct error why = {""};
	uint64_t before;

	if (!c->ticket || !now.inode || ticket_stamps_equal(&now, &c->seen))
		return false;
	c->seen = now;
	if (ticket_stamps_equal(&now, &c->ticket->stamp))
		return false;
	before = c->ticket->epoch;
	if (renew_ticket(p->m, c, &why) < 0) {
		warn_about(p, c->path, &why);
		return false;
	}
	if (!p->o.quiet)
		warn_text(p, "%.400s: %s epoch %llu", c->path,
			  before == c->ticket->epoch ? "written again, still"
						     : "a new ticket,",
			  (unsigned long long)c->ticket->epoch);
	return true;
}

/* Reports each change once. */
static void warn_of_refusal(const struct packet_transport *p,
			    struct collector *c)
{
	if (!c->roce || c->refused == roce_out_stale(c->roce))
		return;
	c->refused = !c->refused;
	warn_text(p, "%.400s: epoch %llu: the collector %s", c->path,
		  (unsigned long long)c->ticket->epoch,
		  !c->refused ? "takes its R_Keys again"
		  : c->ticket->stamp.inode
			  ? "refuses its R_Keys: the ticket is out of date; "
			    "waiting for a new one"
			  : "refuses its R_Keys: the ticket is out of date; it "
			    "is no file that could be read again: start anew "
			    "with a new one");
}

/* Takes the tickets that were written anew, and reports which are refused.
 * Looks at files ten times a second. Returns how many were taken. */
static unsigned check_tickets(struct packet_transport *p)
{
	uint64_t now = clock_ns();
	bool files = now >= p->tickets_ns;
	unsigned n = 0;

	for (unsigned i = 0; i < p->m->n; i++) {
		struct collector *c = &p->m->member[i];

		if (files)
			n += check_ticket(p, c);
		warn_of_refusal(p, c);
	}
	if (files)
		p->tickets_ns = now + LOOK_AROUND_MS * UINT64_C(1) * MS;
	return n;
}

static void packet_renew(struct transport *r)
{
	struct packet_transport *p = self(r);

	for (unsigned i = 0; i < p->m->n; i++)
		if (p->m->member[i].ticket)
			p->m->member[i].seen = p->m->member[i].ticket->stamp;
	p->tickets_ns = 0;
	/* Workers that take batches read it, too. */
	__atomic_store_n(&r->wants_reopen, p->o.cluster != NULL,
			 __ATOMIC_RELAXED);
	if (!check_tickets(p) && p->o.ticket)
		warn_text(p, "SIGHUP: %s: no new ticket: the old one stays",
			  p->o.ticket);
}

static uint64_t packet_due(const struct transport *r)
{
	const struct packet_transport *p = (const struct packet_transport *)r;
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < p->roces; i++)
		if (due > roce_out_due(p->roce[i]))
			due = roce_out_due(p->roce[i]);
	return due;
}

/* ms, or less if packet_due() is earlier. */
static int wait_ms(const struct packet_transport *p, int ms)
{
	uint64_t due = packet_due(&p->transport), now = clock_ns();

	if (due == UINT64_MAX)
		return ms;
	if (due <= now)
		return 0;
	due = (due - now + MS - 1) / MS;
	return due < (uint64_t)ms ? (int)due : ms;
}

/* Notes since when nothing is confirmed of what waits for a collector. */
static void note_progress(struct packet_transport *p, uint64_t now)
{
	for (unsigned i = 0; i < p->m->n; i++) {
		struct collector *c = &p->m->member[i];
		uint64_t acked;

		if (!c->roce)
			continue;
		acked = roce_out_ledger(c->roce, false).acked;
		if (acked != c->acked || !roce_out_pending(c->roce) ||
		    now - p->progress_ns > AWAY_MS * 1ull * MS)
			c->since_ns = now;
		c->acked = acked;
	}
	p->progress_ns = now;
}

/* Reports changes of collectors' health, ten times a second. */
static void note_health(struct packet_transport *p, uint64_t now)
{
	uint64_t passed = now - p->health_ns;
	struct error err;

	if (passed < LOOK_AROUND_MS * 1ull * MS)
		return;
	p->health_ns = now;
	for (unsigned i = 0; i < p->m->n; i++) {
		struct collector *c = &p->m->member[i];

		if (c->roce &&
		    roce_out_check_health(&c->health, c->roce, now,
					  passed > AWAY_MS * 1ull * MS,
					  !p->o.live, &err))
			warn_text(p, "%s", err.text);
	}
}

/* Processes answers, and what is due; waits for some up to ms. */
static int receive_answers(struct packet_transport *p, int ms)
{
	struct error err = {0};
	int n = 0, rc = 0;

	snk_flush(p->sink); /* snk_close() tells of an error */
	if (!p->answers_ended) {
		src_wait(p->answers, wait_ms(p, ms));
		n = src_rx(p->answers, p->pkts, PKT_BATCH, &err);
		p->answers_ended = !n || (n < 0 && n != -EAGAIN && n != -EINTR);
		if (n < 0 && p->answers_ended)
			warn_about(p, p->o.from, &err);
	}
	if (n > 0 && p->roces)
		rc = roce_out_answers(p->roce, p->roces, p->pkts, (size_t)n,
				      clock_ns());
	for (unsigned i = 0; i < p->roces; i++) {
		int ticked = roce_out_tick(p->roce[i], clock_ns());

		rc = rc ? rc : ticked;
	}
	note_progress(p, clock_ns());
	snk_flush(p->sink);
	note_health(p, clock_ns());
	return rc;
}

/* One turn of waiting. */
static int run_turn(struct packet_transport *p)
{
	if (p->o.turn)
		p->o.turn(p->o.ctx);
	check_tickets(p);
	return receive_answers(p, LOOK_AROUND_MS);
}

static bool is_given_up(const struct collector *c)
{
	return c->owner->progress_ns > c->since_ns + give_up_ns;
}

/*
 * A window is full. A capture can wait; an interface cannot wait for a
 * collector that is silent. Nothing waits longer than give_up_ns for one that
 * refuses its ticket, nor for any at the end, or when the cluster is opened
 * anew, since the collector may be gone.
 */
static int wait_for_room(void *ctx)
{
	struct collector *c = ctx;
	struct packet_transport *p = c->owner;
	int rc;

	if (p->answers_ended || (roce_out_stalled(c->roce) && p->o.live) ||
	    ((p->transport.wants_reopen || (p->o.stop && *p->o.stop) ||
	      roce_out_stale(c->roce)) &&
	     is_given_up(c)))
		return 0;
	rc = run_turn(p);
	return rc < 0 ? rc : 1;
}

static bool is_pending(const struct packet_transport *p)
{
	for (unsigned i = 0; i < p->m->n; i++) {
		const struct collector *c = &p->m->member[i];

		if (c->roce && roce_out_pending(c->roce) && !is_given_up(c))
			return true;
	}
	return false;
}

/* Waits until all is confirmed, or given up. */
static int drain(struct packet_transport *p)
{
	int rc = 0;

	while (!rc && p->windows && !p->answers_ended && is_pending(p))
		rc = run_turn(p);
	return rc;
}

/* A window for each collector that packets go to. */
static int open_windows(struct packet_transport *p, struct error *err)
{
	int rc = 0;

	for (unsigned i = 0; i < p->m->n && !rc; i++) {
		struct collector *c = &p->m->member[i];

		if (c->roce)
			rc = roce_out_window(c->roce, p->o.window,
					     wait_for_room, c, err);
	}
	return rc;
}

/* Whether there is an RC table, or (window) one that has a window. A DART
 * switch has no windows for Key-Write. */
static bool has_rc(const struct packet_transport *p, bool window)
{
	const struct table *t = p->transport.table;

	for (unsigned i = 0; i < p->transport.tables; i++)
		if (t[i].qp == TABLE_QP_RC &&
		    !(window && p->o.dart && t[i].kind == TABLE_KEYWRITE))
			return true;
	return false;
}

/* Opens windows and the source of answers, if there are to be answers. */
static int listen_for_answers(struct packet_transport *p, struct error *err)
{
	struct error why = {0};
	int rc;

	if (!p->sink || !p->o.open_answers || !p->o.window || !has_rc(p, false))
		return 0;
	rc = open_windows(p, err);
	if (rc < 0)
		return rc;
	p->windows = true;
	/* A pipe's other end waits for our header before it makes its own. */
	snk_flush(p->sink);
	rc = p->o.open_answers(p->o.ctx, &p->answers, &why);
	return rc < 0 ? error_about(err, rc, p->o.from, &why) : 0;
}

static uint64_t packet_begin(struct transport *r)
{
	struct packet_transport *p = self(r);
	bool changed = false;

	for (unsigned i = 0; i < p->m->n; i++) {
		struct collector *c = &p->m->member[i];
		uint64_t generation = c->transport->begin(c->transport);

		changed = changed || generation != c->generation;
		c->generation = generation;
	}
	p->generation += changed;
	return p->generation;
}

/* How many of n operations from the first on are one collector's (dta/admit.c
 * sorts them); *out: the same with its own table numbers. */
static size_t split_run(struct members *m, unsigned collector,
			const struct op *ops, size_t n, const struct op **out)
{
	size_t k = 0;

	*out = ops;
	if (m->n == 1)
		return n;
	*out = m->piece;
	for (; k < n && k < PIECE; k++) {
		unsigned table = ops[k].table - collector * m->tables;

		if (table >= m->tables)
			break;
		m->piece[k] = ops[k];
		m->piece[k].table = (uint16_t)table;
	}
	return k;
}

static int packet_exec(struct transport *r, const struct op *ops, size_t n,
		       uint64_t ts_ns)
{
	struct packet_transport *p = self(r);
	const uint64_t *stamps = r->stamps;
	const struct op *run;
	int rc = 0;

	while (n && !rc) {
		unsigned collector = ops->table / p->m->tables;
		struct transport *to;
		size_t k;

		if (collector >= p->m->n)
			return -ERANGE;
		to = p->m->member[collector].transport;
		k = split_run(p->m, collector, ops, n, &run);
		to->stamps = stamps;
		rc = to->exec(to, run, k, ts_ns);
		stamps = stamps ? stamps + k : NULL;
		ops += k;
		n -= k;
	}
	p->failed = p->failed || rc < 0;
	return rc;
}

static void packet_end(struct transport *r)
{
	struct members *m = self(r)->m;

	for (unsigned i = 0; i < m->n; i++)
		if (m->member[i].transport->end)
			m->member[i].transport->end(m->member[i].transport);
}

static uint64_t packet_head(struct transport *r, unsigned table, uint32_t list)
{
	struct members *m = self(r)->m;
	struct transport *to = m->member[table / m->tables].transport;

	return to->head(to, table % m->tables, list);
}

/* Reports are admitted before their collector is known: one busy is enough. */
static bool packet_busy(struct transport *r, unsigned table)
{
	struct members *m = self(r)->m;

	for (unsigned i = 0; i < m->n; i++) {
		struct transport *to = m->member[i].transport;

		if (to->busy && to->busy(to, table % m->tables))
			return true;
	}
	return false;
}

static unsigned packet_fds(const struct transport *r, int *fd, unsigned max)
{
	const struct packet_transport *p = (const struct packet_transport *)r;

	if (!p->windows || p->answers_ended || !max)
		return 0;
	*fd = src_fd(p->answers);
	return 1;
}

static int packet_tick(struct transport *r)
{
	struct packet_transport *p = self(r);

	check_tickets(p);
	return p->windows ? receive_answers(p, 0) : 0;
}

/* Sets the members, and closes those before. What became of their requests is
 * kept. */
static void set_members(struct packet_transport *p, struct members *m)
{
	struct members *old = p->m;

	sum_ledgers(p, false);
	p->past_requests = p->requests;
	p->past_darts = p->darts;
	for (unsigned i = 0; old && i < old->n; i++) {
		const struct ticket *t = old->member[i].ticket;

		if (t && !find_ticket(m, &t->stamp))
			p->past_ticket[p->past_tickets++ % CLUSTER_MAX] =
				t->stamp;
	}
	close_members(old);
	p->m = m;
	p->roces = 0;
	for (unsigned i = 0; i < m->n; i++) {
		if (m->member[i].roce)
			p->roce[p->roces++] = m->member[i].roce;
		p->transport.stamped |= m->member[i].transport->stamped;
	}
	p->transport.table = m->table;
	p->transport.tables = m->tables;
	p->transport.collectors = p->o.cluster ? m->n : 0;
	p->transport.mirror = p->cluster.mirror;
}

/* SIGHUP: all that was sent is waited for, then the cluster is opened anew. */
static int packet_reopen(struct transport *r)
{
	struct packet_transport *p = self(r);
	struct error err = {0};
	struct members *m;
	struct cluster c;
	int rc = drain(p);

	p->transport.wants_reopen = false;
	if (rc < 0)
		return rc;
	if (cluster_read(&c, p->o.cluster, &err) < 0) {
		warn_text(p, "%s", err.text);
		return 0;
	}
	if (open_members(&m, p, &c, &err) < 0) {
		warn_about(p, p->o.cluster, &err);
		cluster_fini(&c);
		return 0;
	}
	cluster_fini(&p->cluster);
	p->cluster = c;
	set_members(p, m);
	if (!p->o.quiet)
		warn_text(p, "%s: generation %u: %u collectors", p->o.cluster,
			  cluster_newest(&c)->number, m->n);
	if (p->windows && (rc = open_windows(p, &err)) < 0)
		warn_text(p, "%s", err.text);
	return rc;
}

static void packet_flush(struct transport *r)
{
	if (self(r)->sink)
		snk_flush(self(r)->sink);
}

static bool packet_account(struct transport *r, struct transport_account *out)
{
	struct packet_transport *p = self(r);

	if (!p->windows || !has_rc(p, true))
		return false;
	sum_ledgers(p, !p->answers_ended); /* before the end what is under way
					      is not lost */
	out->sent = p->requests.requests - p->requests.uc;
	out->acked = p->requests.acked;
	return true;
}

static unsigned packet_ledgers(struct transport *r,
			       struct transport_ledger out[TRANSPORT_LEDGERS])
{
	struct packet_transport *p = self(r);
	unsigned n = 0;

	sum_ledgers(p, !p->answers_ended);
	if (p->windows)
		out[n++] = (struct transport_ledger){&requester_ledger,
						     &p->requests};
	if (p->o.dart)
		out[n++] = (struct transport_ledger){&dart_ledger, &p->darts};
	return n;
}

/* Names the first collector with unconfirmed requests. */
static const char *packet_unacked_reason(struct transport *r)
{
	struct packet_transport *p = self(r);
	struct transport_account a;

	if (!packet_account(r, &a) || !a.sent || a.acked)
		return NULL;
	error_set(&p->unacked_reason, -1, "%s", roce_out_nothing_acked);
	for (unsigned i = 0; i < p->roces; i++)
		if (roce_out_unacked_reason(p->roce[i], &p->unacked_reason))
			break;
	return p->unacked_reason.text;
}

static uint64_t packet_unsent(const struct transport *r)
{
	const struct packet_transport *p = (const struct packet_transport *)r;

	return p->sink ? snk_drops(p->sink) : p->unsent;
}

static int packet_finish(struct transport *r)
{
	struct packet_transport *p = self(r);
	int rc = p->failed ? 0 : drain(p), closed = 0;

	src_close(p->answers);
	p->answers = NULL;
	p->answers_ended = true;
	if (p->sink) {
		snk_settle(p->sink); /* snk_close() tells of an error */
		p->unsent = snk_drops(p->sink);
		closed = snk_close(p->sink);
	}
	p->sink = NULL;
	return rc < 0 ? rc : closed;
}

static void packet_close(struct transport *r)
{
	struct packet_transport *p = self(r);

	src_close(p->answers);
	close_members(p->m);
	if (p->sink)
		snk_close(p->sink);
	cluster_fini(&p->cluster);
	free(p);
}

static const struct transport packet_transport = {
	.begin = packet_begin,
	.exec = packet_exec,
	.end = packet_end,
	.head = packet_head,
	.busy = packet_busy,
	.fds = packet_fds,
	.due = packet_due,
	.tick = packet_tick,
	.renew = packet_renew,
	.reopen = packet_reopen,
	.flush = packet_flush,
	.finish = packet_finish,
	.account = packet_account,
	.ledgers = packet_ledgers,
	.unacked_reason = packet_unacked_reason,
	.unsent = packet_unsent,
	.close = packet_close,
};

/* Called once the ticket or the cluster file was read. */
static int open_sink(struct packet_transport *p, struct error *err)
{
	struct error why = {0};
	int rc;

	if (!p->o.open_sink)
		return 0;
	rc = p->o.open_sink(p->o.ctx, &p->sink, &why);
	return rc < 0 ? error_about(err, rc, p->o.to, &why) : 0;
}

static int open_ticket(struct packet_transport *p, struct error *err)
{
	struct members *m = calloc(1, sizeof(*m));
	struct error why = {0};
	struct ticket *t = NULL;
	const char *region;
	int rc = m ? read_ticket(&t, p->o.ticket, err) : no_memory(err);

	if (rc < 0) {
		free(m);
		return rc;
	}
	if (*t->region) {
		region = ticket_region(t);
		snprintf(p->region, sizeof(p->region), "%s",
			 region ? region : t->region);
		p->transport.region = p->region;
	}
	m->n = 1;
	m->member[0].owner = p;
	m->member[0].ticket = t;
	rc = open_sink(p, err);
	if (!rc) {
		rc = open_roce(m, &m->member[0], t, p->o.ticket, &why);
		if (rc < 0)
			error_about(err, rc, p->o.ticket, &why);
	}
	if (rc < 0)
		close_members(m);
	else
		set_members(p, m);
	return rc;
}

static int open_cluster(struct packet_transport *p, struct error *err)
{
	struct error why = {0};
	struct members *m;
	int rc = cluster_read(&p->cluster, p->o.cluster, err);

	if (!rc)
		rc = open_sink(p, err);
	if (rc < 0)
		return rc;
	rc = open_members(&m, p, &p->cluster, &why);
	if (rc < 0)
		return error_about(err, rc, p->o.cluster, &why);
	set_members(p, m);
	return 0;
}

int packet_transport_open(struct transport **out,
			  const struct packet_transport_options *o,
			  struct error *err)
{
	struct packet_transport *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return no_memory(err);
	p->transport = packet_transport;
	p->o = *o;
	p->o.dart = o->dart && o->open_sink;
	p->transport.name = o->open_sink ? o->to : o->cluster;
	rc = o->ticket ? open_ticket(p, err) : open_cluster(p, err);
	if (!rc)
		rc = listen_for_answers(p, err);
	if (rc < 0) {
		packet_close(&p->transport);
		return rc;
	}
	*out = &p->transport;
	return 0;
}
