/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of options. A wrong one is named, with status 2 and no synopsis. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

struct unit {
	const char *suffix;
	uint64_t factor;
};

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

/* Decimal digits, and nothing before them; *end is what follows. */
static bool number(const char *text, char **end, uint64_t *out)
{
	*end = (char *)text;
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, end, 10);
	return !errno;
}

uint64_t cli_u64(const char *option, const char *text, uint64_t min,
		 uint64_t max)
{
	char *end;
	uint64_t v;

	if (!number(text, &end, &v) || *end || v < min || v > max)
		cli_refuse("%s: '%s' is not a whole number from %ju to %ju",
			   option, text, (uintmax_t)min, (uintmax_t)max);
	return v;
}

uint64_t cli_size(const char *option, const char *text, uint64_t min,
		  uint64_t max)
{
	static const char letters[] = "KMGT";
	const char *letter;
	unsigned shift = 0;
	char *end;
	uint64_t v;

	if (number(text, &end, &v) && *end &&
	    (letter = strchr(letters, *end)) != NULL) {
		shift = 10 * (unsigned)(letter - letters + 1);
		end += strcmp(end + 1, "iB") ? 1 : 3;
	}
	if (end == text || *end || v > UINT64_MAX >> shift ||
	    v << shift < min || v << shift > max)
		cli_refuse("%s: '%s' is not a number from %ju to %ju "
			   "(K, M, G, T: powers of 1024)",
			   option, text, (uintmax_t)min, (uintmax_t)max);
	return v << shift;
}

/* A decimal number with a point, whatever the locale. */
static bool decimal(const char *text, char **end, double *out)
{
	static locale_t plain;

	*end = (char *)text;
	if (!strchr("0123456789.", *text) || !*text)
		return false;
	if (!strncmp(text, "0x", 2) || !strncmp(text, "0X", 2))
		return false;
	if (!plain && !(plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)))
		return false;
	*out = strtod_l(text, end, plain);
	return *end > text && isfinite(*out);
}

double cli_f64(const char *option, const char *text, double min, double max)
{
	char *end;
	double v;

	if (!decimal(text, &end, &v) || *end || v < min || v > max)
		cli_refuse("%s: '%s' is not a number from %g to %g", option,
			   text, min, max);
	return v;
}

uint64_t cli_duration_ns(const char *option, const char *text)
{
	static const struct unit units[] = {
		{"", 1000000000},
		{"ns", 1},
		{"us", 1000},
		{"ms", 1000000},
		{"s", 1000000000},
		{"m", 60 * UINT64_C(1000000000)},
		{"h", 3600 * UINT64_C(1000000000)},
		{"d", 86400 * UINT64_C(1000000000)},
	};
	char *end;
	double v;

	if (decimal(text, &end, &v))
		for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			if (!strcmp(end, units[i].suffix) &&
			    v * (double)units[i].factor < 0x1p63)
				return (uint64_t)(v * (double)units[i].factor +
						  0.5);
	cli_refuse("%s: '%s' is not a duration (100ms, 5s, 1m)", option, text);
}

enum row_format cli_format(const char *text)
{
	int fmt = row_format_of(text);

	if (fmt < 0)
		cli_refuse("--output: '%s' is not text, csv or ndjson", text);
	return (enum row_format)fmt;
}
