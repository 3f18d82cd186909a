/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * requester.h - what became of requests: the ledger of a RoCEv2 road that
 * hears answers (roce_out.h). A request is what one packet carries: an
 * operation, or a piece of one that is longer than the path MTU.
 */
#ifndef ROCE_REQUESTER_H
#define ROCE_REQUESTER_H

#include <stdint.h>

#include "base/ledger.h"

/* requests = acked + uc + drops by reason, at any time. */
struct requester_ledger {
	uint64_t requests;
	uint64_t acked;	      /* the collector has carried them out */
	uint64_t uc;	      /* of UC tables: sent; nobody ever tells more */
	uint64_t unanswered;  /* sent, never confirmed: carried out or not */
	uint64_t window_full; /* no room to wait for answers: never sent */
	uint64_t refused;  /* the collector has refused, and so not carried out,
			      this request or one before it */
	uint64_t outdated; /* list entries for places that a new ticket does
			      not have any more */
	uint64_t unsent;   /* at the end still waiting to be sent */
	uint64_t waiting; /* while the road is open: under way, or to be sent */
	/* notes */
	uint64_t packets; /* all that were sent */
	uint64_t resent;  /* requests sent again */
	uint64_t probes;  /* empty WRITEs, to ask for the expected PSN */
	uint64_t acks, naks_psn, naks_access, naks_invalid, naks_rnr;
	uint64_t timeouts;
	uint64_t resyncs;   /* connections found anew, the first not counted */
	uint64_t late;	    /* answers about what was confirmed before */
	uint64_t strangers; /* answers to nothing that we sent */
	uint64_t malformed; /* no answers at all, or damaged */
};

extern const struct ledger requester_ledger;

#endif
