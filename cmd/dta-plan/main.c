/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta-plan - size a deployment, from the closed forms of model/model.h: a row
 * for each plan.
 */
#include <math.h>

#include "cli/svg.h"
#include "cli/table.h"
#include "hash/family.h"
#include "model/model.h"
#include "options.h"
#include "row/row.h"

enum field {
	F_PRIMITIVE,
	F_COPIES,
	F_LOAD,
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
	[F_SUCCESS] = {"success", ROW_F64, 8, ROW_VALUE, "ratio"},
	[F_EMPTY] = {"empty", ROW_F64, 11, ROW_VALUE, "ratio", .spare = 1},
	[F_WRONG] = {"wrong", ROW_F64, 11, ROW_VALUE, "ratio", .spare = 1},
	[F_WRONG_LOW] = {"wrong_low", ROW_F64, 11, ROW_VALUE, "ratio",
			 .spare = 1},
	[F_AVERAGE] = {"average_success", ROW_F64, 0, ROW_VALUE, "ratio",
		       .spare = 1},
	[F_BEST] = {"best", ROW_BOOL, 5},
	[F_SLOTS] = {"slots", ROW_U64, 10},
	[F_SLOT_BYTES] = {"slot_bytes", ROW_U64, 0, ROW_VALUE, "bytes",
			  .spare = 1},
	[F_MEMORY] = {"memory_bytes", ROW_U64, 12, ROW_VALUE, "bytes"},
	[F_FLOWS] = {"flows", ROW_U64, 10},
	[F_BYTES_PER_FLOW] = {"bytes_per_flow", ROW_F64, 0, ROW_VALUE, "bytes",
			      .spare = 1},
	[F_USED_SHARE] = {"used_share", ROW_F64, 0, ROW_VALUE, "ratio",
			  .spare = 1},
};

static const struct schema plans = {"plan", fields, FIELDS};

/* Doubles below this convert to 64 bits. */
#define FLOWS_MAX (UINT64_C(1) << 63)

/* The size of a table, as options give or imply it. */
struct size {
	double load;
	uint64_t slots, flows; /* 0: not known */
};

uint64_t slot_stride(const struct opts *o)
{
	uint64_t sum = ((uint64_t)o->at[DIM_BITS] + 7) / 8, bytes, stride = 4;

	bytes = o->postcard ? sum * o->hops : sum + (uint64_t)o->at[DIM_VALUE];
	if (o->packed)
		return (bytes + 3) & ~UINT64_C(3);
	while (stride < bytes)
		stride *= 2;
	return stride;
}

/* The chance that a foreign slot, or chunk, passes for the key's own. */
static double pass_chance(const struct opts *o)
{
	if (o->postcard)
		return plan_pass_postcard(o->at[DIM_BITS], (double)o->values,
					  (unsigned)o->hops);
	return plan_pass_keywrite(o->at[DIM_BITS]);
}

/* The table for a load; below 0: for the load of --flows and --memory. Exits if
 * it would be too large. */
static struct size size_for(const struct opts *o, double load)
{
	struct size s = {.load = load, .flows = (uint64_t)o->at[DIM_FLOWS]};

	if ((uint64_t)o->at[DIM_MEMORY]) {
		s.slots = (uint64_t)o->at[DIM_MEMORY] / slot_stride(o);
		if (!s.slots)
			cli_usage(&program, "--memory: a slot takes %ju bytes",
				  (uintmax_t)slot_stride(o));
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

/* The number of copies that needs the least memory for the success wanted, or
 * without that has the highest success at the load. */
static unsigned best_copies(const struct opts *o, double load)
{
	double most = -1, want = o->at[DIM_WANT], v;
	unsigned best = 1;

	for (unsigned n = 1; n <= HASH_COPIES; n++) {
		const struct plan_config p = {n, (unsigned)o->reports,
					      pass_chance(o), o->average};

		v = want >= 0 ? plan_largest_load(&p, want)
			      : plan_success(&p, load);
		if (v > most) {
			most = v;
			best = n;
		}
	}
	return best;
}

/* Sets the fields of success and failure. DART's form has no wrong answers. */
static void print_success(struct rows *r, const struct opts *o, unsigned copies,
			  double load)
{
	struct plan p = plan_at(copies, load, pass_chance(o));
	unsigned n = (unsigned)o->reports;

	if (o->reports) {
		row_f64(r, F_SUCCESS, plan_random_success(copies, n, load));
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

static void print_layout(const struct opts *o, const struct size *s,
			 unsigned copies)
{
	printf("; dta-plan: for %ju keys, a load of %.4g\n[%s]\nkind = %s\n"
	       "key = flow4\n",
	       (uintmax_t)s->flows, s->load, o->postcard ? "paths" : "flows",
	       o->postcard ? "postcard" : "keywrite");
	if (o->postcard)
		printf("hops = %ju\nvalues = 1-%ju\n", (uintmax_t)o->hops,
		       (uintmax_t)o->values);
	else
		printf("value = %g\n", o->at[DIM_VALUE]);
	printf("%s = %ju\nstride = %s\ncopies = %u\n",
	       o->postcard ? "chunks" : "slots", (uintmax_t)s->slots,
	       o->packed ? "packed" : "pow2", copies);
}

static void print_row(struct rows *r, const struct opts *o,
		      const struct size *s, unsigned copies, unsigned best)
{
	if (o->layout && (copies == best || o->range[DIM_COPIES].n))
		print_layout(o, s, copies);
	if (o->layout)
		return;
	row_str(r, F_PRIMITIVE, o->postcard ? "postcard" : "keywrite");
	row_u64(r, F_COPIES, copies);
	row_f64(r, F_LOAD, s->load);
	print_success(r, o, copies, s->load);
	row_bool(r, F_BEST, copies == best);
	row_u64(r, F_SLOT_BYTES, slot_stride(o));
	if (s->slots) {
		row_u64(r, F_SLOTS, s->slots);
		row_u64(r, F_MEMORY, s->slots * slot_stride(o));
	}
	if (s->flows)
		row_u64(r, F_FLOWS, s->flows);
	row_f64(r, F_BYTES_PER_FLOW, (double)slot_stride(o) / s->load);
	row_f64(r, F_USED_SHARE,
		o->reports ? plan_random_used(copies, (unsigned)o->reports,
					      s->load)
			   : plan_used(copies, s->load));
	cli_row_end(r);
}

/* Prints a plan: a row for each number of copies. */
static void print_copies(struct rows *r, const struct opts *o)
{
	const struct range *only = &o->range[DIM_COPIES];
	unsigned n = only->n ? only->n : HASH_COPIES, best;
	struct size s = size_for(o, o->at[DIM_LOAD]);
	char name[32];

	best = best_copies(o, s.load);
	for (unsigned i = 0; i < n; i++) {
		unsigned copies = only->n ? (unsigned)only->value[i] : i + 1;
		const struct plan_config p = {copies, (unsigned)o->reports,
					      pass_chance(o), o->average};

		if (o->at[DIM_WANT] >= 0)
			s = size_for(o, plan_largest_load(&p, o->at[DIM_WANT]));
		snprintf(name, sizeof(name), "copies %u", copies);
		svg_point(name, (double)slot_stride(o) / s.load,
			  plan_success(&p, s.load));
		print_row(r, o, &s, copies, best);
	}
}

/* Prints a plan for each combination of the values of ranges, from dim on up to
 * copies. */
static void print_each(struct rows *r, struct opts *o, enum dim dim)
{
	const struct range *range = &o->range[dim];

	if (dim == DIM_COPIES && o->fleet)
		fleet_rows(r, o);
	else if (dim == DIM_COPIES)
		print_copies(r, o);
	else if (!range->n)
		print_each(r, o, dim + 1);
	for (unsigned i = 0; dim < DIM_COPIES && i < range->n; i++) {
		o->at[dim] = range->value[i];
		print_each(r, o, dim + 1);
	}
}

int main(int argc, char **argv)
{
	static const char *const labels[] = {"bytes a key", "success"};
	static const bool log[] = {true, false};
	static struct opts o;
	struct rows *r;

	cli_start(&program);
	o = options_read(argc, argv);
	r = o.layout ? NULL
		     : cli_rows(o.fmt, o.cores	 ? &cores_schema
				       : o.fleet ? &fleet_schema
						 : &plans);
	svg_open(o.svg, true, "Success of queries", labels, log);
	if (o.cores)
		cores_rows(r, &o);
	else
		print_each(r, &o, 0);
	rows_close(r);
	svg_close();
	return CLI_OK;
}
