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

/* What does not depend on the number of copies. */
struct demand {
	double switches, reports_s, keys, slot_bytes, nic_messages_s;
};

static struct demand demand_of(const struct opts *o)
{
	double bytes = o->at[DIM_VALUE] + ceil(o->at[DIM_BITS] / 8);
	struct demand d = {
		.switches = o->arity ? 5 * (double)(o->arity * o->arity) / 4
				     : (double)o->switches,
		.slot_bytes = (double)slot_stride(o),
		.keys = o->at[DIM_FLOWS],
	};

	if (d.slot_bytes <= WHOLE_MAX)
		bytes = d.slot_bytes;
	d.nic_messages_s = fmin((double)o->messages,
				(double)o->link / (8 * (WIRE_BYTES + bytes)));
	d.reports_s = d.switches * (double)o->rate;
	if (o->history_ns)
		d.keys = d.reports_s * (double)o->history_ns / 1e9 /
			 (double)(o->reports ? o->reports : 1);
	return d;
}

static struct fleet fleet_for(const struct opts *o, const struct demand *d,
			      unsigned copies, double *load)
{
	const struct plan_config p = {copies, (unsigned)o->reports,
				      plan_pass_keywrite(o->at[DIM_BITS]),
				      o->average};
	struct fleet_load l = {
		.messages_s = d->reports_s * (o->reports ? 1 : copies),
		.slot_bytes = d->slot_bytes,
		.nic_messages_s = d->nic_messages_s,
		.memory = o->at[DIM_MEMORY],
		.mirror = o->mirror,
	};

	*load = plan_largest_load(&p, o->at[DIM_WANT]);
	l.slots = d->keys / *load;
	if (!(l.slots <= (double)SLOTS_MAX))
		cli_fail("more than 2^50 slots for a load of %g", *load);
	return model_fleet(&l);
}

/* The number of copies that needs the fewest collectors, or as few and the
 * least memory; of those that were named, or of all. */
static unsigned choose_copies(const struct opts *o, const struct demand *d)
{
	const struct range *only = &o->range[DIM_COPIES];
	double collectors = INFINITY, slots = INFINITY, load;
	unsigned best = 1;

	for (unsigned i = 0; i < (only->n ? only->n : HASH_COPIES); i++) {
		unsigned n = only->n ? (unsigned)only->value[i] : i + 1;
		struct fleet f = fleet_for(o, d, n, &load);

		if (f.collectors < collectors ||
		    (f.collectors == collectors && f.slots < slots)) {
			collectors = f.collectors;
			slots = f.slots;
			best = n;
		}
	}
	return best;
}

int fleet_rows(struct rows *r, const struct opts *o)
{
	static const char *const bounds[] = {
		[FLEET_NIC] = "as many as their NICs need: DTA 7",
		[FLEET_MEMORY] = "as many as memory needs",
		[FLEET_HASH] = "as many as tables of 2^32 slots need: dta(7)",
	};
	static const char given[] = "given", keys[] = "keys", share[] = "share",
			  bytes[] = "bytes", rate[] = "messages/s",
			  rule[] = "hash mod collectors: dta-cluster(5)";
	static uint64_t plan;
	struct demand d = demand_of(o);
	unsigned copies = choose_copies(o, &d);
	double load, k = (double)o->arity, want = o->at[DIM_WANT];
	struct fleet f = fleet_for(o, &d, copies, &load);
	double n = f.collectors, nic = d.nic_messages_s;
	bool dart = o->reports, line = nic < (double)o->messages;
	/* clang-format off */
	const struct {
		const char *figure;
		double value;
		const char *unit, *source;
	} figures[] = {
		{"switches", d.switches, "switches",
		 o->arity ? "5/4 k^2: a fat tree" : given},
		{"hosts", o->arity ? k * k * k / 4 : NAN, "hosts",
		 "k^3/4: a fat tree"},
		{"value", o->at[DIM_VALUE], bytes, given},
		{"reports_s", d.reports_s, "reports/s", "switches, --rate"},
		{"keys", d.keys, keys, o->history_ns ? "reports, --history"
						     : given},
		{"copies", copies, "copies",
		 "fewest collectors, then least memory"},
		{"success", want, share, o->average ? "--want, the mean"
						    : "--want, the oldest key"},
		{"load", load, "keys/slot", dart ? "DART 4, 6"
						 : "DTA (1) to (4)"},
		{"memory", f.slots * n * d.slot_bytes, bytes, "keys, load"},
		{"nic_messages_s", nic, rate, line ? "--link" : "--messages"},
		{"collectors", n, "collectors", bounds[f.bound]},
		{"collector_memory", f.slots * d.slot_bytes, bytes, rule},
		{"collector_messages_s", f.messages_s, rate, rule},
		{"nic_load", f.messages_s / nic, share, rule},
		{"translators", dart ? 0 : ceil(n / (double)o->rack),
		 "switches", dart ? "none: DART 3.1" : "--rack: DTA 3"},
		{"queue_pairs", dart ? d.switches : 1, "a_NIC",
		 dart ? "one for each switch" : "its translator: DTA 3"},
		{"switch_state", STATE_BYTES * n, bytes,
		 "20 a collector: DART 6"},
		{"loss_keys", f.lost * d.keys, keys, rule},
		{"loss_success", want * (1 - f.lost), share, rule},
		{"loss_nic_load", f.lost_messages_s / nic, share,
		 "the others have its reports"},
		{"added_moved", f.moved * d.keys, keys, rule},
		{"added_moved_share", f.moved, share, "n/(n+1)"},
		{"added_least_share", f.moved_least, share,
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
		cli_warn("%.0f collectors: a cluster has %d at most, so these "
			 "are several (see dta-cluster(5))",
			 n, CLUSTER_MAX);
	return rc;
}
