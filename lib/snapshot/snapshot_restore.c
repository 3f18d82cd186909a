/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_restore.c - what reads a whole snapshot: check, sum, restore. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash/crc.h"
#include "snapshot/snapshot_file.h"

int snapshot_verify(struct snapshot *s, uint64_t *blocks, uint64_t *damaged,
		    struct fault *f)
{
	struct snapshot_entry *walked = calloc(s->plan.blocks, sizeof(*walked));
	uint8_t *room = malloc(SNAPSHOT_BLOCK);
	int rc = walked && room ? snapshot_index_walk(s, walked) : -ENOMEM;

	*blocks = s->plan.blocks;
	*damaged = 0;
	for (uint64_t i = 0; i < s->plan.blocks && !rc; i++) {
		/* A block whose own header is damaged counts, too. */
		rc = walked[i].at ? snapshot_block_read(s, i, room) : -EBADMSG;
		if (rc == -EBADMSG) {
			++*damaged;
			rc = 0;
		}
	}
	free(room);
	free(walked);
	return rc < 0 ? fault_set(f, rc, "%s: %s", s->path, strerror(-rc)) : 0;
}

/* The layout that the region was made from. The values stay the snapshot's. */
static void layout_of(struct layout *l, struct snapshot *s)
{
	struct view v;

	memset(l, 0, sizeof(*l));
	l->n = s->h.tables;
	for (unsigned i = 0; i < l->n; i++) {
		l->table[i] = s->h.table[i];
		memory_view(&v, snapshot_memory(s), &s->h.table[i],
			    s->head.first);
		l->values[i] = (uint32_t *)v.values;
	}
}

/* A table's inner places must come out as they were. */
static int check_geometry(const struct snapshot *s, const struct region *r,
			  struct fault *f)
{
	for (unsigned i = 0; i < s->h.tables; i++) {
		const struct table *a = &s->h.table[i], *b = &r->h.table[i];

		if (a->length != b->length || a->heads != b->heads ||
		    a->stride != b->stride)
			return fault_set(f, -ENOTSUP,
					 "%s: table %s has a geometry that "
					 "this program would not make",
					 s->path, a->name);
	}
	return 0;
}

static int restore_blocks(struct snapshot *s, struct region *r,
			  uint64_t *damaged)
{
	for (uint64_t i = 0; i < s->plan.blocks; i++) {
		struct snapshot_place at = snapshot_place(&s->plan, i);
		uint8_t *to = r->map + at.offset +
			      region_offset(r, &r->h.table[at.table], at.epoch);
		int rc = snapshot_block_read(s, i, to);

		if (rc == -EBADMSG) {
			memset(to, 0, at.length);
			++*damaged;
		} else if (rc < 0) {
			return rc;
		}
	}
	r->state->epoch = s->head.last;
	r->state->oldest = s->head.first;
	return 0;
}

int snapshot_restore(struct snapshot *s, const char *name,
		     const struct region_options *o, uint64_t *damaged,
		     struct fault *f)
{
	struct region_options options = *o;
	struct layout l;
	struct region *r;
	int rc;

	*damaged = 0;
	/* No fewer sets than there were: the epochs have to have room. */
	if (options.epochs < s->h.epochs)
		options.epochs = s->h.epochs;
	layout_of(&l, s);
	rc = region_make(&r, name, &l, &options, f);
	if (rc < 0)
		return rc;
	rc = check_geometry(s, r, f);
	if (!rc) {
		rc = restore_blocks(s, r, damaged);
		if (rc < 0)
			fault_set(f, rc, "%s: %s", s->path, strerror(-rc));
	}
	if (!rc)
		rc = region_publish(r, f);
	region_close(r);
	if (!rc && *damaged)
		rc = fault_set(f, -EBADMSG,
			       "%s: %llu of %llu blocks are damaged and were "
			       "left zero; the rest is restored",
			       s->path, (unsigned long long)*damaged,
			       (unsigned long long)s->plan.blocks);
	return rc;
}
