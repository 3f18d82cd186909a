/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tty.h - a terminal as a screen: reads keys one by one, without echo, and
 * draws on the alternate screen, which keeps what was on the terminal before.
 * Control sequences are those of ECMA-48 and xterm, which today's terminals all
 * have.
 *
 * tty_close() restores the terminal. An exit handler calls it, too, and the
 * handler of a fatal signal may.
 */
#ifndef CLI_TTY_H
#define CLI_TTY_H

#include <stdbool.h>
#include <stddef.h>

/* Keys other than printable characters, which stand for themselves. */
enum tty_key {
	KEY_NONE = -1, /* nothing was pressed */
	KEY_END_OF_INPUT = -2,
	KEY_ESCAPE = 27,
	KEY_ERASE = 127,
	KEY_UP = 256,
	KEY_DOWN,
	KEY_RIGHT,
	KEY_LEFT,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
	KEY_OTHER, /* an escape sequence that is none of these */
};

/* Takes over the terminal of stdout. Keys come from stdin, or from /dev/tty if
 * stdin is no terminal. 0 or -errno. */
int tty_open(void);
void tty_close(void); /* may be called twice, and by signal handlers */

bool tty_is_open(void);

/* The next key: enum tty_key or a byte. Waits wait_ms for it at most. */
int tty_key(int wait_ms);
/* Columns and lines, at least 1 each. */
void tty_size(unsigned *columns, unsigned *lines);
/* Writes to the screen; what a stalled terminal does not take is lost. */
void tty_put(const char *text, size_t len);

/* Whether colours may be written to a descriptor: it is a terminal that has
 * them, and NO_COLOR is not set (no-color.org). */
bool tty_colour(int fd);

#endif
