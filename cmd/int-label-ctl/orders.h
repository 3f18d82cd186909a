/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * orders.h - what the controller has decided, to the switches
 * (orders/orders.h): lines on stdout, into a command for each switch, or as
 * datagrams to a socket of each.
 */
#ifndef INT_LABEL_CTL_ORDERS_H
#define INT_LABEL_CTL_ORDERS_H

#include <sys/types.h>

#include "orders/tell.h"

struct orders_options {
	enum label_command_form form;
	const char *exec; /* run by sh, lines on its stdin; LABEL_DEVICE says
			     which switch */
	const char *send; /* the path of a socket, {device} in it */
			  /* Neither: to stdout, each decision at once. */
};

struct orders;

/* Exits if there is no memory; so do the others. */
struct orders *orders_open(const struct orders_options *o);
void orders_take(struct orders *o, const struct label_decision *d);
/* Says what is due. Warns when a switch ceases to obey, and when it does
 * again. */
void orders_turn(struct orders *o);
/* Until all is told, or it has lasted too long, or a signal comes. 0, or -1:
 * not all was told, and that was said. */
int orders_end(struct orders *o);
const struct label_orders_ledger *orders_counters(const struct orders *o);
void orders_close(struct orders *o); /* NULL is fine */

/* For --send: exits if it cannot. */
int orders_socket(void);
void orders_socket_close(int fd);

#endif
