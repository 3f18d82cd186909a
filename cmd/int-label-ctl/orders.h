/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * orders.h - what the controller has decided, to the switches: lines
 * (label/command.h) on stdout, into a command for each switch, or as datagrams
 * to a socket of each. What a switch does not take is said again later, its
 * newest S only.
 */
#ifndef INT_LABEL_CTL_ORDERS_H
#define INT_LABEL_CTL_ORDERS_H

#include "base/ledger.h"
#include "label/command.h"
#include "label/control.h"

/* Decisions = told + drops. */
struct orders_ledger {
	uint64_t decisions;
	uint64_t told;
	uint64_t nothing;    /* such a switch has nothing to be told */
	uint64_t superseded; /* by a newer one of the port, before it was told
			      */
	uint64_t unsent;     /* at the end */
	uint64_t tries;	     /* lines or commands, one for all of a switch, */
	uint64_t failed;     /* and those that did not get there */
};

extern const struct ledger orders_ledger;

struct orders_options {
	enum label_command_form form;
	const char *exec; /* run by sh, lines on its stdin; LABEL_DEVICE says
			     which switch */
	const char *send; /* the path of a socket, {device} in it */
			  /* Neither: to stdout. */
};

struct orders;

/* Exits if there is no memory. */
struct orders *orders_open(const struct orders_options *o);
void orders_take(struct orders *o, const struct label_decision *d);
/* Says what is due. Warns when a switch ceases to obey, and when it does
 * again. */
void orders_turn(struct orders *o);
/* Until all is told, or it has lasted too long, or a signal comes. 0, or -1:
 * not all was told, and that was said. */
int orders_end(struct orders *o);
const struct orders_ledger *orders_counters(const struct orders *o);
void orders_close(struct orders *o); /* NULL is fine */

#endif
