/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "hash/family.h"
#include "model/model.h"
#include "region/table.h"

enum {
	CHECKSUM_BITS = 32, /* what the tables hold */
	HOPS_MAX = 8,
	REPORTS_MAX = 1000,
	CORES_MAX = 1024,
};

#define NS_MAX 1e9

#define AT(field) CLI_AT(struct opts, field)

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

static bool add_value(struct range *r, double v, const struct kind *k)
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
		if (!add_value(r, v > b ? b : v, k))
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

/* Reads one. type: CLI_F64, CLI_U64 or CLI_SIZE; whole numbers up to 2^53. */
static int range_read(struct range *r, const char *text, enum cli_type type,
		      double low, double high, struct error *why)
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
		: read_one(&v, from, &k) && add_value(r, v, &k)))
		return 0;
	r->n = 0;
	put_bound(least, low, type);
	put_bound(most, high, type);
	if (!to && is_percent(text, &k))
		return error_set(why, -EINVAL,
				 "is not from %s to %s: do you mean %s%%?",
				 least, most, text);
	return error_set(why, -EINVAL,
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

/* Options that may be ranges, and what values they take. */
static const struct {
	const char *name;
	enum cli_type type;
	double low, high;
} dims[DIMS] = {
	[DIM_VALUE] = {"value", CLI_U64, 1, TABLE_VALUE_MAX},
	[DIM_BITS] = {"checksum-bits", CLI_U64, 1, 64},
	[DIM_FLOWS] = {"flows", CLI_SIZE, 1, (double)SLOTS_MAX},
	[DIM_MEMORY] = {"memory", CLI_SIZE, 1, (double)SLOTS_MAX},
	[DIM_WANT] = {"want", CLI_F64, 1e-6, 1 - 1e-12},
	[DIM_LOAD] = {"load", CLI_F64, 0, 1e6},
	[DIM_COPIES] = {"copies", CLI_U64, 1, HASH_COPIES},
	[DIM_CORES] = {"cores", CLI_U64, 1, CORES_MAX},
};

static void read_ranges(struct opts *o)
{
	struct error why;

	for (unsigned d = 0; d < DIMS; d++)
		if (o->text[d] &&
		    range_read(&o->range[d], o->text[d], dims[d].type,
			       dims[d].low, dims[d].high, &why) < 0)
			cli_refuse("--%s: '%s' %s", dims[d].name, o->text[d],
				   why.text);
}

static const char tables[] = "keywrite postcard";

static const char *const strides[] = {"pow2", "packed", NULL};

static const struct cli_option options[] = {
	{'l', "load", "A", "keys written per slot; a range: 0.1:2:0.1", CLI_STR,
	 AT(text[DIM_LOAD]), .verbs = tables},
	{'f', "flows", "N", "keys to keep; K is 1000, Ki is 1024, and so on",
	 CLI_STR, AT(text[DIM_FLOWS]), .verbs = tables},
	{'m', "memory", "SIZE", "bytes to keep them in", CLI_STR,
	 AT(text[DIM_MEMORY]), .verbs = tables},
	{'w', "want", "P", "success rate wanted: gives load or memory", CLI_STR,
	 AT(text[DIM_WANT]), .verbs = tables},
	{'a', "average", NULL, "want, best: over all keys, not the oldest",
	 CLI_FLAG, AT(average), .verbs = tables},
	{'n', "copies", "N", "only this number of copies; a range: 1:3",
	 CLI_STR, AT(text[DIM_COPIES]), .verbs = tables},
	{'b', "checksum-bits", "B", "bits of a checksum or hop (32)", CLI_STR,
	 AT(text[DIM_BITS]), .verbs = tables},
	{'s', "value", "BYTES", "keywrite: length of a value (4)", CLI_STR,
	 AT(text[DIM_VALUE]), .verbs = "keywrite"},
	{0, "dart", "R",
	 "keywrite: R reports of a key, each of which writes one random copy",
	 CLI_U64, AT(reports), .min = 1, .max = REPORTS_MAX,
	 .verbs = "keywrite"},
	{0, "values", "V", "postcard: values of a hop (262144)", CLI_SIZE,
	 AT(values), .min = 1, .max = UINT32_MAX, .verbs = "postcard"},
	{'B', "hops", "B", "postcard: hops of a chunk (5)", CLI_U64, AT(hops),
	 .min = 1, .max = HOPS_MAX, .verbs = "postcard"},
	{0, "stride", "pow2|packed", "padding of slots (pow2)", CLI_WORD,
	 AT(packed), .words = strides, .verbs = tables},
	{'j', "cores", "N", "cores: of so many; a range: 1:64", CLI_STR,
	 AT(text[DIM_CORES]), .verbs = "cores"},
	{0, "alone", "NS", "cores: a report takes one core so many ns", CLI_F64,
	 AT(alone_ns), .low = 0.01, .high = NS_MAX, .verbs = "cores",
	 .needs = "--work --receive"},
	{0, "work", "NS", "cores: each of several, to decode and send", CLI_F64,
	 AT(work_ns), .low = 0.01, .high = NS_MAX, .verbs = "cores",
	 .needs = "--alone"},
	{0, "receive", "NS", "cores: and its owner, to take and store", CLI_F64,
	 AT(receive_ns), .low = 0.01, .high = NS_MAX, .verbs = "cores",
	 .needs = "--alone"},
	{0, "bandwidth", "BYTES", "cores: that memory moves a second (any)",
	 CLI_SIZE, AT(bandwidth), .min = 1, .max = UINT64_C(1) << 50,
	 .verbs = "cores"},
	{'o', "output", "FORMAT", "text, csv or ndjson", CLI_FORMAT, AT(fmt)},
	{0},
};

static const struct cli_group groups[] = {
	{"--load --want", .why = "--want finds the load"},
	{0},
};

enum verb {
	KEYWRITE,
	POSTCARD,
	CORES,
};

static const char *const verbs[] = {
	[KEYWRITE] = "keywrite",
	[POSTCARD] = "postcard",
	[CORES] = "cores",
	NULL,
};

const struct cli program = {
	.name = "dta-plan",
	.summary = "Success and error probability, and memory, of a collector.",
	.usage = "dta-plan keywrite|postcard [--load A | --flows N --memory "
		 "SIZE]\n"
		 "[--want P [--flows N | --memory SIZE]] [--copies N]\n"
		 "[--value BYTES] [--dart R] [--values V]\n"
		 "[--hops B] [--checksum-bits B]\n"
		 "[--stride pow2|packed] [-o FORMAT]\n"
		 "dta-plan cores [--cores N] [--alone NS --work NS\n"
		 "--receive NS] [--bandwidth BYTES]",
	.options = options,
	.groups = groups,
	.verbs = verbs,
};

/* What makes no sense together, in words. */
static void check_options(struct opts *o)
{
	const struct range *r = o->range, *bits = &r[DIM_BITS];
	double least = bits->n ? bits->value[0] : CHECKSUM_BITS;
	bool load = r[DIM_LOAD].n || r[DIM_WANT].n;

	if (load && r[DIM_FLOWS].n && r[DIM_MEMORY].n)
		cli_usage(&program, "--flows and --memory together say what "
				    "the load is: leave out one of them, or "
				    "--load and --want");
	if (!load && !r[DIM_FLOWS].n != !r[DIM_MEMORY].n)
		cli_usage(&program,
			  "--%s alone says nothing of the load: add --%s, "
			  "--load or --want",
			  r[DIM_FLOWS].n ? "flows" : "memory",
			  r[DIM_FLOWS].n ? "memory" : "flows");
	if (!load && !r[DIM_FLOWS].n)
		o->range[DIM_LOAD] = (struct range){5, {0.1, 0.25, 0.5, 1, 2}};
	o->values = o->values ? o->values : 1 << 18;
	o->hops = o->hops ? o->hops : 5;
	if (o->postcard && (double)o->values + 1.0 > exp2(least))
		cli_usage(&program,
			  "--values: %ju values and the blank do not "
			  "fit %.0f bits",
			  (uintmax_t)o->values, least);
}

struct opts options_read(int argc, char **argv)
{
	struct opts o = {.at = {[DIM_LOAD] = -1,
				[DIM_WANT] = -1,
				[DIM_VALUE] = 4,
				[DIM_BITS] = CHECKSUM_BITS}};
	int n = cli_read(&program, &o, argc, argv);
	int verb = cli_verb(&program, argv[n]);

	read_ranges(&o);
	if (n + 1 < argc)
		cli_usage(&program, "say keywrite, postcard or cores, once");
	o.postcard = verb == POSTCARD;
	o.team = verb == CORES;
	cli_check(&program, &o, verb);
	check_options(&o);
	return o;
}
