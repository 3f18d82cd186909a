/* SPDX-License-Identifier: BSD-2-Clause */
/* p4_source.h - what a P4 program says, for tests that do it as it says. */
#ifndef TESTS_UNIT_P4_SOURCE_H
#define TESTS_UNIT_P4_SOURCE_H

#include <stdio.h>
#include <string.h>

#include "test.h"

enum { SOURCE_MAX = 65536 };

/* A source; line ends that are escaped are taken out. */
static inline void read_source(char out[SOURCE_MAX], const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n = 0;
	int c;

	if (!TEST(f != NULL))
		return;
	while ((c = fgetc(f)) != EOF && n < SOURCE_MAX - 1) {
		if (c == '\n' && n && out[n - 1] == '\\')
			n--;
		else
			out[n++] = (char)c;
	}
	out[n] = '\0';
	fclose(f);
}

/* Whether a source still says so: the test does it as it does. */
static inline void says(const char *source, const char *line)
{
	if (!TEST(strstr(source, line) != NULL))
		fprintf(stderr, "it does not say \"%s\" any more\n", line);
}

#endif
