/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * match.h - filter expressions on what is looked at. A flow is like a packet of
 * its own whose hops tell what they last told it; a switch like one hop that
 * tells the highest of its queues and links, and the median of its latency; a
 * queue or link like one hop with its value; a path like one with its nodes.
 */
#ifndef INT_COLLECT_MATCH_H
#define INT_COLLECT_MATCH_H

#include "filter/filter.h"
#include "tables.h"

struct match;

struct match *match_open(void); /* NULL: no memory */
bool match_is(struct match *m, const struct expr *e, const struct lookup *l,
	      enum table which, uint32_t i);
void match_close(struct match *m); /* NULL is fine */

#endif
