/* SPDX-License-Identifier: BSD-2-Clause */
/* why.h - nothing of a capture was stored: what it probably was. */
#ifndef DTA_COLLECT_WHY_H
#define DTA_COLLECT_WHY_H

#include "responder/responder.h"
#include "wire/roce.h"

/* Zeroed before: what was seen while nothing was stored yet. */
struct why {
	bool dta, roce;	   /* a DTA report; a RoCEv2 packet, the first: */
	struct roce first; /* its payload is gone */
};

void why_look(struct why *w, const struct pkt *pkts, size_t n);

/*
 * What is probably wrong where all that came was dropped, into f (returned).
 * t: the ticket that the packets were judged by.
 */
const char *why_text(struct fault *f, const struct why *w,
		     const struct responder_ledger *l, const struct ticket *t);

#endif
