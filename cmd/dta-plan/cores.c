/* SPDX-License-Identifier: BSD-2-Clause */
/* cores.c - rows of what more cores make of a translator. */
#include <errno.h>
#include <string.h>

#include "cli/table.h"
#include "model/cores.h"
#include "op/footprint.h"
#include "plan.h"
#include "row/row.h"
#include "translate/team.h"

enum field {
	WORKLOAD,
	CORES,
	RATE,
	SPEEDUP,
	BUSY,
	LATE,
	BOUND,
	FIELDS,
};

static const struct row_field fields[FIELDS] = {
	[WORKLOAD] = {"workload", ROW_STR, 16, ROW_TAG},
	[CORES] = {"cores", ROW_U64, 5},
	[RATE] = {"reports_s", ROW_U64, 10},
	[SPEEDUP] = {"speedup", ROW_F64, 8},
	[BUSY] = {"busy", ROW_F64, 8},
	[LATE] = {"waiting", ROW_F64, 10},
	[BOUND] = {"bound", ROW_STR, 6, ROW_TAG},
};

const struct schema cores_schema = {"cores", fields, FIELDS};

/*
 * As tests/bench/bench_turns has measured them (the medians of some runs): on
 * two cores of an AMD EPYC of the fourth generation, with huge pages. Additions
 * leave no footprint, and what goes to lists waits for its turn anyway.
 */
static const struct workload {
	const char *name;
	double alone_ns, work_ns, turn_ns, ops, touches;
} workloads[] = {
	{"keywrite-1", 26, 32.7, 1, 1, 1},
	{"keywrite-2", 35.2, 44.7, 1.1, 2, 2},
	{"keyinc-1", 26.5, 30.4, 1, 0, 1},
	{"postcard", 29.5, 35.2, 4.5, 0.2, 0.2},
	{"postcard-1k", 35, 42.6, 8.8, 0.2, 0.2},
	{"append", 16.3, 18.6, 4.8, 0, 0.125},
	{"append-255", 19.7, 22.6, 6.1, 0, 0.125},
};

enum {
	WORKLOADS = sizeof(workloads) / sizeof(workloads[0]),
};

static int row(struct rows *r, const char *workload, const struct cores_load *l,
	       unsigned n)
{
	static const char *const bound[] = {
		[CORES_WORK] = "cores",
		[CORES_TURN] = "turn",
		[CORES_LATE] = "waiting",
		[CORES_MEMORY] = "memory",
	};
	struct cores_rate c = cores_at(l, n);

	row_str(r, WORKLOAD, workload);
	row_u64(r, CORES, n);
	row_u64(r, RATE, (uint64_t)(c.per_s + 0.5));
	row_f64(r, SPEEDUP, c.per_s / cores_at(l, 1).per_s);
	row_f64(r, BUSY, c.busy);
	row_f64(r, LATE, c.late);
	row_str(r, BOUND, bound[c.bound]);
	return row_end(r);
}

static int rows_of(struct rows *r, const struct opts *o,
		   const struct workload *w)
{
	static const unsigned usual[] = {1, 2, 4, 8, 16, 32, 64};
	const unsigned rungs = sizeof(usual) / sizeof(usual[0]);
	const struct cores_load l = {
		.alone_ns = w->alone_ns,
		.work_ns = w->work_ns,
		.turn_ns = w->turn_ns,
		.ops = w->ops,
		.touches = w->touches,
		.late_ns = o->late_ns,
		.join_ns = o->join_ns,
		.memory_s = o->memory_s,
		.batch = TRANSLATE_TEAM_BATCH,
		.places = 1 << FOOTPRINT_BITS,
	};
	int rc = 0;

	for (unsigned i = 0; i < o->cores.n && !rc; i++)
		rc = row(r, w->name, &l, (unsigned)o->cores.value[i]);
	for (unsigned i = 0; i < rungs && !o->cores.n && !rc; i++)
		rc = row(r, w->name, &l, usual[i]);
	return rc;
}

int cores_rows(struct rows *r, const struct opts *o)
{
	const struct workload own = {
		"own", o->alone_ns, o->work_ns, o->turn_ns, o->ops, o->ops,
	};
	int rc = 0;

	if (o->alone_ns > 0)
		return rows_of(r, o, &own);
	cli_warn("times are of two cores of an AMD EPYC of the fourth "
		 "generation, with huge pages; nothing was measured here: "
		 "--alone, --work and --turn take those of this machine (see "
		 "dta-plan(1), MORE CORES)");
	for (unsigned i = 0; i < WORKLOADS && !rc; i++)
		rc = rows_of(r, o, &workloads[i]);
	return rc;
}
