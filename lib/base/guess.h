/* SPDX-License-Identifier: BSD-2-Clause */
/* guess.h - which of the words that there are was meant by a mistyped one. */
#ifndef BASE_GUESS_H
#define BASE_GUESS_H

/* Set word; best is NULL until a candidate is near enough. */
struct guess {
	const char *word, *best;
	unsigned far;
	char hint[64];
};

void guess_try(struct guess *g, const char *candidate);

/* "; did you mean BEST?" to end a message with, or "". In g. */
const char *guess_hint(struct guess *g);

/* The same, after the words up to a NULL. */
const char *guess_words(struct guess *g, const char *const *words);

#endif
