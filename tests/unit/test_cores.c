/* SPDX-License-Identifier: BSD-2-Clause */
/* More cores: model/cores.h against its closed form, and against footprints. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "model/cores.h"
#include "op/footprint.h"
#include "test.h"

enum {
	BATCH = 4096,
	PLACES = 1 << FOOTPRINT_BITS,
	BATCHES = 16,
};

static const struct cores_load load = {
	.alone_ns = 20,
	.work_ns = 30,
	.turn_ns = 2,
	.ops = 1,
	.late_ns = 10,
	.join_ns = 4096,
	.batch = BATCH,
	.places = PLACES,
	.touches = 1,
};

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

static void check(const struct cores_load *l, unsigned n, double rate,
		  enum cores_bound bound)
{
	struct cores_rate r = cores_at(l, n);

	if (!TEST(near(r.per_s, rate) && r.bound == bound))
		fprintf(stderr, "  %u cores: %g, not %g; %d\n", n, r.per_s,
			rate, r.bound);
	TEST(r.busy <= 1 + 1e-12 && (bound != CORES_WORK || near(r.busy, 1)));
}

/* Each bound where it is the lowest, by hand. */
static void test_bounds(void)
{
	struct cores_load l = load;

	l.late_ns = 0;
	check(&l, 1, 1e9 / 20, CORES_WORK);
	check(&l, 2, 2e9 / 30, CORES_WORK);
	/* A join is a nanosecond for each report here. */
	check(&l, 10, 10e9 / 38, CORES_WORK);
	/* n / (28 + n) > 1 / 2 from n = 28 on. */
	check(&l, 27, 27e9 / 55, CORES_WORK);
	check(&l, 29, 1e9 / 2, CORES_TURN);
	check(&l, 64, 1e9 / 2, CORES_TURN);
	l.memory_s = 90e6;
	check(&l, 2, 2e9 / 30, CORES_WORK);
	check(&l, 3, 90e6, CORES_MEMORY);
	l.touches = 2;
	check(&l, 1, 45e6, CORES_MEMORY);
	/* A turn that takes all of it keeps one core from nothing. */
	l = load;
	l.turn_ns = 1000;
	check(&l, 1, 1e9 / 20, CORES_WORK);
	check(&l, 2, 1e6, CORES_TURN);
}

static void test_late(void)
{
	double late = 1 - exp(-63.0 / 32);

	check(&load, 64, 1e9 / (10 * late), CORES_LATE);
	TEST(near(cores_at(&load, 64).late, late));
	TEST(cores_at(&load, 1).late == 0);
	TEST(near(cores_at(&load, 2).late, 1 - exp(-1.0 / 32)));
}

static void draw(struct rng *rng, struct op *op, size_t n)
{
	memset(op, 0, n * sizeof(*op));
	for (size_t i = 0; i < n; i++)
		op[i] = (struct op){
			.verb = OP_WRITE,
			.offset = rng_below(rng, UINT64_C(1) << 40) & ~7ull,
			.length = 8,
		};
}

/* What seems to meet in footprints is what the form says, to four times the
 * standard error of so many draws. */
static void test_footprints(void)
{
	struct footprint *sum = aligned_alloc(64, sizeof(*sum));
	struct footprint *one = aligned_alloc(64, sizeof(*one));
	static struct op op[BATCH];
	static uint32_t place[BATCH];
	static uint16_t late[BATCH];
	struct rng rng = {.state = 7};

	footprint_init(sum, BATCH);
	footprint_init(one, BATCH);
	for (unsigned n = 2; n <= BATCHES; n++) {
		double want = cores_at(&load, n).late, got;

		draw(&rng, op, BATCH);
		footprint_clear(one);
		footprint_add(one, op, BATCH, 0, false, place);
		footprint_join(sum, one);
		draw(&rng, op, BATCH);
		footprint_clear(one);
		footprint_add(one, op, BATCH, 0, false, place);
		memcpy(one, sum, sizeof(*one));
		got = (double)footprint_late(one, op, BATCH, 0, place, late) /
		      BATCH;
		if (!TEST(fabs(got - want) <
			  4 * sqrt(want * (1 - want) / BATCH)))
			fprintf(stderr, "  %u batches: %g, not %g\n", n, got,
				want);
	}
	free(sum);
	free(one);
}

int main(void)
{
	test_bounds();
	test_late();
	test_footprints();
	return test_end();
}
