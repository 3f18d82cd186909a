/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * confine.h - what a program that parses packets may still open once it runs:
 * no file but those named here, and no program to execute. Of use where a
 * decoder has a flaw. Kernels without Landlock (before 5.13) leave all open.
 */
#ifndef CLI_CONFINE_H
#define CLI_CONFINE_H

#include <stdbool.h>

/* After cli_confine(), all files in this file's directory can still be read, or
 * written and replaced, too. NULL, "" and "-": none. */
void cli_may_read(const char *file);
void cli_may_write(const char *file);

/* The thread, and all that it starts from now on, execute nothing. */
void cli_no_exec(void);

/* The same, and they open nothing but what was named before, the page
 * (live.h) and /proc. To be called when all is open, before worker threads
 * start. Warns if the kernel cannot do it, unless quiet. */
void cli_confine(bool quiet);

#endif
