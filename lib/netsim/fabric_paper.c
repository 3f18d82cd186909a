/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_paper.c - the network of the INT-label paper's prototype. */
#include <string.h>

#include "netsim/fabric_private.h"

enum {
	SPINES = 4,
	LEAVES = 4,
	TORS = 4,
	HOSTS = 8,
	PORTS = 4 * 2 + (4 + 4) * 4 + 8,
};

/* From the first and the last host to all others. */
static const char *const ways[] = {
	"1 8-4",
	"1 8-1 4-4 9-3",
	"1 8-2 5-4 9-4",
	"1 8-1 4-1 0-2 6-3 10-3",
	"1 8-1 4-1 0-2 6-3 10-4",
	"1 8-2 5-1 2-2 7-4 11-3",
	"1 8-2 5-2 3-2 7-4 11-4",
	"8 11-2 7-2 3-1 5-3 8-3",
	"8 11-2 7-2 3-1 5-3 8-4",
	"8 11-2 7-2 3-1 5-4 9-3",
	"8 11-2 7-2 3-1 5-4 9-4",
	"8 11-1 6-3 10-3",
	"8 11-1 6-3 10-4",
	"8 11-3",
};

static void nodes(struct fabric *f)
{
	static const uint8_t tier[] = {FABRIC_CORE, FABRIC_AGGREGATION,
				       FABRIC_EDGE};

	for (unsigned i = 0; i < SPINES + LEAVES + TORS; i++)
		fabric_node(f, tier[i / 4], i, i < SPINES ? 2 : 4, 1);
	for (unsigned i = 0; i < HOSTS; i++) {
		struct fabric_node *n = fabric_node(f, FABRIC_HOST, i, 1, 0);
		const uint8_t ip[] = {10, (uint8_t)(1 + i / 4),
				      (uint8_t)(1 + i / 2 % 2),
				      (uint8_t)(1 + i % 2)};

		memcpy(n->ip, ip, sizeof(ip));
	}
}

/* Leaf l of a pod and all spines of set l; all leaves and ToRs of a pod. */
static void links(struct fabric *f)
{
	for (unsigned pod = 0; pod < 2; pod++) {
		for (unsigned l = 0; l < 2; l++) {
			unsigned leaf = SPINES + 2 * pod + l;

			for (unsigned i = 0; i < 2; i++) {
				unsigned tor = SPINES + LEAVES + 2 * pod + i;

				fabric_join(f, leaf, i, 2 * l + i, pod);
				fabric_join(f, leaf, 2 + i, tor, l);
			}
		}
	}
	for (unsigned i = 0; i < HOSTS; i++)
		fabric_join(f, SPINES + LEAVES + TORS + i, 0,
			    SPINES + LEAVES + i / 2, 2 + i % 2);
}

int fabric_paper(struct fabric *f)
{
	struct fault why;
	int rc;

	*f = (struct fabric){0};
	rc = fabric_room(f, SPINES + LEAVES + TORS + HOSTS, PORTS);
	if (rc < 0)
		return rc;
	nodes(f);
	links(f);
	for (unsigned i = 0; rc == 0 && i < sizeof(ways) / sizeof(ways[0]); i++)
		rc = fabric_add_way(f, ways[i], &why);
	if (rc < 0)
		fabric_fini(f);
	return rc;
}
