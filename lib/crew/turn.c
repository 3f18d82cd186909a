/* SPDX-License-Identifier: BSD-2-Clause */
#include "crew/turn.h"

#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	/* Some microseconds: a batch takes ten. Where cores are fewer than
	 * threads, who is waited for may need this one. */
	SPINS = 256,
	YIELDS = 16,
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
static void nap(struct turn *t, uint32_t number)
{
	uint32_t now;

	__atomic_add_fetch(&t->sleepers, 1, __ATOMIC_SEQ_CST);
	now = __atomic_load_n(&t->now, __ATOMIC_SEQ_CST);
	if ((int32_t)(now - number) < 0)
		syscall(SYS_futex, &t->now, FUTEX_WAIT_PRIVATE, now, NULL, NULL,
			0);
	__atomic_sub_fetch(&t->sleepers, 1, __ATOMIC_SEQ_CST);
}

void turn_wait(struct turn *t, uint32_t number)
{
	for (unsigned i = 0; !turn_reached(t, number); i++) {
		if (i < SPINS)
			pause_briefly();
		else if (i < SPINS + YIELDS)
			sched_yield();
		else
			nap(t, number);
	}
}

void turn_pass(struct turn *t)
{
	__atomic_add_fetch(&t->now, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&t->sleepers, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &t->now, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL,
			NULL, 0);
}
