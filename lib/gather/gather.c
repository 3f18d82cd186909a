/* SPDX-License-Identifier: BSD-2-Clause */
#include "gather/gather.h"

#include <errno.h>
#include <stdlib.h>

#include "gather/groups.h"

enum {
	LINE = 64,
};

unsigned gather_row_size(unsigned key_len)
{
	unsigned size = LINE;

	while (size < sizeof(struct row) + key_len)
		size *= 2;
	return size;
}

/* Room for so many emissions. */
static int make_room(struct gather *g, unsigned max)
{
	struct emission *e = realloc(g->emission, max * sizeof(*e));

	if (!e)
		return -ENOMEM;
	g->emission = e;
	g->max = max;
	return 0;
}

int gather_open(struct gather *g)
{
	g->row_size = gather_row_size(g->key_len);
	g->rows = aligned_alloc(LINE, g->nrows * g->row_size);
	if (!g->rows)
		return -ENOMEM;
	memset(g->rows, 0, g->nrows * g->row_size);
	return make_room(g, EMISSIONS);
}

int gather_team(struct gather *g, const struct gather *of, bool grouped)
{
	if (of)
		*g = (struct gather){.rows = of->rows,
				     .shared = true,
				     .row_size = of->row_size,
				     .nrows = of->nrows,
				     .key_len = of->key_len,
				     .hops = of->hops};
	if (!grouped)
		return of ? make_room(g, EMISSIONS) : 0;
	g->groups = groups_new();
	return g->groups ? make_room(g, GROUPS_EMISSIONS) : -ENOMEM;
}

void gather_alone(struct gather *g)
{
	free(g->groups);
	g->groups = NULL;
}

void gather_close(struct gather *g)
{
	gather_alone(g);
	if (!g->shared)
		free(g->rows);
	free(g->emission);
}

void gather_hash(const struct gather *g, const uint8_t *const *key, unsigned n,
		 uint32_t *hash)
{
	static const enum crc_id id = CRC_CHECKSUM;

	crc_batch(&id, 1, key, g->key_len, n, &hash);
}

uint64_t gather_flush(struct gather *g, uint64_t from)
{
	for (; from < g->nrows && g->n < g->max; from++) {
		struct row *r = gather_row(g, from);

		if (r->held)
			row_emit(g, r, 0, false);
	}
	return from;
}
