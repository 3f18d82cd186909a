/* SPDX-License-Identifier: BSD-2-Clause */
#include "crew.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash/crc.h"
#include "hash/family.h"
#include "reach.h"
#include "remote.h"

struct crew {
	struct cluster c;
	bool lost[CLUSTER_MAX];	    /* cannot be reached, */
	unsigned n_lost;	    /* so many of them */
	bool mirrored[CLUSTER_MAX]; /* and it was said who answers */
	char name[CLUSTER_MAX][8];  /* ids, for the rows */
	bool incomplete, failed;
};

void crew_lose(struct places *p, unsigned source, const char *why)
{
	struct crew *c = p->crew;

	if (c->lost[source])
		return;
	c->lost[source] = true;
	c->n_lost++;
	if (!cli_stop) /* else we have lost patience, not it */
		cli_warn("collector %s: %s", c->name[source], why);
}

/* On another machine: read from here if that can be, asked there else. */
static int open_other(struct source *s, const struct cluster_collector *a,
		      const struct opts *o, struct fault *f)
{
	int rc = 0;

	if (*a->verbs) {
		rc = reach_open(&s->reach, &s->region, a->verbs, f);
		if (!rc || !*a->host)
			return rc;
		cli_warn("collector %s: %s; asking by %s", s->name, f->text,
			 o->ssh ? o->ssh : "ssh");
	}
	return remote_open(&s->remote, a, o, f);
}

static void open_one(struct places *p, unsigned i, const struct opts *o)
{
	const struct cluster_collector *a = &p->crew->c.collector[i];
	struct source *s = &p->source[i];
	struct fault f = {0};
	int rc;

	snprintf(p->crew->name[i], sizeof(p->crew->name[i]), "%u", a->id);
	s->name = p->crew->name[i];
	s->path = *a->region ? a->region : *a->ticket ? a->ticket : a->verbs;
	if (*a->verbs || *a->host)
		rc = open_other(s, a, o, &f);
	else if (*a->region)
		rc = region_open(&s->region, a->region, false, &f);
	else
		rc = fault_set(&f, -ENOENT,
			       "neither region, host nor verbs: by its "
			       "ticket alone it cannot be asked");
	if (rc < 0)
		crew_lose(p, i, f.text);
}

void crew_open(struct places *p, const struct opts *o)
{
	struct crew *c = calloc(1, sizeof(*c));
	struct fault f = {0};
	bool any = false;

	if (!c)
		cli_fail("out of memory");
	p->crew = c;
	if (cluster_read(&c->c, o->cluster, &f) < 0)
		cli_fail("%s", f.text);
	p->sources = c->c.n;
	for (unsigned i = 0; i < c->c.n; i++) {
		open_one(p, i, o);
		any = any || !c->lost[i];
	}
	if (!any)
		cli_fail("%s: no collector can be asked", o->cluster);
	crew_all(p);
}

void crew_close(struct crew *c)
{
	if (c)
		cluster_fini(&c->c);
	free(c);
}

void crew_all(struct places *p)
{
	p->n = 0;
	for (unsigned i = 0; i < p->sources; i++)
		if (p->source[i].region)
			places_add(p, i, 0, UINT64_MAX);
}

static void add_member(struct places *p, const struct cluster_member *m)
{
	places_add(p, m->collector, m->from, m->until);
}

/* The owner, or the one that its reports were mirrored to. */
static void add_owner(struct places *p, const struct cluster_generation *g,
		      unsigned owner)
{
	const struct cluster_member *m = &g->member[owner],
				    *next = &g->member[(owner + 1) % g->n];
	struct crew *c = p->crew;

	if (!c->lost[m->collector]) {
		add_member(p, m);
		return;
	}
	if (!c->c.mirror || g->n < 2 || c->lost[next->collector]) {
		c->incomplete = true;
		return;
	}
	if (!c->mirrored[m->collector])
		cli_warn("collector %s: asking its mirror, collector %s",
			 c->name[m->collector], c->name[next->collector]);
	c->mirrored[m->collector] = true;
	add_member(p, next);
}

static void list_owners(struct places *p, const uint8_t *key, size_t len)
{
	struct crew *c = p->crew;

	p->n = 0;
	c->incomplete = false;
	for (unsigned i = c->c.generations; i-- > 0;) {
		const struct cluster_generation *g = &c->c.generation[i];

		if (!c->c.by_address) {
			add_owner(p, g, cluster_owner(g, key, len));
			continue;
		}
		/* Its reporters picked the collector: it may be any. */
		for (unsigned k = 0; k < g->n; k++)
			if (c->lost[g->member[k].collector])
				c->incomplete = true;
			else
				add_member(p, &g->member[k]);
	}
}

void crew_of_key(struct places *p, const uint8_t *key, size_t len)
{
	unsigned lost;

	do { /* one may turn out to be lost: its mirror may do */
		lost = p->crew->n_lost;
		list_owners(p, key, len);
	} while (lost != p->crew->n_lost);
}

uint32_t crew_hash(const struct crew *c, const uint8_t *key, size_t len)
{
	return c->c.by_address ? 0 : crc(CRC_COLLECTOR, key, len);
}

bool crew_alike(const struct crew *c, uint32_t a, uint32_t b)
{
	for (unsigned i = 0; i < c->c.generations; i++) {
		unsigned n = c->c.generation[i].n;

		if (hash_mod(a, n) != hash_mod(b, n))
			return false;
	}
	return true;
}

bool crew_incomplete(const struct crew *c)
{
	return c->incomplete;
}

void crew_failed_set(struct crew *c)
{
	c->failed = c->failed || !cli_stop;
}

bool crew_failed(const struct crew *c)
{
	return c->failed;
}

void crew_here(const struct places *p, const char *what, const char *command)
{
	for (unsigned i = 0; i < p->sources; i++) {
		const struct cluster_collector *c = &p->crew->c.collector[i];

		if (!p->source[i].remote && !p->source[i].reach)
			continue;
		if (!c->host[0] || !c->region[0])
			cli_fail("%s: collector %s is on another machine: run "
				 "dta-query %s there",
				 what, p->crew->name[i], command);
		cli_fail("%s: collector %s is on another machine: ssh %s "
			 "dta-query %s --region %s",
			 what, p->crew->name[i], c->host, command, c->region);
	}
}
