/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fifo.h"
#include "base/rng.h"
#include "label/hop.h"

enum {
	JUMP_MAX = 10000, /* intervals without anything, that are told of */
};

#define NEVER	       UINT64_MAX
#define MINUTE_NS      (60 * UINT64_C(1000000000))
#define FORGET_NS      (86400 * UINT64_C(1000000000))
#define FORGET_ONCE_NS (600 * UINT64_C(1000000000))

struct label_control {
	struct label_control_options o;
	struct label_control_ledger ctr;
	struct label_db *db;
	struct label_path *path; /* LABEL_PATHS_ROW of each row */
	uint32_t path_rows;
	bool begun; /* a frame with labels came */
	uint64_t now_ns;
	uint64_t patience_ns; /* k * T */
	/* Ports, by their places: those that are not silent, in the order in
	 * which they were heard; those of which S may have to move, in the
	 * order in which it was. */
	struct fifo heard, steps;
	uint32_t with_s[LABEL_S_MAX + 1]; /* ports */

	uint64_t next_end_ns;
	uint64_t number;     /* of the interval, from 1 */
	uint64_t minute;     /* in which it began */
	uint64_t watched_ns; /* since when the interval is observed */
	struct label_interval_sum sum;
	struct label_db_ledger before; /* when it began */

	int err; /* of the memory for due */
};

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct label_control_ledger, frames, LEDGER_IN),
	LEDGER_FIELD(struct label_control_ledger, labelled, LEDGER_DONE),
	LEDGER_FIELD(struct label_control_ledger, plain, LEDGER_HARMLESS),
	LEDGER_FIELD(struct label_control_ledger, malformed, LEDGER_LOSS),
	LEDGER_FIELD(struct label_control_ledger, checksum, LEDGER_LOSS),
	LEDGER_FIELD(struct label_control_ledger, specific, LEDGER_NOTE),
	LEDGER_FIELD(struct label_control_ledger, intervals, LEDGER_NOTE),
	LEDGER_FIELD(struct label_control_ledger, skipped, LEDGER_NOTE),
	LEDGER_FIELD(struct label_control_ledger, raised, LEDGER_NOTE),
	LEDGER_FIELD(struct label_control_ledger, lowered, LEDGER_NOTE),
	LEDGER_FIELD(struct label_control_ledger, silent, LEDGER_NOTE),
	LEDGER_FIELD(struct label_control_ledger, heard, LEDGER_NOTE),
	LEDGER_FIELD(struct label_control_ledger, forgotten, LEDGER_NOTE),
};
LEDGER_COMPLETE(fields, struct label_control_ledger);

const struct ledger label_control_ledger = {"controller", "frames", fields,
					    sizeof(fields) / sizeof(fields[0])};

/* --- paths of specific flows ---------------------------------------------- */

uint32_t label_control_path_places(const struct label_control *c)
{
	return c->path_rows * LABEL_PATHS_ROW;
}

const struct label_path *label_control_path(const struct label_control *c,
					    uint32_t place)
{
	return c->path[place].key_len ? &c->path[place] : NULL;
}

/* The flow's place, or that of the one that gives way to it. */
static struct label_path *find_path(struct label_control *c, const uint8_t *key,
				    unsigned len)
{
	struct label_path *row, *oldest;
	uint64_t h = len;

	for (unsigned i = 0; i < len; i++)
		h = rng_mix(h ^ key[i]);
	row = oldest = &c->path[h % c->path_rows * LABEL_PATHS_ROW];
	for (unsigned i = 0; i < LABEL_PATHS_ROW; i++) {
		if (row[i].key_len == len && !memcmp(row[i].key, key, len))
			return &row[i];
		if (row[i].seen_ns < oldest->seen_ns)
			oldest = &row[i];
	}
	memset(oldest, 0, sizeof(*oldest));
	memcpy(oldest->key, key, len);
	oldest->key_len = (uint8_t)len;
	return oldest;
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

static void add_path(struct label_control *c, const struct label_view *v)
{
	uint8_t key[KEY_FLOW6_LEN];
	unsigned len = label_flow_key(key, v);
	struct label_path *path = find_path(c, key, len);

	c->ctr.specific++;
	path->seen_ns = c->now_ns;
	path->packets++;
	path->cut = v->n > LABEL_PATH_HOPS;
	path->n = path->cut ? LABEL_PATH_HOPS : v->n;
	path->latency_ns = 0;
	for (unsigned i = 0; i < path->n; i++) { /* newest first */
		struct label_item *hop = &path->hop[path->n - 1 - i];

		label_item_get(hop, v, i);
		path->latency_ns += hop->latency_ns;
	}
	learn_links(c, path);
	if (c->o.calls.path)
		c->o.calls.path(c->o.calls.ctx, path);
}

/* --- the controller ------------------------------------------------------- */

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
	if (!c->patience_ns)
		c->patience_ns = 1;
	c->path_rows = (o->flows + LABEL_PATHS_ROW - 1) / LABEL_PATHS_ROW;
	c->path = calloc(label_control_path_places(c), sizeof(*c->path));
	if (!c->path || label_db_open(&c->db, &c->o.db) < 0) {
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
	free(c->path);
	fifo_fini(&c->heard);
	fifo_fini(&c->steps);
	free(c);
}

struct label_db *label_control_db(struct label_control *c)
{
	return c->db;
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

/* --- ports: silence, Pro (INT-label, algorithm 3), ports that are forgotten --
 *
 * Each port is looked at when something is due of it, and not before. What the
 * paper asks for each time round its loop, more than k * T ago, begins to hold
 * right behind the k * T: what is due at a time is done when that is over, and
 * a label that comes just then is in time. All waits for silence, and all for
 * a step of S, are as long as each other: what began to wait first is first in
 * a line, and a label is no more than a move to the end of one. */

static void report_silence(struct label_control *c, uint32_t place, bool silent,
			   uint64_t now_ns)
{
	struct label_record *r = label_db_at(c->db, place);

	r->silent = silent;
	c->ctr.silent += silent;
	c->ctr.heard += !silent;
	if (silent)
		fifo_remove(&c->heard, place);
	if (c->o.calls.silence)
		c->o.calls.silence(c->o.calls.ctx, r,
				   silent ? LABEL_SILENT : LABEL_HEARD, now_ns,
				   silent ? r->seen_ns : r->before_ns);
}

static void change_s(struct label_control *c, uint32_t place, uint8_t s,
		     enum label_reason reason, uint64_t now_ns)
{
	struct label_record *r = label_db_at(c->db, place);
	struct label_decision d = {.now_ns = now_ns,
				   .reason = reason,
				   .port = r,
				   .from = r->s,
				   .lost = label_lost(r) - r->reported};

	if (s > r->s)
		c->ctr.raised++;
	else
		c->ctr.lowered++;
	c->with_s[r->s]--;
	c->with_s[s]++;
	r->s = s;
	r->changed_ns = now_ns;
	r->reported = label_lost(r);
	c->err |= fifo_put(&c->steps, place);
	if (c->o.calls.decision)
		c->o.calls.decision(c->o.calls.ctx, &d);
}

/* Algorithm 3, for one port. One that stays as it is need not be looked at
 * before it is heard, or silent. */
static void step_s(struct label_control *c, uint32_t place, uint64_t at_ns)
{
	const struct label_record *r = label_db_at(c->db, place);

	if (!c->o.pro || at_ns - r->changed_ns < c->patience_ns)
		return;
	fifo_remove(&c->steps, place);
	if (r->silent && r->s < c->o.s_max)
		change_s(c, place, (uint8_t)(r->s + 1), LABEL_SILENT, at_ns);
	else if (!r->silent && r->s > 0)
		change_s(c, place, (uint8_t)(r->s - 1), LABEL_HEARD, at_ns);
}

/* Should it come back its S is 0, here as there. */
static void forget_port(struct label_control *c, uint32_t place, uint64_t at_ns)
{
	const struct label_record *r = label_db_at(c->db, place);
	uint32_t last = label_db_ports(c->db) - 1;

	if (c->o.pro && r->s)
		change_s(c, place, 0, LABEL_FORGOTTEN, at_ns);
	c->with_s[r->s]--;
	c->ctr.forgotten++;
	if (c->o.calls.silence)
		c->o.calls.silence(c->o.calls.ctx, r, LABEL_FORGOTTEN, at_ns,
				   r->seen_ns);
	label_db_forget(c->db, place);
	fifo_renumber(&c->heard, last, place);
	fifo_renumber(&c->steps, last, place);
}

/* Ports that have been silent for very long, looked for once a minute; those of
 * which a single label ever came are forgotten sooner. */
static void forget_silent(struct label_control *c, uint64_t at_ns)
{
	uint32_t place = 0;

	while (place < label_db_ports(c->db)) {
		const struct label_record *r = label_db_at(c->db, place);

		if (r->silent &&
		    at_ns - r->seen_ns >
			    (r->labels > 1 ? FORGET_NS : FORGET_ONCE_NS))
			forget_port(c, place, at_ns);
		else
			place++;
	}
}

static uint64_t silence_due(const struct label_control *c)
{
	uint32_t place = fifo_first(&c->heard);

	if (place == FIFO_EMPTY)
		return NEVER;
	return label_db_at(c->db, place)->seen_ns + c->patience_ns;
}

static uint64_t step_due(const struct label_control *c)
{
	uint32_t place = fifo_first(&c->steps);

	if (place == FIFO_EMPTY)
		return NEVER;
	return label_db_at(c->db, place)->changed_ns + c->patience_ns;
}

/* What is due of ports before a time. */
static void run_due(struct label_control *c, uint64_t before_ns)
{
	for (;;) {
		uint64_t silence_ns = silence_due(c), step_ns = step_due(c);
		bool silent = silence_ns <= step_ns;
		uint64_t at_ns = silent ? silence_ns : step_ns;
		uint32_t place = fifo_first(silent ? &c->heard : &c->steps);

		if (at_ns >= before_ns)
			return;
		if (silent)
			report_silence(c, place, true, at_ns);
		step_s(c, place, at_ns);
	}
}

/* Something newer came of it. */
static void on_port_heard(struct label_control *c, uint32_t place)
{
	struct label_record *r = label_db_at(c->db, place);

	if (r->interval != c->number) {
		r->interval = c->number;
		c->sum.covered++;
	}
	c->err |= fifo_put(&c->heard, place);
	if (r->silent) {
		report_silence(c, place, false, c->now_ns);
		step_s(c, place, c->now_ns);
	}
	if (c->o.calls.port)
		c->o.calls.port(c->o.calls.ctx, r);
}

/* --- telemetry intervals -------------------------------------------------- */

static void begin_interval(struct label_control *c, uint64_t now_ns)
{
	uint64_t begin_ns = now_ns - now_ns % c->o.interval_ns;

	if (begin_ns / MINUTE_NS != c->minute)
		forget_silent(c, begin_ns);
	c->minute = begin_ns / MINUTE_NS;
	c->number++;
	c->before = *label_db_counters(c->db);
	c->sum = (struct label_interval_sum){
		.begin_ns = begin_ns, .end_ns = begin_ns + c->o.interval_ns};
	c->next_end_ns = c->sum.end_ns;
	c->watched_ns = now_ns;
}

static void end_interval(struct label_control *c, uint64_t now_ns)
{
	const struct label_db_ledger *now = label_db_counters(c->db);
	const struct label_db_ledger *was = &c->before;
	int64_t missing = (int64_t)(now->missing - was->missing);

	c->ctr.intervals++;
	c->sum.observed_ns = now_ns - c->watched_ns;
	c->sum.ports = label_db_ports(c->db);
	c->sum.labels = now->items - was->items;
	c->sum.late = now->late - was->late;
	c->sum.odd = now->future - was->future + now->back - was->back;
	c->sum.missing = missing > 0 ? (uint64_t)missing : 0;
	c->sum.silent = (uint32_t)label_control_silent(c);
	for (uint8_t s = 1; s <= LABEL_S_MAX; s++) {
		c->sum.raised += c->with_s[s];
		if (c->with_s[s])
			c->sum.s_most = s;
	}
	if (c->o.calls.interval)
		c->o.calls.interval(c->o.calls.ctx, &c->sum);
}

uint64_t label_control_due(const struct label_control *c)
{
	uint64_t silence_ns = silence_due(c), step_ns = step_due(c);
	uint64_t due = silence_ns < step_ns ? silence_ns : step_ns;

	if (!c->begun)
		return UINT64_MAX;
	return due < c->next_end_ns ? due + 1 : c->next_end_ns;
}

/* So long was nothing to be told that it is not, interval by interval. */
static void jump_to(struct label_control *c, uint64_t now_ns)
{
	uint64_t begin_ns = now_ns - now_ns % c->o.interval_ns;
	uint64_t skipped = (begin_ns - c->next_end_ns) / c->o.interval_ns;

	run_due(c, c->next_end_ns);
	end_interval(c, c->next_end_ns);
	run_due(c, begin_ns);
	begin_interval(c, begin_ns);
	c->sum.skipped = skipped;
	c->ctr.skipped += skipped;
}

void label_control_tick(struct label_control *c, uint64_t now_ns)
{
	if (!c->begun || now_ns <= c->now_ns)
		return;
	c->now_ns = now_ns;
	if (now_ns > c->next_end_ns &&
	    (now_ns - c->next_end_ns) / c->o.interval_ns > JUMP_MAX)
		jump_to(c, now_ns);
	for (; c->next_end_ns <= now_ns; begin_interval(c, c->next_end_ns)) {
		run_due(c, c->next_end_ns);
		end_interval(c, c->next_end_ns);
	}
	run_due(c, now_ns);
}

void label_control_end(struct label_control *c)
{
	if (c->begun && c->sum.packets)
		end_interval(c, c->now_ns);
	c->sum.packets = 0;
}

/* --- frames, and the labels in them --------------------------------------- */

static int add_item(struct label_control *c, const struct label_item *item)
{
	uint32_t place, ports = label_db_ports(c->db);
	enum label_taken taken = label_db_take(c->db, item, c->now_ns, &place);

	if (taken == LABEL_LEFT)
		return 0;
	if (label_db_ports(c->db) > ports)
		c->with_s[0]++; /* a port more */
	else if (taken == LABEL_BEGUN && label_db_at(c->db, place)->s)
		change_s(c, place, 0, LABEL_RESET, c->now_ns);
	on_port_heard(c, place);
	return c->err;
}

static int add_labels(struct label_control *c, const struct label_view *v)
{
	struct label_item item[UINT8_MAX];
	int rc = 0;

	c->ctr.labelled++;
	c->sum.packets++;
	for (unsigned i = 0; i < v->n; i++)
		label_item_get(&item[i], v, i);
	label_db_prefetch(c->db, item, v->n);
	for (unsigned i = v->n; i-- > 0 && !rc;) /* oldest first */
		rc = add_item(c, &item[i]);
	if (v->specific && !rc)
		add_path(c, v);
	return rc;
}

int label_control_frame(struct label_control *c, const uint8_t *frame,
			size_t len, uint64_t now_ns)
{
	struct label_view v;
	int rc = label_find(&v, &c->o.format, frame, len);

	c->ctr.frames++;
	if (!rc && !v.damaged && !c->begun) {
		c->begun = true;
		c->now_ns = now_ns;
		begin_interval(c, now_ns);
	}
	label_control_tick(c, now_ns);
	if (!rc && !v.damaged)
		return add_labels(c, &v);
	if (!rc)
		c->ctr.checksum++;
	else if (rc == -EBADMSG)
		c->ctr.malformed++;
	else
		c->ctr.plain++;
	return c->err;
}
