/* SPDX-License-Identifier: BSD-2-Clause */
/* top.h - --top: flows, switches, queues, links or paths, by cli/top.h. */
#ifndef INT_COLLECT_TOP_H
#define INT_COLLECT_TOP_H

#include "options.h"
#include "tables.h"

struct top;

/* Exits if it cannot. */
struct top *top_open(const struct opts *o, struct telemetry *t);
/* cli_top_turn(), cli_top_end(), cli_top_close(). */
bool top_turn(struct top *top, bool idle);
int top_end(struct top *top);
void top_close(struct top *top);

#endif
