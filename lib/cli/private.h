/* SPDX-License-Identifier: BSD-2-Clause */
/* private.h - what the files of this room share. */
#ifndef CLI_PRIVATE_H
#define CLI_PRIVATE_H

#include <stdarg.h>
#include <stddef.h>

/* The program's name, from cli_start(). */
const char *cli_name(void);
void cli_set_name(const char *name);

/* A message of the program's, as cli_warn() prints it. */
void cli_message(const char *fmt, va_list ap)
	__attribute__((format(printf, 1, 0)));

/*
 * The progress line after so many seconds, above 0: parts for which room is too
 * small are left out.
 */
struct cli_progress;
void cli_progress_text(char *line, size_t room, const struct cli_progress *p,
		       double seconds);

/* The name that leads the line. */
void cli_progress_name(const char *name);

/* Takes a progress line off the terminal before something else is written. */
void cli_progress_clear(void);

#endif
