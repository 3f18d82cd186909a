/* SPDX-License-Identifier: BSD-2-Clause */
/* frames.h - a sink of packets that keeps them in memory, until they go on. */
#ifndef COLLECT_FRAMES_H
#define COLLECT_FRAMES_H

#include "packet/pkt.h"

/* NULL: no memory. snk_close() frees it. */
struct snk *frames_open(void);

/* To another sink, in their order; none is kept then. 0 or -errno of to. */
int frames_pass(struct snk *s, struct snk *to);

#endif
