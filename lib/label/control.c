/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "label/control_private.h"

/* clang-format off */
#define FIELD(counter, role) \
	LEDGER_FIELD(struct label_control_ledger, counter, role)
static const struct ledger_field fields[] = {
	FIELD(frames, LEDGER_IN),
	FIELD(labelled, LEDGER_DONE),
	FIELD(plain, LEDGER_HARMLESS),
	FIELD(malformed, LEDGER_LOSS),
	FIELD(checksum, LEDGER_LOSS),
	FIELD(specific, LEDGER_NOTE),
	FIELD(intervals, LEDGER_NOTE),
	FIELD(skipped, LEDGER_NOTE),
	FIELD(raised, LEDGER_NOTE),
	FIELD(lowered, LEDGER_NOTE),
	FIELD(resumed, LEDGER_NOTE),
	FIELD(silent, LEDGER_NOTE),
	FIELD(heard, LEDGER_NOTE),
	FIELD(forgotten, LEDGER_NOTE),
	FIELD(crowded, LEDGER_NOTE),
	FIELD(leaps, LEDGER_NOTE),
	FIELD(set, LEDGER_NOTE),
};
#undef FIELD
LEDGER_COMPLETE(fields, struct label_control_ledger);
/* clang-format on */

const struct ledger label_control_ledger = {"controller", "frames", fields,
					    sizeof(fields) / sizeof(fields[0])};

void label_control_defaults(struct label_control_options *o)
{
	*o = (struct label_control_options){
		.format = label_format_default,
		.interval_ns = 100000000,
		.t_ns = 50000000,
		.k = 2,
		.pro = true,
		.s_max = 6,
		.flows = 4096,
		.forget_ns = 86400 * UINT64_C(1000000000),
		.forget_once_ns = 600 * UINT64_C(1000000000),
	};
}

int label_control_open(struct label_control **out,
		       const struct label_control_options *o)
{
	struct label_control *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->o = *o;
	c->o.db.interval_ns = o->interval_ns;
	c->patience_ns = (uint64_t)(o->k * (double)o->t_ns);
	if (!c->patience_ns)
		c->patience_ns = 1;
	c->paths = label_paths_open(o->flows);
	if (!c->paths || label_db_open(&c->db, &c->o.db) < 0) {
		label_control_close(c);
		return -ENOMEM;
	}
	*out = c;
	return 0;
}

void label_control_close(struct label_control *c)
{
	if (!c)
		return;
	label_db_close(c->db);
	label_paths_close(c->paths);
	chain_fini(&c->heard);
	chain_fini(&c->steps);
	dues_fini(&c->forget);
	control_held_free(c);
	free(c);
}

struct label_db *label_control_db(struct label_control *c)
{
	return c->db;
}

const struct label_paths *label_control_paths(const struct label_control *c)
{
	return c->paths;
}

const struct label_control_ledger *
label_control_counters(const struct label_control *c)
{
	return &c->ctr;
}

uint64_t label_control_now(const struct label_control *c)
{
	return c->now_ns;
}

int label_control_frame(struct label_control *c, const uint8_t *frame,
			size_t len, uint64_t now_ns)
{
	return c->begun ? control_judge(c, frame, len, now_ns)
			: control_take(c, frame, len, now_ns);
}

int label_control_end(struct label_control *c)
{
	int rc = control_judge_last(c);

	control_end(c);
	return rc;
}
