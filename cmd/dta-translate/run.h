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
	struct cli_loop loop;
	uint64_t alarm_ns; /* of silence, 0: there is none */
	bool silent;	   /* since the last alarm */
	int error;	   /* what stopped it; fault: of the reports */
	struct fault fault;
};

/* road.c: the road that the options name, and its tables; exits if there is
 * none. turn(run) is called while it waits. */
void run_open_road(struct run *r, void (*turn)(void *run));

/* stats.c: rows of --stats; NULL: none. */
struct cli_stats *run_open_stats(struct run *r);

#endif
