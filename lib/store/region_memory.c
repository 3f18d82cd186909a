/* SPDX-License-Identifier: BSD-2-Clause */
/* region_memory.c - a region as memory to be asked: mapped, or its file. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "store/region_file.h"

static struct region *region_of(struct memory *m)
{
	return (struct region *)((char *)m - offsetof(struct region, memory));
}

static const uint8_t *direct(struct memory *m, const struct table *t,
			     uint64_t epoch)
{
	return region_read(region_of(m), t, epoch);
}

static void read_mapped(struct memory *m, struct memory_read *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		memcpy(r[i].to, direct(m, r[i].t, r[i].epoch) + r[i].offset,
		       r[i].length);
		r[i].rc = 0;
	}
}

static void read_file(struct memory *m, struct memory_read *r, size_t n)
{
	const struct region *of = region_of(m);

	for (size_t i = 0; i < n; i++) {
		uint64_t at = region_offset(of, r[i].t, r[i].epoch);
		ssize_t got = pread(of->fd, r[i].to, r[i].length,
				    (off_t)(at + r[i].offset));

		r[i].rc = got == (ssize_t)r[i].length ? 0
			  : got < 0		      ? -errno
						      : -ESTALE;
	}
}

static int renew(struct memory *m)
{
	const struct region *r = region_of(m);

	m->oldest = region_oldest(r);
	m->newest = region_epoch(r);
	if (m->newest < m->oldest) /* rotated between the two loads */
		m->oldest = m->newest;
	return 0;
}

static void close_region(struct memory *m)
{
	region_close(region_of(m));
}

struct memory *region_memory(struct region *r)
{
	static const struct memory_ops mapped = {
		.read = read_mapped,
		.direct = direct,
		.renew = renew,
		.close = close_region,
	};
	static const struct memory_ops file = {
		.read = read_file,
		.renew = renew,
		.close = close_region,
	};
	struct memory *m = &r->memory;

	m->ops = r->look ? &file : &mapped;
	m->path = r->path;
	m->table = r->h.table;
	m->tables = r->h.tables;
	m->values = r->look ? NULL : r->map + r->h.values_at;
	m->values_at = r->h.values_at;
	renew(m);
	return m;
}
