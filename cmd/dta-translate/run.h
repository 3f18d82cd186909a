/* SPDX-License-Identifier: BSD-2-Clause */
/* run.h - a run of dta-translate: what its parts share. */
#ifndef DTA_TRANSLATE_RUN_H
#define DTA_TRANSLATE_RUN_H

#include "cli/loop.h"
#include "op/op.h"
#include "keylog.h"
#include "options.h"
#include "packet/pkt.h"
#include "translate/translate.h"
#include "why.h"

struct run {
	struct opts o;
	struct road *road;
	struct table table[TABLE_MAX]; /* the road's, as -T changes them */
	unsigned tables;
	struct why why;
	struct keylog *keylog; /* or NULL */
	struct translate_options t_options;
	struct translator *t;
	struct cores *cores; /* NULL: there is one */
	struct cli_loop loop;
	uint64_t alarm_ns; /* of silence, 0: there is none */
	bool silent;	   /* since the last alarm; in turn of taking */
	int error;	   /* what stopped it; fault: of the reports */
	struct fault fault;
};

/* road.c: the road that the options name, and its tables; exits if there is
 * none. turn(run) is called while it waits. */
void run_open_road(struct run *r, void (*turn)(void *run));

/*
 * cores.c: -j. open: when all else is; exits if it cannot. rx: the next batch,
 * as translate_rx(). idle: nothing came for r->alarm_ns. rest: until then the
 * translator, the road and the source are the caller's. stop, go: another
 * translator may take its place between them; stop returns 0, or -errno of the
 * road that nobody was told of yet. With one core, all but rx do nothing.
 */
void cores_open(struct run *r);
int cores_rx(struct run *r, const struct pkt *pkts, size_t n);
int cores_idle(struct run *r);
void cores_rest(struct run *r);
int cores_stop(struct run *r);
void cores_go(struct run *r);
const struct translate_ledger *cores_counters(const struct run *r);
/* NACKs that the interface did not take. */
uint64_t cores_unsent(const struct run *r);

#endif
