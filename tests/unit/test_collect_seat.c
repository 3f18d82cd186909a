/* SPDX-License-Identifier: BSD-2-Clause */
/* Who waits for a shard that does not come uses no processor; it goes on when
 * the other has come to its place, and sees what that has done. */
#include "collect/seat.h"

#include <time.h>

#include "test.h"

enum {
	PLACES = 20000,
	STALL_MS = 400, /* as of a reader who reads no more */
};

static struct seats seats;
static uint64_t sum; /* of places; whoever is alone may have it */
static bool in_order = true;

static void add(struct seat *s)
{
	seat_enter(s);
	in_order = in_order && sum == turn_now(&s->at);
	sum++;
	seat_leave(s);
}

static uint64_t ns_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Takes the second item, behind the one that is the first seat's. */
static void *late(void *arg)
{
	seat_sit(&seats.seat[1], 3);
	seat_enter(&seats.seat[1]);
	seat_leave(&seats.seat[1]);
	return arg;
}

static void test_stall(void)
{
	const struct timespec stall = {.tv_nsec = STALL_MS * 1000000L};
	clockid_t clock;
	pthread_t t;

	seats_init(&seats, 2);
	seat_sit(&seats.seat[0], 1);
	if (!TEST(!pthread_create(&t, NULL, late, NULL)))
		return;
	TEST(!pthread_getcpuclockid(t, &clock));
	nanosleep(&stall, NULL);
	TEST(ns_of(clock) < STALL_MS * UINT64_C(1000000) / 8);
	seat_sit(&seats.seat[0], 4);
	pthread_join(t, NULL);
	TEST(seats.seat[1].late && !seats.seat[0].late);
	seats_fini(&seats);
}

/* Two take places by turns, the other one's between their own. */
static void *take_odd(void *arg)
{
	for (uint64_t at = 1; at < PLACES; at += 2) {
		seat_sit(&seats.seat[1], at);
		add(&seats.seat[1]);
	}
	seat_sit(&seats.seat[1], PLACES);
	return arg;
}

static void test_order(void)
{
	pthread_t t;

	seats_init(&seats, 2);
	if (!TEST(!pthread_create(&t, NULL, take_odd, NULL)))
		return;
	for (uint64_t at = 0; at < PLACES; at += 2) {
		seat_sit(&seats.seat[0], at);
		add(&seats.seat[0]);
	}
	seat_sit(&seats.seat[0], PLACES);
	pthread_join(t, NULL);
	TEST(in_order && sum == PLACES);
	seats_fini(&seats);
}

int main(void)
{
	test_stall();
	test_order();
	return test_end();
}
