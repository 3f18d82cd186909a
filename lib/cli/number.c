/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of options: whole, in range, or refused by name. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static void refuse(const char *option, const char *text, const char *why)
	__attribute__((noreturn));

static void refuse(const char *option, const char *text, const char *why)
{
	cli_warn("%s: '%s' is %s", option, text, why);
	exit(CLI_USAGE);
}

static uint64_t in_range(const char *option, const char *text, uint64_t v,
			 uint64_t min, uint64_t max)
{
	if (v >= min && v <= max)
		return v;
	if (max == UINT64_MAX)
		cli_warn("%s: '%s' is below %llu", option, text,
			 (unsigned long long)min);
	else
		cli_warn("%s: '%s' is not between %llu and %llu", option, text,
			 (unsigned long long)min, (unsigned long long)max);
	exit(CLI_USAGE);
}

/* Digits (or 0x and hexadecimal ones) up to *end. */
static uint64_t digits(const char *option, const char *text, char **end)
{
	unsigned long long v;
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');

	if (!isdigit((unsigned char)text[0]))
		refuse(option, text, "not a number");
	errno = 0;
	v = strtoull(text, end, hex ? 16 : 10);
	if (errno || (hex && *end == text + 1))
		refuse(option, text, errno ? "too large" : "not a number");
	return v;
}

uint64_t cli_u64(const char *option, const char *text, uint64_t min,
		 uint64_t max)
{
	char *end;
	uint64_t v = digits(option, text, &end);

	if (*end)
		refuse(option, text, "not a number");
	return in_range(option, text, v, min, max);
}

uint64_t cli_size(const char *option, const char *text, uint64_t min,
		  uint64_t max)
{
	static const char units[] = "KMGT";
	char *end;
	uint64_t v = digits(option, text, &end);

	if (*end) {
		const char *u = strchr(units, toupper((unsigned char)*end));
		unsigned shift = u ? 10u * (unsigned)(u - units + 1) : 0;

		if (!u || end[1])
			refuse(option, text,
			       "not a size: digits, then K, M, G or T");
		if (v << shift >> shift != v)
			refuse(option, text, "too large");
		v <<= shift;
	}
	return in_range(option, text, v, min, max);
}

double cli_f64(const char *option, const char *text, double min, double max)
{
	char *end;
	double v;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		refuse(option, text, "not a number");
	v = strtod(text, &end);
	if (*end || !isfinite(v))
		refuse(option, text, "not a number");
	if (v < min || v > max) {
		cli_warn("%s: '%s' is not between %g and %g", option, text, min,
			 max);
		exit(CLI_USAGE);
	}
	return v;
}

uint64_t cli_duration_ns(const char *option, const char *text)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} unit[] = {
		{ "", 1000000000 },  { "s", 1000000000 },
		{ "ns", 1 },	     { "us", 1000 },
		{ "ms", 1000000 },   { "m", 60000000000 },
		{ "h", 3600000000000 },
	};
	char *end;
	uint64_t v = digits(option, text, &end), ns;

	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
		if (strcmp(end, unit[i].name) != 0)
			continue;
		if (__builtin_mul_overflow(v, unit[i].ns, &ns))
			refuse(option, text, "too long");
		return ns;
	}
	refuse(option, text, "not a time: a number, then ns, us, ms, s, m or h");
}

enum row_format cli_format(const char *text)
{
	int f = row_format_of(text);

	if (f < 0)
		refuse("--output", text, "not text, csv or ndjson");
	return (enum row_format)f;
}
