/* SPDX-License-Identifier: BSD-2-Clause */
/* sim.h - int-label-ctl sim: a network in virtual time. */
#ifndef CMD_INT_LABEL_CTL_SIM_H
#define CMD_INT_LABEL_CTL_SIM_H

#include "netsim/netsim.h"
#include "packet/pkt.h"
#include "row/row.h"

enum {
	SIM_LOSSES_MAX = 64,   /* --lose */
	SIM_FAILURES_MAX = 64, /* --fail */
};

struct sim_options {
	struct netsim_options net;
	const char *routes, *out;
	uint64_t arity, rate, link_bps, queue, flows;
	uint64_t trace; /* path tracing: sim_trace.c */
	uint64_t specific, interval_ns, rest_ns, warmup_ns;
	double jitter; /* percent */
	enum netsim_arrivals arrivals;
	const char *lose[SIM_LOSSES_MAX], *fail[SIM_FAILURES_MAX];
	unsigned n_lose, n_fail;
	bool summary, quiet;
	enum row_format fmt;
};

/* sim_options.c: the command line. Exits on a bad one. */
void sim_read(struct sim_options *o, int argc, char **argv);

/* "ID-PORT=PERCENT", "ID-PORT@TIME[-TIME]", on a fabric that is there. Exits
 * with 2 on a bad one. */
struct netsim_loss sim_loss(const struct fabric *f, const char *text);
struct netsim_failure sim_failure(const struct fabric *f, const char *text);

/* sim_trace.c: rows of path tracing. 0 or -errno of the stream. */
int sim_trace(const struct sim_options *o);

#endif
