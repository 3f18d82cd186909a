/* SPDX-License-Identifier: BSD-2-Clause */
/* push.h - what goes out by time, and at the end; private to the sink. */
#ifndef TELEMETRY_PUSH_H
#define TELEMETRY_PUSH_H

#include "telemetry/private.h"

/* Live values whose turn it is; a key is alive if it has reported since its
 * value went out by this way. */
void push_values(struct telemetry *t);

/* Reporters that are silent: what they miss is lost. */
void push_losses(struct telemetry *t, bool all);

/* flows.leave; ctx: the telemetry. */
void push_flow(void *ctx, struct flow_entry *f, enum flow_leaves why);

void push_distributions(struct telemetry *t);

#endif
