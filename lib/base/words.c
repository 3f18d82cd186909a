/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"

#include <string.h>

/* One word at *in, its quotes taken off, to out. 0, or -1: not closed. */
static int take_word(char **in, char *out)
{
	char *p = *in, quote = '\0';

	for (; *p && (quote || !strchr(" \t\r\n", *p)); p++) {
		if (quote && *p == quote)
			quote = '\0';
		else if (!quote && (*p == '\'' || *p == '"'))
			quote = *p;
		else if (*p == '\\' && quote != '\'' && p[1])
			*out++ = *++p;
		else
			*out++ = *p;
	}
	if (quote)
		return -1;
	*in = p + (*p != '\0');
	*out = '\0';
	return 0;
}

int words_split(char *line, char **argv, int max)
{
	int n = 0;

	for (;;) {
		line += strspn(line, " \t\r\n");
		if (!*line || *line == '#')
			break;
		if (n == max)
			return -1;
		argv[n++] = line;
		/* A word is never longer than its text. */
		if (take_word(&line, argv[n - 1]) < 0)
			return -1;
	}
	argv[n] = NULL;
	return n;
}
