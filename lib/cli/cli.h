/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cli.h - what every program's main.c shares: options, messages, exit status,
 * signals. The only room that prints, exits and reads the environment; only
 * cmd/ includes it.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ledger.h"
#include "cli/option.h"
#include "row/row.h"

/* Exit status, the same in every program. */
enum {
	CLI_OK = 0,
	CLI_FAIL = 1,
	CLI_USAGE = 2,
	CLI_NOTHING = 3, /* asked, and found nothing */
};

/*
 * Sets up a program: remembers its name for messages, buffers stdout, and
 * checks it at exit (a full disk is exit status 1, not silence).
 *
 * SIGPIPE gets its default action: a program that has lost its reader ends at
 * once, without a message, as cat(1) does (status 141 in a shell). Nothing is
 * lost by it: a region survives the death of its writer at any instant.
 */
void cli_start(const struct cli *c);

/* Reads a whole number that is not an option's argument; if it is none, exits
 * with 2 and a message that calls it `what'. */
uint64_t cli_u64(const char *what, const char *text, uint64_t min,
		 uint64_t max);
/* Prints a message such as "--option: 'value' is not ..."; exit status 2. */
void cli_refuse(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
/* Prints "option: ...". Exit status 2 if rc is -EINVAL: the option's value is
 * wrong; else 1: what it names cannot be opened. */
void cli_fail_option(const char *option, int rc, const struct error *err)
	__attribute__((noreturn));
/* Exits with 2 if a file, and one that will be written, are the same one: an
 * input would be overwritten before it is read. - and NULL are no files. */
void cli_check_distinct_files(const char *file, const char *written);

/*
 * Messages on stderr, "name: ...". cli_fail() exits with 1. cli_usage() is for
 * options that are missing or exclude each other: it adds a hint to -h, and
 * exits with 2. Control characters are \xNN: part of a message may come from
 * outside. While the terminal is a screen (tty.h), messages for it are held,
 * and printed when it is left.
 */
void cli_fail(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
/* What was allocated; exits if that is NULL. */
void *cli_allocated(void *p);
void cli_usage(const struct cli *c, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));
void cli_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* From now on messages begin with the local time (ISO 8601) unless stderr is a
 * terminal or a journal: for programs that run on. */
void cli_log_times(void);
/* A file's name for messages: "-" is the standard input or cli_stdout. */
const char *cli_file(const char *path);
extern const char cli_stdout[];
/* cli_fail("object: reason"), with the object once if the reason begins with
 * it, named as by cli_file(). cli_warn_error() only warns; after a warning of
 * cli_stdout, the check at exit prints no second message. */
void cli_error(const char *object, const struct error *err)
	__attribute__((noreturn));
void cli_warn_error(const char *object, const struct error *err);
/* The last message that is held, or NULL. */
const char *cli_held_message(void);
/* Prints messages that are held, if there is no screen. The next message and
 * the end of the program do the same. */
void cli_print_held(void);
/* cli_warn("%s", text), as a callback. */
void cli_warn_callback(void *ctx, const char *text);

/*
 * Prints a ledger on stderr; warns if it does not add up. Text: what came in,
 * what was done, and other counters that are not 0. CSV and NDJSON: a row for
 * each counter: stage, counter, role (base/ledger.h), value. While the terminal
 * is a screen, it is held as messages are. Between cli_page_begin() and
 * cli_page_end() (live.h) it goes into the program's page instead.
 */
void cli_ledger(const struct ledger *l, const void *ctr, enum row_format fmt);

/*
 * Signals for a long-running loop: SIGINT, SIGTERM and SIGHUP (unless ignored,
 * as by nohup(1)) set cli_stop, to 2 if they come again; SIGUSR1 sets
 * cli_report. No SA_RESTART: reads return EINTR. SIGBUS (a mapped file shrank)
 * prints a message and exits 1. All threads may read these variables.
 */
extern atomic_int cli_stop, cli_report, cli_hangup;
void cli_signals(void);

/* From now on SIGHUP does not stop the program, but sets cli_hangup. */
void cli_catch_hangup(void);

#endif
