/* SPDX-License-Identifier: BSD-2-Clause */
/* region_rotate.c - epochs, and who is still in which. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/region_file.h"
#include "team/fence.h"

enum {
	WAIT_MS = 10000,
	NAP_MS = 1,
};

/* A live writer in an epoch other than this one, or 0. */
static uint32_t straggler(const struct region *r, uint64_t current)
{
	for (unsigned i = 0; i < REGION_WRITERS; i++) {
		const struct region_seat *s = &r->seat[i];
		uint64_t epoch = __atomic_load_n(&s->epoch, __ATOMIC_SEQ_CST);
		uint32_t pid = s->pid;

		if (pid && epoch && epoch != current && region_seat_lives(s))
			return pid;
	}
	return 0;
}

static int wait_for_writers(const struct region *r, uint64_t current,
			    struct fault *f)
{
	struct timespec nap = {.tv_nsec = NAP_MS * 1000000};
	uint32_t pid = 0;

	for (int ms = 0; ms < WAIT_MS; ms += NAP_MS) {
		pid = straggler(r, current);
		if (!pid)
			return 0;
		nanosleep(&nap, NULL);
	}
	return fault_set(f, -ETIMEDOUT,
			 "%s: process %u has been writing into the old epoch "
			 "for %d s",
			 region_path(r), pid, WAIT_MS / 1000);
}

/*
 * Until nobody writes into an epoch but the current one. Dead writers may have
 * left half an operation in another: it is completed.
 */
static int settle(struct region *r, uint64_t current, struct fault *f)
{
	int rc = wait_for_writers(r, current, f);

	if (!rc)
		rc = region_lock(r, REGION_LOCK_SEATS, f);
	if (rc < 0)
		return rc;
	region_replay(r);
	region_unlock(r, REGION_LOCK_SEATS);
	return 0;
}

static int rotate(struct region *r, uint64_t *old, struct fault *f)
{
	uint64_t epoch = region_epoch(r), next = epoch + 1;
	int rc = settle(r, epoch, f);

	if (rc < 0)
		return rc;
	/* Readers learn that the set is gone before it is. */
	if (next > r->h.epochs)
		__atomic_store_n(&r->state->oldest, next - r->h.epochs + 1,
				 __ATOMIC_SEQ_CST);
	fence_all();
	memset(r->map + region_set_at(r, next), 0, r->h.set_len);
	__atomic_store_n(&r->state->began_ns, clock_wall_ns(),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&r->state->epoch, next, __ATOMIC_SEQ_CST);
	if (old)
		*old = epoch;
	return settle(r, next, f);
}

int region_rotate(struct region *r, uint64_t *old, struct fault *f)
{
	int rc;

	if (!r->write)
		return fault_set(f, -EBADF, "%s: is open for reading only",
				 region_path(r));
	if (r->h.epochs < 2)
		return fault_set(f, -EINVAL,
				 "%s: has one epoch only; create it with two "
				 "or more to rotate",
				 region_path(r));
	rc = region_lock(r, REGION_LOCK_ROTATE, f);
	if (rc < 0)
		return rc;
	rc = rotate(r, old, f);
	region_unlock(r, REGION_LOCK_ROTATE);
	return rc;
}
