/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * turn.h - a turn that threads take by number, one after the other: who waits
 * for number k goes on when k - 1 has passed it on, and sees all that was done
 * before it was.
 *
 * A turn that comes soon is waited for awake; where it does not, the thread
 * lets others run, then sleeps. Passing on costs a system call only if somebody
 * sleeps. Numbers begin at 0 and may wrap, as long as those that are in use lie
 * less than 2^31 apart.
 *
 * Threads: any. A turn has cache lines of its own.
 */
#ifndef TEAM_TURN_H
#define TEAM_TURN_H

#include <stdbool.h>
#include <stdint.h>

enum {
	TEAM_LINE = 128, /* bytes that move together: two cache lines */
};

struct turn {
	uint32_t now;	   /* whose turn it is: a futex word */
	uint32_t sleepers; /* in futex calls, or about to be */
} __attribute__((aligned(TEAM_LINE)));

void turn_init(struct turn *t);

/* Whose turn it is; all that they did who had it before is seen. */
static inline uint32_t turn_now(const struct turn *t)
{
	return __atomic_load_n(&t->now, __ATOMIC_ACQUIRE);
}

/* Whether the turn of this number has come, or is over. */
static inline bool turn_reached(const struct turn *t, uint32_t number)
{
	return (int32_t)(turn_now(t) - number) >= 0;
}

/* Until the turn of this number has come. */
void turn_wait(struct turn *t, uint32_t number);

/* By who has it: to the next number. */
void turn_pass(struct turn *t);

/* For turn_go(). */
void turn_wake(struct turn *t);

/*
 * By who has it always: to a later number, at the cost of a store, which is not
 * fenced off from the look for sleepers. So others wait for it by turn_watch(),
 * who wake each millisecond by themselves.
 */
static inline void turn_go(struct turn *t, uint32_t number)
{
	__atomic_store_n(&t->now, number, __ATOMIC_RELEASE);
	if (__atomic_load_n(&t->sleepers, __ATOMIC_RELAXED))
		turn_wake(t);
}

void turn_watch(struct turn *t, uint32_t number);

#endif
