/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * writer.c - writers' seats, and how they write so that kill -9 between any two
 * instructions leaves every operation done or not done.
 *
 * What one store instruction covers is done or not by itself. Anything longer
 * is first put into the seat's journal, whole; a journal found full after its
 * writer's death is carried out again. Stores become visible in program order
 * to whoever looks after the death, so only the compiler must be held.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"
#include "store/region_file.h"
#include "store/writer_wide.h"

static struct region_seat *take_seat(struct region *r)
{
	uint32_t pid = (uint32_t)getpid();

	region_replay(r);
	for (unsigned i = 0; i < REGION_WRITERS; i++) {
		struct region_seat *s = &r->seat[i];

		if (s->pid)
			continue;
		s->epoch = 0;
		s->state = JOURNAL_IDLE;
		s->start = process_start(pid);
		r->state->seated++;
		/* Taken only now: killed before, nothing has happened. */
		__atomic_store_n(&s->pid, pid, __ATOMIC_RELEASE);
		return s;
	}
	return NULL;
}

int writer_open(struct writer **out, struct region *r, struct fault *f)
{
	struct writer *w;
	int rc;

	if (!r->write)
		return fault_set(f, -EBADF, "%s: is open for reading only",
				 region_path(r));
	w = calloc(1, sizeof(*w));
	if (!w)
		return fault_set(f, -ENOMEM, "out of memory");
	rc = region_lock(r, REGION_LOCK_SEATS, f);
	if (!rc) {
		w->seat = take_seat(r);
		region_unlock(r, REGION_LOCK_SEATS);
		if (!w->seat)
			rc = fault_set(f, -EUSERS,
				       "%s: has %d writers already, no more "
				       "can be",
				       region_path(r), REGION_WRITERS);
	}
	if (rc < 0) {
		free(w);
		return rc;
	}
	w->region = r;
	w->wide = writer_wide_max();
	*out = w;
	return 0;
}

void writer_close(struct writer *w)
{
	if (!w)
		return;
	writer_leave(w);
	__atomic_store_n(&w->region->state->left_ns, clock_wall_ns(),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&w->seat->pid, 0, __ATOMIC_RELEASE);
	free(w);
}

/*
 * Says which epoch it goes into, then looks whether that is still the current
 * one: a rotation either sees the seat or is seen here.
 */
uint64_t writer_enter(struct writer *w)
{
	struct region *r = w->region;
	uint64_t epoch, now = region_epoch(r);

	do {
		epoch = now;
		__atomic_store_n(&w->seat->epoch, epoch, __ATOMIC_SEQ_CST);
		now = __atomic_load_n(&r->state->epoch, __ATOMIC_SEQ_CST);
	} while (now != epoch);
	w->set = r->map + region_set_at(r, epoch) - r->h.set_at;
	return epoch;
}

void writer_leave(struct writer *w)
{
	__atomic_store_n(&w->seat->epoch, 0, __ATOMIC_RELEASE);
}

uint8_t *writer_mem(struct writer *w, const struct table *t)
{
	return w->set + t->offset;
}

static void put_journalled(struct writer *w, uint8_t *to, const void *data,
			   uint32_t len)
{
	struct region_seat *s = w->seat;

	/* The journal is empty before it is filled again. */
	atomic_signal_fence(memory_order_seq_cst);
	s->length = len;
	s->offset = (uint64_t)(to - w->region->map);
	memcpy(s->payload, data, len);
	__atomic_store_n(&s->state, JOURNAL_FULL, __ATOMIC_RELEASE);
	atomic_signal_fence(memory_order_seq_cst);
	memcpy(to, data, len);
	__atomic_store_n(&s->state, JOURNAL_IDLE, __ATOMIC_RELEASE);
}

void writer_put(struct writer *w, const struct table *t, uint64_t offset,
		const void *data, size_t len)
{
	uint8_t *to = w->set + t->offset + offset;
	const uint8_t *from = data;
	uint64_t v;

	if (len == 8 && !((uintptr_t)to & 7)) {
		memcpy(&v, data, 8);
		__atomic_store_n((uint64_t *)to, v, __ATOMIC_RELAXED);
		return;
	}
	if (len <= w->wide) {
		writer_wide_put(to, data, len);
		return;
	}
	for (; len > REGION_JOURNAL_LEN; len -= REGION_JOURNAL_LEN) {
		put_journalled(w, to, from, REGION_JOURNAL_LEN);
		to += REGION_JOURNAL_LEN;
		from += REGION_JOURNAL_LEN;
	}
	put_journalled(w, to, from, (uint32_t)len);
}
