/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.c - a row for each plan, out of the closed forms. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "cli/table.h"
#include "model/plan.h"
#include "plan.h"
#include "row/row.h"
#include "size.h"

enum {
	LOADS = 5,
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
	[F_WRONG] = {"wrong", ROW_F64, 11, .spare = 1},
	[F_WRONG_LOW] = {"wrong_low", ROW_F64, 11, .spare = 1},
	[F_AVERAGE] = {"average_success", ROW_F64, 0},
	[F_BEST] = {"best", ROW_BOOL, 5},
	[F_SLOTS] = {"slots", ROW_U64, 10},
	[F_SLOT_BYTES] = {"slot_bytes", ROW_U64, 0, ROW_VALUE, "bytes",
			  .spare = 1},
	[F_MEMORY] = {"memory_bytes", ROW_U64, 12, ROW_VALUE, "bytes"},
	[F_FLOWS] = {"flows", ROW_U64, 10},
	[F_BYTES_PER_FLOW] = {"bytes_per_flow", ROW_F64, 0, ROW_VALUE, "bytes",
			      .spare = 1},
	[F_USED_SHARE] = {"used_share", ROW_F64, 0, .spare = 1},
};

static const struct schema plans = {"plan", fields, FIELDS};

/* What a key of a load finds. Of wrong answers, DART's form tells nothing. */
static void print_success(struct rows *r, const struct opts *o, unsigned copies,
			  double load)
{
	struct plan p = plan_at(copies, load, size_pass(o));
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
		row_u64(r, F_SLOT_BYTES, size_slot(o));
		if (s->slots) {
			row_u64(r, F_SLOTS, s->slots);
			row_u64(r, F_MEMORY, s->slots * size_slot(o));
		}
		if (s->flows)
			row_u64(r, F_FLOWS, s->flows);
		row_f64(r, F_BYTES_PER_FLOW, (double)size_slot(o) / s->load);
		row_f64(r, F_USED_SHARE, used_share(o, copies, s->load));
		rc = row_end(r);
	}
	return rc;
}

/* A row for each number of copies. */
static int plan_load(struct rows *r, const struct opts *o)
{
	const struct range *only = &o->range[DIM_COPIES];
	unsigned n = only->n ? only->n : (unsigned)o->max_copies, best;
	struct size s = size_of(o, o->load);
	int rc = 0;

	best = o->want >= 0 ? size_best_for(o) : size_best_at(o, s.load);
	for (unsigned i = 0; i < n && !rc; i++) {
		unsigned copies = only->n ? (unsigned)only->value[i] : i + 1;

		if (o->want >= 0)
			s = size_of(o, size_load_for(o, copies));
		rc = print(r, o, &s, copies, best);
	}
	return rc;
}

static int overview(struct rows *r, struct opts *o)
{
	static const double loads[LOADS] = {0.1, 0.25, 0.5, 1, 2};
	int rc = 0;

	for (unsigned i = 0; i < LOADS && !rc; i++) {
		o->load = loads[i];
		rc = plan_load(r, o);
	}
	o->load = -1;
	return rc;
}

static int plan(struct rows *r, struct opts *o)
{
	if (o->frontier)
		return frontier_rows(r, o);
	if (o->load >= 0 || o->want >= 0 || o->flows)
		return plan_load(r, o);
	return overview(r, o);
}

static void set(struct opts *o, enum dim dim, double v)
{
	switch (dim) {
	case DIM_VALUE:
		o->value = (uint64_t)v;
		break;
	case DIM_BITS:
		o->bits = (uint64_t)v;
		break;
	case DIM_FLOWS:
		o->flows = (uint64_t)v;
		break;
	case DIM_MEMORY:
		o->memory = (uint64_t)v;
		break;
	case DIM_WANT:
		o->want = v;
		break;
	default:
		o->load = v;
	}
}

/* Each value of a range with each of those behind it; the frontier has its own
 * success rates, and copies are rows of a plan. */
static int each(struct rows *r, struct opts *o, enum dim dim)
{
	const struct range *range = &o->range[dim];
	int rc = 0;

	if (dim == DIM_COPIES || (dim == DIM_WANT && o->frontier))
		return plan(r, o);
	if (!range->n)
		return each(r, o, dim + 1);
	for (unsigned i = 0; i < range->n && !rc; i++) {
		set(o, dim, range->value[i]);
		rc = each(r, o, dim + 1);
	}
	return rc;
}

int plan_rows(struct opts *o)
{
	struct rows *r = cli_rows(o->fmt, o->team	? &cores_schema
					  : o->frontier ? &frontier_schema
							: &plans);
	int rc;

	if (!r)
		cli_fail("%s", strerror(ENOMEM));
	rc = o->team ? cores_rows(r, o) : each(r, o, 0);
	rows_close(r);
	return rc;
}
