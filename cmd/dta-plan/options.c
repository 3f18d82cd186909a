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
	CHECKSUM_BITS = 32, /* as in a collector's tables */
	HOPS_MAX = 8,
	REPORTS_MAX = 1000,
	CORES_MAX = 1024,
};

#define NS_MAX 1e9

#define AT(field) CLI_AT(struct opts, field)

/* The names of options that may be ranges, their types and limits. */
static const struct dim_values {
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

/* Reads one value, checked as cli_option checks it. */
static int read_value(double *out, const char *text, const struct dim_values *d,
		      struct error *why)
{
	union {
		uint64_t whole;
		double real;
	} v = {0};
	const struct cli_option o = {.type = d->type,
				     .width = sizeof(v),
				     .min = (uint64_t)d->low,
				     .max = (uint64_t)d->high,
				     .low = d->low,
				     .high = d->high};
	int rc = cli_set(&o, &v, text, why);

	*out = d->type == CLI_F64 ? v.real : (double)v.whole;
	return rc;
}

static int read_range(struct range *r, const char *text,
		      const struct dim_values *d, struct error *why)
{
	char copy[128], *rest = copy, *from, *to, *step, digits[32];
	double low, high, by = 1, v;

	snprintf(copy, sizeof(copy), "%s", text);
	from = strsep(&rest, ":");
	to = strsep(&rest, ":");
	step = strsep(&rest, ":");
	r->n = !to;
	if (!to)
		return read_value(&r->value[0], text, d, why);
	if (read_value(&low, from, d, why) < 0 ||
	    read_value(&high, to, d, why) < 0 ||
	    (step && read_value(&by, step, d, why) < 0))
		return -EINVAL;
	if (!rest && by > 0 && high >= low && (step || d->type != CLI_F64) &&
	    (high - low) / by + 1e-9 < RANGE_MAX) {
		while ((v = low + r->n * by) <= high + by * 1e-9) {
			/* Rounded: 0.3, not the 0.30000000000000004 of sums */
			snprintf(digits, sizeof(digits), "%.12g", v);
			if (d->type == CLI_F64)
				text_f64(&v, digits);
			r->value[r->n++] = v > high ? high : v;
		}
		return 0;
	}
	return error_set(why, -EINVAL,
			 "is not a range, from:to:step, of %d values at most",
			 RANGE_MAX);
}

static const char tables[] = "keywrite postcard",
		  plans[] = "keywrite postcard fleet",
		  keywrites[] = "keywrite fleet";

static const char *const strides[] = {"pow2", "packed", NULL};

static const struct cli_option options[] = {
	{'l', "load", "A", "keys written per slot; a range: 0.1:2:0.1", CLI_STR,
	 AT(text[DIM_LOAD]), .verbs = tables},
	{0, "flows", "N", "keys to keep; K is 1000, Ki is 1024, and so on",
	 CLI_STR, AT(text[DIM_FLOWS]), .verbs = plans, .was = "-f"},
	{'m', "memory", "SIZE",
	 "bytes of the table; of a collector (fleet: 64Gi)", CLI_STR,
	 AT(text[DIM_MEMORY]), .verbs = plans},
	{'w', "want", "P",
	 "success rate wanted: gives load or memory (fleet: 99%)", CLI_STR,
	 AT(text[DIM_WANT]), .verbs = plans},
	{'a', "average", NULL,
	 "success is the mean of all keys, not the oldest's", CLI_FLAG,
	 AT(average), .verbs = plans},
	{'n', "copies", "N", "only this number of copies; a range: 1:3",
	 CLI_STR, AT(text[DIM_COPIES]), .verbs = plans},
	{'b', "checksum-bits", "B", "bits of a checksum or hop (32)", CLI_STR,
	 AT(text[DIM_BITS]), .verbs = plans},
	{'s', "value", "BYTES", "keywrite: length of a value (4)", CLI_STR,
	 AT(text[DIM_VALUE]), .verbs = keywrites},
	{0, "dart", "R",
	 "keywrite: R reports of a key, each of which writes one random copy",
	 CLI_U64, AT(reports), .min = 1, .max = REPORTS_MAX,
	 .verbs = keywrites},
	{0, "values", "V", "postcard: number of values of a hop (262144)",
	 CLI_SIZE, AT(values), .min = 1, .max = UINT32_MAX,
	 .verbs = "postcard"},
	{'B', "hops", "B", "postcard: hops of a chunk (5)", CLI_U64, AT(hops),
	 .min = 1, .max = HOPS_MAX, .verbs = "postcard"},
	{0, "stride", "pow2|packed", "padding of slots (pow2)", CLI_WORD,
	 AT(packed), .words = strides, .verbs = plans},
	{0, "layout", NULL,
	 "no row: the layout of one plan, for dta-collect --create -l -",
	 CLI_FLAG, AT(layout), .verbs = tables},
	{0, "svg", "FILE", "draw success over bytes a key", CLI_OUT, AT(svg),
	 .verbs = tables, .rare = true},
	{'j', "cores", "N", "cores: how many cores; a range: 1:64", CLI_STR,
	 AT(text[DIM_CORES]), .verbs = "cores"},
	{0, "alone", "NS", "cores: ns for a report, with one core", CLI_F64,
	 AT(alone_ns), .low = 0.01, .high = NS_MAX, .verbs = "cores",
	 .needs = "--work --receive"},
	{0, "work", "NS", "cores: ns to decode and send it, with several",
	 CLI_F64, AT(work_ns), .low = 0.01, .high = NS_MAX, .verbs = "cores",
	 .needs = "--alone"},
	{0, "receive", "NS", "cores: ns for its owner to take and store it",
	 CLI_F64, AT(receive_ns), .low = 0.01, .high = NS_MAX, .verbs = "cores",
	 .needs = "--alone"},
	{0, "bandwidth", "BYTES", "cores: of memory, bytes a second (no bound)",
	 CLI_SIZE, AT(bandwidth), .min = 1, .max = UINT64_C(1) << 50,
	 .verbs = "cores", .rare = true},
	{0, "switches", "N", "fleet: how many switches report", CLI_SIZE,
	 AT(switches), .min = 1, .max = UINT32_MAX, .verbs = "fleet",
	 .needs = "--rate --flows|--history"},
	{0, "arity", "K", "fleet: all switches of a K-ary fat tree", CLI_U64,
	 AT(arity), .min = 2, .max = 1000, .verbs = "fleet",
	 .needs = "--rate --flows|--history"},
	{0, "rate", "R", "fleet: reports a second of a switch", CLI_SIZE,
	 AT(rate), .min = 1, .max = UINT32_MAX, .verbs = "fleet",
	 .needs = "--switches|--arity"},
	{0, "history", "TIME", "fleet: what keys are to be found for", CLI_TIME,
	 AT(history_ns), .min = 1, .verbs = "fleet"},
	{0, "messages", "R", "fleet: RDMA writes a second of a NIC (100M)",
	 CLI_SIZE, AT(messages), .min = 1, .max = UINT64_C(1) << 50,
	 .verbs = "fleet", .rare = true},
	{0, "mirror", NULL, "fleet: the next collector has a key, too",
	 CLI_FLAG, AT(mirror), .verbs = "fleet", .rare = true},
	{'o', "output", "FORMAT", "text, csv or ndjson", CLI_FORMAT, AT(fmt)},
	{0},
};

static const struct cli_group groups[] = {
	{"--switches --arity"},
	{"--flows --history"},
	{"--load --want", .why = "--want finds the load"},
	{"--layout --svg"},
	{"--layout --output", .why = "a layout is one for dta-collect"},
	{0},
};

enum verb { KEYWRITE, POSTCARD, CORES, FLEET };

static const char *const verbs[] = {
	[KEYWRITE] = "keywrite",
	[POSTCARD] = "postcard",
	[CORES] = "cores",
	[FLEET] = "fleet",
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
		 "[--stride pow2|packed] [-o FORMAT | --layout]\n"
		 "dta-plan cores [--cores N] [--alone NS --work NS\n"
		 "--receive NS] [--bandwidth BYTES]\n"
		 "dta-plan fleet --switches N|--arity K --rate R --history T\n"
		 "[--want P] [--value BYTES] [--memory SIZE] [--mirror]",
	.options = options,
	.groups = groups,
	.verbs = verbs,
};

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
	for (int d = 0; d < DIMS && o->layout; d++)
		if (r[d].n > 1)
			cli_usage(&program,
				  "--layout: --%s is a range: a "
				  "layout is of one plan",
				  dims[d].name);
	if (o->layout && !r[DIM_FLOWS].n && !r[DIM_MEMORY].n)
		cli_usage(&program, "--layout: how many slots? add --flows or "
				    "--memory");
	if (o->layout && least != CHECKSUM_BITS)
		cli_usage(&program,
			  "--layout: checksums of tables have %d bits",
			  CHECKSUM_BITS);
	o->values = o->values ? o->values : 1 << 18;
	o->hops = o->hops ? o->hops : 5;
	if (o->postcard && (double)o->values + 1.0 > exp2(least))
		cli_usage(&program,
			  "--values: %ju values and the blank do not "
			  "fit %.0f bits",
			  (uintmax_t)o->values, least);
}

static void check_fleet(struct opts *o)
{
	if (!o->switches && !o->arity)
		cli_usage(&program, "fleet: how many switches? add --switches "
				    "or --arity");
	if (o->arity % 2)
		cli_usage(&program, "--arity: a fat tree's K is even");
	if (o->at[DIM_WANT] < 0)
		o->at[DIM_WANT] = 0.99;
	if (!(uint64_t)o->at[DIM_MEMORY])
		o->at[DIM_MEMORY] = 0x1p36;
}

struct opts options_read(int argc, char **argv)
{
	struct opts o = {.messages = 100000000,
			 .at = {[DIM_LOAD] = -1,
				[DIM_WANT] = -1,
				[DIM_VALUE] = 4,
				[DIM_BITS] = CHECKSUM_BITS}};
	int n = cli_read(&program, &o, argc, argv);
	struct error why;
	int verb;

	if (argv[n] && !strcmp(argv[n], "keyinc"))
		cli_refuse("keyinc: plan keywrite for it: its 1 - success is "
			   "the share of counts that are too high; by how "
			   "much depends on what is counted: dta-query verify");
	verb = cli_verb(&program, argv[n]);
	for (unsigned d = 0; d < DIMS; d++)
		if (o.text[d] &&
		    read_range(&o.range[d], o.text[d], &dims[d], &why) < 0)
			cli_refuse("--%s: '%s' %s", dims[d].name, o.text[d],
				   why.text);
	if (n + 1 < argc)
		cli_usage(&program, "say keywrite, postcard, cores or "
				    "fleet, once");
	o.postcard = verb == POSTCARD;
	o.cores = verb == CORES;
	o.fleet = verb == FLEET;
	cli_check(&program, &o, verb);
	if (o.fleet)
		check_fleet(&o);
	else
		check_options(&o);
	return o;
}
