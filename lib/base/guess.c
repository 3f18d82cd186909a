/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum {
	WORD_MAX = 32, /* longer ones are not guessed */
};

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * Letters to put in, take out, change or swap with their neighbour until one
 * word is the other (Damerau 1964, without a letter being used twice).
 */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned d[WORD_MAX + 1][WORD_MAX + 1];

	for (size_t i = 0; i <= n; i++)
		d[i][0] = (unsigned)i;
	for (size_t k = 0; k <= m; k++)
		d[0][k] = (unsigned)k;
	for (size_t i = 1; i <= n; i++)
		for (size_t k = 1; k <= m; k++) {
			d[i][k] = least(least(d[i - 1][k], d[i][k - 1]) + 1,
					d[i - 1][k - 1] +
						(a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] &&
			    a[i - 2] == b[k - 1])
				d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
		}
	return d[n][m];
}

void guess_try(struct guess *g, const char *candidate)
{
	size_t n = strlen(g->word), m = strlen(candidate);
	/* One slip in a short word, two in a longer one; or its beginning. */
	unsigned most = n < 3 ? 0 : n < 6 ? 1 : 2, far = 1;

	if (n > WORD_MAX || m > WORD_MAX)
		return;
	if (n < 2 || strncmp(candidate, g->word, n) != 0) {
		far = distance(g->word, n, candidate, m);
		if (far > most)
			return;
	}
	if (g->best && far >= g->far)
		return;
	g->best = candidate;
	g->far = far;
}

const char *guess_hint(struct guess *g)
{
	g->hint[0] = '\0';
	if (g->best)
		snprintf(g->hint, sizeof(g->hint), "; did you mean %s?",
			 g->best);
	return g->hint;
}

const char *guess_words(struct guess *g, const char *const *words)
{
	for (; *words; words++)
		guess_try(g, *words);
	return guess_hint(g);
}
