/* SPDX-License-Identifier: BSD-2-Clause */
/* words.h - a line's words. */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

/* Splits a line into words, as a shell does it: quotes, backslashes. In place.
 * Returns their number, or -1: a quote is not closed. */
int words_split(char *line, char **argv, int max);

#endif
