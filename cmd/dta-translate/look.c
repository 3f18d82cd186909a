/* SPDX-License-Identifier: BSD-2-Clause */
/* look.c - what is wanted of reports beside their translation. */
#include "run.h"

void run_look(struct run *r, const struct pkt *pkts, size_t n)
{
	if (r->keylog)
		keylog_rx(r->keylog, pkts, n);
	if (r->cores && r->keylog && n < (size_t)r->loop.most)
		keylog_flush(r->keylog);
	if (!r->stored)
		r->stored = cores_stored(r);
	if (!r->stored)
		why_look(&r->why, r->o.dta, pkts, n);
}
