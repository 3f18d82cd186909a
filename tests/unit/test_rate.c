/* SPDX-License-Identifier: BSD-2-Clause */
/* The token bucket against its closed form, the backoff against its own. */
#include "base/rng.h"
#include "test.h"
#include "dta/resend.h"
#include "rdma/rate.h"

enum {
	SECOND = 1000000000,
};

/* Asked for all the time: burst + what the time gives, to the last one. The
 * steps are too short for the bucket to fill up again. */
static void closed_form(uint64_t per_s, uint64_t burst, uint64_t step_ns)
{
	struct rng rng = {.state = per_s + burst};
	uint64_t now = 12345, granted = 0, since = 0;
	struct rate r;

	rate_init(&r, per_s, burst);
	rate_refill(&r, now);
	while (rate_take(&r, 1))
		granted++;
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t ns = rng_below(&rng, step_ns);

		since += ns;
		rate_refill(&r, now += ns);
		while (rate_take(&r, 1))
			granted++;
		if (!TEST(granted == burst + since * per_s / SECOND))
			return;
	}
}

/* Not asked for: no more than the burst is saved up. */
static void saved(void)
{
	struct rate r;
	unsigned n = 0;

	rate_init(&r, 1000, 7);
	rate_refill(&r, 1);
	rate_refill(&r, UINT64_MAX / 2);
	while (rate_take(&r, 1))
		n++;
	TEST(n == 7);
	rate_refill(&r, UINT64_MAX / 2 + 999999); /* not yet one ms */
	TEST(!rate_take(&r, 1));
	rate_refill(&r, UINT64_MAX / 2 + 1000000);
	TEST(rate_take(&r, 1) && !rate_take(&r, 1));
	rate_refill(&r, 5); /* a step back is no time at all */
	TEST(!rate_take(&r, 1));
	rate_refill(&r, 5 + 2000000);
	TEST(rate_take(&r, 2) && !rate_take(&r, 0));
	/* all or nothing */
	rate_refill(&r, 5 + 5000000);
	TEST(!rate_take(&r, 4) && rate_take(&r, 3));
}

/* Packets out of order do not make the time pass twice. */
static void disorder(void)
{
	uint64_t granted = 0;
	struct rate r;

	rate_init(&r, 1000, 1);
	for (unsigned i = 0; i <= 10000;
	     i++) { /* a second, and back and forth */
		rate_refill(&r,
			    SECOND + i * 100000ull - (i % 2 ? 50000000 : 0));
		granted += rate_take(&r, 1);
	}
	TEST(granted == 1 + 1000);
}

/* What is charged afterwards is paid back first. */
static void debt(void)
{
	struct rate r;

	rate_init(&r, 1000000, 4);
	rate_refill(&r, 0);
	TEST(rate_take(&r, 0));
	rate_charge(&r, 104);
	TEST(!rate_take(&r, 0) && !rate_take(&r, 1));
	rate_refill(&r, 100 * 1000);
	TEST(!rate_take(&r, 1));
	rate_refill(&r, 101 * 1000);
	TEST(rate_take(&r, 1) && !rate_take(&r, 1));
}

static void largest(void)
{
	struct rate r;

	rate_init(&r, RATE_MAX, RATE_MAX);
	rate_refill(&r, 0);
	rate_charge(&r, UINT32_MAX);
	rate_charge(&r, UINT32_MAX);
	rate_refill(&r, 2ull * SECOND);
	TEST(!rate_take(&r, 1)); /* 2^31 - 2^33 + 2 + 2 * 2^31 < 0 */
	rate_refill(&r, 3ull * SECOND);
	TEST(rate_take(&r, 1) && rate_take(&r, 1) && !rate_take(&r, 1));
}

static void backoff(void)
{
	struct backoff b = {.ceiling = 1000};
	uint64_t now = SECOND;

	TEST(!backoff_grow(&b, now) && b.rate == 0);
	TEST(backoff_cut(&b, 1000, now) && b.rate == 500);
	TEST(!backoff_cut(&b, 1000, now + BACKOFF_STEP_NS - 1));
	TEST(!backoff_grow(&b, now + BACKOFF_STEP_NS - 1));
	now += BACKOFF_STEP_NS;
	TEST(backoff_grow(&b, now) && b.rate == 500 + 500.0 / BACKOFF_STEPS);
	/* back where it was after twice as many steps, and no further */
	now += (BACKOFF_STEPS - 2) * (uint64_t)BACKOFF_STEP_NS;
	TEST(backoff_grow(&b, now) && b.rate == 1000 - 500.0 / BACKOFF_STEPS);
	now += BACKOFF_STEP_NS;
	TEST(backoff_grow(&b, now) && b.rate == 1000);
	TEST(!backoff_grow(&b, now + SECOND) && b.rate == 1000);
	/* half of what is sent, if that is less than what may be */
	TEST(backoff_cut(&b, 100, now + SECOND) && b.rate == 50);
	for (int i = 2; i < 20; i++)
		backoff_cut(&b, 100, now + (uint64_t)i * SECOND);
	TEST(b.rate == 1 && b.cuts == 20);
}

int main(void)
{
	closed_form(1000, 10, 8000000);
	closed_form(999983, 64, 60000);
	closed_form(7, 4, 300000000);
	closed_form(100000000, 1000, 9000);
	saved();
	disorder();
	debt();
	largest();
	backoff();
	return test_end();
}
