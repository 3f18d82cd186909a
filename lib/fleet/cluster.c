/* SPDX-License-Identifier: BSD-2-Clause */
/* cluster.c - what a cluster is, once its file was read (cluster_read.c). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash/crc.h"
#include "hash/family.h"
#include "fleet/cluster_private.h"

static int find(const struct cluster *c, uint16_t id)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->collector[i].id == id)
			return (int)i;
	return -ENOENT;
}

/* Where a collector was a member last, before generation g. */
static struct cluster_member *before(struct cluster *c, unsigned g,
				     uint16_t collector)
{
	while (g-- > 0)
		for (unsigned i = 0; i < c->generation[g].n; i++)
			if (c->generation[g].member[i].collector == collector)
				return &c->generation[g].member[i];
	return NULL;
}

static int add_member(struct cluster *c, const struct cluster_members *m,
		      unsigned g, uint16_t id, uint64_t epoch, struct fault *f)
{
	struct cluster_generation *to = &c->generation[g];
	int at = find(c, id);
	struct cluster_member *last;

	if (at < 0)
		return fault_set(f, -EINVAL, "there is no [collector %u]", id);
	for (unsigned i = 0; i < to->n; i++)
		if (to->member[i].collector == at)
			return fault_set(f, -EINVAL, "twice collector %u", id);
	last = before(c, g, (uint16_t)at);
	if (!epoch)
		epoch = last ? m->epoch[g] : 1;
	if (!epoch)
		return fault_set(f, -EINVAL,
				 "since which epoch? It needs epoch = N");
	if (last && last->from >= epoch)
		return fault_set(f, -EINVAL,
				 "collector %u was in a generation from epoch "
				 "%llu on; this one begins later",
				 id, (unsigned long long)last->from);
	if (last)
		last->until = epoch;
	to->member[to->n++] = (struct cluster_member){
		.collector = (uint16_t)at,
		.from = epoch,
		.until = UINT64_MAX,
	};
	return 0;
}

static int make_room(struct cluster_generation *g, unsigned n, struct fault *f)
{
	g->member = calloc(n, sizeof(g->member[0]));
	return g->member ? 0 : fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
}

static int make_generation(struct cluster *c, const struct cluster_members *m,
			   unsigned g, struct fault *f)
{
	struct cluster_generation *to = &c->generation[g];
	int rc = make_room(to, c->n, f);
	for (size_t i = 0; i < m->n && !rc; i++) {
		const struct cluster_listed *l = &m->listed[i];

		if (l->generation != g)
			continue;
		for (unsigned id = l->first; id <= l->last && !rc; id++)
			rc = add_member(c, m, g, (uint16_t)id, l->epoch, f);
	}
	if (rc < 0)
		return rc;
	return to->n ? 0 : fault_set(f, -EINVAL, "no collectors");
}

static int check_collector(const struct cluster *c, unsigned i, struct fault *f)
{
	const struct cluster_collector *a = &c->collector[i];

	if (!*a->region && !*a->ticket && !*a->verbs)
		return fault_set(f, -EINVAL,
				 "needs region or ticket, or verbs");
	if (*a->host && !*a->region)
		return fault_set(f, -EINVAL,
				 "host: needs region, the name of it there");
	if (*a->verbs && *a->region && !*a->host)
		return fault_set(f, -EINVAL,
				 "verbs: without host the region is on this "
				 "machine: name the host, or no region");
	if (c->by_address && !a->version)
		return fault_set(f, -EINVAL,
				 "steer = address: an address is needed");
	for (unsigned k = 0; c->by_address && k < i; k++)
		if (c->collector[k].version == a->version &&
		    !memcmp(c->collector[k].ip, a->ip, sizeof(a->ip)))
			return fault_set(f, -EINVAL,
					 "address: it is collector %u's",
					 c->collector[k].id);
	return 0;
}

/* Without generations: all of them, as they stand there. */
static int default_generation(struct cluster *c,
			      const struct cluster_members *m, struct fault *f)
{
	int rc = make_room(&c->generation[0], c->n, f);

	c->generations = 1;
	c->generation[0].number = 1;
	for (unsigned i = 0; i < c->n && !rc; i++)
		rc = add_member(c, m, 0, c->collector[i].id, 0, f);
	return rc;
}

int cluster_make(struct cluster *c, const struct cluster_members *m,
		 struct fault *f)
{
	struct fault why = {""};
	int rc;

	if (!c->n) /* a section without fields is not seen */
		return fault_set(f, -EINVAL,
				 "no collectors: a [collector ID] with region, "
				 "ticket or both is needed");
	if (c->by_address && c->mirror)
		return fault_set(f, -EINVAL,
				 "mirror: only with steer = hash: what is "
				 "addressed to the next collector would meet "
				 "the copies");
	for (unsigned i = 0; i < c->n; i++)
		if ((rc = check_collector(c, i, &why)) < 0)
			return fault_set(f, rc, "[collector %u]: %s",
					 c->collector[i].id, why.text);
	if (!c->generations)
		return default_generation(c, m, f);
	for (unsigned g = 0; g < c->generations; g++)
		if ((rc = make_generation(c, m, g, &why)) < 0)
			return fault_set(f, rc, "[generation %u]: %s",
					 c->generation[g].number, why.text);
	return 0;
}

void cluster_fini(struct cluster *c)
{
	for (unsigned g = 0; g < c->generations; g++)
		free(c->generation[g].member);
	free(c->generation);
	free(c->collector);
	*c = (struct cluster){0};
}

unsigned cluster_owner(const struct cluster_generation *g, const uint8_t *key,
		       size_t len)
{
	return (unsigned)hash_mod(crc(CRC_COLLECTOR, key, len), g->n);
}
