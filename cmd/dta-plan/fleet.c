/* SPDX-License-Identifier: BSD-2-Clause */
/* fleet.c - dta-plan fleet: the collectors of a fabric, a row a figure. */
#include <math.h>

#include "cli/table.h"
#include "cluster/cluster.h"
#include "hash/family.h"
#include "model/model.h"
#include "options.h"
#include "row/row.h"

enum field {
	PLAN,
	FIGURE,
	VALUE,
	UNIT,
	SOURCE,
	FIELDS,
};

static const struct row_field fields[FIELDS] = {
	[PLAN] = {"plan", ROW_U64, 4, ROW_TAG, .spare = 1},
	[FIGURE] = {"figure", ROW_STR, 18, ROW_TAG},
	[VALUE] = {"value", ROW_F64, 15},
	[UNIT] = {"unit", ROW_STR, 10, ROW_TAG},
	[SOURCE] = {"source", ROW_STR, 0, ROW_TAG},
};

const struct schema fleet_schema = {"fleet", fields, FIELDS};

enum {
	/* A RoCEv2 write's bytes on the wire without its payload: Ethernet with
	 * its checksum, preamble and gap 38, IPv4 and UDP 28, BTH 12, RETH 16,
	 * iCRC 4. */
	WIRE_BYTES = 98,
	/* Slots up to this length are written whole (table_write_len()). */
	WHOLE_MAX = 64,
	STATE_BYTES = 20, /* of a collector in a switch: DART 6 */
};

/* Reports a second of all switches. */
static double reports_of(const struct opts *o)
{
	double switches = o->arity ? 1.25 * (double)(o->arity * o->arity)
				   : (double)o->switches;

	return switches * (double)o->rate;
}

static double keys_of(const struct opts *o)
{
	if (!o->history_ns)
		return o->at[DIM_FLOWS];
	return reports_of(o) * (double)o->history_ns / 1e9 /
	       fmax((double)o->reports, 1);
}

static struct fleet fleet_for(const struct opts *o, unsigned copies,
			      struct fleet_load *l, double *load)
{
	const struct plan_config p = {copies, (unsigned)o->reports,
				      plan_pass_keywrite(o->at[DIM_BITS]),
				      o->average};

	*load = plan_largest_load(&p, o->at[DIM_WANT]);
	l->messages_s = reports_of(o) * (o->reports ? 1 : copies);
	l->slots = keys_of(o) / *load;
	if (!(l->slots <= (double)SLOTS_MAX))
		cli_fail("more than 2^50 slots for a load of %g", *load);
	return model_fleet(l);
}

/* Of the numbers of copies that were named, or all, the one that needs the
 * fewest collectors, or as few and the least memory. */
static struct fleet best_fleet(const struct opts *o, struct fleet_load *l,
			       unsigned *copies, double *load)
{
	const struct range *only = &o->range[DIM_COPIES];
	struct fleet best = {.collectors = INFINITY}, f;
	double at;

	for (unsigned i = 0; i < (only->n ? only->n : HASH_COPIES); i++) {
		unsigned n = only->n ? (unsigned)only->value[i] : i + 1;

		f = fleet_for(o, n, l, &at);
		if (f.collectors < best.collectors ||
		    (f.collectors == best.collectors && f.slots < best.slots)) {
			best = f;
			*copies = n;
			*load = at;
		}
	}
	return best;
}

/* Messages a second that a NIC takes. */
static double messages_of(const struct opts *o, double slot)
{
	double used = o->at[DIM_VALUE] + ceil(o->at[DIM_BITS] / 8);
	double payload = slot <= WHOLE_MAX ? slot : used;

	return fmin((double)o->messages,
		    (double)o->link / (8 * (WIRE_BYTES + payload)));
}

int fleet_rows(struct rows *r, const struct opts *o)
{
	static const char *const bounds[FLEET_BOUNDS] = {
		"as many as their NICs need: DTA 7", "as many as memory needs",
		"as many as tables of 2^32 slots need: dta(7)"};
	static const char given[] = "given", keys[] = "keys", share[] = "share",
			  bytes[] = "bytes", rate[] = "messages/s",
			  rule[] = "hash mod collectors: dta-cluster(5)";
	static uint64_t plan;
	double slot = (double)slot_stride(o), k = (double)o->arity;
	double nic = messages_of(o, slot);
	struct fleet_load l = {.slot_bytes = slot,
			       .nic_messages_s = nic,
			       .memory = o->at[DIM_MEMORY],
			       .mirror = o->mirror};
	unsigned copies = 1;
	double load = 0, want = o->at[DIM_WANT];
	struct fleet f = best_fleet(o, &l, &copies, &load);
	double n = f.collectors, switches = reports_of(o) / (double)o->rate;
	bool dart = o->reports;
	/* clang-format off */
	const struct {
		const char *figure;
		double value;
		const char *unit, *source;
	} figures[] = {
		{"switches", switches, "switches",
		 o->arity ? "5/4 k^2: a fat tree" : given},
		{"hosts", o->arity ? k * k * k / 4 : NAN, "hosts",
		 "k^3/4: a fat tree"},
		{"value", o->at[DIM_VALUE], bytes, given},
		{"reports_s", reports_of(o), "reports/s", "switches, --rate"},
		{"keys", keys_of(o), keys, o->history_ns ? "reports, --history"
						     : given},
		{"copies", copies, "copies",
		 "fewest collectors, then least memory"},
		{"success", want, share, o->average ? "--want, the mean"
						    : "--want, the oldest key"},
		{"load", load, "keys/slot", dart ? "DART 4, 6"
						 : "DTA (1) to (4)"},
		{"memory", f.slots * n * slot, bytes, "keys, load"},
		{"nic_messages_s", nic, rate, "--messages, --link"},
		{"collectors", n, "collectors", bounds[f.bound]},
		{"collector_memory", f.slots * slot, bytes, rule},
		{"collector_messages_s", f.messages_s, rate, rule},
		{"nic_load", f.messages_s / nic, share, rule},
		{"translators", dart ? 0 : n, "switches",
		 dart ? "none: DART 3.1" : "one before each: DTA 3"},
		{"queue_pairs", dart ? switches : 1, "a_NIC",
		 dart ? "one for each switch" : "its translator: DTA 3"},
		{"switch_state", STATE_BYTES * n, bytes,
		 "20 a collector: DART 6"},
		{"loss_keys", f.lost * keys_of(o), keys, rule},
		{"loss_success", want * (1 - f.lost), share, rule},
		{"loss_nic_load", f.messages_s * n / (n - 1) / nic, share,
		 "the others have its reports"},
		{"added_moved", f.moved * keys_of(o), keys, rule},
		{"added_moved_share", f.moved, share, "n/(n+1)"},
		{"added_least_share", 1 / (n + 1), share,
		 "1/(n+1): by any rule at least"},
	};
	/* clang-format on */
	int rc = 0;

	plan++;
	for (unsigned i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		row_u64(r, PLAN, plan);
		row_str(r, FIGURE, figures[i].figure);
		row_f64(r, VALUE, figures[i].value);
		row_str(r, UNIT, figures[i].unit);
		row_str(r, SOURCE, figures[i].source);
		rc = row_end(r);
	}
	if (n > CLUSTER_MAX)
		cli_warn("%.0f collectors: a cluster has %d at most", n,
			 CLUSTER_MAX);
	return rc;
}
