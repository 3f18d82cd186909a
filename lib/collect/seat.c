/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/seat.h"

#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Long awake at first, then only while nobody else wants this processor: who is
 * waited for may be the one (team/turn.c). */
enum {
	SPINS = 64,
	YIELDS = 64,
	SPINS_BETWEEN = 32,
	NAP_MS = 1,
};

void seats_init(struct seats *all, unsigned n)
{
	memset(all, 0, sizeof(*all));
	all->n = n;
	for (unsigned i = 0; i < n; i++)
		all->seat[i].all = all;
	pthread_mutex_init(&all->alone, NULL);
}

void seats_fini(struct seats *all)
{
	pthread_mutex_destroy(&all->alone);
}

static inline void pause_briefly(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

static bool is_there(const struct seat *s, uint64_t at)
{
	return __atomic_load_n(&s->at, __ATOMIC_ACQUIRE) >= at;
}

void seat_call(struct seat *s)
{
	__atomic_add_fetch(&s->calls, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &s->calls, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL,
		0);
}

static bool spin(const struct seat *other, uint64_t at, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		if (is_there(other, at))
			return true;
		pause_briefly();
	}
	return false;
}

static bool look_out(const struct seat *other, uint64_t at)
{
	bool there = spin(other, at, SPINS);

	for (unsigned i = 0; !there && i < YIELDS; i++) {
		sched_yield();
		there = spin(other, at, SPINS_BETWEEN);
	}
	return there;
}

/*
 * Until it was called. It looks again each millisecond: a seat does not fence
 * its store off from its look for sleepers, which each view would pay for, so
 * that a call may be left out.
 */
static void nap(struct seat *other, uint64_t at)
{
	const struct timespec ms = {.tv_nsec = NAP_MS * 1000000};
	uint32_t calls = __atomic_load_n(&other->calls, __ATOMIC_ACQUIRE);

	__atomic_add_fetch(&other->sleepers, 1, __ATOMIC_SEQ_CST);
	while (!is_there(other, at) &&
	       __atomic_load_n(&other->calls, __ATOMIC_ACQUIRE) == calls)
		syscall(SYS_futex, &other->calls, FUTEX_WAIT_PRIVATE, calls,
			&ms, NULL, 0);
	__atomic_sub_fetch(&other->sleepers, 1, __ATOMIC_SEQ_CST);
}

/* Whether it had to. Who was called looks out again: the other one moves. */
static bool wait_for(struct seat *other, uint64_t at)
{
	if (is_there(other, at))
		return false;
	while (!look_out(other, at))
		nap(other, at);
	return true;
}

void seat_enter(struct seat *s)
{
	struct seats *all = s->all;

	for (unsigned i = 0; i < all->n; i++)
		if (&all->seat[i] != s && wait_for(&all->seat[i], s->at))
			s->late = true;
	pthread_mutex_lock(&all->alone);
}

void seat_leave(struct seat *s)
{
	pthread_mutex_unlock(&s->all->alone);
}
