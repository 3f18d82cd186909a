/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * southbound.h - what the controller has decided, to the switches, as lines of
 * command.h: into a command for each of them. What a switch does not take is
 * said again later, its newest S only.
 *
 * There is no clock inside: now_ns is the caller's, and must not go back.
 */
#ifndef LABEL_SOUTHBOUND_H
#define LABEL_SOUTHBOUND_H

#include <stdbool.h>

#include "base/ledger.h"
#include "label/command.h"
#include "label/control.h"

/* Decisions = told + drops. */
struct label_southbound_ledger {
	uint64_t decisions;
	uint64_t told;	     /* a line each */
	uint64_t superseded; /* by a newer one of the port, before it was told
			      */
	uint64_t unsent;     /* at the end */
	uint64_t tries;	     /* commands, one for all of a switch, */
	uint64_t failed;     /* and those that failed */
};

extern const struct ledger label_southbound_ledger;

struct label_southbound_options {
	const char *exec; /* run by sh, lines on its stdin, with environment
			     and LABEL_DEVICE; its output goes to stderr */
	char *const *environment;
	void *ctx;
	/* A switch ceases to obey, and why; NULL: it does again. */
	void (*trouble)(void *ctx, uint32_t device, const char *why);
};

struct label_southbound;

/* 0 or -errno. */
int label_southbound_open(struct label_southbound **out,
			  const struct label_southbound_options *o);
/* 0 or -ENOMEM. */
int label_southbound_add(struct label_southbound *o,
			 const struct label_decision *d);
/* Says what is due. */
void label_southbound_send_due(struct label_southbound *o, uint64_t now_ns);
/* Whether there is something that waits, or is under way. */
bool label_southbound_busy(const struct label_southbound *o);
/* What is under way is ended; what was not told is counted. */
void label_southbound_stop(struct label_southbound *o);
const struct label_southbound_ledger *
label_southbound_counters(const struct label_southbound *o);
void label_southbound_close(struct label_southbound *o); /* NULL is fine */

#endif
