/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/control.h"

#include <errno.h>
#include <stdlib.h>

#include "label/policy.h"

enum {
	LOOKS = 4,	  /* at all ports, each k * T */
	JUMP_MAX = 10000, /* intervals without anything, that are told of */
};

struct label_control {
	struct label_control_options o;
	struct label_control_ledger ctr;
	struct label_db *db;
	struct label_paths *paths;
	bool begun; /* a frame came */
	uint64_t begun_ns;
	uint64_t now_ns;
	uint64_t patience_ns, look_ns; /* k * T, and the time between looks */
	uint64_t next_end_ns, next_look_ns;
	uint64_t number; /* of the interval, from 1 */
	struct label_interval_sum sum;
	struct label_db_ledger before; /* when it began */
	uint32_t silent;
};

/* clang-format off */
#define FIELD(counter, role) \
	LEDGER_FIELD(struct label_control_ledger, counter, role)
static const struct ledger_field fields[] = {
	FIELD(frames, LEDGER_IN),
	FIELD(labelled, LEDGER_DONE),
	FIELD(plain, LEDGER_DROP),
	FIELD(malformed, LEDGER_DROP),
	FIELD(specific, LEDGER_NOTE),
	FIELD(intervals, LEDGER_NOTE),
	FIELD(raised, LEDGER_NOTE),
	FIELD(lowered, LEDGER_NOTE),
	FIELD(silent, LEDGER_NOTE),
	FIELD(heard, LEDGER_NOTE),
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
	c->look_ns = c->patience_ns / LOOKS;
	if (!c->look_ns)
		c->look_ns = 1;
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

uint64_t label_control_due(const struct label_control *c)
{
	if (!c->begun)
		return UINT64_MAX;
	return c->next_end_ns < c->next_look_ns ? c->next_end_ns
						: c->next_look_ns;
}

/* --- intervals ------------------------------------------------------------ */

static void begin_interval(struct label_control *c, uint64_t begin_ns)
{
	c->number++;
	c->before = *label_db_counters(c->db);
	c->sum = (struct label_interval_sum){
		.begin_ns = begin_ns, .end_ns = begin_ns + c->o.interval_ns};
	c->next_end_ns = c->sum.end_ns;
}

/* What S the ports have; only as often as intervals end. */
static void sum_s(struct label_control *c)
{
	for (uint32_t i = 0; i < label_db_ports(c->db); i++) {
		uint8_t s = label_db_at(c->db, i)->s;

		c->sum.raised += s > 0;
		if (s > c->sum.s_most)
			c->sum.s_most = s;
	}
}

static void end_interval(struct label_control *c)
{
	const struct label_db_ledger *now = label_db_counters(c->db);
	const struct label_db_ledger *was = &c->before;
	uint64_t missing = now->missing - was->missing;
	uint64_t found = now->found - was->found;
	uint32_t known = label_db_ports(c->db);

	c->ctr.intervals++;
	c->sum.ports = c->o.expected > known ? c->o.expected : known;
	c->sum.labels = now->items - was->items;
	c->sum.late = now->late - was->late;
	c->sum.odd = now->future - was->future + now->back - was->back;
	c->sum.missing = missing > found ? missing - found : 0;
	c->sum.silent = c->silent;
	sum_s(c);
	if (c->o.calls.interval)
		c->o.calls.interval(c->o.calls.ctx, &c->sum);
}

/* --- silence, and Pro ----------------------------------------------------- */

static void tell_silence(struct label_control *c, struct label_record *r,
			 bool silent, uint64_t now_ns, uint64_t since_ns)
{
	r->silent = silent;
	if (silent) {
		c->silent++;
		c->ctr.silent++;
	} else {
		c->silent--;
		c->ctr.heard++;
	}
	if (c->o.calls.silent)
		c->o.calls.silent(c->o.calls.ctx, r, silent, now_ns, since_ns);
}

static void set_s(struct label_control *c, struct label_record *r, uint8_t s,
		  enum label_reason reason, uint64_t now_ns)
{
	struct label_decision d = {.now_ns = now_ns,
				   .reason = reason,
				   .port = r,
				   .from = r->s,
				   .lost = label_lost(r) - r->reported};

	if (s > r->s)
		c->ctr.raised++;
	else
		c->ctr.lowered++;
	r->s = s;
	r->changed_ns = now_ns;
	r->reported = label_lost(r);
	if (c->o.calls.decision)
		c->o.calls.decision(c->o.calls.ctx, &d);
}

/* Algorithm 3, for one port. */
static void look_at(struct label_control *c, struct label_record *r,
		    uint64_t now_ns)
{
	uint64_t since_ns = r->seen_ns > c->begun_ns ? r->seen_ns : c->begun_ns;
	bool silent = now_ns - since_ns > c->patience_ns;

	if (silent && !r->silent)
		tell_silence(c, r, true, now_ns, r->seen_ns);
	if (!c->o.pro || now_ns - r->changed_ns <= c->patience_ns)
		return;
	if (silent && r->s < c->o.s_max)
		set_s(c, r, (uint8_t)(r->s + 1), LABEL_SILENT, now_ns);
	else if (!silent && r->s > 0)
		set_s(c, r, (uint8_t)(r->s - 1), LABEL_HEARD, now_ns);
}

static void look(struct label_control *c, uint64_t now_ns)
{
	for (uint32_t i = 0; i < label_db_ports(c->db); i++)
		look_at(c, label_db_at(c->db, i), now_ns);
}

/* S of an earlier run. Whether the switch still has it nobody knows: it is told
 * again. */
static void resume_s(struct label_control *c, struct label_record *r,
		     uint64_t now_ns)
{
	uint8_t s = r->s < c->o.s_max ? r->s : c->o.s_max;

	if (!c->o.pro || !s)
		return;
	r->s = 0;
	set_s(c, r, s, LABEL_RESUMED, now_ns);
}

/* Ports of an earlier run: how long they have been silent while nobody
 * listened, nobody knows. */
static void resume(struct label_control *c, uint64_t now_ns)
{
	for (uint32_t i = 0; i < label_db_ports(c->db); i++) {
		struct label_record *r = label_db_at(c->db, i);

		if (r->seen_ns > now_ns) /* of a later capture */
			r->seen_ns = r->before_ns = now_ns;
		if (r->first_ns > now_ns)
			r->first_ns = now_ns;
		r->changed_ns = now_ns;
		c->silent += r->silent;
		resume_s(c, r, now_ns);
	}
}

/* --- time ----------------------------------------------------------------- */

static void begin(struct label_control *c, uint64_t now_ns)
{
	c->begun = true;
	c->now_ns = c->begun_ns = now_ns;
	resume(c, now_ns);
	c->next_look_ns = now_ns - now_ns % c->look_ns + c->look_ns;
	begin_interval(c, now_ns - now_ns % c->o.interval_ns);
}

/* So long was nothing to be done that it is not made up for. */
static void jump(struct label_control *c, uint64_t now_ns)
{
	uint64_t begin_ns = now_ns - now_ns % c->o.interval_ns;

	end_interval(c);
	begin_interval(c, begin_ns);
	look(c, begin_ns);
	c->next_look_ns = begin_ns - begin_ns % c->look_ns + c->look_ns;
}

void label_control_tick(struct label_control *c, uint64_t now_ns)
{
	uint64_t due;

	if (!c->begun || now_ns <= c->now_ns)
		return;
	c->now_ns = now_ns;
	if (now_ns > c->next_end_ns &&
	    (now_ns - c->next_end_ns) / c->o.interval_ns > JUMP_MAX)
		jump(c, now_ns);
	while ((due = label_control_due(c)) <= now_ns) {
		if (due == c->next_look_ns) {
			look(c, due);
			c->next_look_ns += c->look_ns;
		}
		if (due == c->next_end_ns) {
			end_interval(c);
			begin_interval(c, due);
		}
	}
}

void label_control_end(struct label_control *c)
{
	if (c->begun && c->sum.packets)
		end_interval(c);
	c->sum.packets = 0;
}

/* --- packets -------------------------------------------------------------- */

static void heard(struct label_control *c, struct label_record *r)
{
	if (r->interval != c->number) {
		r->interval = c->number;
		c->sum.covered++;
	}
	if (r->silent)
		tell_silence(c, r, false, c->now_ns, r->before_ns);
	if (c->o.calls.port)
		c->o.calls.port(c->o.calls.ctx, r);
}

static int take_item(struct label_control *c, const struct label_item *item)
{
	struct label_record *r;
	uint32_t place;
	int rc = label_db_take(c->db, item, c->now_ns, &place);

	if (rc != LABEL_TAKEN && rc != LABEL_BEGUN)
		return rc < 0 ? rc : 0;
	r = label_db_at(c->db, place);
	if (rc == LABEL_BEGUN && r->s)
		set_s(c, r, 0, LABEL_RESET, c->now_ns);
	heard(c, r);
	return 0;
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

int label_control_take(struct label_control *c, const struct label_view *v,
		       uint64_t now_ns)
{
	struct label_item item;
	int rc = 0;

	if (!c->begun)
		begin(c, now_ns);
	label_control_tick(c, now_ns);
	c->ctr.frames++;
	c->ctr.labelled++;
	c->sum.packets++;
	for (unsigned i = v->n; i-- > 0 && !rc;) { /* oldest first */
		label_item_get(&item, v, i);
		rc = take_item(c, &item);
	}
	if (v->specific && !rc)
		take_path(c, v);
	return rc;
}

int label_control_frame(struct label_control *c, const uint8_t *frame,
			size_t len, uint64_t now_ns)
{
	struct label_view v;
	int rc = label_find(&v, &c->o.format, frame, len);

	if (!rc)
		return label_control_take(c, &v, now_ns);
	c->ctr.frames++;
	if (rc == -EBADMSG)
		c->ctr.malformed++;
	else
		c->ctr.plain++;
	label_control_tick(c, now_ns);
	return 0;
}
