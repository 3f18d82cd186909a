/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's half of the numbers of reports, with a ring that has room when
 * the test says so, and measure/loss.h behind it: what only found no room is
 * never said to be lost.
 */
#include "bpf/numbers_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "measure/loss.h"
#include "test.h"

static bool room;	 /* in the ring */
static uint64_t rooms;	 /* of the next records, a bit each, after room */
static uint64_t without; /* reports whose numbers found none */
static uint64_t lost;	 /* said to be */
static struct losses ls; /* of who reads the ring */

static bool has_room(void)
{
	bool now = room;

	room = rooms & 1;
	rooms = rooms >> 1 | (rooms & 1ULL << 63);
	return now;
}

static struct reporter *who(const struct fast_run *run)
{
	return losses_of(&ls, true, run->node, (uint8_t)run->hw_id,
			 (uint8_t)run->bits);
}

/* As telemetry_numbers(). */
int send_run(struct fast_run *run)
{
	struct reporter *r = who(run);

	if (!has_room())
		return false;
	if (run->anew)
		loss_skip(r, run->first);
	for (uint32_t i = 0; i < run->n; i++)
		lost += loss_take(r, run->first + i, 0).lost;
	return true;
}

int unheard(uint32_t n)
{
	without += n;
	return 0;
}

enum {
	NODE = 7,
	NUMBERS = 20000,
	WINDOW = 200,
};

static uint64_t key_of(uint32_t node, bool bits22)
{
	return (uint64_t)(FAST_REPORTER_USED | (bits22 ? FAST_REPORTER_22 : 0))
		       << 32 |
	       node;
}

/* A report that the kernel has taken. */
static void taken(uint64_t key, uint32_t number)
{
	number_next(key, number);
}

/* One that goes up as it is; as send_whole(). */
static void whole(uint64_t key, uint32_t number)
{
	struct fast_run run = {
		.node = (uint32_t)key,
		.bits = key >> 32 & FAST_REPORTER_22 ? 22 : 32,
		.first = number,
		.n = 1,
	};

	if (!number_aside(key, number) || !send_run(&run))
		number_lost(key, number);
}

static void set_room(bool now)
{
	room = now;
	rooms = now ? UINT64_MAX : 0;
}

static void begin(void)
{
	memset(reporters, 0, sizeof(reporters));
	alone_untold = false;
	losses_fini(&ls);
	TEST(!losses_init(&ls, 8192));
	set_room(true);
	lost = without = 0;
}

/* int_fast_runs(), and the end. Returns all that is said to be lost. */
static uint64_t end(uint64_t key)
{
	const struct fast_reporter *r = reporter_of(key);
	struct fast_run run = {
		.node = (uint32_t)key,
		.bits = key >> 32 & FAST_REPORTER_22 ? 22 : 32,
	};

	set_room(true);
	if (r) {
		run.first = (uint32_t)(r->numbers >> 32);
		run.n = (uint32_t)r->numbers - run.first;
		if (run.bits == 22)
			run.n &= TREPORT_SEQUENCE2_MASK;
		run.anew = r->untold != 0;
		if (run.n)
			send_run(&run);
	}
	return lost + loss_settle(who(&run)).lost;
}

/* The order by which it was fooled: frames find no room, nor does the mark of
 * the last one, but then its frame would have. */
static void test_room_behind_the_mark(void)
{
	uint64_t key = key_of(NODE, false);

	begin();
	for (uint32_t i = 100; i < 110; i++)
		whole(key, i);
	set_room(false);
	whole(key, 110);
	whole(key, 111);
	room = false;
	rooms = UINT64_MAX;
	whole(key, 112);
	TEST(without == 3);
	TEST(end(key) == 0);
}

/* The same with numbers that were taken, and a frame behind them. */
static void test_room_behind_numbers(void)
{
	uint64_t key = key_of(NODE, true);

	begin();
	whole(key, 99);
	for (uint32_t i = 100; i < 110; i++)
		taken(key, i);
	room = false;
	rooms = UINT64_MAX;
	whole(key, 110);
	TEST(without == 11);
	TEST(end(key) == 0);
}

/* Behind numbers that could not be told a gap of more than the window: those
 * are not in it. */
static void test_gap_behind(void)
{
	uint64_t key = key_of(NODE, false);

	begin();
	taken(key, 0);
	taken(key, 2);
	taken(key, 1);
	for (uint32_t i = 3; i < 10; i++)
		taken(key, i);
	set_room(false);
	taken(key, 500);
	set_room(true);
	TEST(without == 7);
	taken(key, 502);
	taken(key, 503);
	TEST(end(key) == 1);
}

/* Once a mark has been told, losses are again: also in numbers begun anew. */
static void test_losses_again(void)
{
	static const uint32_t begins[] = {1000000, 1000300, 3, 1000010};

	for (unsigned i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		uint64_t key = key_of(NODE, i & 1);
		uint32_t n = begins[i];

		begin();
		taken(key, 999998);
		set_room(false);
		whole(key, 999999);
		set_room(true);
		taken(key, n);
		taken(key, n + 600);
		taken(key, n + 1202);
		taken(key, n + 1203);
		TEST(end(key) >= 601);
	}
}

/* Numbers that could not be told, and an earlier one behind them, late. */
static void test_late(void)
{
	uint64_t key = key_of(NODE, false);

	begin();
	for (uint32_t i = 0; i < 10; i++)
		taken(key, i);
	taken(key, 11);
	set_room(false);
	taken(key, 10);
	set_room(true);
	taken(key, 12);
	taken(key, 13);
	TEST(without == 1);
	TEST(end(key) == 0);
}

/* A reporter for which there is no place. */
static uint64_t crowd(void)
{
	begin();
	for (uint32_t node = 1; node < 65536; node++)
		if (!reporter_of(key_of(node, false)))
			return key_of(node, false);
	TEST(!"there is room for all");
	return 0;
}

/* Its frames alone. */
static void test_frames_alone(void)
{
	uint64_t key = crowd();

	whole(key, 0);
	set_room(false);
	whole(key, 1);
	set_room(true);
	whole(key, 2);
	TEST(without == 1);
	TEST(end(key) == 0);
}

/* Numbers by themselves, and frames. */
static void test_alone(void)
{
	uint64_t key = crowd();

	for (uint32_t i = 0; i < 5; i++)
		taken(key, i);
	taken(key, 7); /* 5 and 6 are lost */
	for (uint32_t i = 8; i < 300; i++)
		taken(key, i);
	TEST(lost == 2);
	set_room(false);
	taken(key, 300);
	whole(key, 301);
	room = false;
	rooms = UINT64_MAX;
	whole(key, 302);
	TEST(without == 3);
	taken(key, 303);
	set_room(false);
	whole(key, 304);
	set_room(true);
	whole(key, 305);
	TEST(without == 4);
	TEST(end(key) == 2);
}

/* Numbers by chance lost, late by less than the window, taken or whole, with
 * and without room: nobody says that more were lost than were. */
static void check_random(uint64_t seed, unsigned tight)
{
	static uint32_t sent[NUMBERS];
	struct rng r = {seed};
	uint64_t key = key_of(NODE, seed & 1);
	uint32_t number = (uint32_t)rng_u64(&r), missing = 0, n = 0;

	begin();
	for (uint32_t i = 0; i < NUMBERS; i++, number++)
		if (i && i + 1 < NUMBERS && !rng_below(&r, 50))
			missing++;
		else
			sent[n++] = number;
	for (uint32_t i = 1; i + 1 < n; i++)
		if (!rng_below(&r, 10)) {
			uint32_t k = i + (uint32_t)rng_below(&r, 30);

			if (k + 1 < n && sent[k] - sent[i] < WINDOW / 4) {
				uint32_t was = sent[k];

				sent[k] = sent[i];
				sent[i] = was;
			}
		}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = sent[i];

		if (seed & 1)
			at &= TREPORT_SEQUENCE2_MASK;
		set_room(!tight || rng_below(&r, tight));
		if (tight && !rng_below(&r, 8))
			room = !room; /* it changes under the report */
		if (rng_below(&r, 3))
			whole(key, at);
		else
			taken(key, at);
	}
	if (tight)
		TEST(without > 0 && end(key) <= missing);
	else
		TEST(!without && end(key) == missing);
}

int main(void)
{
	test_room_behind_the_mark();
	test_room_behind_numbers();
	test_gap_behind();
	test_losses_again();
	test_late();
	test_frames_alone();
	test_alone();
	for (uint64_t seed = 1; seed <= 40; seed++) {
		check_random(seed, 0);
		check_random(seed, 3);
		check_random(seed, 300);
	}
	losses_fini(&ls);
	return test_end();
}
