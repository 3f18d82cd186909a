/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tty.h - a terminal as a screen: keys one by one, without echo, and its second
 * page, which leaves what was there as it was. Control sequences are those of
 * ECMA-48 and xterm, which terminals of today all have.
 *
 * However the program exits, the terminal is as before: tty_close() does it, an
 * exit handler if it was not called, and the handler of a fatal signal may.
 */
#ifndef CLI_TTY_H
#define CLI_TTY_H

#include <stdbool.h>
#include <stddef.h>

/* Keys beyond their bytes. */
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
	KEY_OTHER, /* a sequence that is none of these */
};

/* Takes over the terminal of stdout; keys come from stdin, or if that is none
 * from /dev/tty. 0 or -errno. */
int tty_open(void);
void tty_close(void); /* twice is fine, and in handlers of signals */

bool tty_is_open(void);

/* The next key, waiting so long for it. */
int tty_key(int wait_ms);
/* Columns and lines, at least 1 each. */
void tty_size(unsigned *columns, unsigned *lines);
/* Draws. A terminal that stands still holds nothing up: what it does not take
 * is lost. */
void tty_put(const char *text, size_t len);

/* Whether colours may go to a descriptor: a terminal that knows them, and
 * NO_COLOR is not set (no-color.org). */
bool tty_colour(int fd);

#endif
