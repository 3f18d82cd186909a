/* SPDX-License-Identifier: BSD-2-Clause */
/* The input is a cluster file. What is taken has members that are there, whose
 * epochs go on from one generation to the next. */
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_member(const struct cluster *c, unsigned g,
			 const struct cluster_member *m)
{
	if (m->collector >= c->n || !m->from || m->from > m->until)
		abort();
	for (unsigned i = 0; i < g; i++)
		for (unsigned k = 0; k < c->generation[i].n; k++) {
			const struct cluster_member *was =
				&c->generation[i].member[k];

			if (was->collector == m->collector &&
			    (was->from >= m->from || was->until > m->from))
				abort();
		}
}

static void check(const struct cluster *c)
{
	if (!c->n || c->n > CLUSTER_MAX || !c->generations)
		abort();
	for (unsigned i = 0; i < c->n; i++)
		if (c->collector[i].host[0] == '-' ||
		    strpbrk(c->collector[i].host, " \t;&|$`'\"\\<>()*?\n") ||
		    strpbrk(c->collector[i].region, " \t;&|$`'\"\\<>()*?\n"))
			abort();
	for (unsigned g = 0; g < c->generations; g++) {
		if (!c->generation[g].n || c->generation[g].n > c->n)
			abort();
		for (unsigned k = 0; k < c->generation[g].n; k++)
			check_member(c, g, &c->generation[g].member[k]);
		if (cluster_owner(&c->generation[g], (const uint8_t *)"key",
				  3) >= c->generation[g].n)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cluster c;
	struct error err;
	FILE *in;

	if (!size)
		return 0;
	in = fmemopen((void *)data, size, "r");
	if (!in)
		abort();
	if (!cluster_parse(&c, in, "fuzz/cluster", &err)) {
		check(&c);
		cluster_fini(&c);
	}
	fclose(in);
	return 0;
}
