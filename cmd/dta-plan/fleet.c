/* SPDX-License-Identifier: BSD-2-Clause */
/* fleet.c - dta-plan fleet: the collectors of a fabric, a row a figure. */
#include <math.h>

#include "cli/table.h"
#include "cluster/cluster.h"
#include "hash/family.h"
#include "model/model.h"
#include "options.h"
#include "row/row.h"

static const struct row_field fields[] = {
	{"plan", ROW_U64, 4, ROW_TAG, .spare = 1},
	{"figure", ROW_STR, 18, ROW_TAG},
	{"value", ROW_F64, 15},
	{"unit", ROW_STR, 10, ROW_TAG},
	{"source", ROW_STR, 0, ROW_TAG},
};

const struct schema fleet_schema = {"fleet", fields,
				    sizeof(fields) / sizeof(fields[0])};

/* Of the numbers of copies that were named, or all, finds the one that needs
 * the fewest collectors, or as few and the least memory. */
static struct fleet best_fleet(const struct opts *o, double reports_s,
			       double keys, unsigned *copies, double *load)
{
	const struct range *only = &o->range[DIM_COPIES];
	struct fleet best = {.collectors = INFINITY};

	for (unsigned i = 0; i < (only->n ? only->n : HASH_COPIES); i++) {
		const struct plan_config p = {
			only->n ? (unsigned)only->value[i] : i + 1,
			(unsigned)o->reports,
			plan_pass_keywrite(o->at[DIM_BITS]), o->average};
		double at = plan_largest_load(&p, o->at[DIM_WANT]);
		struct fleet f = model_fleet(&(struct fleet_load){
			.messages_s = reports_s * (o->reports ? 1 : p.copies),
			.slots = keys / at,
			.slot_bytes = (double)slot_stride(o),
			.nic_messages_s = (double)o->messages,
			.memory = o->at[DIM_MEMORY],
			.mirror = o->mirror});

		if (keys / at <= (double)SLOTS_MAX &&
		    (f.collectors < best.collectors ||
		     (f.collectors == best.collectors &&
		      f.slots < best.slots))) {
			best = f;
			*copies = p.copies;
			*load = at;
		}
	}
	if (!isfinite(best.collectors))
		cli_fail("more than 2^50 slots for so many keys");
	return best;
}

void fleet_rows(struct rows *r, const struct opts *o)
{
	static const char *const bounds[FLEET_BOUNDS] = {
		"as many as their NICs need: DTA 7", "as many as memory needs",
		"as many as tables of 2^32 slots need: dta(7)"};
	static const char given[] = "given", keys[] = "keys", share[] = "share",
			  bytes[] = "bytes", rate[] = "messages/s",
			  rule[] = "hash mod collectors: dta-cluster(5)";
	static uint64_t plan;
	double k = (double)o->arity, slot = (double)slot_stride(o);
	double switches = k > 0 ? 1.25 * k * k : (double)o->switches;
	double reports_s = switches * (double)o->rate, load = 0;
	double stored = o->history_ns
				? reports_s * (double)o->history_ns / 1e9 /
					  fmax((double)o->reports, 1)
				: o->at[DIM_FLOWS];
	double want = o->at[DIM_WANT], nic = (double)o->messages;
	unsigned copies = 1;
	struct fleet f = best_fleet(o, reports_s, stored, &copies, &load);
	double n = f.collectors;
	bool dart = o->reports;
	/* clang-format off */
	const struct {
		const char *figure;
		double value;
		const char *unit, *source;
	} figures[] = {
		{"switches", switches, "switches",
		 k > 0 ? "5/4 k^2: a fat tree" : given},
		{"hosts", k > 0 ? k * k * k / 4 : NAN, "hosts",
		 "k^3/4: a fat tree"},
		{"value", o->at[DIM_VALUE], bytes, given},
		{"reports_s", reports_s, "reports/s", "switches, --rate"},
		{"keys", stored, keys, o->history_ns ? "reports, --history"
						     : given},
		{"copies", copies, "copies",
		 "fewest collectors, then least memory"},
		{"success", want, share, o->average ? "--want, the mean"
						    : "--want, the oldest key"},
		{"load", load, "keys/slot", dart ? "DART 4, 6"
						 : "DTA (1) to (4)"},
		{"memory", f.slots * n * slot, bytes, "keys, load"},
		{"collectors", n, "collectors", bounds[f.bound]},
		{"collector_memory", f.slots * slot, bytes, rule},
		{"collector_messages_s", f.messages_s, rate, rule},
		{"nic_load", f.messages_s / nic, share, rule},
		{"translators", dart ? 0 : n, "switches",
		 dart ? "none: DART 3.1" : "one before each: DTA 3"},
		{"queue_pairs", dart ? switches : 1, "a_NIC",
		 dart ? "one for each switch" : "its translator: DTA 3"},
		{"switch_state", 20 * n, bytes,
		 "20 a collector: DART 6"},
		{"loss_keys", f.lost * stored, keys, rule},
		{"loss_success", want * (1 - f.lost), share, rule},
		{"loss_nic_load", f.messages_s * n / (n - 1) / nic, share,
		 "the others have its reports"},
		{"added_moved", f.moved * stored, keys, rule},
		{"added_moved_share", f.moved, share, "n/(n+1)"},
		{"added_least_share", 1 / (n + 1), share,
		 "1/(n+1): by any rule at least"},
	};
	/* clang-format on */

	plan++;
	for (unsigned i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		row_u64(r, 0, plan);
		row_str(r, 1, figures[i].figure);
		row_f64(r, 2, figures[i].value);
		row_str(r, 3, figures[i].unit);
		row_str(r, 4, figures[i].source);
		cli_row_end(r);
	}
	if (n > CLUSTER_MAX)
		cli_warn("%.0f collectors: a cluster has %d at most", n,
			 CLUSTER_MAX);
}
