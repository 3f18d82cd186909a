/* SPDX-License-Identifier: BSD-2-Clause */
/* gate.h - sinks of rows for several threads: who puts or flushes through it is
 * alone with all of them. What is asked of the sinks behind it meanwhile, such
 * as whether a database answers, must be for any thread. */
#ifndef COLLECT_GATE_H
#define COLLECT_GATE_H

#include "measure/rows.h"

struct gate;

/* The sinks behind it outlive it. NULL: no memory. */
struct gate *gate_open(const struct telemetry_sinks *behind);
const struct telemetry_sinks *gate_sinks(const struct gate *g);
/* When nobody goes through any more; NULL is fine. */
void gate_close(struct gate *g);

#endif
