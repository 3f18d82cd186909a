/* SPDX-License-Identifier: BSD-2-Clause */
/* serve.h - --prometheus: what is seen, for who asks for /metrics. */
#ifndef DTA_TOP_SERVE_H
#define DTA_TOP_SERVE_H

#include "options.h"
#include "watch.h"

/* Until a signal comes. Exits if the address cannot be had. */
void serve(const struct opts *o, struct watch *w);

#endif
