/* SPDX-License-Identifier: BSD-2-Clause */
/* value.c - values of options, from text to where they are stored. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guess.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/option.h"

static int read_number(const char *text, uint64_t min, uint64_t max,
		       uint64_t *out, struct fault *why)
{
	if (!text_u64(out, text, max) || *out < min)
		return fault_set(why, -EINVAL,
				 "is not a whole number from %ju to %ju",
				 (uintmax_t)min, (uintmax_t)max);
	return 0;
}

static int read_size(const char *text, uint64_t min, uint64_t max,
		     uint64_t *out, struct fault *why)
{
	if (text_size(out, text) < 0 || *out < min || *out > max)
		return fault_set(why, -EINVAL,
				 "is not a number from %ju to %ju (K, M, G, T: "
				 "powers of 1000; Ki, Mi...: of 1024)",
				 (uintmax_t)min, (uintmax_t)max);
	return 0;
}

/* "99%" without its sign, in room; NULL if there is none. */
static const char *percent(const char *text, char room[32])
{
	size_t n = strlen(text);

	if (n < 2 || n > 31 || text[n - 1] != '%')
		return NULL;
	memcpy(room, text, n - 1);
	room[n - 1] = '\0';
	return room;
}

/* 99% is 0.99, where 1 is all there is. */
static bool read_share(const char *text, double high, double *out)
{
	char room[32];

	if (high > 1 || !(text = percent(text, room)) || !text_f64(out, text))
		return false;
	*out /= 100;
	return true;
}

static int read_f64(const char *text, double low, double high, double *out,
		    struct fault *why)
{
	if ((!text_f64(out, text) && !read_share(text, high, out)) ||
	    *out < low || *out > high) {
		if (high <= 1 && text_f64(out, text) && *out > 1 && *out <= 100)
			return fault_set(why, -EINVAL,
					 "is not from %.12g to %.12g: do you "
					 "mean %s%%?",
					 low, high, text);
		return fault_set(why, -EINVAL,
				 "is not a number from %.12g to %.12g", low,
				 high);
	}
	return 0;
}

static int read_time(const char *text, uint64_t min, uint64_t max,
		     uint64_t *out, struct fault *why)
{
	if (!text_duration_ns(out, text))
		return fault_set(why, -EINVAL,
				 "is not a duration (100ms, 5s, 1m)");
	if (*out < min)
		return fault_set(why, -EINVAL, "is no time at all");
	if (*out > max)
		return fault_set(why, -EINVAL, "is above %gs",
				 (double)max / 1e9);
	return 0;
}

/* "is not a, b or c" */
static int no_such_word(const struct cli_option *o, const char *word,
			struct fault *why)
{
	struct guess g = {.word = word};
	char text[256] = "is not ";
	size_t n = strlen(text);

	for (unsigned i = 0; o->words[i] && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
				      !i		? ""
				      : o->words[i + 1] ? ", "
							: " or ",
				      o->words[i]);
	return fault_set(why, -EINVAL, "%s%s", text, guess_words(&g, o->words));
}

static int read_word(const struct cli_option *o, const char *text,
		     uint64_t *out, struct fault *why)
{
	unsigned i = 0;

	while (o->words[i] && strcmp(text, o->words[i]) != 0)
		i++;
	*out = o->min + i;
	return o->words[i] ? 0 : no_such_word(o, text, why);
}

static int read_flag(const struct cli_option *o, const char *text,
		     uint64_t *out, struct fault *why)
{
	*out = strcmp(text, "yes") ? 0 : o->min ? o->min : 1;
	if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
		return fault_set(why, -EINVAL, "is not yes or no");
	return 0;
}

static int read_format(const char *text, uint64_t *out, struct fault *why)
{
	int format = row_format_of(text);

	if (format < 0)
		return fault_set(why, -EINVAL, "is not text, csv or ndjson");
	*out = (uint64_t)format;
	return 0;
}

/* The largest whole number an option may be. */
static uint64_t limit(const struct cli_option *o)
{
	return o->max ? o->max : UINT64_MAX >> (64 - 8 * o->width);
}

/* Those that are stored as a whole number. */
static int read_whole(const struct cli_option *o, const char *text, uint64_t *v,
		      struct fault *why)
{
	char room[32];

	switch (o->type) {
	case CLI_FLAG:
		return read_flag(o, text, v, why);
	case CLI_U64:
		if (o->arg && !strcmp(o->arg, "PERCENT") && percent(text, room))
			text = room;
		return read_number(text, o->min, limit(o), v, why);
	case CLI_SIZE:
		return read_size(text, o->min, limit(o), v, why);
	case CLI_TIME:
		return read_time(text, o->min, limit(o), v, why);
	case CLI_WORD:
		return read_word(o, text, v, why);
	default:
		return read_format(text, v, why);
	}
}

/* Whole numbers of any width; the machine is little-endian (STYLE.md). */
static void store(const struct cli_option *o, void *opts, const void *value)
{
	memcpy((char *)opts + o->at, value, o->width);
}

int cli_set(const struct cli_option *o, void *opts, const char *text,
	    struct fault *why)
{
	uint64_t v = 0;
	double f;
	int rc;

	if (o->type == CLI_FORMAT && o->read && row_format_of(text) < 0)
		return o->read(opts, text, why);
	switch (o->type) {
	case CLI_CALL:
		return o->read(opts, text, why);
	case CLI_STR:
	case CLI_IN:
	case CLI_OUT:
		if (!*text)
			return fault_set(why, -EINVAL, "is empty");
		store(o, opts, &text);
		return 0;
	case CLI_F64:
		rc = read_f64(text, o->low, o->high, &f, why);
		if (!rc)
			store(o, opts, &f);
		return rc;
	default:
		rc = read_whole(o, text, &v, why);
		if (!rc)
			store(o, opts, &v);
		return rc;
	}
}

void cli_unset(const struct cli_option *o, void *opts)
{
	if (o->type == CLI_CALL)
		o->read(opts, NULL, NULL);
	else
		memset((char *)opts + o->at, 0, o->width);
}

uint64_t cli_u64(const char *what, const char *text, uint64_t min, uint64_t max)
{
	struct fault why;
	uint64_t v = 0;

	if (read_number(text, min, max, &v, &why) < 0)
		cli_refuse("%s: '%s' %s", what, text, why.text);
	return v;
}
