/* SPDX-License-Identifier: BSD-2-Clause */
#include "netsim/rows.h"

enum field {
	F_INTERVAL,
	F_TIME,
	F_COVERAGE,
	F_KNOWN,
	F_COVERED,
	F_PACKETS,
	F_LABELLED,
	F_LABELS,
	F_CARRIED,
	F_ITEMS,
	F_BANDWIDTH,
	F_PROBE_BANDWIDTH,
	F_OVERHEAD,
	F_LOST,
	F_LOSS,
	F_S_MAX,
	F_COMMANDS,
	F_PROBES,
	F_GENERATORS,
	FIELDS,
};

static const struct row_field fields[FIELDS] = {
	[F_INTERVAL] = {"interval", ROW_U64, 8},
	[F_TIME] = {"time_s", ROW_F64, 7, ROW_VALUE, "s"},
	[F_COVERAGE] = {"coverage", ROW_F64, 8, ROW_VALUE, "%"},
	[F_KNOWN] = {"ports", ROW_U64, 5},
	[F_COVERED] = {"covered", ROW_U64, 7},
	[F_PACKETS] = {"packets", ROW_U64, 8},
	[F_LABELLED] = {"labelled", ROW_U64, 8},
	[F_LABELS] = {"labels", ROW_U64, 7},
	[F_CARRIED] = {"carried", ROW_LIST, 0, .spare = 1},
	[F_ITEMS] = {"items", ROW_U64, 7, .spare = 1},
	[F_BANDWIDTH] = {"label_bandwidth", ROW_F64, 0, ROW_VALUE, "bit/s",
			 .spare = 1},
	[F_PROBE_BANDWIDTH] = {"probe_bandwidth", ROW_F64, 0, ROW_VALUE,
			       "bit/s", .spare = 1},
	[F_OVERHEAD] = {"overhead", ROW_F64, 0, ROW_VALUE, "%", .spare = 1},
	[F_LOST] = {"lost", ROW_U64, 0},
	[F_LOSS] = {"loss", ROW_F64, 0, ROW_VALUE, "%", .spare = 1},
	[F_S_MAX] = {"s_max", ROW_U64, 0},
	[F_COMMANDS] = {"commands", ROW_U64, 0, .spare = 1},
	[F_PROBES] = {"probes", ROW_U64, 0, .spare = 1},
	[F_GENERATORS] = {"generators", ROW_U64, 0, .spare = 1},
};

const struct schema netsim_schema = {"sim", fields, FIELDS};

/* Per cent. */
static double share(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

static void carried(struct rows *r, const struct netsim_interval *v)
{
	unsigned last = TOPO_HOPS_MAX + 1; /* more are shown where there are */

	for (unsigned i = last; i < NETSIM_CARRIED; i++)
		if (v->carried[i])
			last = i + 1;
	row_list(r, F_CARRIED, v->carried, last);
}

static void bandwidth(struct rows *r, const struct netsim_counters *c,
		      double seconds)
{
	uint64_t more = c->label_bytes + c->probe_bytes;

	row_f64(r, F_BANDWIDTH, (double)c->label_bytes * 8 / seconds);
	row_f64(r, F_PROBE_BANDWIDTH, (double)c->probe_bytes * 8 / seconds);
	row_f64(r, F_OVERHEAD, share(more, c->link_bytes - more));
}

int netsim_row(struct rows *r, const struct netsim_interval *v,
	       uint64_t span_ns, double coverage)
{
	const struct netsim_counters *c = &v->ctr;

	row_u64(r, F_INTERVAL, v->number);
	row_f64(r, F_TIME, (double)v->end_ns / 1e9);
	row_f64(r, F_COVERAGE, coverage);
	row_u64(r, F_KNOWN, v->known);
	row_u64(r, F_COVERED, v->covered);
	row_u64(r, F_PACKETS, c->packets);
	row_u64(r, F_LABELLED, c->labelled);
	row_u64(r, F_LABELS, c->labels);
	carried(r, v);
	row_u64(r, F_ITEMS, c->items);
	bandwidth(r, c, (double)span_ns / 1e9);
	row_u64(r, F_LOST, c->packets_lost);
	row_f64(r, F_LOSS, share(c->packets_lost, c->packets));
	row_u64(r, F_S_MAX, v->s_max);
	row_u64(r, F_COMMANDS, c->raised + c->lowered);
	row_u64(r, F_PROBES, c->probes + c->copies);
	row_u64(r, F_GENERATORS, v->generators);
	return row_end(r);
}
