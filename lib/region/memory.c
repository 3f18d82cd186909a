/* SPDX-License-Identifier: BSD-2-Clause */
#include "region/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash/crc.h"

enum {
	DIGEST_BLOCK = 64 << 10, /* as large as a snapshot's blocks */
};

void memory_close(struct memory *m)
{
	if (!m)
		return;
	free(m->batch.read);
	free(m->batch.bytes);
	m->ops->close(m);
}

int memory_renew(struct memory *m)
{
	return m->ops->renew ? m->ops->renew(m) : 0;
}

const char *memory_broken(const struct memory *m)
{
	return m->ops->broken ? m->ops->broken(m) : NULL;
}

void memory_view(struct table_view *out, struct memory *m,
		 const struct table *t, uint64_t epoch)
{
	*out = (struct table_view){.t = t, .memory = m, .epoch = epoch};
	if (t->values && m->values) /* aligned: offsets are multiples of 4 */
		out->values = (const void *)(m->values +
					     (t->values_at - m->values_at));
	if (m->ops->direct)
		out->mem = m->ops->direct(m, t, epoch);
}

int memory_read(struct memory *m, struct memory_read *r, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		if (r[i].offset > r[i].t->length ||
		    r[i].length > r[i].t->length - r[i].offset)
			rc = -ERANGE;
	for (size_t i = 0; i < n; i++)
		r[i].rc = rc;
	if (!rc)
		m->ops->read(m, r, n);
	for (size_t i = 0; i < n && !rc; i++)
		rc = r[i].rc;
	return rc;
}

static int note_load(struct memory_batch *b, const struct memory_read *r)
{
	if (b->n == b->room) {
		size_t room = b->room ? 2 * b->room : 1024;
		void *more = realloc(b->read, room * sizeof(b->read[0]));

		if (!more) {
			b->full = true;
			return -ENOMEM;
		}
		b->read = more;
		b->room = room;
	}
	b->read[b->n++] = *r;
	b->used += r->length;
	memset(r->to, 0, r->length);
	return 0;
}

/* Answers a load, which must be the next of those that were noted. */
static int find_load(struct memory_batch *b, const struct memory_read *r)
{
	const struct memory_read *noted = &b->read[b->next];

	if (b->full)
		return -ENOMEM;
	if (b->next == b->n || noted->t != r->t || noted->epoch != r->epoch ||
	    noted->offset != r->offset || noted->length != r->length)
		return -EIO;
	b->next++;
	if (!noted->rc)
		memcpy(r->to, noted->to, r->length);
	return noted->rc;
}

int memory_load(const struct table_view *v, uint64_t offset, void *buf,
		size_t len)
{
	struct memory *m = v->memory;
	struct memory_read r = {
		.t = v->t,
		.epoch = v->epoch,
		.offset = offset,
		.length = len,
		.to = buf,
	};

	switch (m->batch.state) {
	case MEMORY_PLAN:
		return note_load(&m->batch, &r);
	case MEMORY_FETCHED:
		return find_load(&m->batch, &r);
	default:
		return memory_read(m, &r, 1);
	}
}

void memory_plan(struct memory *m)
{
	struct memory_batch *b = &m->batch;

	b->state = MEMORY_PLAN;
	b->n = b->next = b->used = 0;
	b->full = false;
}

void memory_fetch(struct memory *m)
{
	struct memory_batch *b = &m->batch;
	uint8_t *to;

	free(b->bytes);
	b->bytes = to = malloc(b->used + 1);
	b->full |= !to;
	for (size_t i = 0; i < b->n && to; i++) {
		b->read[i].to = to;
		to += b->read[i].length;
	}
	if (!b->full)
		memory_read(m, b->read, b->n);
	b->state = MEMORY_FETCHED;
}

void memory_done(struct memory *m)
{
	m->batch.state = MEMORY_NOW;
}

int memory_digest(struct memory *m, const struct table *t, uint64_t epoch,
		  uint32_t *out)
{
	uint8_t *room = malloc(DIGEST_BLOCK);
	uint32_t sum = 0;
	struct table_view v;
	int rc = room ? 0 : -ENOMEM;

	memory_view(&v, m, t, epoch);
	for (uint64_t at = 0; at < t->length && !rc; at += DIGEST_BLOCK) {
		uint64_t left = t->length - at;
		size_t n = left < DIGEST_BLOCK ? left : DIGEST_BLOCK;

		if (!v.mem)
			rc = memory_load(&v, at, room, n);
		if (!rc)
			sum = crc_extend(CRC_CHECKSUM, sum,
					 v.mem ? v.mem + at : room, n);
	}
	free(room);
	if (!rc)
		*out = sum;
	return rc;
}

static enum prefetch prefetch_chosen;

void prefetch_set(enum prefetch how)
{
	prefetch_chosen = how;
}

static enum prefetch prefetch_of_cpu(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_is("intel"))
		return PREFETCH_ON;
	if (__builtin_cpu_is("amd"))
		return PREFETCH_L2;
#endif
	return PREFETCH_OFF; /* not measured */
}

enum prefetch prefetch_here(void)
{
	return prefetch_chosen == PREFETCH_AUTO ? prefetch_of_cpu()
						: prefetch_chosen;
}
