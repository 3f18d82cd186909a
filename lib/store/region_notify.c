/* SPDX-License-Identifier: BSD-2-Clause */
/* region_notify.c - immediates: writers wake who waits for them. */
#include <endian.h>
#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "store/region_file.h"

enum {
	LOOK_MS = 10,
};

static uint32_t *futex_word(const struct region *r)
{
	uint32_t *half = (uint32_t *)&r->state->notified;

	return __BYTE_ORDER == __LITTLE_ENDIAN ? half : half + 1;
}

uint64_t region_notify(struct region *r, uint32_t immediate)
{
	uint64_t n;

	__atomic_store_n(&r->state->immediate, immediate, __ATOMIC_RELAXED);
	n = __atomic_add_fetch(&r->state->notified, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&r->state->ring[n % REGION_IMMEDIATES],
			 n << 32 | immediate, __ATOMIC_RELEASE);
	/* No system call while nobody sleeps. */
	if (__atomic_load_n(&r->state->waiters, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, futex_word(r), FUTEX_WAKE, INT32_MAX, NULL,
			NULL, 0);
	return n;
}

uint64_t region_notified(const struct region *r)
{
	return __atomic_load_n(&r->state->notified, __ATOMIC_ACQUIRE);
}

int region_immediate(const struct region *r, uint64_t n, uint32_t *immediate)
{
	uint64_t v = __atomic_load_n(&r->state->ring[n % REGION_IMMEDIATES],
				     __ATOMIC_ACQUIRE);
	uint32_t number = (uint32_t)(v >> 32);

	if (number != (uint32_t)n)
		return (int32_t)(number - (uint32_t)n) > 0 ? -ENODATA : -EAGAIN;
	*immediate = (uint32_t)v;
	return 0;
}

/* One sleep; false: a signal came. */
static bool nap(const struct region *r, uint64_t seen, int ms)
{
	struct timespec t = {
		.tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * 1000000L,
	};

	if (!syscall(SYS_futex, futex_word(r), FUTEX_WAIT, (uint32_t)seen,
		     ms < 0 ? NULL : &t, NULL, 0))
		return true;
	return errno != EINTR;
}

uint64_t region_wait(const struct region *r, uint64_t seen, int timeout_ms)
{
	int left = timeout_ms, step;
	uint64_t n;

	if (r->write)
		__atomic_add_fetch(&r->state->waiters, 1, __ATOMIC_SEQ_CST);
	while ((n = region_notified(r)) <= seen && left) {
		step = left;
		if (!r->write && (left < 0 || left > LOOK_MS))
			step = LOOK_MS;
		if (!nap(r, n, step))
			break;
		if (left > 0)
			left -= step;
	}
	if (r->write)
		__atomic_sub_fetch(&r->state->waiters, 1, __ATOMIC_SEQ_CST);
	return region_notified(r);
}
