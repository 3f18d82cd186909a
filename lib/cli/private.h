/* SPDX-License-Identifier: BSD-2-Clause */
/* private.h - what the files of this room share. */
#ifndef CLI_PRIVATE_H
#define CLI_PRIVATE_H

#include <stdarg.h>
#include <stdbool.h>

/* A message of a program that will fail. */
void cli_complain(const char *fmt, va_list ap)
	__attribute__((format(printf, 1, 0)));

/* An option's - that is written to: there is one at most. */
void cli_written(const char *dash);

/* Whether rows are printed on the terminal, which tell enough. */
bool cli_shows_rows(void);

#endif
