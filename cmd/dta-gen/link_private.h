/* SPDX-License-Identifier: BSD-2-Clause */
/* link_private.h - a link: what opening it and using it share. */
#ifndef DTA_GEN_LINK_PRIVATE_H
#define DTA_GEN_LINK_PRIVATE_H

#include "link.h"
#include "resend/backoff.h"

struct link {
	struct src *nacks;
	struct resend *resend;
	struct resend_ledger ledger;
	struct cli_stats *stats;
	struct cli_pace pace;
	struct backoff backoff;
	bool live;
	bool alone; /* no NACKs will come any more */
	int turns;  /* frames that may go before the pace is asked again */
	unsigned unheard; /* reports since the last look for NACKs */
	uint64_t now_ns, tick_ns;
	uint64_t end_ns;	/* of --duration; 0: none */
	uint64_t virtual_ns;	/* of a capture: when the next frame goes */
	uint64_t slow, packets; /* NACKs heard so far; frames sent */
	uint64_t start_ns;
	uint64_t stop_ns; /* when interrupted: no waiting beyond it; 0: not */
};

/* One frame of what is kept: a resend's send(). */
int link_send_kept(void *ctx, unsigned reporter, const uint8_t *payload,
		   size_t len, uint64_t ts_ns);

#endif
