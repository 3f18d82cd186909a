/* SPDX-License-Identifier: BSD-2-Clause */
/* cores.c - dta-plan cores: a translator's rate by number of cores. */
#include "cli/table.h"
#include "model/model.h"
#include "options.h"
#include "row/row.h"

enum field { WORKLOAD, CORES, RATE, SPEEDUP, BYTES, BOUND, FIELDS };

static const struct row_field fields[FIELDS] = {
	[WORKLOAD] = {"workload", ROW_STR, 16, ROW_TAG},
	[CORES] = {"cores", ROW_U64, 5},
	[RATE] = {"reports_s", ROW_U64, 10},
	[SPEEDUP] = {"speedup", ROW_F64, 8},
	[BYTES] = {"bytes_s", ROW_U64, 13},
	[BOUND] = {"bound", ROW_STR, 6, ROW_TAG},
};

const struct schema cores_schema = {"cores", fields, FIELDS};

/*
 * Times that tests/bench/bench_cores measured (medians of some runs) on two
 * cores of an AMD EPYC of the fourth generation, with huge pages. bytes: the
 * frame, its messages written and read, and lines of memory read and written.
 */
static const struct workload {
	const char *name;
	double alone_ns, work_ns, receive_ns, blocks, rounds, bytes;
} workloads[] = {
	{"keywrite-1", 15.5, 13.7, 6.7, 16, 1, 240},
	{"keywrite-2", 22.0, 17.5, 12.5, 32, 1, 400},
	{"keyinc-1", 15.8, 12.6, 7.9, 16, 1, 240},
	{"postcard", 20.5, 19.9, 15.9, 48, 2, 240},
	{"postcard-1k", 24.0, 21.6, 22.5, 48, 2, 240},
	{"append", 11.6, 10.9, 4.6, 8, 1, 110},
	{"append-255", 15.5, 11.3, 8.0, 8, 1, 110},
};

enum {
	WORKLOADS = sizeof(workloads) / sizeof(workloads[0]),
	BATCH = 4096, /* packets that a worker of dta-translate takes */
};

static void print_row(struct rows *r, const char *workload,
		      const struct cores_load *l, unsigned n)
{
	static const char *const bound[] = {
		[CORES_WORK] = "cores",
		[CORES_SOURCE] = "source",
		[CORES_MEMORY] = "memory",
	};
	struct cores_rate c = model_cores_rate(l, n);

	row_str(r, WORKLOAD, workload);
	row_u64(r, CORES, n);
	row_u64(r, RATE, (uint64_t)(c.per_s + 0.5));
	row_f64(r, SPEEDUP, c.speedup);
	row_u64(r, BYTES, (uint64_t)(c.per_s * l->bytes + 0.5));
	row_str(r, BOUND, bound[c.bound]);
	cli_row_end(r);
}

void cores_rows(struct rows *r, const struct opts *o)
{
	static const struct range usual = {7, {1, 2, 4, 8, 16, 32, 64}};
	const struct range *cores = o->range[DIM_CORES].n ? &o->range[DIM_CORES]
							  : &usual;
	const struct workload own = {
		"own", o->alone_ns, o->work_ns, o->receive_ns, 64, 1, 240,
	};
	const struct workload *w = o->alone_ns > 0 ? &own : workloads;
	const struct workload *end = w + (w == &own ? 1 : WORKLOADS);

	if (w == workloads)
		cli_warn("times are of two cores of an AMD EPYC of the fourth "
			 "generation, with huge pages; nothing was measured "
			 "here: --alone, --work and --receive take those of "
			 "this machine (see dta-plan(1), MORE CORES)");
	for (; w < end; w++) {
		const struct cores_load l = {
			.alone_ns = w->alone_ns,
			.work_ns = w->work_ns,
			.receive_ns = w->receive_ns,
			.source_ns = 0.5, /* time and length, from a ring */
			.block_ns = 250,
			.blocks = w->blocks,
			.rounds = w->rounds,
			.batch = BATCH,
			.bytes = w->bytes,
			.bandwidth = (double)o->bandwidth,
		};

		for (unsigned i = 0; i < cores->n; i++)
			print_row(r, w->name, &l, (unsigned)cores->value[i]);
	}
}
