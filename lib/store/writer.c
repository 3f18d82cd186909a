/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * writer.c - the region's locks; writers' seats, and what dead writers left in
 * them; how they write so that kill -9 between any two instructions leaves
 * every operation done or not done.
 *
 * What one store instruction covers is done or not by itself. Anything longer
 * is first put into the seat's journal, whole; a journal found full after its
 * writer's death is carried out again. Stores become visible in program order
 * to whoever looks after the death, so only the compiler must be held.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"
#include "store/region_file.h"

/* Between processes a byte of the file, between threads a mutex. */
int region_lock(struct region *r, enum region_lock which, struct fault *f)
{
	struct flock l = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = which,
		.l_len = 1,
	};
	int rc = 0;

	pthread_mutex_lock(&r->mutex[which]);
	while (fcntl(r->fd, F_OFD_SETLKW, &l) < 0) {
		if (errno == EINTR)
			continue;
		rc = -errno;
		pthread_mutex_unlock(&r->mutex[which]);
		return fault_set(f, rc, "%s: lock: %s", r->path, strerror(-rc));
	}
	return rc;
}

int region_claim(struct region *r, uint64_t number)
{
	struct flock l = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = (off_t)(REGION_LOCKS + number % (INT64_MAX / 2)),
		.l_len = 1,
	};

	return fcntl(r->fd, F_OFD_SETLK, &l) < 0 ? -errno : 0;
}

void region_unlock(struct region *r, enum region_lock which)
{
	struct flock l = {
		.l_type = F_UNLCK,
		.l_whence = SEEK_SET,
		.l_start = which,
		.l_len = 1,
	};

	fcntl(r->fd, F_OFD_SETLK, &l);
	pthread_mutex_unlock(&r->mutex[which]);
}

/* A number may have been given to another process since: the start tells. */
bool region_seat_lives(const struct region_seat *s)
{
	uint64_t start = process_start(s->pid);

	/* No /proc to look into: whoever can be signalled lives. */
	if (!start && access("/proc/self/stat", F_OK) < 0)
		return kill((pid_t)s->pid, 0) == 0 || errno == EPERM;
	return start && start == s->start;
}

static bool in_region(const struct region *r, uint64_t offset, uint32_t length)
{
	return length <= REGION_JOURNAL_LEN && offset >= r->h.set_at &&
	       offset <= r->h.file_size && length <= r->h.file_size - offset;
}

/* A dead writer's seat: its operation is completed, the seat is free. */
static void bury(struct region *r, struct region_seat *s)
{
	/* Loaded once: what is judged is what is used. */
	uint32_t length = __atomic_load_n(&s->length, __ATOMIC_RELAXED);
	uint64_t offset = __atomic_load_n(&s->offset, __ATOMIC_RELAXED);

	if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == JOURNAL_FULL &&
	    in_region(r, offset, length))
		memcpy(r->map + offset, s->payload, length);
	/* Killed here, the next one does it again: the same bytes. */
	__atomic_store_n(&s->state, JOURNAL_IDLE, __ATOMIC_RELEASE);
	__atomic_store_n(&s->epoch, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&s->pid, 0, __ATOMIC_RELEASE);
}

void region_replay(struct region *r)
{
	for (unsigned i = 0; i < REGION_WRITERS; i++) {
		struct region_seat *s = &r->seat[i];

		if (s->pid && !region_seat_lives(s))
			bury(r, s);
	}
}

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
	for (; len > REGION_JOURNAL_LEN; len -= REGION_JOURNAL_LEN) {
		put_journalled(w, to, from, REGION_JOURNAL_LEN);
		to += REGION_JOURNAL_LEN;
		from += REGION_JOURNAL_LEN;
	}
	put_journalled(w, to, from, (uint32_t)len);
}
