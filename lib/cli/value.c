/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of options. A wrong one is named, with status 2 and no synopsis. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/cli.h"

void cli_refuse(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cli_warn("%s", text);
	exit(CLI_USAGE);
}

/* One file, by whatever names; devices and pipes do not count. */
static bool same_file(const char *a, const char *b)
{
	struct stat s, t;

	if (stat(a, &s) < 0 || stat(b, &t) < 0)
		return !strcmp(a, b); /* not there yet */
	return S_ISREG(s.st_mode) && s.st_dev == t.st_dev &&
	       s.st_ino == t.st_ino;
}

void cli_apart(const char *file, const char *written)
{
	if (file && written && strcmp(file, "-") && strcmp(written, "-") &&
	    same_file(file, written))
		cli_refuse("%s: named twice: it would be overwritten", written);
}

uint64_t cli_u64(const char *option, const char *text, uint64_t min,
		 uint64_t max)
{
	uint64_t v;

	if (!text_u64(&v, text, max) || v < min)
		cli_refuse("%s: '%s' is not a whole number from %ju to %ju",
			   option, text, (uintmax_t)min, (uintmax_t)max);
	return v;
}

uint64_t cli_size(const char *option, const char *text, uint64_t min,
		  uint64_t max)
{
	uint64_t v;

	if (text_size(&v, text) < 0 || v < min || v > max)
		cli_refuse("%s: '%s' is not a number from %ju to %ju "
			   "(K, M, G, T: powers of 1024)",
			   option, text, (uintmax_t)min, (uintmax_t)max);
	return v;
}

double cli_f64(const char *option, const char *text, double min, double max)
{
	double v;

	if (!text_f64(&v, text) || v < min || v > max)
		cli_refuse("%s: '%s' is not a number from %g to %g", option,
			   text, min, max);
	return v;
}

uint64_t cli_duration_ns(const char *option, const char *text)
{
	uint64_t ns;

	if (!text_duration_ns(&ns, text))
		cli_refuse("%s: '%s' is not a duration (100ms, 5s, 1m)", option,
			   text);
	return ns;
}

enum row_format cli_format(const char *text)
{
	int fmt = row_format_of(text);

	if (fmt < 0)
		cli_refuse("--output: '%s' is not text, csv or ndjson", text);
	return (enum row_format)fmt;
}
