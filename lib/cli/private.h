/* SPDX-License-Identifier: BSD-2-Clause */
/* private.h - what the files of this room share. */
#ifndef CLI_PRIVATE_H
#define CLI_PRIVATE_H

#include <stdarg.h>
#include <stdbool.h>

/* Prints a message of a program that will exit with a status other than 0. */
void cli_print_failure(const char *fmt, va_list ap)
	__attribute__((format(printf, 1, 0)));

/* Sets the "-", by its address, that cli_file() calls standard output. */
void cli_set_stdout_dash(const char *dash);

/* Whether rows are printed on the terminal: no line of progress then. */
bool cli_shows_rows(void);

#endif
