/* SPDX-License-Identifier: BSD-2-Clause */
/* private.h - what the files of this room share. */
#ifndef CLI_PRIVATE_H
#define CLI_PRIVATE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/ledger.h"

/* The program's name, from cli_start(). */
const char *cli_name(void);

/* A message of a program that will fail. */
void cli_complain(const char *fmt, va_list ap)
	__attribute__((format(printf, 1, 0)));

/* An option's - that is written to: there is one at most. */
void cli_written(const char *dash);

/* A ledger into the program's page, between cli_page_begin() and
 * cli_page_end(); false: it is not then. */
bool cli_page_takes(const struct ledger *l, const void *ctr);

/* How far a run is, in place on a terminal, until something else is said there.
 * share: of the whole; 0: nobody knows. */
void cli_progress(const char *unit, uint64_t n, double share);

/* Whether rows are printed on the terminal, which tell enough. */
bool cli_shows_rows(void);

#endif
