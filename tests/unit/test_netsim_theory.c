/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Simulation against theory: labels of a packet across a fat tree, and how
 * often a port is heard of, within 3 standard errors. Seeds are fixed.
 */
#include "model/model.h"
#include "netsim_rig.h"

/* Packets by their labels, against probabilities. */
static void compare(const char *what, const uint64_t *n, const double *p)
{
	double all = 0, mean = 0, square = 0, want = model_mean(p, 6);
	char name[96];

	for (unsigned i = 0; i <= MODEL_TREE_HOPS; i++) {
		all += (double)n[i];
		mean += i * (double)n[i];
		square += i * i * p[i];
	}
	for (unsigned i = 0; i <= MODEL_TREE_HOPS; i++) {
		snprintf(name, sizeof(name), "%s, %u labels", what, i);
		TEST(rig_near(name, (double)n[i] / all, p[i],
			      sqrt(p[i] * (1 - p[i])), all));
	}
	TEST(rig_near(what, mean / all, want, sqrt(square - want * want), all));
}

/*
 * What the forms assume, of the switches that the simulator has: a port that
 * labels by chance, with f(i) + r (1 - f(i)), its interval being for ever. The
 * first packet of each port is labelled in any case; that is over when what
 * counts begins.
 */
static void by_chance(unsigned k, double r, bool b, double packets)
{
	struct model_label_chances l = {.r = r};
	struct rig rig;
	double p[MODEL_TREE_HOPS + 1];
	char what[64];

	rig_init(&rig, k);
	rig.o.flows = 1 << 30; /* each packet one of its own */
	rig.o.rate_pps = packets;
	rig.o.duration_ns = 1300 * (uint64_t)MS;
	rig.o.link_bps = UINT64_C(1) << 38;
	rig.skip = 3;
	rig.o.policy = (struct label_policy){
		.kind = LABEL_BASE_B,
		.f = LABEL_F_TABLE,
		.max_hop = 5,
		.interval_us = UINT64_C(1) << 40,
		.table_len = 6,
	};
	for (unsigned i = 0; i < 6; i++) {
		l.f[i] = b ? i / 5.0 : 0;
		rig.o.policy.table[i] = l.f[i] + r * (1 - l.f[i]);
	}
	model_label_tree(&l, k, p);
	rig_run(&rig);
	snprintf(what, sizeof(what), "base %s, k %u, r %g", b ? "B" : "A", k,
		 r);
	TEST(rig.end.delivered == rig.end.packets);
	compare(what, rig.carried, p);
}

/* One port, packets at random, the interval T: a renewal process. */
static void coverage(uint64_t interval_us, double rate)
{
	struct model_label_times t = {(double)interval_us / 1e3, 100,
				      1e3 / rate};
	struct rig r;
	double p = model_label_coverage(&t);

	rig_init(&r, 0);
	r.f.routes = 0;
	TEST(fabric_add_route(&r.f, "1 8-4") == 0);
	r.o.senders = 1;
	r.o.arrivals = NETSIM_POISSON;
	r.o.rate_pps = rate;
	r.o.policy.interval_us = interval_us;
	r.o.duration_ns = UINT64_C(2000000) * MS;
	r.skip = 20;
	rig_run(&r);
	TEST(r.known == r.n);
	/* Neighbouring windows are not independent; with T near Ti they lean
	 * on each other, up to this. */
	TEST(rig_near("coverage", (double)r.covered / (double)r.n, p,
		      sqrt(2 * p * (1 - p)), (double)r.n));
}

int main(void)
{
	by_chance(20, .01, false, 300000);
	by_chance(20, .01, true, 300000);
	by_chance(4, .2, true, 200000);
	by_chance(8, .05, false, 200000);
	coverage(50000, 40);
	coverage(80000, 100);
	coverage(100000, 45);
	return test_end();
}
