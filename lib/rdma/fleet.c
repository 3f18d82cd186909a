/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/fleet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "rdma/fanout.h"
#include "rdma/local.h"
#include "rdma/roce_out.h"
#include "store/region.h"

/* A collector: its region, or its ticket. */
struct ship {
	uint16_t id;
	struct region *region;
	struct local_road *local;
	const struct ticket *ticket;
	struct ticket *own;	 /* the same, if it is ours to free */
	struct timespec written; /* when its file was */
	struct roce_out *roce;
	struct road *road;
};

struct fleet {
	struct fleet_options o;
	unsigned n, tables;
	struct table table[TABLE_MAX];
	struct fanout *fanout;
	struct dart_out *dart;
	struct road *road;
	struct ship ship[];
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

int fleet_same_tables(const struct table *a, unsigned na, const struct table *b,
		      unsigned nb, struct fault *f)
{
	if (na != nb)
		return fault_set(f, -EINVAL,
				 "%u tables, where the first collector has %u",
				 nb, na);
	for (unsigned i = 0; i < na; i++) {
		const char *what = difference(&a[i], &b[i]);

		if (what)
			return fault_set(f, -EINVAL,
					 "table %.*s: %s: not what the first "
					 "collector has",
					 TABLE_NAME_MAX, b[i].name, what);
	}
	return 0;
}

/* The first collector's tables are the fleet's. */
static int take_tables(struct fleet *fl, const struct table *tables, unsigned n,
		       struct fault *f)
{
	if (fl->tables)
		return fleet_same_tables(fl->table, fl->tables, tables, n, f);
	memcpy(fl->table, tables, n * sizeof(tables[0]));
	fl->tables = n;
	return 0;
}

static int ship_region(struct fleet *fl, struct ship *s, const char *name,
		       struct fault *f)
{
	struct table tables[TABLE_MAX];
	int rc = region_open(&s->region, name, true, f);

	if (rc < 0 || (rc = local_open(&s->local, s->region, f)) < 0)
		return rc;
	s->road = local_road(s->local);
	for (unsigned i = 0; i < region_tables(s->region); i++)
		tables[i] = *region_table(s->region, i);
	return take_tables(fl, tables, region_tables(s->region), f);
}

static int ship_roce(struct fleet *fl, struct ship *s, struct fault *f)
{
	int rc = take_tables(fl, s->ticket->table, s->ticket->n, f);

	if (rc < 0)
		return rc;
	rc = roce_out_open(&s->roce, s->ticket, fl->o.sink, fl->o.ack_every, f);
	if (rc == 0)
		s->road = roce_out_road(s->roce);
	return rc;
}

static struct timespec written(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_mtim : (struct timespec){0};
}

static int ship_ticket(struct fleet *fl, struct ship *s, const char *path,
		       struct fault *f)
{
	struct ticket *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	s->written = written(path);
	rc = ticket_read(t, path, f);
	if (rc < 0) {
		free(t);
		return rc;
	}
	s->ticket = s->own = t;
	return ship_roce(fl, s, f);
}

static int ship_open(struct fleet *fl, struct ship *s,
		     const struct cluster_collector *c, struct fault *f)
{
	bool here = *c->region && !*c->host;
	struct fault why = {""};
	int rc;

	s->id = c->id;
	if (fl->o.sink && *c->ticket)
		rc = ship_ticket(fl, s, c->ticket, &why);
	else if (here && !fl->o.dart)
		rc = ship_region(fl, s, c->region, &why);
	else if (!fl->o.sink)
		rc = fault_set(&why, -EINVAL,
			       *c->ticket ? "a ticket: where do RoCEv2 "
					    "packets go?"
					  : "its region is on another machine, "
					    "and there is no ticket");
	else
		rc = fault_set(&why, -EINVAL, "needs a ticket");
	return rc < 0 ? fault_set(f, rc, "collector %u: %.400s", c->id,
				  why.text)
		      : 0;
}

static struct fleet *fleet_new(unsigned n, const struct fleet_options *o)
{
	struct fleet *fl = calloc(1, sizeof(*fl) + n * sizeof(fl->ship[0]));

	if (!fl)
		return NULL;
	fl->o = *o;
	fl->n = n;
	return fl;
}

/* One road of those of all. */
static int join(struct fleet *fl, struct fault *f)
{
	const struct ticket *ticket[CLUSTER_MAX];
	struct road *road[CLUSTER_MAX] = {NULL};
	int rc = 0;

	for (unsigned i = 0; i < fl->n; i++) {
		road[i] = fl->ship[i].road;
		ticket[i] = fl->ship[i].ticket;
	}
	fl->road = road[0];
	if (fl->n > 1) {
		rc = fanout_open(&fl->fanout, road, fl->n, fl->tables,
				 fl->o.mirror, f);
		if (rc < 0)
			return rc;
		fl->road = fanout_road(fl->fanout);
	}
	if (!fl->o.dart)
		return 0;
	rc = dart_out_open(&fl->dart, ticket, fl->n, fl->o.sink, fl->road,
			   fl->o.ack_every, fl->o.mirror, f);
	if (rc == 0)
		fl->road = dart_out_road(fl->dart);
	return rc;
}

static int finish(struct fleet **out, struct fleet *fl, int rc, struct fault *f)
{
	if (rc == 0)
		rc = join(fl, f);
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
	const struct cluster_generation *g = cluster_newest(c);
	struct fleet *fl = fleet_new(g->n, o);
	int rc = 0;

	if (!fl)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	for (unsigned i = 0; i < g->n && !rc; i++)
		rc = ship_open(fl, &fl->ship[i],
			       &c->collector[g->member[i].collector], f);
	return finish(out, fl, rc, f);
}

int fleet_open_ticket(struct fleet **out, const struct ticket *t,
		      const struct fleet_options *o, struct fault *f)
{
	struct fleet *fl = fleet_new(1, o);

	if (!fl)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	fl->ship[0].ticket = t;
	return finish(out, fl, ship_roce(fl, &fl->ship[0], f), f);
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
		if (fl->ship[i].roce)
			out[n++] = fl->ship[i].roce;
	return n;
}

static int ship_reticket(struct fleet *fl, unsigned i, const char *path,
			 struct fault *f)
{
	struct ship *s = &fl->ship[i];
	struct timespec when = written(path);
	struct ticket *t;
	int rc;

	/* A collector that starts again writes the same once more; one that
	 * runs on must not begin with its first PSN again. */
	if (when.tv_sec == s->written.tv_sec &&
	    when.tv_nsec == s->written.tv_nsec)
		return 0;
	t = malloc(sizeof(*t));
	if (!t)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	rc = ticket_read(t, path, f);
	if (rc < 0) {
		free(t);
		return rc;
	}
	rc = fleet_same_tables(fl->table, fl->tables, t->table, t->n, f);
	if (rc == 0 && fl->dart)
		rc = dart_out_reticket(fl->dart, i, t, f);
	if (rc == 0)
		rc = roce_out_reticket(s->roce, t, f);
	if (rc < 0) {
		ticket_fini(t);
		free(t);
		return rc;
	}
	ticket_fini(s->own);
	free(s->own);
	s->ticket = s->own = t;
	s->written = when;
	return 0;
}

int fleet_reticket(struct fleet *fl, const struct cluster *c, struct fault *f)
{
	const struct cluster_generation *g = cluster_newest(c);
	bool same = g->n == fl->n;
	int rc = 0;

	for (unsigned i = 0; same && i < fl->n; i++)
		same = c->collector[g->member[i].collector].id ==
		       fl->ship[i].id;
	if (!same)
		return fault_set(f, -EINVAL,
				 "its newest generation has other members: "
				 "that needs a new start");
	for (unsigned i = 0; i < fl->n; i++) {
		const struct cluster_collector *a =
			&c->collector[g->member[i].collector];
		struct fault why = {""};
		int one = 0;

		if (fl->ship[i].own && *a->ticket)
			one = ship_reticket(fl, i, a->ticket, &why);
		if (one < 0 && rc == 0)
			rc = fault_set(f, one, "collector %u: %.400s", a->id,
				       why.text);
	}
	return rc;
}

static void ship_close(struct ship *s)
{
	if (s->roce)
		roce_out_close(s->roce);
	local_close(s->local);
	region_close(s->region);
	if (s->own)
		ticket_fini(s->own);
	free(s->own);
}

void fleet_close(struct fleet *fl)
{
	if (!fl)
		return;
	dart_out_close(fl->dart);
	fanout_close(fl->fanout);
	for (unsigned i = 0; i < fl->n; i++)
		ship_close(&fl->ship[i]);
	free(fl);
}
