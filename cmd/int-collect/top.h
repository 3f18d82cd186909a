/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top.h - --top: flows, switches, queues, links or paths, the first so many by
 * one of their columns: live on a terminal, or once as rows on stdout.
 *
 * Looking does not hold up packets: the flow cache is gone through a few flows
 * at a time between batches; which rows are first is known when that is done,
 * what is in them is of the moment they are drawn.
 */
#ifndef INT_COLLECT_TOP_H
#define INT_COLLECT_TOP_H

#include "options.h"
#include "tables.h"

struct top;

/* Exits if it cannot. On a terminal, unless --once, the screen is on now. */
struct top *top_open(const struct opts *o, struct telemetry *t);

/* Between batches; idle: there was none. False: the person has had enough. */
bool top_turn(struct top *top, bool idle);
/* The input has ended: until the person has had enough, or a signal comes; look
 * is called meanwhile. Without a screen the rows are printed. 0, or -errno of
 * stdout. */
int top_end(struct top *top, void (*look)(void *ctx), void *ctx);
void top_close(struct top *top); /* the terminal is as before; NULL is fine */

#endif
