/* SPDX-License-Identifier: BSD-2-Clause */
#include "range.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* What values an option takes. */
struct kind {
	enum cli_type type;
	double low, high;
};

static bool read_share(double *out, const char *text)
{
	char digits[32];
	size_t n = strlen(text);

	if (n < 2 || n > sizeof(digits) || text[n - 1] != '%')
		return false;
	memcpy(digits, text, n - 1);
	digits[n - 1] = '\0';
	if (!text_f64(out, digits))
		return false;
	*out /= 100;
	return true;
}

static bool read_one(double *out, const char *text, const struct kind *k)
{
	uint64_t whole;

	if (k->type == CLI_F64)
		return text_f64(out, text) ||
		       (k->high <= 1 && read_share(out, text));
	if (k->type == CLI_SIZE ? text_size(&whole, text) < 0
				: !text_u64(&whole, text, UINT64_C(1) << 53))
		return false;
	*out = (double)whole;
	return true;
}

static bool add(struct range *r, double v, const struct kind *k)
{
	if (r->n == RANGE_MAX || v < k->low || v > k->high)
		return false;
	r->value[r->n++] = v;
	return true;
}

/* "from:to:step"; step NULL: 1. As 0.3 is written, not as 0.1 adds up. */
static bool add_range(struct range *r, const char *from, const char *to,
		      const char *step, const struct kind *k)
{
	double a, b, by = 1, v;
	char text[32];

	if (!read_one(&a, from, k) || !read_one(&b, to, k) ||
	    (step ? !read_one(&by, step, k) : k->type == CLI_F64) || by <= 0 ||
	    b < a)
		return false;
	for (unsigned i = 0; (v = a + i * by) <= b + by * 1e-9; i++) {
		snprintf(text, sizeof(text), "%.12g", v);
		if (k->type == CLI_F64 && !text_f64(&v, text))
			return false;
		if (!add(r, v > b ? b : v, k))
			return false;
	}
	return true;
}

/* "1125T" where digits are too many to read. */
static void put_bound(char text[32], double v, enum cli_type type)
{
	if (type != CLI_F64 && v >= 1e13)
		snprintf(text, 32, "%.0fT", floor(v / 1e12));
	else
		snprintf(text, 32, "%.12g", v);
}

/* 99 where a share is asked for. */
static bool is_percent(const char *text, const struct kind *k)
{
	double v;

	return k->type == CLI_F64 && k->high <= 1 && text_f64(&v, text) &&
	       v > 1 && v <= 100;
}

int range_read(struct range *r, const char *text, enum cli_type type,
	       double low, double high, struct fault *why)
{
	const struct kind k = {type, low, high};
	char copy[128], *rest = copy, *from, *to, *step, least[32], most[32];
	double v;

	snprintf(copy, sizeof(copy), "%s", text);
	from = strsep(&rest, ":");
	to = strsep(&rest, ":");
	step = strsep(&rest, ":");
	r->n = 0;
	if (strlen(text) < sizeof(copy) && !rest &&
	    (to ? add_range(r, from, to, step, &k)
		: read_one(&v, from, &k) && add(r, v, &k)))
		return 0;
	r->n = 0;
	put_bound(least, low, type);
	put_bound(most, high, type);
	if (!to && is_percent(text, &k))
		return fault_set(why, -EINVAL,
				 "is not from %s to %s: do you mean %s%%?",
				 least, most, text);
	return fault_set(why, -EINVAL,
			 "is not a %s from %s to %s%s, or a range of %d at "
			 "most (from:to:step)",
			 type == CLI_U64 ? "whole number" : "number", least,
			 most,
			 type == CLI_SIZE ? " (K, M, G, T: powers of 1000; "
					    "Ki, Mi...: of 1024)"
			 : high <= 1	  ? " (0.99 is 99%)"
					  : "",
			 RANGE_MAX);
}
