/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * orders.h - what the controller has decided, to the switches
 * (orders/orders.h): lines on stdout, into a command for each switch, or as
 * datagrams to a socket of each.
 */
#ifndef INT_LABEL_CTL_ORDERS_H
#define INT_LABEL_CTL_ORDERS_H

#include "orders/orders.h"

/* For each switch a command, or a socket; NULL twice: to stdout. Exits if it
 * cannot; so do the others. */
struct label_orders *orders_open(const char *exec, const char *send);
void orders_take(struct label_orders *o, const struct label_decision *d);
/* Says what is due. Warns when a switch ceases to obey, and when it does
 * again. */
void orders_turn(struct label_orders *o);
/* Until all is told, or it has lasted too long, or a signal comes. 0, or -1:
 * not all was told, and that was said. */
int orders_end(struct label_orders *o);

#endif
