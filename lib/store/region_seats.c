/* SPDX-License-Identifier: BSD-2-Clause */
/* region_seats.c - the region's locks; whose seats are taken, and what dead
 * writers left in them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

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

unsigned region_live_writers(const struct region *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < REGION_WRITERS; i++)
		n += r->seat[i].pid && region_seat_lives(&r->seat[i]);
	return n;
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
