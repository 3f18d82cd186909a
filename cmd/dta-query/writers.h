/* SPDX-License-Identifier: BSD-2-Clause */
/* writers.h - what the programs that write a region have counted so far. */
#ifndef QUERY_WRITERS_H
#define QUERY_WRITERS_H

/*
 * A line on stderr for each: what came in, what is missing, what was dropped
 * and why most of it; or that there is none. By their pages (ledger/page.h), of
 * this machine.
 */
void writers_tell(const char *region);

#endif
