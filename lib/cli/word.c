/* SPDX-License-Identifier: BSD-2-Clause */
/* word.c - words of an option table: in a row, and which of them somebody
 * meant. */
#include <assert.h>
#include <string.h>

#include "cli/private.h"

enum {
	WORD_MAX = 32, /* longer ones are not guessed */
};

bool cli_next_word(const char **at, char word[CLI_WORD_MAX])
{
	size_t n;

	*at += strspn(*at, " |");
	n = strcspn(*at, " |");
	assert(n < CLI_WORD_MAX);
	memcpy(word, *at, n);
	word[n] = 0;
	*at += n;
	return n > 0;
}

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

void cli_guess(struct cli_guess *g, const char *candidate)
{
	size_t n = strlen(g->word), m = strlen(candidate);
	/* One slip in a short word, two in a longer one. */
	unsigned most = n < 3 ? 0 : n < 6 ? 1 : 2, far;

	if (n > WORD_MAX || m > WORD_MAX)
		return;
	far = distance(g->word, n, candidate, m);
	if (far > most || (g->best && far >= g->far))
		return;
	g->best = candidate;
	g->far = far;
}

const char *cli_guess_words(const char *word, const char *const *words)
{
	struct cli_guess g = {.word = word};

	for (; *words; words++)
		cli_guess(&g, *words);
	return g.best;
}
