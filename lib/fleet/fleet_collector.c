/* SPDX-License-Identifier: BSD-2-Clause */
/* fleet_collector.c - one collector of a fleet: its region, or its ticket. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fleet/fleet_private.h"

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

static int collector_region(struct fleet *fl, struct collector *s,
			    const char *name, struct fault *f)
{
	struct table tables[TABLE_MAX];
	int rc;

	snprintf(s->path, sizeof(s->path), "%s", name);
	rc = region_open(&s->region, name, true, f);

	if (rc < 0 || (rc = local_open(&s->local, s->region, f)) < 0)
		return rc;
	s->road = local_road(s->local);
	for (unsigned i = 0; i < region_tables(s->region); i++)
		tables[i] = *region_table(s->region, i);
	return take_tables(fl, tables, region_tables(s->region), f);
}

int collector_ticket(struct fleet *fl, struct collector *s, struct ticket *t,
		     const char *path, struct fault *f)
{
	int rc;

	s->ticket = t;
	s->seen = t->stamp;
	snprintf(s->path, sizeof(s->path), "%s", path);
	rc = take_tables(fl, t->table, t->n, f);
	if (rc < 0)
		return rc;
	rc = roce_out_open(&s->roce, t, fl->o.sink, fl->o.ack_every, f);
	if (rc == 0)
		s->road = roce_out_road(s->roce);
	return rc;
}

static struct ticket *read_ticket(const char *path, int *rc, struct fault *f)
{
	struct ticket *t;

	if (!ticket_stamp(path).inode && access(path, F_OK) == 0) {
		*rc = fault_set(f, -EINVAL,
				"%s: no ordinary file, as a cluster's tickets "
				"must be: they are read again",
				path);
		return NULL;
	}
	t = malloc(sizeof(*t));
	*rc = t ? ticket_read(t, path, f)
		: fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	if (*rc == 0)
		return t;
	free(t);
	return NULL;
}

static void drop_ticket(struct ticket *t)
{
	if (t)
		ticket_fini(t);
	free(t);
}

int collector_open(struct fleet *fl, struct collector *s,
		   const struct cluster_collector *c, struct fault *f)
{
	bool here = *c->region && !*c->host;
	struct fault why = {""};
	struct ticket *t;
	int rc;

	s->id = c->id;
	if (fl->o.sink && *c->ticket)
		rc = (t = read_ticket(c->ticket, &rc, &why))
			     ? collector_ticket(fl, s, t, c->ticket, &why)
			     : rc;
	else if (here && !fl->o.dart)
		rc = collector_region(fl, s, c->region, &why);
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

bool collector_is(const struct fleet *fl, const struct collector *s,
		  const struct cluster_collector *c)
{
	bool by_ticket = fl->o.sink && *c->ticket;

	return s->id == c->id && by_ticket == (s->roce != NULL) &&
	       (by_ticket || !*c->host) &&
	       !strcmp(s->path, by_ticket ? c->ticket : c->region);
}

int collector_reticket(struct fleet *fl, struct collector *s, const char *path,
		       struct fault *f)
{
	struct ticket_stamp stamp = ticket_stamp(path);
	struct ticket *t;
	int rc;

	/* One that is the same in a new file is taken once more: a collector
	 * that has started again may have written it, and is asked. */
	if (!strcmp(path, s->path) &&
	    ticket_stamp_is(&stamp, &s->ticket->stamp))
		return 0;
	if (!(t = read_ticket(path, &rc, f)))
		return rc;
	stamp = ticket_stamp(path);
	if (!ticket_stamp_is(&stamp, &t->stamp)) {
		drop_ticket(t);
		return fault_set(f, -EAGAIN,
				 "%s: was written while it was read", path);
	}
	rc = fleet_same_tables(fl->table, fl->tables, t->table, t->n, f);
	/* Both roads take it, or none: the second is asked before. */
	if (rc == 0 && fl->dart)
		rc = dart_out_accepts(fl->dart, t, f);
	if (rc == 0)
		rc = roce_out_reticket(s->roce, t, f);
	if (rc == 0 && fl->dart)
		rc = dart_out_reticket(fl->dart, s->number, s->ticket, t, f);
	if (rc < 0) {
		drop_ticket(t);
		return rc;
	}
	drop_ticket(s->ticket);
	s->ticket = t;
	s->seen = t->stamp;
	if (path != s->path)
		snprintf(s->path, sizeof(s->path), "%s", path);
	return 1;
}

void collector_close(struct collector *s)
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
