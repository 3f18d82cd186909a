/* SPDX-License-Identifier: BSD-2-Clause */
/* serve.h - what is seen, for Prometheus. */
#ifndef DTA_TOP_SERVE_H
#define DTA_TOP_SERVE_H

#include "watch.h"

/* At [ADDR]:PORT, looking so often, until a signal comes; exits if it cannot.
 */
void serve(const char *at, uint64_t every_ns, struct watch *w);

#endif
