/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frontier.c - success rates, each with the least memory that gives it: what is
 * to be had, and what it costs in bytes and in wrong answers.
 */
#include "cli/table.h"
#include "model/plan.h"
#include "plan.h"
#include "size.h"

enum {
	BILLION = 1000000000,
};

/* What is marked where nobody asks for a rate. */
static const double usual = 0.99;

enum field {
	PRIMITIVE,
	SUCCESS,
	AVERAGE,
	COPIES,
	BYTES,
	BEST,
	WRONG,
	FALSE_,
	LOAD,
	SLOTS,
	MEMORY,
	FLOWS,
	SLOT_BYTES,
	BITS,
	FIELDS,
};

static const struct row_field fields[FIELDS] = {
	[PRIMITIVE] = {"primitive", ROW_STR, 0, ROW_TAG},
	[SUCCESS] = {"success", ROW_F64, 8},
	[AVERAGE] = {"average_success", ROW_F64, 0},
	[COPIES] = {"copies", ROW_U64, 0},
	/* no unit: 84.2, not 84 bytes */
	[BYTES] = {"bytes_per_flow", ROW_F64, 0},
	[BEST] = {"best", ROW_BOOL, 5},
	[WRONG] = {"wrong_billion", ROW_F64, 0},
	[FALSE_] = {"false_billion", ROW_F64, 0},
	[LOAD] = {"load", ROW_F64, 9, .spare = 1},
	[SLOTS] = {"slots", ROW_U64, 10, .spare = 1},
	[MEMORY] = {"memory_bytes", ROW_U64, 12, ROW_VALUE, "bytes",
		    .spare = 1},
	[FLOWS] = {"flows", ROW_U64, 10, .spare = 1},
	[SLOT_BYTES] = {"slot_bytes", ROW_U64, 0, ROW_VALUE, "bytes",
			.spare = 1},
	[BITS] = {"checksum_bits", ROW_U64, 0, .spare = 1},
};

const struct schema frontier_schema = {"frontier", fields, FIELDS};

static int print(struct rows *r, const struct opts *o, const struct size *s,
		 unsigned copies, bool marked)
{
	struct plan p = plan_at(copies, s->load, size_pass(o));

	row_str(r, PRIMITIVE, o->postcard ? "postcard" : "keywrite");
	row_f64(r, SUCCESS, p.success);
	row_f64(r, AVERAGE, p.average_success);
	row_u64(r, COPIES, copies);
	row_f64(r, BYTES, (double)size_slot(o) / s->load);
	row_bool(r, BEST, marked);
	row_f64(r, WRONG, BILLION * p.wrong);
	row_f64(r, FALSE_,
		BILLION * plan_false(copies, copies, s->load, size_pass(o)));
	row_f64(r, LOAD, s->load);
	if (s->slots) {
		row_u64(r, SLOTS, s->slots);
		row_u64(r, MEMORY, s->slots * size_slot(o));
	}
	if (s->flows)
		row_u64(r, FLOWS, s->flows);
	row_u64(r, SLOT_BYTES, size_slot(o));
	row_u64(r, BITS, o->bits);
	return row_end(r);
}

/* The least memory for a success rate, by the number of copies that it takes.
 */
static int print_want(struct rows *r, struct opts *o, double want, bool marked)
{
	struct size s;
	unsigned n;

	o->want = want;
	n = size_best_for(o);
	s = size_of(o, size_load_for(o, n));
	return print(r, o, &s, n, marked);
}

/* The success that a number of keys has in so much memory. */
static double in_budget(const struct opts *o, struct size *s, unsigned *copies)
{
	struct plan p;

	*s = size_of(o, -1);
	*copies = size_best_at(o, s->load);
	p = plan_at(*copies, s->load, size_pass(o));
	return o->average ? p.average_success : p.success;
}

int frontier_rows(struct rows *r, struct opts *o)
{
	static const double ladder[] = {0.5,  0.8,   0.9,   0.95,
					0.99, 0.995, 0.999, 0.9999};
	const struct range *want = &o->range[DIM_WANT];
	const unsigned rungs = sizeof(ladder) / sizeof(ladder[0]);
	double marked = want->n ? want->value[0] : usual;
	bool budget = o->flows && o->memory, done = false;
	struct size s = {0};
	unsigned copies = 0;
	int rc = 0;

	if (budget)
		marked = in_budget(o, &s, &copies);
	for (unsigned i = 0; i <= rungs && !rc; i++) {
		if (!done && (i == rungs || ladder[i] >= marked)) {
			done = true;
			rc = budget ? print(r, o, &s, copies, true)
				    : print_want(r, o, marked, true);
		}
		if (i < rungs && ladder[i] != marked && !rc)
			rc = print_want(r, o, ladder[i], false);
	}
	return rc;
}
