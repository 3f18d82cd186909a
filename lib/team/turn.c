/* SPDX-License-Identifier: BSD-2-Clause */
#include "team/turn.h"

#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	/*
	 * A batch takes a hundred microseconds, and so long is looked for the
	 * turn before the thread sleeps; but after the first few only while
	 * nobody else wants this processor: who is waited for may be the one.
	 */
	SPINS = 512,
	YIELDS = 64,
	SPINS_BETWEEN = 32,
};

void turn_init(struct turn *t)
{
	*t = (struct turn){0};
}

static inline void pause_briefly(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

/* Who passes the turn on looks for sleepers after it has changed the number;
 * we look at the number after we are counted: one of us sees the other. */
static void nap(struct turn *t, uint32_t number, const struct timespec *most)
{
	uint32_t now;

	__atomic_add_fetch(&t->sleepers, 1, __ATOMIC_SEQ_CST);
	now = __atomic_load_n(&t->now, __ATOMIC_SEQ_CST);
	if ((int32_t)(now - number) < 0)
		syscall(SYS_futex, &t->now, FUTEX_WAIT_PRIVATE, now, most, NULL,
			0);
	__atomic_sub_fetch(&t->sleepers, 1, __ATOMIC_SEQ_CST);
}

/* Whether it came meanwhile. */
static bool spin(const struct turn *t, uint32_t number, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		if (turn_reached(t, number))
			return true;
		pause_briefly();
	}
	return false;
}

static bool look_out(const struct turn *t, uint32_t number)
{
	bool here = spin(t, number, SPINS);

	for (unsigned i = 0; !here && i < YIELDS; i++) {
		sched_yield();
		here = spin(t, number, SPINS_BETWEEN);
	}
	return here;
}

void turn_wait(struct turn *t, uint32_t number)
{
	if (look_out(t, number))
		return;
	while (!turn_reached(t, number))
		nap(t, number, NULL);
}

void turn_watch(struct turn *t, uint32_t number)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	while (!look_out(t, number))
		nap(t, number, &ms);
}

void turn_wake(struct turn *t)
{
	syscall(SYS_futex, &t->now, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL,
		0);
}

void turn_pass(struct turn *t)
{
	__atomic_add_fetch(&t->now, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&t->sleepers, __ATOMIC_SEQ_CST))
		turn_wake(t);
}
