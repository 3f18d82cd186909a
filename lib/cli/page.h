/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page.h - what a running program shows others of itself: its ledgers, in its
 * page (ledger/page.h), a few times a second. There is none of a run that is
 * over before the first time.
 *
 *	if (cli_page_begin()) {
 *		cli_ledger(...); once for each: into the page, not on stderr
 *		cli_page_end();
 *	}
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "cli/live.h"

/* What the program works on, as in ledger/page.h; the strings outlive it. */
struct cli_page_about {
	const char *region, *input, *output;
	bool quiet; /* no word if there can be none */
};

/* From now on there may be one, until the program's end. */
void cli_page_start(const struct cli_page_about *a);

/* For a loop, once a batch and when idle: whether it is time to write it. */
bool cli_page_begin(void);
void cli_page_end(void);

/* The directory of pages: $DTA_LEDGERS, or where they are by themselves. */
const char *cli_page_dir(void);

#endif
