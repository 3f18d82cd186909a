/* SPDX-License-Identifier: BSD-2-Clause */
/* take.h - one view after the other; private to the sink. */
#ifndef TELEMETRY_TAKE_H
#define TELEMETRY_TAKE_H

#include "telemetry/private.h"

/* hash: of its key, if it has one. */
void take_view(struct telemetry *t, const struct int_view *v, uint64_t hash);

/* telemetry_numbers(); and what a reporter's numbers have shown. */
void take_numbers(struct telemetry *t, uint64_t ts_ns,
		  const struct int_from *from, uint32_t n, bool anew);
void take_news(struct telemetry *t, const struct reporter *r,
	       const struct loss_news *news, uint64_t ts_ns);

#endif
