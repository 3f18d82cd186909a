/* SPDX-License-Identifier: BSD-2-Clause */
/* netsim_rig.h - a simulated network for tests: options as usual, the sum of
 * its intervals. */
#ifndef TESTS_UNIT_NETSIM_RIG_H
#define TESTS_UNIT_NETSIM_RIG_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/netsim.h"
#include "test.h"
#include "label/label.h"

enum {
	MS = 1000000, /* ns */
};

struct rig {
	struct netsim_options o;
	struct fabric f;
	struct netsim_loss losses[128];
	uint64_t skip; /* intervals that are not summed up */
	uint64_t n, known, covered, carried[NETSIM_CARRIED];
	uint8_t s_max;
	struct netsim_counters sum, end; /* end: when all has arrived */
	uint32_t generators;
	uint64_t rest; /* of the ledger */
	void (*export)(void *ctx, uint64_t ns, const uint8_t *frame,
		       size_t len);
	void (*interval)(struct rig *r, const struct netsim_interval *v);
};

/* k 0: the paper's network. */
static inline void rig_init(struct rig *r, unsigned k)
{
	*r = (struct rig){
		.o = {.seed = 1,
		      .duration_ns = 10000 * (uint64_t)MS,
		      .telemetry_ns = 100 * MS,
		      .link_bps = 1000000000,
		      .delay_ns = 10000,
		      .queue_max = 100,
		      .mtu = 1500,
		      .rate_pps = 625,
		      .arrivals = k ? NETSIM_POISSON : NETSIM_PACED,
		      .senders = k ? 1 : 20,
		      .flows = 65536,
		      .frame_len = 1000,
		      .policy = {.interval_us = 50000, .max_hop = 5},
		      .probe_ns = 100 * MS,
		      .k = 2,
		      .s_max = 6,
		      .control_ns = MS},
	};
	TEST((k ? fabric_tree(&r->f, k) : fabric_paper(&r->f)) == 0);
	r->o.fabric = &r->f;
}

/* Each link between switches loses so many. */
static inline void rig_lose(struct rig *r, double share)
{
	for (uint32_t i = 0; i < r->f.switch_ports; i++)
		if (!fabric_leads_to_host(&r->f, i) && r->o.n_losses < 128)
			r->losses[r->o.n_losses++] = (struct netsim_loss){
				i, share};
	r->o.losses = r->losses;
}

static inline void rig_interval(void *ctx, const struct netsim_interval *v)
{
	struct rig *r = ctx;
	const uint64_t *from = (const uint64_t *)&v->ctr;
	uint64_t *to = (uint64_t *)&r->sum;

	if (r->interval)
		r->interval(r, v);
	if (v->number < r->skip)
		return;
	for (unsigned i = 0; i < sizeof(v->ctr) / sizeof(*to); i++)
		to[i] += from[i];
	for (unsigned i = 0; i < NETSIM_CARRIED; i++)
		r->carried[i] += v->carried[i];
	r->n++;
	r->known += v->known;
	r->covered += v->covered;
	r->generators = v->generators;
	if (v->s_max > r->s_max)
		r->s_max = v->s_max;
}

/* Runs, and takes the network down. */
static inline void rig_run(struct rig *r)
{
	struct netsim_calls calls = {rig_interval, r->export, NULL, r};
	struct error err = {""};
	struct netsim *s;

	if (!TEST(netsim_open(&s, &r->o, &calls, &err) == 0) ||
	    !TEST(netsim_run(s, &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		exit(test_end());
	}
	r->end = *netsim_counters(s);
	r->rest = ledger_rest(&netsim_ledger, &r->end);
	TEST(r->rest == 0);
	netsim_close(s);
	fabric_fini(&r->f);
}

/* Whether a mean of n numbers is what theory says, within 3 standard errors. */
static inline int rig_near(const char *what, double mean, double want,
			   double deviation, double n)
{
	double error = deviation / sqrt(n);

	if (fabs(mean - want) <= 3 * error)
		return 1;
	fprintf(stderr, "%s: %.9g is not %.9g, %.2f standard errors off\n",
		what, mean, want, (mean - want) / error);
	return 0;
}

#endif
