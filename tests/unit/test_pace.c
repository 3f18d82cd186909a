/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cli_pace: against a clock of our own. What is checked holds however slow the
 * machine is: never more than is due, and in the end all of it.
 */
#include <time.h>

#include "base/clock.h"
#include "cli/live.h"
#include "test.h"

static double now(void)
{
	return (double)clock_ns() * 1e-9;
}

/* count at a rate; wait: asks how long instead of having it wait. */
static void test_rate(double rate, uint64_t count, int max, bool wait)
{
	struct cli_pace p = {.rate = rate, .count = count};
	uint64_t sum = 0, wait_ns = 0;
	double start = now();
	bool early = false, large = false, vain = false;
	int n;

	while ((n = cli_pace(&p, max, wait ? &wait_ns : NULL)) !=
	       CLI_PACE_OVER) {
		sum += (uint64_t)n;
		large = large || n < 0 || n > max;
		early = early || (double)sum > rate * (now() - start) + 1;
		if (n || !wait)
			continue;
		vain = vain || !wait_ns;
		nanosleep(
			&(struct timespec){
				.tv_sec = (time_t)(wait_ns / 1000000000),
				.tv_nsec = (long)(wait_ns % 1000000000)},
			NULL);
		/* then one is due, unless that was the end */
		n = cli_pace(&p, max, &wait_ns);
		vain = vain || n == 0;
		sum += n > 0 ? (uint64_t)n : 0;
	}
	TEST(sum == count && p.sent == count);
	TEST(!early);
	TEST(!large);
	TEST(!vain);
	/* the last one is due (count - 1) / rate after the first */
	TEST(now() - start >= (double)(count - 1) / rate);
}

static void test_unpaced(void)
{
	struct cli_pace p = {.count = 2500};

	TEST(cli_pace(&p, 1000, NULL) == 1000);
	TEST(cli_pace(&p, 1000, NULL) == 1000);
	TEST(cli_pace(&p, 1000, NULL) == 500);
	TEST(cli_pace(&p, 1000, NULL) == CLI_PACE_OVER);
	p = (struct cli_pace){0};
	for (int i = 0; i < 10; i++)
		TEST(cli_pace(&p, 7, NULL) == 7);
}

static void test_duration(double rate)
{
	struct cli_pace p = {.rate = rate, .duration_ns = 20000000};
	double start = now();
	uint64_t sum = 0;
	int n;

	while ((n = cli_pace(&p, 10, NULL)) != CLI_PACE_OVER)
		sum += (uint64_t)n;
	TEST(now() - start >= 0.02);
	TEST(sum >= 1 && (rate == 0 || (double)sum <= rate * 0.02 + 1));
}

/* However often it changes, what is due grows by the rate alone. */
static void test_changes(void)
{
	struct cli_pace p = {.rate = 20};
	double start = now();
	uint64_t sum = 0, wait_ns;

	for (int i = 0; i < 200; i++) {
		cli_pace_change(&p, 20 + i % 2);
		sum += (uint64_t)cli_pace(&p, 1024, &wait_ns);
	}
	TEST(sum && (double)sum <= 21 * (now() - start) + 2);
	while (now() - start < 0.3) { /* nor does it wait for ever */
		cli_pace_change(&p, 20 + sum % 2);
		sum += (uint64_t)cli_pace(&p, 1024, &wait_ns);
	}
	TEST(sum >= 2 && (double)sum <= 21 * (now() - start) + 2);
}

int main(void)
{
	test_changes();
	test_rate(1e6, 50000, 1024, false);
	test_rate(1e6, 50000, 3, true);
	test_rate(50, 3, 1024, true);
	test_rate(12345.6, 500, 1024, false);
	test_rate(0.5, 1, 1024, false);
	test_unpaced();
	test_duration(0);
	test_duration(1);
	test_duration(1e5);
	return test_end();
}
