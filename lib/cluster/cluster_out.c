/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cluster_out.c - the collectors of a cluster, each by its region or its
 * ticket; one transport to all of them; tickets that are written anew.
 */
#include "cluster/cluster_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rdma/fanout.h"
#include "rdma/local.h"
#include "region/region.h"

_Static_assert((int)FANOUT_MAX == (int)CLUSTER_MAX, "a transport for each");

enum {
	LOOK_NS = 100 * 1000000,
};

/* A collector: its region, or its ticket. */
struct collector {
	uint16_t id;
	char path[CLUSTER_TEXT]; /* of the region or the ticket */
	struct region *region;
	struct local_transport *local;
	struct ticket *ticket;
	struct ticket_stamp seen; /* of the last file that was judged */
	bool told;		  /* that its ticket is refused */
	struct roce_out *roce;
	struct transport *transport;
};

struct cluster_out {
	struct cluster_out_options o;
	unsigned n, tables;
	struct collector *member[CLUSTER_MAX]; /* in their order */
	struct table table[TABLE_MAX];
	struct fanout *fanout;
	struct transport *transport;
	/* Of the clusters in whose place this one is: what became of their
	 * requests, and the last tickets of members that went. */
	struct requester_ledger before;
	struct dart_ledger dart_before;
	struct ticket_stamp gone[CLUSTER_MAX];
	unsigned went;
	unsigned looked_at; /* the member that is looked at next */
	uint64_t look_ns;   /* when */
};

static const char *difference(const struct table *a, const struct table *b)
{
	if (a->id != b->id || a->kind != b->kind)
		return "kind and id";
	if (a->hash != b->hash)
		return "hash";
	if (a->key_type != b->key_type || a->key_len != b->key_len)
		return "key";
	if (a->value_len != b->value_len)
		return "value";
	if (a->stride != b->stride)
		return "stride";
	if (a->units != b->units || a->lists != b->lists)
		return "size";
	if (a->hops != b->hops)
		return "hops";
	if (a->copies != b->copies)
		return "copies";
	return a->batch != b->batch ? "batch" : a->qp != b->qp ? "qp" : NULL;
}

static int same_tables(const struct table *a, unsigned na,
		       const struct table *b, unsigned nb, struct error *err)
{
	if (na != nb)
		return error_set(err, -EINVAL,
				 "%u tables, where the first collector has %u",
				 nb, na);
	for (unsigned i = 0; i < na; i++) {
		const char *what = difference(&a[i], &b[i]);

		if (what)
			return error_set(err, -EINVAL,
					 "table %.*s: %s: not what the first "
					 "collector has",
					 TABLE_NAME_MAX, b[i].name, what);
	}
	return 0;
}

/* The first collector's tables are the cluster's. */
static int take_tables(struct cluster_out *fl, const struct table *tables,
		       unsigned n, struct error *err)
{
	if (fl->tables)
		return same_tables(fl->table, fl->tables, tables, n, err);
	memcpy(fl->table, tables, n * sizeof(tables[0]));
	fl->tables = n;
	return 0;
}

static int collector_region(struct cluster_out *fl, struct collector *s,
			    const char *name, struct error *err)
{
	struct table tables[TABLE_MAX];
	int rc;

	snprintf(s->path, sizeof(s->path), "%s", name);
	rc = region_open(&s->region, name, true, err);

	if (rc < 0 || (rc = local_open(&s->local, s->region, err)) < 0)
		return rc;
	s->transport = local_transport(s->local);
	for (unsigned i = 0; i < region_tables(s->region); i++)
		tables[i] = *region_table(s->region, i);
	return take_tables(fl, tables, region_tables(s->region), err);
}

/* Takes over a ticket, read from path, and opens its transport. */
static int collector_ticket(struct cluster_out *fl, struct collector *s,
			    struct ticket *t, const char *path,
			    struct error *err)
{
	int rc;

	s->ticket = t;
	s->seen = t->stamp;
	snprintf(s->path, sizeof(s->path), "%s", path);
	rc = take_tables(fl, t->table, t->n, err);
	if (rc < 0)
		return rc;
	rc = roce_out_open(&s->roce, t, fl->o.sink, fl->o.ack_every, err);
	if (rc < 0)
		return rc;
	s->transport = roce_out_transport(s->roce);
	return fl->o.dart ? roce_out_dart(s->roce, err) : 0;
}

static void drop_ticket(struct ticket *t)
{
	if (t)
		ticket_fini(t);
	free(t);
}

static int read_ticket(struct ticket **out, const char *path, struct error *err)
{
	struct ticket *t;
	int rc;

	if (!ticket_stamp(path).inode && access(path, F_OK) == 0)
		return error_set(err, -EINVAL,
				 "%s: no ordinary file, as a cluster's tickets "
				 "must be: they are read again",
				 path);
	t = malloc(sizeof(*t));
	rc = t ? ticket_read(t, path, err)
	       : error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	if (rc < 0)
		free(t);
	else
		*out = t;
	return rc;
}

/* Where the PSNs and lists of a member are now, into a ticket of its. */
static int save_state(const struct collector *s, struct ticket *t)
{

	for (unsigned i = 0; i < t->n; i++) {
		struct ticket_table *at = &t->at[i];
		uint32_t lists = t->table[i].lists;

		at->psn = roce_out_psn(s->roce, i);
		if (!lists)
			continue;
		if (!at->heads && !(at->heads = calloc(lists, 8)))
			return -ENOMEM;
		for (uint32_t k = 0; k < lists; k++)
			at->heads[k] = s->transport->head(s->transport, i, k);
	}
	return 0;
}

/*
 * Under a ticket that was used already PSNs and lists go on where they are, if
 * its collector is a member still. If it went, they are not known any more: by
 * that ticket again, what was stored would be overwritten.
 */
static int continue_sequence(const struct cluster_out *old, struct ticket *t,
			     struct error *err)
{
	for (unsigned i = 0; i < old->n; i++) {
		const struct ticket *was = old->member[i]->ticket;

		if (!was || !ticket_stamp_is(&was->stamp, &t->stamp))
			continue;
		return save_state(old->member[i], t) < 0
			       ? error_set(err, -ENOMEM, "%s", strerror(ENOMEM))
			       : 0;
	}
	for (unsigned i = 0; i < CLUSTER_MAX; i++)
		if (old->gone[i].inode &&
		    ticket_stamp_is(&old->gone[i], &t->stamp))
			return error_set(err, -ESTALE,
					 "its ticket is from before it was "
					 "taken out: have its dta-collect "
					 "write another (SIGHUP)");
	return 0;
}

static int open_one(struct cluster_out *fl, struct collector *s,
		    const struct cluster_collector *c,
		    const struct cluster_out *old, struct error *err)
{
	struct ticket *t;
	int rc;

	s->id = c->id;
	if (fl->o.sink && *c->ticket) {
		rc = read_ticket(&t, c->ticket, err);
		if (rc < 0)
			return rc;
		if (old && (rc = continue_sequence(old, t, err)) < 0) {
			drop_ticket(t);
			return rc;
		}
		return collector_ticket(fl, s, t, c->ticket, err);
	}
	if (*c->region && !*c->host && !fl->o.dart)
		return collector_region(fl, s, c->region, err);
	if (fl->o.sink)
		return error_set(err, -EINVAL, "needs a ticket");
	return error_set(err, -EINVAL,
			 *c->ticket ? "a ticket: where do RoCEv2 packets go?"
				    : "its region is on another machine, and "
				      "there is no ticket");
}

static int collector_open(struct cluster_out *fl, struct collector **out,
			  const struct cluster_collector *c,
			  const struct cluster_out *old, struct error *err)
{
	struct collector *s = calloc(1, sizeof(*s));
	struct error why = {""};
	int rc;

	if (!s)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	*out = s;
	rc = open_one(fl, s, c, old, &why);
	return rc < 0 ? error_set(err, rc, "collector %u: %.400s", c->id,
				  why.text)
		      : 0;
}

/* Takes a ticket that is not the file which was read last: 1. 0: it is, or the
 * file was written meanwhile. */
static int collector_reticket(const struct cluster_out *fl, struct collector *s,
			      struct error *err)
{
	struct ticket_stamp stamp = ticket_stamp(s->path);
	struct ticket *t;
	int rc;

	/* One that is the same in a new file is taken once more: a collector
	 * that has started again may have written it, and is asked. */
	if (ticket_stamp_is(&stamp, &s->ticket->stamp))
		return 0;
	s->seen = stamp;
	rc = read_ticket(&t, s->path, err);
	if (rc < 0)
		return rc;
	stamp = ticket_stamp(s->path);
	if (!ticket_stamp_is(&stamp, &t->stamp)) {
		drop_ticket(t);
		return 0; /* the next look sees it */
	}
	rc = same_tables(fl->table, fl->tables, t->table, t->n, err);
	if (rc == 0)
		rc = roce_out_reticket(s->roce, t, err);
	if (rc < 0) {
		drop_ticket(t);
		return rc;
	}
	drop_ticket(s->ticket);
	s->ticket = t;
	s->seen = t->stamp;
	return 1;
}

static void collector_close(struct collector *s)
{
	if (!s)
		return;
	if (s->roce)
		roce_out_close(s->roce);
	local_close(s->local);
	region_close(s->region);
	drop_ticket(s->ticket);
	free(s);
}

/* The transport to all members, once they are open. */
static int join_paths(struct cluster_out *fl, struct error *err)
{
	struct transport *transport[CLUSTER_MAX];
	int rc;

	for (unsigned i = 0; i < fl->n; i++)
		transport[i] = fl->member[i]->transport;
	fl->transport = fl->member[0]->transport;
	if (fl->n == 1)
		return 0;
	rc = fanout_open(&fl->fanout, transport, fl->n, fl->tables, err);
	if (!rc)
		fl->transport = fanout_transport(fl->fanout);
	return rc;
}

/* Opens the newest generation's collectors, in the place of old, if any. */
static int open_members(struct cluster_out **out, const struct cluster *c,
			const struct cluster_out_options *o,
			const struct cluster_out *old, struct error *err)
{
	const struct cluster_generation *g = cluster_newest(c);
	struct cluster_out *fl = calloc(1, sizeof(*fl));
	int rc = 0;

	if (!fl)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	fl->o = *o;
	for (; fl->n < g->n && !rc; fl->n++)
		rc = collector_open(fl, &fl->member[fl->n],
				    &c->collector[g->member[fl->n].collector],
				    old, err);
	if (!rc)
		rc = join_paths(fl, err);
	if (rc < 0)
		cluster_out_close(fl);
	else
		*out = fl;
	return rc;
}

int cluster_out_open(struct cluster_out **out, const struct cluster *c,
		     const struct cluster_out_options *o, struct error *err)
{
	return open_members(out, c, o, NULL, err);
}

int cluster_out_open_ticket(struct cluster_out **out, struct ticket *t,
			    const char *path,
			    const struct cluster_out_options *o,
			    struct error *err)
{
	struct cluster_out *fl = calloc(1, sizeof(*fl));
	struct collector *s = fl ? calloc(1, sizeof(*s)) : NULL;
	int rc;

	if (!s) {
		free(fl);
		drop_ticket(t);
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	}
	fl->o = *o;
	fl->member[fl->n++] = s;
	rc = collector_ticket(fl, s, t, path, err);
	if (!rc)
		rc = join_paths(fl, err);
	if (rc < 0)
		cluster_out_close(fl);
	else
		*out = fl;
	return rc;
}

static bool has_ticket(const struct cluster_out *fl,
		       const struct ticket_stamp *stamp)
{
	for (unsigned i = 0; i < fl->n; i++)
		if (fl->member[i]->ticket &&
		    ticket_stamp_is(&fl->member[i]->ticket->stamp, stamp))
			return true;
	return false;
}

/* What a cluster must know of the one in whose place it is. */
static void take_over_state(struct cluster_out *fl,
			    const struct cluster_out *old)
{
	struct requester_ledger l = cluster_out_ledger(old, false);

	ledger_add(&requester_ledger, &fl->before, &l);
	cluster_out_dart(old, &fl->dart_before);
	memcpy(fl->gone, old->gone, sizeof(fl->gone));
	fl->went = old->went;
	for (unsigned i = 0; i < old->n; i++) {
		const struct ticket *t = old->member[i]->ticket;

		if (t && !has_ticket(fl, &t->stamp))
			fl->gone[fl->went++ % CLUSTER_MAX] = t->stamp;
	}
}

int cluster_out_reopen(struct cluster_out **cluster, const struct cluster *c,
		       struct error *err)
{
	struct cluster_out *old = *cluster;
	int rc;

	rc = open_members(cluster, c, &old->o, old, err);
	if (rc < 0)
		return rc;
	take_over_state(*cluster, old);
	cluster_out_close(old);
	return 0;
}

struct transport *cluster_out_transport(struct cluster_out *fl)
{
	return fl->transport;
}

unsigned cluster_out_collectors(const struct cluster_out *fl)
{
	return fl->n;
}

const struct table *cluster_out_table(const struct cluster_out *fl, unsigned i)
{
	return &fl->table[i];
}

unsigned cluster_out_tables(const struct cluster_out *fl)
{
	return fl->tables;
}

struct requester_ledger cluster_out_ledger(const struct cluster_out *fl,
					   bool open)
{
	struct requester_ledger sum = fl->before;

	for (unsigned i = 0; i < fl->n; i++) {
		const struct roce_out *o = fl->member[i]->roce;
		struct requester_ledger l;

		if (!o)
			continue;
		l = open ? roce_out_ledger_open(o) : roce_out_ledger(o);
		ledger_add(&requester_ledger, &sum, &l);
	}
	return sum;
}

bool cluster_out_dart(const struct cluster_out *fl, struct dart_ledger *out)
{
	*out = fl->dart_before;
	for (unsigned i = 0; i < fl->n && fl->o.dart; i++) {
		struct dart_ledger l = roce_out_dart_ledger(
			fl->member[i]->roce);

		ledger_add(&dart_ledger, out, &l);
	}
	return fl->o.dart;
}

unsigned cluster_out_roces(const struct cluster_out *fl, struct roce_out **out)
{
	unsigned n = 0;

	for (unsigned i = 0; i < fl->n; i++)
		if (fl->member[i]->roce)
			out[n++] = fl->member[i]->roce;
	return n;
}

/* Looks whether a member's file is another than the last that was judged. */
static int collector_look(const struct cluster_out *fl, struct collector *s,
			  struct error *err)
{
	struct ticket_stamp now = ticket_stamp(s->path);
	struct error why = {""};
	uint64_t before;
	int rc;

	if (!s->ticket || !now.inode || ticket_stamp_is(&now, &s->seen))
		return 0;
	before = s->ticket->epoch;
	rc = collector_reticket(fl, s, &why);
	if (rc < 0)
		return error_about(err, rc, s->path, &why);
	if (!rc)
		return 0;
	s->told = false;
	error_set(err, 0, "%.400s: %s epoch %llu", s->path,
		  before == s->ticket->epoch ? "written again, still"
					     : "a new ticket,",
		  (unsigned long long)s->ticket->epoch);
	return 1;
}

int cluster_out_poll_tickets(struct cluster_out *fl, uint64_t now_ns,
			     struct error *err)
{
	int rc = 0;

	if (now_ns < fl->look_ns)
		return 0;
	while (!rc && fl->looked_at < fl->n)
		rc = collector_look(fl, fl->member[fl->looked_at++], err);
	if (!rc) {
		fl->looked_at = 0;
		fl->look_ns = now_ns + LOOK_NS;
	}
	return rc;
}

bool cluster_out_recheck_tickets(struct cluster_out *fl)
{
	bool any = false;

	for (unsigned i = 0; i < fl->n; i++) {
		struct collector *s = fl->member[i];

		if (!s->ticket)
			continue;
		s->seen = s->ticket->stamp;
		any |= s->seen.inode != 0;
	}
	fl->looked_at = 0;
	fl->look_ns = 0;
	return any;
}

static void say_refusal(const struct collector *s, struct error *err)
{
	unsigned long long epoch = s->ticket->epoch;

	if (!s->told)
		error_set(err, 0,
			  "%.400s: epoch %llu: the collector takes its R_Keys "
			  "again",
			  s->path, epoch);
	else
		error_set(err, 0,
			  "%.400s: epoch %llu: the collector refuses its "
			  "R_Keys: the ticket is out of date; %s",
			  s->path, epoch,
			  s->ticket->stamp.inode
				  ? "waiting for a new one"
				  : "it is no file that could be read again: "
				    "start anew with a new one");
}

bool cluster_out_refusal(struct cluster_out *fl, struct error *err)
{
	for (unsigned i = 0; i < fl->n; i++) {
		struct collector *s = fl->member[i];

		if (!s->roce || s->told == roce_out_stale(s->roce))
			continue;
		s->told = !s->told;
		say_refusal(s, err);
		return true;
	}
	return false;
}

void cluster_out_close(struct cluster_out *fl)
{
	if (!fl)
		return;
	fanout_close(fl->fanout);
	for (unsigned i = 0; i < fl->n; i++)
		collector_close(fl->member[i]);
	free(fl);
}
