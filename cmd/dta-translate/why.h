/* SPDX-License-Identifier: BSD-2-Clause */
/* why.h - nothing of what came was a good report: what it probably was. */
#ifndef DTA_TRANSLATE_WHY_H
#define DTA_TRANSLATE_WHY_H

#include "translate/translate.h"

/* Zeroed before: what was seen while no report was taken yet. */
struct why {
	bool nack, roce, report;
	uint8_t version;	 /* of a packet to DTA_PORT */
	struct dta_report first; /* if report; its key and data are gone */
};

void why_look(struct why *w, enum dta_format format, const struct pkt *pkts,
	      size_t n);

/* What is probably wrong where all was dropped, into f (text returned); with
 * the n tables that the reports were judged by. */
const char *why_text(struct fault *f, const struct why *w,
		     const struct translate_ledger *l,
		     const struct table *tables, unsigned n);

#endif
