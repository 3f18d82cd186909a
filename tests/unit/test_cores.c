/* SPDX-License-Identifier: BSD-2-Clause */
/* More cores: model/model.h against its closed form, each bound by hand. */
#include <math.h>

#include "model/model.h"
#include "test.h"

static const struct cores_load load = {
	.alone_ns = 20,
	.work_ns = 12,
	.receive_ns = 16,
	.source_ns = 1,
	.block_ns = 200,
	.blocks = 64,
	.rounds = 2,
	.batch = 4000,
	.bytes = 100,
};

static void check(const struct cores_load *l, unsigned n, double rate,
		  enum cores_bound bound)
{
	struct cores_rate r = model_cores_rate(l, n);

	if (!TEST(fabs(r.per_s - rate) <= 1e-9 * rate && r.bound == bound))
		fprintf(stderr, "  %u cores: %g, not %g; %d\n", n, r.per_s,
			rate, r.bound);
	TEST(fabs(r.speedup - r.per_s / 50e6) < 1e-9);
}

int main(void)
{
	struct cores_load l = load;

	check(&l, 1, 50e6, CORES_WORK);
	check(&l, 2, 2e9 / 28, CORES_WORK);
	/* Two rounds to 32 owners are as many blocks as messages fill. */
	check(&l, 32, 1e9, CORES_SOURCE);
	l.source_ns = 0.5;
	check(&l, 32, 32e9 / 28, CORES_WORK);
	/* To 52 they are 40 more, of 200 ns in 4000 reports: 2 ns each. */
	check(&l, 52, 52e9 / 30, CORES_WORK);
	l.source_ns = 2;
	check(&l, 64, 0.5e9, CORES_SOURCE);
	l.source_ns = 100; /* nobody waits for one that is alone */
	check(&l, 1, 50e6, CORES_WORK);
	l.bandwidth = 5e8;
	check(&l, 64, 5e6, CORES_MEMORY);
	check(&l, 1, 5e6, CORES_MEMORY);
	return test_end();
}
