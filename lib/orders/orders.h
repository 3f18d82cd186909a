/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * orders.h - what the controller has decided, to the switches: which is to be
 * told what, and when again. What a switch does not take is said again later,
 * its newest S only. How it is told is the caller's: lines of command.h.
 *
 * There is no clock inside: now_ns is the caller's, and must not go back.
 */
#ifndef ORDERS_ORDERS_H
#define ORDERS_ORDERS_H

#include <stdbool.h>

#include "base/ledger.h"
#include "label/command.h"
#include "label/control.h"

/* Decisions = told + drops. */
struct label_orders_ledger {
	uint64_t decisions;
	uint64_t told;	     /* a line each */
	uint64_t nothing;    /* such a switch has nothing to be told */
	uint64_t superseded; /* by a newer one of the port, before it was told
			      */
	uint64_t unsent;     /* at the end */
	uint64_t tries;	     /* lines or commands, one for all of a switch, */
	uint64_t failed;     /* and those that did not get there */
};

extern const struct ledger label_orders_ledger;

enum {
	LABEL_ORDERS_AT_ONCE = 16, /* switches that are under way */
	/* Of say(): */
	LABEL_ORDERS_UNDER_WAY = 1,
	LABEL_ORDERS_FULL = 2, /* there is no room now */
};

struct label_order {
	uint16_t port;
	uint8_t before, s; /* before: as the switch has it, */
	bool unsure;	   /* or nobody knows how */
};

/* The line of an order: command.h. Its length, never 0. */
size_t label_order_line(char buf[LABEL_COMMAND_MAX],
			enum label_command_form form,
			const struct label_order *order);

struct label_orders_list {
	struct label_order *at;
	unsigned n, room;
};

struct label_orders_switch {
	uint32_t device;
	struct label_orders_list waiting, said;
	long run;	   /* the caller's, of what is under way; 0: nothing */
	uint64_t until_ns; /* it has to have ended */
	uint64_t wait_ns;  /* since the last failure; 0: there was none */
	uint64_t next_ns;  /* not before that */
	uint64_t full_ns;  /* since when it has no room; 0: it has */
	bool troubled;	   /* and that was told */
};

struct label_orders_options {
	enum label_command_form form;
	bool at_once;	      /* nothing waits for the next turn */
	uint64_t patience_ns; /* with what is under way */
	void *ctx;
	/* Says what is in said. 0, -errno, or one of the above; *sent: the
	 * first ones that got there, if not all did. */
	int (*say)(void *ctx, struct label_orders_switch *sw, unsigned *sent);
	/* How what was under way has ended: 1 well, -1 not, and why; 0: it has
	 * not. */
	int (*look)(void *ctx, struct label_orders_switch *sw, char *why,
		    size_t size);
	/* Ends it. */
	void (*kill)(void *ctx, struct label_orders_switch *sw);
	/* A switch ceases to obey, and why; NULL: it does again. */
	void (*trouble)(void *ctx, uint32_t device, const char *why);
};

struct label_orders;

/* 0 or -ENOMEM. */
int label_orders_open(struct label_orders **out,
		      const struct label_orders_options *o);
/* 0 or -ENOMEM. */
int label_orders_take(struct label_orders *o, const struct label_decision *d,
		      uint64_t now_ns);
/* Says what is due. Its time is in proportion to that. 0 or -ENOMEM. */
int label_orders_turn(struct label_orders *o, uint64_t now_ns);
/* Whether there is something that waits, or is under way. */
bool label_orders_busy(const struct label_orders *o);
/* What is under way is ended; what was not told is counted. */
void label_orders_end(struct label_orders *o);
const struct label_orders_ledger *
label_orders_counters(const struct label_orders *o);
void label_orders_close(struct label_orders *o); /* NULL is fine */

#endif
