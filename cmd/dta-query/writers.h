/* SPDX-License-Identifier: BSD-2-Clause */
/* writers.h - what the programs that write a region have counted so far. */
#ifndef QUERY_WRITERS_H
#define QUERY_WRITERS_H

/*
 * Lines on stderr for each: what came in, what was lost and why most of it; or
 * that there is none, or some that cannot be seen. By their pages
 * (ledger/page.h), of this machine.
 */
void writers_tell(const char *region);

#endif
