/* SPDX-License-Identifier: BSD-2-Clause */
/* top.h - --top: flows, switches, queues, links or paths, by cli/browse.h.
 */
#ifndef INT_COLLECT_TOP_H
#define INT_COLLECT_TOP_H

#include "options.h"

struct telemetry;
struct top;

/* Exits if it cannot. */
struct top *top_open(const struct opts *o, struct telemetry *t);
/* browse_turn(), browse_end(), browse_close(); look gets its ctx. */
bool top_turn(struct top *top, bool idle);
int top_end(struct top *top, void (*look)(void *ctx), void *ctx);
void top_close(struct top *top);

#endif
