/* SPDX-License-Identifier: BSD-2-Clause */
/* dta-plan - size a deployment, from the closed forms of model/plan.h. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "row/row.h"
#include "model/plan.h"
#include "store/table.h"
#include "cli/table.h"

enum {
	CHECKSUM_BITS = 32, /* what the tables hold */
	HOPS_MAX = 8,
	AGES_MAX = 1000,
	REPORTS_MAX = 1000,
	LOADS = 5,
};

/* More than any machine has; its bytes still fit 64 bits. */
#define SLOTS_MAX (UINT64_C(1) << 50)
/* What a double still turns into 64 bits. */
#define FLOWS_MAX (UINT64_C(1) << 63)

struct opts {
	bool postcard, packed, average, dart;
	double load, want; /* below 0: not given */
	uint64_t flows, memory, copies, max_copies, ages; /* 0: not given */
	uint64_t value, bits, values, hops;
	uint64_t reports; /* DART's; 0: not given */
	enum row_format fmt;
};

/* A table of a size: what of it was asked for, and what follows. */
struct size {
	double load;
	uint64_t slots, flows; /* 0: not known */
};

enum field {
	F_PRIMITIVE,
	F_COPIES,
	F_LOAD,
	F_AGE,
	F_SUCCESS,
	F_EMPTY,
	F_WRONG,
	F_WRONG_LOW,
	F_AVERAGE,
	F_BEST,
	F_SLOTS,
	F_SLOT_BYTES,
	F_MEMORY,
	F_FLOWS,
	F_BYTES_PER_FLOW,
	F_USED_SHARE,
	FIELDS,
};

static const struct row_field fields[FIELDS] = {
	[F_PRIMITIVE] = {"primitive", ROW_STR, 0, ROW_TAG},
	[F_COPIES] = {"copies", ROW_U64, 0},
	[F_LOAD] = {"load", ROW_F64, 8},
	[F_AGE] = {"age", ROW_F64, 0, .spare = 1},
	[F_SUCCESS] = {"success", ROW_F64, 8},
	[F_EMPTY] = {"empty", ROW_F64, 11, .spare = 1},
	[F_WRONG] = {"wrong", ROW_F64, 11},
	[F_WRONG_LOW] = {"wrong_low", ROW_F64, 11, .spare = 1},
	[F_AVERAGE] = {"average_success", ROW_F64, 0},
	[F_BEST] = {"best", ROW_BOOL, 5},
	[F_SLOTS] = {"slots", ROW_U64, 10, .spare = 1},
	[F_SLOT_BYTES] = {"slot_bytes", ROW_U64, 0, ROW_VALUE, "bytes",
			  .spare = 1},
	[F_MEMORY] = {"memory_bytes", ROW_U64, 12, ROW_VALUE, "bytes"},
	[F_FLOWS] = {"flows", ROW_U64, 10},
	[F_BYTES_PER_FLOW] = {"bytes_per_flow", ROW_F64, 0, ROW_VALUE, "bytes",
			      .spare = 1},
	[F_USED_SHARE] = {"used_share", ROW_F64, 0, .spare = 1},
};

static const struct schema plans = {"plan", fields, FIELDS};

#define AT(field) CLI_AT(struct opts, field)

static const char *const strides[] = {"pow2", "packed", NULL};

static const struct cli_option options[] = {
	{'l', "load", "A", "keys written per slot", CLI_F64, AT(load),
	 .high = 1e6},
	{'f', "flows", "N", "keys to keep; K, M, G, T: powers of 1000",
	 CLI_SIZE, AT(flows), .min = 1, .max = SLOTS_MAX},
	{'m', "memory", "SIZE", "bytes to keep them in", CLI_BYTES, AT(memory),
	 .min = 1, .max = SLOTS_MAX},
	{'w', "want", "P", "success rate wanted: gives load or memory", CLI_F64,
	 AT(want), .low = 1e-6, .high = 1 - 1e-12},
	{'a', "average", NULL, "want, best: over all keys, not the oldest",
	 CLI_FLAG, AT(average)},
	{'n', "copies", "N", "only this number of copies", CLI_U64, AT(copies),
	 .min = 1, .max = PLAN_COPIES_MAX},
	{0, "max-copies", "N", "rows for 1 to N copies (4)", CLI_U64,
	 AT(max_copies), .min = 1, .max = PLAN_COPIES_MAX},
	{0, "ages", "K", "rows for K ages, the oldest last (1)", CLI_U64,
	 AT(ages), .min = 1, .max = AGES_MAX},
	{'b', "checksum-bits", "B", "bits of a checksum or hop (32)", CLI_U64,
	 AT(bits), .min = 1, .max = 64},
	{'s', "value", "BYTES", "keywrite: length of a value (4)", CLI_U64,
	 AT(value), .min = 1, .max = TABLE_VALUE_MAX, .verbs = "keywrite"},
	{0, "dart", NULL, "keywrite: a report writes one random copy", CLI_FLAG,
	 AT(dart), .verbs = "keywrite"},
	{0, "reports", "R", "dart: how often a key is reported (1)", CLI_U64,
	 AT(reports), .min = 1, .max = REPORTS_MAX, .needs = "--dart"},
	{0, "values", "V", "postcard: values of a hop (262144)", CLI_SIZE,
	 AT(values), .min = 1, .max = UINT32_MAX, .verbs = "postcard"},
	{'B', "hops", "B", "postcard: hops of a chunk (5)", CLI_U64, AT(hops),
	 .min = 1, .max = HOPS_MAX, .verbs = "postcard"},
	{0, "stride", "pow2|packed", "padding of slots (pow2)", CLI_WORD,
	 AT(packed), .words = strides},
	{'o', "output", "FORMAT", "text, csv or ndjson", CLI_FORMAT, AT(fmt)},
	{0},
};

static const struct cli_group groups[] = {
	{"--load --want", .why = "--want finds the load"},
	{0},
};

/* In this order: the second is postcard. */
static const char *const primitives[] = {"keywrite", "postcard", NULL};

static const struct cli program = {
	.name = "dta-plan",
	.summary = "Success and error probability, and memory, of a collector.",
	.usage = "dta-plan keywrite|postcard [--load A | --flows N --memory "
		 "SIZE]\n"
		 "[--want P [--flows N | --memory SIZE]] [--copies N]\n"
		 "[--value BYTES] [--dart [--reports R]] [--values V]\n"
		 "[--hops B] [--checksum-bits B]\n"
		 "[--stride pow2|packed] [--ages K] [-o FORMAT]",
	.options = options,
	.groups = groups,
	.verbs = primitives,
};

/* What makes no sense together, in words. */
static void check(struct opts *o)
{
	if ((o->load >= 0 || o->want >= 0) && o->flows && o->memory)
		cli_usage(&program, "--flows and --memory make the load: give "
				    "one of them, or no --load and --want");
	if (o->load < 0 && o->want < 0 && !o->flows != !o->memory)
		cli_usage(&program, "--%s alone says nothing of the load",
			  o->flows ? "flows" : "memory");
	o->value = o->value ? o->value : 4;
	o->reports = o->reports ? o->reports : 1;
	o->values = o->values ? o->values : 1 << 18;
	o->hops = o->hops ? o->hops : 5;
	if (o->max_copies < o->copies)
		o->max_copies = o->copies;
	if (o->postcard && o->values + 1.0 > exp2((double)o->bits))
		cli_usage(&program,
			  "--values: %ju values and the blank do not "
			  "fit %ju bits",
			  (uintmax_t)o->values, (uintmax_t)o->bits);
}

static struct opts parse(int argc, char **argv)
{
	struct opts o = {.load = -1,
			 .want = -1,
			 .bits = CHECKSUM_BITS,
			 .max_copies = 4,
			 .ages = 1};
	int n = cli_read(&program, &o, argc, argv);
	int primitive = cli_verb(&program, argv[n]);

	if (n + 1 < argc)
		cli_usage(&program, "say keywrite or postcard, once");
	o.postcard = primitive == 1;
	cli_check(&program, &o, primitive);
	check(&o);
	return o;
}

/* Bytes from one slot or chunk to the next: as a collector lays them out. */
static uint64_t slot_bytes(const struct opts *o)
{
	uint64_t sum = (o->bits + 7) / 8, bytes, stride = 4;

	bytes = o->postcard ? sum * o->hops : sum + o->value;
	if (o->packed)
		return (bytes + 3) & ~UINT64_C(3);
	while (stride < bytes)
		stride *= 2;
	return stride;
}

static double pass(const struct opts *o)
{
	if (o->postcard)
		return plan_pass_postcard((double)o->bits, (double)o->values,
					  (unsigned)o->hops);
	return plan_pass_keywrite((double)o->bits);
}

/* The table of a load, or of what was asked for if load is below 0. */
static struct size size_of(const struct opts *o, double load)
{
	struct size s = {.load = load, .flows = o->flows};

	if (o->memory) {
		s.slots = o->memory / slot_bytes(o);
		if (!s.slots)
			cli_usage(&program, "--memory: a slot takes %ju bytes",
				  (uintmax_t)slot_bytes(o));
	}
	if (load < 0) {
		s.load = (double)s.flows / (double)s.slots;
	} else if (s.flows && load > 0) {
		if ((double)s.flows / load > (double)SLOTS_MAX)
			cli_fail("more than 2^50 slots for a load of %g", load);
		s.slots = (uint64_t)ceil((double)s.flows / load);
	} else if (s.slots) {
		if ((double)s.slots * load >= (double)FLOWS_MAX)
			cli_fail("more than 2^63 keys for a load of %g", load);
		s.flows = (uint64_t)((double)s.slots * load);
	}
	return s;
}

/* The load at which so many copies give the wanted success. */
static double load_for(const struct opts *o, unsigned copies)
{
	if (o->dart)
		return plan_random_load_for(copies, (unsigned)o->reports,
					    o->want, o->average);
	return plan_load_for(copies, o->want, pass(o), o->average);
}

/* The number of copies that wants least memory for the wanted success. */
static unsigned best_for_want(const struct opts *o)
{
	unsigned best = 1;
	double most = 0;

	for (unsigned n = 1; n <= o->max_copies; n++) {
		double load = load_for(o, n);

		if (load > most) {
			most = load;
			best = n;
		}
	}
	return best;
}

/* The number of copies with the highest success at a load. */
static unsigned best_at(const struct opts *o, double load)
{
	unsigned r = (unsigned)o->reports, best = 1;
	double most = -1;

	if (!o->dart)
		return plan_best_copies(load, pass(o), (unsigned)o->max_copies,
					o->average);
	for (unsigned n = 1; n <= o->max_copies; n++) {
		double v = o->average ? plan_random_average(n, r, load)
				      : plan_random(n, r, load);

		if (v > most) {
			most = v;
			best = n;
		}
	}
	return best;
}

/* What a key of a load finds. Of wrong answers, DART's form tells nothing. */
static void print_success(struct rows *r, const struct opts *o, unsigned copies,
			  double load)
{
	struct plan p = plan_at(copies, load, pass(o));
	unsigned n = (unsigned)o->reports;

	if (o->dart) {
		row_f64(r, F_SUCCESS, plan_random(copies, n, load));
		row_f64(r, F_EMPTY, plan_random_lost(copies, n, load));
		row_f64(r, F_AVERAGE, plan_random_average(copies, n, load));
		return;
	}
	row_f64(r, F_SUCCESS, p.success);
	row_f64(r, F_EMPTY, p.empty);
	row_f64(r, F_WRONG, p.wrong);
	row_f64(r, F_WRONG_LOW, p.wrong_low);
	row_f64(r, F_AVERAGE, p.average_success);
}

static double used_share(const struct opts *o, unsigned copies, double load)
{
	return o->dart ? plan_random_used(copies, (unsigned)o->reports, load)
		       : plan_used(copies, load);
}

static int print(struct rows *r, const struct opts *o, const struct size *s,
		 unsigned copies, unsigned best)
{
	int rc = 0;

	for (uint64_t k = 1; k <= o->ages && !rc; k++) {
		double age = (double)k / (double)o->ages;

		row_str(r, F_PRIMITIVE, o->postcard ? "postcard" : "keywrite");
		row_u64(r, F_COPIES, copies);
		row_f64(r, F_LOAD, s->load);
		row_f64(r, F_AGE, age);
		print_success(r, o, copies, s->load * age);
		row_bool(r, F_BEST, copies == best);
		row_u64(r, F_SLOT_BYTES, slot_bytes(o));
		if (s->slots) {
			row_u64(r, F_SLOTS, s->slots);
			row_u64(r, F_MEMORY, s->slots * slot_bytes(o));
		}
		if (s->flows)
			row_u64(r, F_FLOWS, s->flows);
		row_f64(r, F_BYTES_PER_FLOW, (double)slot_bytes(o) / s->load);
		row_f64(r, F_USED_SHARE, used_share(o, copies, s->load));
		rc = row_end(r);
	}
	return rc;
}

/* A row for each number of copies. */
static int plan_load(struct rows *r, const struct opts *o, double load)
{
	struct size s = size_of(o, load);
	unsigned best, first = o->copies ? (unsigned)o->copies : 1;
	unsigned last = (unsigned)(o->copies ? o->copies : o->max_copies);
	int rc = 0;

	best = o->want >= 0 ? best_for_want(o) : best_at(o, s.load);
	for (unsigned n = first; n <= last && !rc; n++) {
		if (o->want >= 0)
			s = size_of(o, load_for(o, n));
		rc = print(r, o, &s, n, best);
	}
	return rc;
}

static int plan(struct rows *r, const struct opts *o)
{
	static const double overview[LOADS] = {0.1, 0.25, 0.5, 1, 2};
	int rc = 0;

	if (o->load >= 0 || o->want >= 0 || o->flows)
		return plan_load(r, o, o->load);
	for (unsigned i = 0; i < LOADS && !rc; i++)
		rc = plan_load(r, o, overview[i]);
	return rc;
}

int main(int argc, char **argv)
{
	struct opts o;
	struct rows *r;
	int rc;

	cli_start(&program);
	o = parse(argc, argv);
	r = cli_rows(o.fmt, &plans);
	if (!r)
		cli_fail("%s", strerror(ENOMEM));
	rc = plan(r, &o);
	rows_close(r);
	if (rc)
		cli_fail("standard output: %s", strerror(-rc));
	return CLI_OK;
}
