/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/paths.h"

#include <string.h>

#include "base/rng.h"
#include "telemetry/metric.h"

int paths_init(struct paths *ps, uint32_t paths, uint32_t nodes)
{
	size_t path_size = (paths + 1ULL) * sizeof(struct path);
	uint64_t slots = 2;
	int rc;

	while (slots < 2ULL * paths)
		slots *= 2;
	*ps = (struct paths){.max = paths,
			     .nodes_max = nodes,
			     .mask = (uint32_t)(slots - 1)};
	rc = area_init(&ps->area, path_size + nodes * 8ULL + slots * 4);
	if (rc < 0)
		return rc;
	ps->path = (struct path *)ps->area.base;
	ps->nodes = (uint64_t *)(ps->area.base + path_size);
	ps->slot = (uint32_t *)(ps->nodes + nodes);
	return 0;
}

void paths_fini(struct paths *ps)
{
	area_fini(&ps->area);
}

bool path_loops(const uint64_t *nodes, unsigned n)
{
	/* A filter first: which of 64 remainders were there. */
	uint64_t there = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t bit = 1ULL << (rng_mix(nodes[i]) & 63);
		bool maybe = there & bit;

		there |= bit;
		if (nodes[i] == NODE_UNKNOWN)
			continue;
		for (unsigned k = 0; maybe && k < i; k++)
			if (nodes[k] == nodes[i])
				return true;
	}
	return false;
}

uint64_t path_hash(const uint64_t *nodes, unsigned n)
{
	uint64_t h = rng_mix(n);

	for (unsigned i = 0; i < n; i++)
		h = rng_mix(h ^ nodes[i]);
	return h;
}

/* Where a path's number is, or goes to. */
static uint32_t *path_slot(const struct paths *ps, uint64_t hash,
			   const uint64_t *nodes, unsigned n)
{
	for (uint64_t i = hash;; i++) {
		uint32_t *slot = &ps->slot[i & ps->mask];
		const struct path *p = &ps->path[*slot];

		if (!*slot ||
		    (p->hash == hash && p->n == n &&
		     !memcmp(path_nodes(ps, *slot), nodes, n * sizeof(*nodes))))
			return slot;
	}
}

uint32_t paths_find(struct paths *ps, const uint64_t *nodes, unsigned n,
		    bool *fresh)
{
	uint64_t hash = path_hash(nodes, n);
	uint32_t *slot = path_slot(ps, hash, nodes, n);
	uint32_t nr = *slot;
	struct path *p;

	*fresh = false;
	if (nr)
		return nr;
	if (ps->used == ps->max || n > ps->nodes_max - ps->nodes_used) {
		ps->no_room++;
		return 0;
	}
	nr = ++ps->used;
	*slot = nr;
	p = &ps->path[nr];
	*p = (struct path){.hash = hash,
			   .at = ps->nodes_used,
			   .n = (uint16_t)n,
			   .loop = path_loops(nodes, n)};
	memcpy(ps->nodes + p->at, nodes, n * sizeof(*nodes));
	ps->nodes_used += n;
	*fresh = true;
	return nr;
}
