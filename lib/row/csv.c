/* SPDX-License-Identifier: BSD-2-Clause */
#include "row/csv.h"

#include <errno.h>
#include <string.h>

/* A field in quotes, without them. Returns what is behind it; NULL: it has no
 * end. */
static char *unquote(char *p)
{
	char *out = p++;

	for (;; p++) {
		if (!*p)
			return NULL;
		if (*p == '"' && *++p != '"')
			break;
		*out++ = *p;
	}
	*out = '\0';
	return p;
}

int csv_split(char *line, char **field, int max)
{
	int n = 0;

	for (char *p = line; p && n < max; n++) {
		char *end = p;

		field[n] = p;
		if (*p == '"' && !(end = unquote(p)))
			return -EINVAL;
		if (end != p && *end && *end != ',')
			return -EINVAL;
		end = strchr(end, ',');
		p = end ? end + 1 : NULL;
		if (end)
			*end = '\0';
	}
	return n;
}

int csv_find(char *const *field, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(field[i], name))
			return i;
	return -1;
}
