/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cli.h - what every program's main.c shares: options, messages, exit status,
 * signals. The only room that prints, exits and reads the environment; only
 * cmd/ includes it.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdatomic.h>
#include <stdbool.h>
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

/* A whole number that is no option's: what names it in a refusal. */
uint64_t cli_u64(const char *what, const char *text, uint64_t min,
		 uint64_t max);
/* "--option: 'value' is not ...", exit status 2. */
void cli_refuse(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
/* "option: ...", exit status 2 if rc is -EINVAL: what it says is wrong as it
 * stands; else 1: it cannot be had. */
void cli_cannot(const char *option, int rc, const struct error *err)
	__attribute__((noreturn));
/*
 * Two files of which one will be written, - and NULL are neither: they must not
 * be the same one, or an input is gone before it was read. Exit status 2.
 */
void cli_apart(const char *file, const char *written);

/*
 * Messages on stderr, "name: ..."; cli_fail() exits with 1, cli_usage() with 2
 * and tells where to look: for options that are missing or at odds. Control
 * characters are \xNN: part of a message may come from outside. While the
 * terminal is a screen (tty.h) those that it would get are held, and come when
 * it is left.
 */
void cli_fail(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void cli_usage(const struct cli *c, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));
void cli_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A file as messages name it: - is the standard input, or cli_stdout if it was
 * given to an option that is written to. */
const char *cli_file(const char *path);
extern const char cli_stdout[];
/* cli_fail("object: reason"), where the reason may begin with the object, named
 * as by cli_file(); and the same as a warning: of cli_stdout nothing more is
 * said at exit. */
void cli_error(const char *object, const struct error *err)
	__attribute__((noreturn));
void cli_warn_error(const char *object, const struct error *err);
/* The latest that is held, or NULL. Those held go out, if no screen is there;
 * the next message and the end of the program do the same. */
const char *cli_held(void);
void cli_release(void);
/* cli_warn("%s", text), for what calls back with a message. */
void cli_tell(void *ctx, const char *text);

/*
 * A ledger on stderr; warns if it does not add up. Text: what came in, what was
 * done, and of the rest what is not 0. CSV and NDJSON: all, a row each: stage,
 * counter, role (base/ledger.h), value. While the terminal is a screen it is
 * held as messages are. While the program's page is written (live.h) it goes
 * there.
 */
void cli_ledger(const struct ledger *l, const void *ctr, enum row_format fmt);

/*
 * Signals for a long-running loop: SIGINT, SIGTERM and SIGHUP (unless ignored,
 * as by nohup(1)) set cli_stop, to 2 if they come again; SIGUSR1 sets
 * cli_report. No SA_RESTART: reads return EINTR. SIGBUS (a mapped file shrank)
 * says so and exits 1. All threads may look at them.
 */
extern atomic_int cli_stop, cli_report, cli_hangup;
void cli_signals(void);

/* From now on SIGHUP sets cli_hangup: there is something to be made anew. */
void cli_take_hangup(void);

#endif
