/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seat.h - how far each of some shards has come, and what they have together:
 * who wants some of that waits until the others have taken all that comes
 * before what it takes.
 *
 * A place is twice the number of an item, of all that came, and 1; or 2 * n
 * when it is time to look after things before item n, or when all before it has
 * been taken. It may wrap: turn.h.
 *
 * Threads: a seat is one thread's.
 */
#ifndef COLLECT_SEAT_H
#define COLLECT_SEAT_H

#include <pthread.h>

#include "team/turn.h"
#include "telemetry/shard.h"

struct seats;

struct seat {
	struct turn at;
	struct seats *all;
	bool late; /* it has waited; whoever reads it resets it */
} __attribute__((aligned(TEAM_LINE)));

struct seats {
	struct seat seat[TELEMETRY_SHARDS_MAX];
	unsigned n;
	pthread_mutex_t alone; /* who is at what they have together */
};

void seats_init(struct seats *all, unsigned n);
void seats_fini(struct seats *all);

/* All before this place has been taken. */
static inline void seat_sit(struct seat *s, uint64_t at)
{
	turn_go(&s->at, (uint32_t)at);
}

/* Until the others have come to its place; then it is alone until it leaves. */
void seat_enter(struct seat *s);
void seat_leave(struct seat *s);

#endif
