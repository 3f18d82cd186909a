/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "label/control_private.h"
#include "label/links.h"

/* clang-format off */
#define FIELD(counter, role) \
	LEDGER_FIELD(struct label_control_ledger, counter, role)
static const struct ledger_field fields[] = {
	FIELD(frames, LEDGER_IN),
	FIELD(labelled, LEDGER_DONE),
	FIELD(plain, LEDGER_DROP),
	FIELD(malformed, LEDGER_DROP),
	FIELD(checksum, LEDGER_DROP),
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
	FIELD(woke, LEDGER_NOTE),
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
	c->patience_ns = (uint64_t)(o->k * (double)o->t_ns);
	if (!c->patience_ns)
		c->patience_ns = 1;
	c->paths = label_paths_open(o->flows);
	if (!c->paths || label_db_open(&c->db, &o->db) < 0) {
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

/* --- packets -------------------------------------------------------------- */

/* A packet whose label of an earlier hop is that of a record, and the next one
 * an item. */
static int learn_way(struct label_control *c, struct label_record *r,
		     const struct label_item *item)
{
	int rc;

	if (!label_link_joins(r, item))
		return 0;
	rc = label_link_saw(r, item->device, item->out);
	c->ctr.crowded += rc == -ENOSPC;
	return rc == -ENOMEM ? rc : 0;
}

/* before: the place of the label under it, of an earlier hop; becomes this
 * one's. */
static int take_item(struct label_control *c, const struct label_item *item,
		     uint32_t *before)
{
	uint32_t place, ports = label_db_ports(c->db);
	int rc = label_db_take(c->db, item, c->now_ns, &place);

	if (rc >= 0 && *before < ports &&
	    learn_way(c, label_db_at(c->db, *before), item) < 0)
		return -ENOMEM;
	*before = place;
	if (rc != LABEL_TAKEN && rc != LABEL_BEGUN)
		return rc < 0 ? rc : 0;
	if (label_db_ports(c->db) > ports)
		c->with_s[0]++; /* a port more */
	else if (rc == LABEL_BEGUN)
		control_reset(c, place);
	control_heard(c, place);
	return c->err;
}

/* Hops that follow each other are the ends of a link. */
static void learn_links(struct label_control *c, const struct label_path *p)
{
	for (unsigned i = 0; i + 1 < p->n; i++) {
		const struct label_item *hop = &p->hop[i];
		struct label_record *r = label_db_find(c->db, hop->device,
						       hop->out);

		if (!r)
			continue;
		r->has_next = true;
		r->next_device = hop[1].device;
		r->next_in = hop[1].in;
	}
}

static void take_path(struct label_control *c, const struct label_view *v)
{
	const struct label_path *path;

	c->ctr.specific++;
	path = label_paths_take(c->paths, v, c->now_ns);
	if (path)
		learn_links(c, path);
	if (path && c->o.calls.path)
		c->o.calls.path(c->o.calls.ctx, path);
}

static int take_labels(struct label_control *c, const struct label_view *v)
{
	struct label_item item[UINT8_MAX];
	uint32_t before = UINT32_MAX;
	int rc = 0;

	c->ctr.labelled++;
	c->sum.packets++;
	c->sum.carried[v->n < LABEL_CARRIED ? v->n : LABEL_CARRIED - 1]++;
	for (unsigned i = 0; i < v->n; i++)
		label_item_get(&item[i], v, i);
	label_db_expect(c->db, item, v->n);
	for (unsigned i = v->n; i-- > 0 && !rc;) /* oldest first */
		rc = take_item(c, &item[i], &before);
	if (v->specific && !rc)
		take_path(c, v);
	return rc;
}

int control_take(struct label_control *c, const uint8_t *frame, size_t len,
		 uint64_t now_ns)
{
	struct label_view v;
	int rc = label_find(&v, &c->o.format, frame, len);

	c->ctr.frames++;
	if (!rc && !v.damaged && !c->begun)
		control_begin(c, now_ns);
	label_control_tick(c, now_ns);
	if (!rc && !v.damaged)
		return take_labels(c, &v);
	if (!rc)
		c->ctr.checksum++;
	else if (rc == -EBADMSG)
		c->ctr.malformed++;
	else
		c->ctr.plain++;
	return c->err;
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
