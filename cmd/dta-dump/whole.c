/* SPDX-License-Identifier: BSD-2-Clause */
#include "whole.h"

#include <string.h>

static bool wanted(const struct opts *o, const struct table *t)
{
	char id[8];

	snprintf(id, sizeof(id), "%u", t->id);
	return !o->table || !strcmp(o->table, t->name) || !strcmp(o->table, id);
}

static void check_table(const struct whole *w, const struct opts *o)
{
	for (unsigned i = 0; i < w->memory->tables; i++)
		if (wanted(o, &w->memory->table[i]))
			return;
	cli_fail("%s: no table %s", w->name, o->table);
}

void whole_open(struct whole *w, const char *region, const char *snapshot,
		const struct opts *o)
{
	const struct memory *m;
	struct fault f = {0};
	int rc;

	*w = (struct whole){.name = region ? region : snapshot};
	if (region)
		rc = region_open(&w->region, region, false, &f);
	else
		rc = snapshot_open(&w->snapshot, snapshot, &f);
	if (rc < 0)
		cli_fault(w->name, &f);
	m = w->memory = region ? region_memory(w->region)
			       : snapshot_memory(w->snapshot);
	w->first = w->last = o->epoch ? o->epoch : m->newest;
	if (o->all_epochs)
		w->first = m->oldest;
	if (w->first < m->oldest || w->last > m->newest)
		cli_fail("%s: no epoch %llu; there are %llu to %llu", w->name,
			 (unsigned long long)o->epoch,
			 (unsigned long long)m->oldest,
			 (unsigned long long)m->newest);
	check_table(w, o);
}

void whole_close(struct whole *w)
{
	memory_close(w->memory);
}

bool whole_next(const struct whole *w, const struct opts *o, struct view *v)
{
	struct memory *m = w->memory;
	uint64_t epoch = v->t ? v->epoch : w->last;
	unsigned i = v->t ? (unsigned)(v->t - m->table) + 1 : 0;

	for (; epoch >= w->first && !cli_stop; epoch--, i = 0)
		for (; i < m->tables; i++)
			if (wanted(o, &m->table[i])) {
				memory_view(v, m, &m->table[i], epoch);
				return true;
			}
	return false;
}

uint64_t whole_scan(const struct view *v, view_unit *each, void *ctx)
{
	int64_t bad = view_scan(v, each, ctx, &cli_stop);

	if (bad < 0)
		cli_fail("out of memory");
	return (uint64_t)bad;
}
