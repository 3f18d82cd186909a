/* SPDX-License-Identifier: BSD-2-Clause */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	BLOCK = 65536, /* bytes looked at at once */
};

void memory_open(struct memory *m, const char *region, const char *snapshot,
		 const struct opts *o)
{
	struct fault f = {0};
	int rc;

	*m = (struct memory){.name = region ? region : snapshot};
	if (region)
		rc = region_open(&m->region, region, false, &f);
	else
		rc = snapshot_open(&m->snapshot, snapshot, &f);
	if (rc < 0)
		cli_fault(m->name, &f);
	m->oldest = region ? region_oldest(m->region)
			   : snapshot_oldest(m->snapshot);
	m->newest = region ? region_epoch(m->region)
			   : snapshot_newest(m->snapshot);
	m->first = m->last = o->epoch ? o->epoch : m->newest;
	if (o->all_epochs)
		m->first = m->oldest;
	if (m->first < m->oldest || m->last > m->newest)
		cli_fail("%s: no epoch %llu; there are %llu to %llu", m->name,
			 (unsigned long long)o->epoch,
			 (unsigned long long)m->oldest,
			 (unsigned long long)m->newest);
	memory_check_table(m, o);
}

void memory_close(struct memory *m)
{
	region_close(m->region);
	if (m->snapshot)
		snapshot_close(m->snapshot);
}

unsigned memory_tables(const struct memory *m)
{
	return m->region ? region_tables(m->region)
			 : snapshot_tables(m->snapshot);
}

const struct table *memory_table(const struct memory *m, unsigned i)
{
	return m->region ? region_table(m->region, i)
			 : snapshot_table(m->snapshot, i);
}

bool memory_wanted(const struct opts *o, const struct table *t)
{
	char id[8];

	snprintf(id, sizeof(id), "%u", t->id);
	return !o->table || !strcmp(o->table, t->name) || !strcmp(o->table, id);
}

void memory_check_table(const struct memory *m, const struct opts *o)
{
	for (unsigned i = 0; i < memory_tables(m); i++)
		if (memory_wanted(o, memory_table(m, i)))
			return;
	cli_fail("%s: no table %s", m->name, o->table);
}

void memory_view(struct view *out, const struct memory *m,
		 const struct table *t, uint64_t epoch)
{
	if (m->region)
		*out = (struct view){
			.t = t,
			.values = region_values(m->region, t),
			.mem = region_read(m->region, t, epoch),
		};
	else
		snapshot_view(out, m->snapshot, t, epoch);
}

static bool is_zero(const uint8_t *p, size_t n)
{
	uint64_t any = 0, w;
	size_t i = 0;

	for (; i + sizeof(w) <= n; i += sizeof(w)) {
		memcpy(&w, p + i, sizeof(w));
		any |= w;
	}
	for (; i < n; i++)
		any |= p[i];
	return !any;
}

uint64_t memory_scan(const struct view *v, memory_unit *each, void *ctx)
{
	const struct table *t = v->t;
	uint64_t units = t->units * (t->lists ? t->lists : 1);
	uint64_t at_once = t->stride < BLOCK ? BLOCK / t->stride : 1, bad = 0;
	uint8_t *buf = malloc((size_t)(at_once * t->stride));

	if (!buf)
		cli_fail("out of memory");
	for (uint64_t u = 0; u < units && !cli_stop; u += at_once) {
		uint64_t n = units - u < at_once ? units - u : at_once;
		const uint8_t *p = buf;

		if (v->mem) {
			p = v->mem + u * t->stride;
		} else if (v->read(v->ctx, u * t->stride, buf,
				   (size_t)(n * t->stride)) < 0) {
			bad += n;
			continue;
		}
		if (is_zero(p, (size_t)(n * t->stride)))
			continue;
		for (uint64_t i = 0; i < n; i++)
			if (!is_zero(p + i * t->stride, t->stride))
				each(ctx, u + i, p + i * t->stride);
	}
	free(buf);
	return bad;
}
