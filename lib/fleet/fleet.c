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

/* A collector without a road; NULL: no room. */
static struct collector *collector_new(struct fleet *fl, struct fault *f)
{
	struct collector *s;

	for (unsigned i = 0; i < fl->collectors; i++)
		if (!fl->collector[i]->road)
			return fl->collector[i];
	if (fl->collectors == FLEET_MAX) {
		fault_set(f, -ENOSPC,
			  "too many collectors came and went: that needs a "
			  "new start");
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
		return NULL;
	}
	s->number = fl->collectors;
	fl->collector[fl->collectors++] = s;
	return s;
}

static void collector_opened(struct fleet *fl, struct collector *s)
{
	if (s->roce)
		fl->roce[fl->roces++] = s->roce;
}

static struct collector *collector_of(const struct fleet *fl,
				      const struct cluster_collector *c)
{
	for (unsigned i = 0; i < fl->collectors; i++)
		if (collector_is(fl, fl->collector[i], c))
			return fl->collector[i];
	return NULL;
}

/* Opens a collector unless it is there. */
static int recruit(struct fleet *fl, const struct cluster_collector *c,
		   struct fault *f)
{
	struct collector *s = collector_of(fl, c);
	struct fault why = {""};
	int rc;

	if (s)
		return 0;
	if (!(s = collector_new(fl, f)))
		return -ENOMEM;
	rc = collector_open(fl, s, c, f);
	if (rc == 0 && fl->dart &&
	    (rc = dart_out_reticket(fl->dart, s->number, NULL, s->ticket,
				    &why)) < 0)
		fault_set(f, rc, "%.400s", why.text);
	if (rc < 0)
		collector_close(s);
	else
		collector_opened(fl, s);
	return rc;
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

static void take_members(struct fleet *fl, const struct cluster *c)
{
	const struct cluster_generation *g = cluster_newest(c);

	fl->n = g->n;
	for (unsigned i = 0; i < g->n; i++)
		fl->member[i] = collector_of(
			fl, &c->collector[g->member[i].collector]);
}

int fleet_open(struct fleet **out, const struct cluster *c,
	       const struct fleet_options *o, struct fault *f)
{
	struct fleet *fl = fleet_new(o);
	int rc;

	if (!fl)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	rc = fleet_recruit(fl, c, f);
	if (rc == 0) {
		take_members(fl, c);
		rc = join_roads(fl, f);
	}
	return finish(out, fl, rc, f);
}

int fleet_open_ticket(struct fleet **out, struct ticket *t, const char *path,
		      const struct fleet_options *o, struct fault *f)
{
	struct fleet *fl = fleet_new(o);
	struct collector *s = fl ? collector_new(fl, f) : NULL;
	int rc;

	if (!s) {
		free(fl);
		ticket_fini(t);
		free(t);
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	}
	rc = collector_ticket(fl, s, t, path, f);
	if (rc == 0) {
		collector_opened(fl, s);
		fl->member[fl->n++] = s;
		fl->road = s->road;
	}
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
	memcpy(out, fl->roce, fl->roces * sizeof(out[0]));
	return fl->roces;
}

int fleet_reticket(struct fleet *fl, const struct cluster *c, struct fault *f)
{
	const struct cluster_generation *g = cluster_newest(c);
	int rc = 0;

	for (unsigned i = 0; i < g->n; i++) {
		const struct cluster_collector *a =
			&c->collector[g->member[i].collector];
		struct collector *s = collector_of(fl, a);
		struct fault why = {""};
		int one = 0;

		if (s && s->ticket && strcmp(a->ticket, s->path) != 0)
			one = collector_reticket(fl, s, a->ticket, &why);
		if (one < 0 && rc == 0)
			rc = fault_set(f, one, "collector %u: %.400s", a->id,
				       why.text);
	}
	return rc;
}

enum {
	LOOK_NS = 100 * 1000000,
};

/* A collector whose ticket's file is not the one that was looked at last. */
static struct collector *collector_changed(struct fleet *fl)
{
	while (fl->looked_at < fl->collectors) {
		struct collector *s = fl->collector[fl->looked_at++];
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

	for (unsigned i = 0; i < fl->collectors; i++) {
		struct collector *s = fl->collector[i];

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

static bool is_member(const struct fleet *fl, const struct collector *s)
{
	for (unsigned i = 0; i < fl->n; i++)
		if (fl->member[i] == s)
			return true;
	return false;
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
	for (unsigned i = 0; i < fl->collectors; i++) {
		struct collector *s = fl->collector[i];

		if (!s->roce || !is_member(fl, s) ||
		    s->told == roce_out_stale(s->roce))
			continue;
		s->told = !s->told;
		say_refusal(s, f);
		return true;
	}
	return false;
}

int fleet_recruit(struct fleet *fl, const struct cluster *c, struct fault *f)
{
	const struct cluster_generation *g = cluster_newest(c);
	int rc = 0;

	for (unsigned i = 0; i < g->n && !rc; i++)
		rc = recruit(fl, &c->collector[g->member[i].collector], f);
	return rc;
}

bool fleet_is(const struct fleet *fl, const struct cluster *c, bool mirror)
{
	const struct cluster_generation *g = cluster_newest(c);

	if (g->n != fl->n || mirror != fl->o.mirror)
		return false;
	for (unsigned i = 0; i < g->n; i++)
		if (!collector_is(fl, fl->member[i],
				  &c->collector[g->member[i].collector]))
			return false;
	return true;
}

bool fleet_leaves(const struct fleet *fl, const struct roce_out *roce,
		  const struct cluster *next)
{
	const struct cluster_generation *g = cluster_newest(next);

	for (unsigned i = 0; i < g->n; i++) {
		const struct collector *s = collector_of(
			fl, &next->collector[g->member[i].collector]);

		if (s && s->roce == roce)
			return false;
	}
	return true;
}

void fleet_change(struct fleet *fl, const struct cluster *c, bool mirror)
{
	struct road *road[CLUSTER_MAX];
	unsigned number[CLUSTER_MAX];

	take_members(fl, c);
	fl->o.mirror = mirror;
	roads_of(fl, road, number);
	fanout_change(fl->fanout, road, fl->n, mirror);
	if (fl->dart)
		dart_out_members(fl->dart, number, fl->n, mirror);
}

void fleet_settle(struct fleet *fl)
{
	for (unsigned i = 0; i < fl->collectors; i++)
		if (fl->collector[i]->local && !is_member(fl, fl->collector[i]))
			collector_close(fl->collector[i]);
}

void fleet_close(struct fleet *fl)
{
	if (!fl)
		return;
	dart_out_close(fl->dart);
	fanout_close(fl->fanout);
	for (unsigned i = 0; i < fl->collectors; i++) {
		collector_close(fl->collector[i]);
		free(fl->collector[i]);
	}
	free(fl);
}
