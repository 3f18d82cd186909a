/* SPDX-License-Identifier: BSD-2-Clause */
#include "places/collectors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash/crc.h"
#include "hash/family.h"
#include "places/ssh.h"
#include "store/region.h"
#include "verbs/verbs_reader.h"

struct collectors {
	const struct collectors_options *o;
	struct cluster c;
	bool lost[CLUSTER_MAX];	    /* cannot be reached, */
	unsigned n_lost;	    /* so many of them */
	bool mirrored[CLUSTER_MAX]; /* and it was said who answers */
	char name[CLUSTER_MAX][8];  /* ids, for the rows */
	struct ssh *ssh[CLUSTER_MAX];
	bool incomplete, failed;
};

void collectors_lose(struct collectors *c, unsigned source, const char *why)
{
	if (c->lost[source])
		return;
	c->lost[source] = true;
	c->n_lost++;
	if (!*c->o->stop) /* else we have lost patience, not it */
		c->o->warn("collector %s: %s", c->name[source], why);
}

unsigned collectors_lost(const struct collectors *c)
{
	return c->n_lost;
}

static int start_ssh(struct collectors *c, unsigned i, struct fault *f)
{
	const struct cluster_collector *a = &c->c.collector[i];

	return ssh_start(&c->ssh[i], a->host, a->region, c->o->stop, f);
}

static int open_ssh(struct collectors *c, struct source *s, unsigned i,
		    struct fault *f)
{
	int rc = c->ssh[i] ? 0 : start_ssh(c, i, f);

	return rc < 0 ? rc : ssh_memory(&s->memory, c->ssh[i], f);
}

/* On another machine: by its network device if that can be. */
static int open_other(struct collectors *c, struct source *s, unsigned i,
		      struct fault *f)
{
	const struct cluster_collector *a = &c->c.collector[i];
	int rc;

	if (*a->verbs) {
		rc = verbs_memory(&s->memory, a->verbs, c->o->stop, f);
		if (!rc || !*a->host)
			return rc;
		c->o->warn("collector %s: %s; asking by ssh", s->name, f->text);
	}
	return open_ssh(c, s, i, f);
}

static int open_region(struct source *s, const char *name, struct fault *f)
{
	struct region *r;
	int rc = region_open(&r, name, false, f);

	if (!rc)
		s->memory = region_memory(r);
	return rc;
}

static void open_one(struct collectors *c, struct source *s, unsigned i)
{
	const struct cluster_collector *a = &c->c.collector[i];
	struct fault f = {0};
	int rc;

	s->name = c->name[i];
	s->path = *a->region ? a->region : *a->ticket ? a->ticket : a->verbs;
	s->live = true;
	if (c->lost[i])
		return;
	if (*a->verbs || *a->host)
		rc = open_other(c, s, i, &f);
	else if (*a->region)
		rc = open_region(s, a->region, &f);
	else
		rc = fault_set(&f, -ENOENT,
			       "neither region, host nor verbs: by its "
			       "ticket alone it cannot be asked");
	if (rc < 0)
		collectors_lose(c, i, f.text);
}

/* All at once: each takes its time. */
static void start_all(struct collectors *c)
{
	struct fault f;

	for (unsigned i = 0; i < c->c.n; i++) {
		const struct cluster_collector *a = &c->c.collector[i];

		snprintf(c->name[i], sizeof(c->name[i]), "%u", a->id);
		if (*a->host && !*a->verbs && start_ssh(c, i, &f) < 0)
			collectors_lose(c, i, f.text);
	}
}

int collectors_open(struct collectors **out, struct source *s, unsigned *n,
		    const struct collectors_options *o, struct fault *f)
{
	struct collectors *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	c->o = o;
	rc = cluster_read(&c->c, o->cluster, f);
	if (rc < 0) {
		free(c);
		return rc;
	}
	start_all(c);
	for (unsigned i = 0; i < c->c.n; i++)
		open_one(c, &s[i], i);
	*n = c->c.n;
	*out = c;
	if (c->n_lost == c->c.n)
		return fault_set(f, -EHOSTUNREACH,
				 "%s: no collector can be asked", o->cluster);
	return 0;
}

void collectors_close(struct collectors *c)
{
	if (c)
		cluster_fini(&c->c);
	free(c);
}

/* The owner, or the one that its reports were mirrored to. */
static void tell_owner(struct collectors *c, const struct cluster_generation *g,
		       unsigned owner, collectors_epochs *each, void *ctx)
{
	const struct cluster_member *m = &g->member[owner],
				    *next = &g->member[(owner + 1) % g->n];

	if (!c->lost[m->collector]) {
		each(ctx, m->collector, m->from, m->until);
		return;
	}
	if (!c->c.mirror || g->n < 2 || c->lost[next->collector]) {
		c->incomplete = true;
		return;
	}
	if (!c->mirrored[m->collector])
		c->o->warn("collector %s: asking its mirror, collector %s",
			   c->name[m->collector], c->name[next->collector]);
	c->mirrored[m->collector] = true;
	each(ctx, next->collector, next->from, next->until);
}

void collectors_of_key(struct collectors *c, const uint8_t *key, size_t len,
		       collectors_epochs *each, void *ctx)
{
	c->incomplete = false;
	for (unsigned i = c->c.generations; i-- > 0;) {
		const struct cluster_generation *g = &c->c.generation[i];

		if (!c->c.by_address) {
			tell_owner(c, g, cluster_owner(g, key, len), each, ctx);
			continue;
		}
		/* Its reporters picked the collector: it may be any. */
		for (unsigned k = 0; k < g->n; k++)
			if (c->lost[g->member[k].collector])
				c->incomplete = true;
			else
				each(ctx, g->member[k].collector,
				     g->member[k].from, g->member[k].until);
	}
}

uint32_t collectors_hash(const struct collectors *c, const uint8_t *key,
			 size_t len)
{
	return c->c.by_address ? 0 : crc(CRC_COLLECTOR, key, len);
}

bool collectors_alike(const struct collectors *c, uint32_t a, uint32_t b)
{
	for (unsigned i = 0; i < c->c.generations; i++) {
		unsigned n = c->c.generation[i].n;

		if (hash_mod(a, n) != hash_mod(b, n))
			return false;
	}
	return true;
}

bool collectors_incomplete(const struct collectors *c)
{
	return c->incomplete;
}

void collectors_failed_set(struct collectors *c)
{
	c->failed = c->failed || !*c->o->stop;
}

bool collectors_failed(const struct collectors *c)
{
	return c->failed;
}

int collectors_here(const struct collectors *c, const char *what,
		    const char *command, struct fault *f)
{
	for (unsigned i = 0; i < c->c.n; i++) {
		const struct cluster_collector *a = &c->c.collector[i];

		if (!*a->host && !*a->verbs)
			continue;
		if (!*a->host || !*a->region)
			return fault_set(f, -EREMOTE,
					 "%s: collector %s is on another "
					 "machine: run dta-query %s there",
					 what, c->name[i], command);
		return fault_set(f, -EREMOTE,
				 "%s: collector %s is on another machine: ssh "
				 "%s dta-query %s --region %s",
				 what, c->name[i], a->host, command, a->region);
	}
	return 0;
}
