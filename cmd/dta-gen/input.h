/* SPDX-License-Identifier: BSD-2-Clause */
/* input.h - the traffic that the workload looks at. */
#ifndef DTA_GEN_INPUT_H
#define DTA_GEN_INPUT_H

#include "gen.h"

/* When synthetic time begins. */
extern const uint64_t input_start_ns;

/* Opens what the options say; traffic_next() gives what the workload can use
 * and counts the rest. */
int input_open(struct traffic **out, struct gen *g, struct fault *f);

#endif
