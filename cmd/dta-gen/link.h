/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link.h - where reports go: a capture or an interface, at a pace; and the
 * NACKs that come back from there.
 */
#ifndef DTA_GEN_LINK_H
#define DTA_GEN_LINK_H

#include "gen.h"
#include "resend/resend.h"

struct link;

/* Opens what the options say; f names it. */
int link_open(struct gen *g, struct fault *f);

/* Whether reports must be kept, to be sent again: then link_report() takes
 * them, else they are built in the sink. */
bool link_keeps(const struct gen *g);

/* A report of those that are kept: waits until it may go. False: there was no
 * time or place for it any more. */
bool link_report(struct gen *g, unsigned reporter, const uint8_t *payload,
		 size_t len, uint64_t ts_ns);

/* Waits until a frame may go, on an interface. False: none may any more. */
bool link_turn(struct gen *g);

/* Looks at the clock, for traffic of which there is nothing to report. */
void link_clock(struct gen *g);

/* Waits for what is still to be confirmed; the last row of rates. */
void link_finish(struct gen *g);

/* The ledger of reports that are kept, NULL if none are; and what a live
 * interface lost. */
const struct resend_ledger *link_ledger(struct gen *g);
void link_drops(const struct gen *g);

/* Rows of rates, if it is time. */
void link_stats(struct gen *g);

/* Returns the sink's first error. */
int link_close(struct gen *g);

#endif
