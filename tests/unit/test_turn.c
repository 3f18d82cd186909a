/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns: in order, whoever waits and however long; and teams of threads. */
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "team/team.h"
#include "team/turn.h"
#include "test.h"

enum {
	WORKERS = 4,
	ROUNDS = 300,
};

static struct turn turn;
static uint32_t order[WORKERS * ROUNDS + 1], at; /* in turn */
static bool blocked[WORKERS];

/* Every now and then long enough for the others to fall asleep. */
static void take_turns(unsigned worker, uint32_t first)
{
	for (uint32_t k = worker; k < WORKERS * ROUNDS; k += WORKERS) {
		turn_wait(&turn, first + k);
		order[at++] = k;
		if (k % 101 == 0)
			usleep(2000);
		turn_pass(&turn);
	}
}

static void run(void *ctx, unsigned worker)
{
	sigset_t set;

	pthread_sigmask(SIG_SETMASK, NULL, &set);
	blocked[worker] = sigismember(&set, SIGINT);
	take_turns(worker, *(const uint32_t *)ctx);
}

/* first: what the turn begins with. */
static void in_order(uint32_t first)
{
	struct team *c;
	bool right = true;

	turn_init(&turn);
	turn.now = first;
	at = 0;
	TEST(team_start(&c, WORKERS, run, &first) == 0);
	take_turns(0, first);
	team_join(c);
	for (uint32_t k = 0; k < WORKERS * ROUNDS; k++)
		right = right && order[k] == k;
	TEST(right && at == WORKERS * ROUNDS);
	TEST(turn_now(&turn) == first + WORKERS * ROUNDS);
	TEST(turn_reached(&turn, first) && !turn.sleepers);
	for (unsigned i = 1; i < WORKERS; i++)
		TEST(blocked[i]);
}

int main(void)
{
	in_order(0);
	in_order(UINT32_MAX - 77); /* numbers wrap */
	return test_end();
}
