/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/fleet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_private.h"

_Static_assert((int)FANOUT_MAX == (int)CLUSTER_MAX, "a road for each");

static struct fleet *fleet_new(const struct fleet_options *o)
{
	struct fleet *fl = calloc(1, sizeof(*fl));

	if (fl)
		fl->o = *o;
	return fl;
}

static struct collector *collector_of(const struct fleet *fl,
				      const struct cluster_collector *c)
{
	for (unsigned i = 0; i < fl->n; i++)
		if (collector_is(fl, fl->member[i], c))
			return fl->member[i];
	return NULL;
}

/* Lists and PSNs went on since a ticket was written by which a member was
 * written to: by it again, what was stored would be overwritten. */
static int check_new(const struct fleet *fl, const struct collector *s,
		     struct fault *f)
{
	for (unsigned i = 0; s->ticket && i < CLUSTER_MAX; i++)
		if (fl->gone[i].inode &&
		    ticket_stamp_is(&fl->gone[i], &s->ticket->stamp))
			return fault_set(f, -ESTALE,
					 "collector %u: %.400s: is from before "
					 "it was taken out: have its "
					 "dta-collect write another (SIGHUP)",
					 s->id, s->path);
	return 0;
}

/* Opens a collector that is not there. */
static int recruit(struct fleet *fl, struct collector **out,
		   const struct cluster_collector *c, struct fault *f)
{
	struct collector *s = calloc(1, sizeof(*s));
	struct fault why = {""};
	int rc;

	if (!s)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	rc = collector_open(fl, s, c, f);
	if (rc == 0)
		rc = check_new(fl, s, f);
	s->number = fl->numbers;
	if (rc == 0 && fl->dart &&
	    (rc = dart_out_reticket(fl->dart, s->number, NULL, s->ticket,
				    &why)) < 0)
		fault_set(f, rc, "%.400s", why.text);
	if (rc < 0) {
		collector_close(s);
		return rc;
	}
	fl->numbers++;
	*out = s;
	return 0;
}

/* The newest generation's collectors: those that are members, and new ones. */
static int muster(struct fleet *fl, const struct cluster *c,
		  struct collector **member, struct fault *f)
{
	const struct cluster_generation *g = cluster_newest(c);
	bool is_new[CLUSTER_MAX] = {false};
	int rc = 0;

	for (unsigned i = 0; i < g->n; i++) {
		const struct cluster_collector *a =
			&c->collector[g->member[i].collector];

		member[i] = collector_of(fl, a);
		is_new[i] = !member[i];
		if (is_new[i] && (rc = recruit(fl, &member[i], a, f)) < 0)
			break;
	}
	for (unsigned i = 0; rc < 0 && i < g->n; i++)
		if (is_new[i])
			collector_close(member[i]);
	return rc < 0 ? rc : (int)g->n;
}

/* Its roads, member by member. */
static void roads_of(const struct fleet *fl, struct road **road,
		     unsigned *number)
{
	for (unsigned i = 0; i < fl->n; i++) {
		road[i] = fl->member[i]->road;
		number[i] = fl->member[i]->number;
	}
}

static int join_dart(struct fleet *fl, struct fault *f)
{
	const struct ticket *ticket[CLUSTER_MAX];
	int rc;

	for (unsigned i = 0; i < fl->n; i++)
		ticket[i] = fl->member[i]->ticket;
	rc = dart_out_open(&fl->dart, ticket, fl->n, fl->o.sink, fl->road,
			   fl->o.ack_every, fl->o.mirror, f);
	if (rc == 0)
		fl->road = dart_out_road(fl->dart);
	return rc;
}

static int join_roads(struct fleet *fl, struct fault *f)
{
	struct road *road[CLUSTER_MAX];
	unsigned number[CLUSTER_MAX];
	int rc;

	roads_of(fl, road, number);
	rc = fanout_open(&fl->fanout, road, fl->n, fl->tables, fl->o.mirror, f);
	if (rc == 0)
		fl->road = fanout_road(fl->fanout);
	return rc;
}

static int finish(struct fleet **out, struct fleet *fl, int rc, struct fault *f)
{
	if (rc == 0 && fl->o.dart)
		rc = join_dart(fl, f);
	if (rc < 0) {
		fleet_close(fl);
		return rc;
	}
	*out = fl;
	return 0;
}

int fleet_open(struct fleet **out, const struct cluster *c,
	       const struct fleet_options *o, struct fault *f)
{
	struct fleet *fl = fleet_new(o);
	int rc;

	if (!fl)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	rc = muster(fl, c, fl->member, f);
	if (rc > 0) {
		fl->n = (unsigned)rc;
		rc = join_roads(fl, f);
	}
	return finish(out, fl, rc, f);
}

int fleet_open_ticket(struct fleet **out, struct ticket *t, const char *path,
		      const struct fleet_options *o, struct fault *f)
{
	struct fleet *fl = fleet_new(o);
	struct collector *s = fl ? calloc(1, sizeof(*s)) : NULL;
	int rc;

	if (!s) {
		free(fl);
		ticket_fini(t);
		free(t);
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	}
	fl->member[fl->n++] = s;
	rc = collector_ticket(fl, s, t, path, f);
	if (rc == 0)
		fl->road = s->road;
	return finish(out, fl, rc, f);
}

struct road *fleet_road(struct fleet *fl)
{
	return fl->road;
}

unsigned fleet_collectors(const struct fleet *fl)
{
	return fl->n;
}

const struct table *fleet_table(const struct fleet *fl, unsigned i)
{
	return &fl->table[i];
}

unsigned fleet_tables(const struct fleet *fl)
{
	return fl->tables;
}

bool fleet_dart(const struct fleet *fl, struct dart_ledger *out)
{
	if (fl->dart)
		*out = dart_out_ledger(fl->dart);
	return fl->dart != NULL;
}

size_t fleet_dart_answers(struct fleet *fl, struct pkt *pkts, size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		if (!fl->dart || !dart_out_answer(fl->dart, &pkts[i]))
			pkts[left++] = pkts[i];
	return left;
}

unsigned fleet_roces(const struct fleet *fl, struct roce_out **out)
{
	unsigned n = 0;

	for (unsigned i = 0; i < fl->n; i++)
		if (fl->member[i]->roce)
			out[n++] = fl->member[i]->roce;
	return n;
}

enum {
	LOOK_NS = 100 * 1000000,
};

/* A collector whose ticket's file is not the one that was looked at last. */
static struct collector *collector_changed(struct fleet *fl)
{
	while (fl->looked_at < fl->n) {
		struct collector *s = fl->member[fl->looked_at++];
		struct ticket_stamp now;

		if (!s->ticket)
			continue;
		now = ticket_stamp(s->path);
		if (now.inode && !ticket_stamp_is(&now, &s->seen))
			return s;
	}
	return NULL;
}

/*
 * A file that cannot be used may be a copy that is half written: it is looked
 * at once more before that is said.
 */
static int collector_look(struct fleet *fl, struct collector *s,
			  struct fault *f)
{
	struct ticket_stamp now = ticket_stamp(s->path);
	bool again = ticket_stamp_is(&now, &s->doubted), told = s->told;
	uint64_t before = s->ticket->epoch;
	struct fault why = {""};
	int rc = collector_reticket(fl, s, s->path, &why);

	s->doubted = now;
	if (rc == -EAGAIN || (rc < 0 && !again))
		return 0;
	s->seen = now;
	if (rc < 0)
		return fault_of(f, rc, s->path, &why);
	if (!rc)
		return 0;
	s->told = false;
	fault_set(f, 0, "%.400s: %s epoch %llu", s->path,
		  before == s->ticket->epoch ? "written again, still"
					     : "a new ticket,",
		  (unsigned long long)s->ticket->epoch);
	return told ? FLEET_MENDED : FLEET_RENEWED;
}

int fleet_look(struct fleet *fl, uint64_t now_ns, struct fault *f)
{
	struct collector *s;
	int rc = 0;

	if (now_ns < fl->look_ns)
		return 0;
	while (!rc && (s = collector_changed(fl)))
		rc = collector_look(fl, s, f);
	if (!rc) {
		fl->looked_at = 0;
		fl->look_ns = now_ns + LOOK_NS;
	}
	return rc;
}

bool fleet_look_again(struct fleet *fl)
{
	bool any = false;

	for (unsigned i = 0; i < fl->n; i++) {
		struct collector *s = fl->member[i];

		if (!s->ticket)
			continue;
		s->seen = s->ticket->stamp;
		s->doubted = ticket_stamp(s->path); /* who asks wants to know */
		any |= s->seen.inode != 0;
	}
	fl->looked_at = 0;
	fl->look_ns = 0;
	return any;
}

static void say_refusal(const struct collector *s, struct fault *f)
{
	unsigned long long epoch = s->ticket->epoch;

	if (!s->told)
		fault_set(f, 0,
			  "%.400s: epoch %llu: the collector takes its R_Keys "
			  "again",
			  s->path, epoch);
	else
		fault_set(f, 0,
			  "%.400s: epoch %llu: the collector refuses its "
			  "R_Keys: the ticket is out of date; %s",
			  s->path, epoch,
			  s->ticket->stamp.inode
				  ? "waiting for a new one"
				  : "it is no file that could be read again: "
				    "start anew with a new one");
}

bool fleet_refusal(struct fleet *fl, struct fault *f)
{
	for (unsigned i = 0; i < fl->n; i++) {
		struct collector *s = fl->member[i];

		if (!s->roce || s->told == roce_out_stale(s->roce))
			continue;
		s->told = !s->told;
		say_refusal(s, f);
		return true;
	}
	return false;
}

/* Those that are members no longer: what became of their requests stays. */
static void dismiss(struct fleet *fl, struct collector *const *next, unsigned n)
{
	for (unsigned i = 0; i < fl->n; i++) {
		struct collector *s = fl->member[i];
		struct requester_ledger l;
		unsigned k = 0;

		while (k < n && next[k] != s)
			k++;
		if (k < n)
			continue;
		if (s->roce) {
			l = roce_out_ledger(s->roce);
			ledger_add(&requester_ledger, &fl->before, &l);
			fl->gone[fl->went++ % CLUSTER_MAX] = s->ticket->stamp;
		}
		collector_close(s);
	}
}

int fleet_change(struct fleet *fl, const struct cluster *c, bool mirror,
		 struct fault *f)
{
	struct collector *next[CLUSTER_MAX];
	struct road *road[CLUSTER_MAX];
	unsigned number[CLUSTER_MAX];
	int n = muster(fl, c, next, f);

	if (n < 0)
		return n;
	dismiss(fl, next, (unsigned)n);
	fl->n = (unsigned)n;
	memcpy(fl->member, next, fl->n * sizeof(next[0]));
	fl->looked_at = 0;
	fl->o.mirror = mirror;
	roads_of(fl, road, number);
	fanout_change(fl->fanout, road, fl->n, mirror);
	if (fl->dart)
		dart_out_members(fl->dart, number, fl->n, mirror);
	return 0;
}

const struct requester_ledger *fleet_before(const struct fleet *fl)
{
	return &fl->before;
}

void fleet_close(struct fleet *fl)
{
	if (!fl)
		return;
	dart_out_close(fl->dart);
	fanout_close(fl->fanout);
	for (unsigned i = 0; i < fl->n; i++)
		collector_close(fl->member[i]);
	free(fl);
}
