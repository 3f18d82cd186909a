/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fifo.h"
#include "base/rng.h"
#include "label/hop.h"

enum {
	EMPTY_MAX = 10000, /* empty intervals in a row that are reported */
};

#define NEVER	       UINT64_MAX
#define MINUTE_NS      (60 * UINT64_C(1000000000))
#define FORGET_NS      (86400 * UINT64_C(1000000000))
#define FORGET_ONCE_NS (600 * UINT64_C(1000000000))

struct label_control {
	struct label_control_options o;
	struct label_control_ledger ctr;
	struct label_db *db;
	struct label_path *path; /* path_buckets * LABEL_PATHS_BUCKET */
	uint32_t path_buckets;
	bool begun; /* a labelled frame came */
	uint64_t now_ns;
	uint64_t silent_after_ns; /* k * T */
	/* Ports, by their indices. heard: those that are not silent, in the
	 * order in which they were heard last. steps: those of which S may have
	 * to change, in the order in which it last did. */
	struct fifo heard, steps;
	uint32_t ports_with_s[LABEL_S_MAX + 1]; /* ports */

	uint64_t next_end_ns;
	uint64_t number;	   /* of the interval, from 1 */
	uint64_t minute;	   /* in which it began */
	uint64_t observed_from_ns; /* since when the interval is observed */
	struct label_interval_sum sum;
	struct label_db_ledger db_before; /* when it began */

	int err; /* -ENOMEM of heard or steps */
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

uint32_t label_control_path_slots(const struct label_control *c)
{
	return c->path_buckets * LABEL_PATHS_BUCKET;
}

const struct label_path *label_control_path(const struct label_control *c,
					    uint32_t index)
{
	return c->path[index].key_len ? &c->path[index] : NULL;
}

/* The flow's path, or that of the one it replaces, cleared. */
static struct label_path *find_path(struct label_control *c, const uint8_t *key,
				    unsigned len)
{
	struct label_path *bucket, *oldest;
	uint64_t hash = len;

	for (unsigned i = 0; i < len; i++)
		hash = rng_mix(hash ^ key[i]);
	bucket = oldest = &c->path[hash % c->path_buckets * LABEL_PATHS_BUCKET];
	for (unsigned i = 0; i < LABEL_PATHS_BUCKET; i++) {
		if (bucket[i].key_len == len &&
		    !memcmp(bucket[i].key, key, len))
			return &bucket[i];
		if (bucket[i].seen_ns < oldest->seen_ns)
			oldest = &bucket[i];
	}
	memset(oldest, 0, sizeof(*oldest));
	memcpy(oldest->key, key, len);
	oldest->key_len = (uint8_t)len;
	return oldest;
}

/* Consecutive hops are the ends of a link. */
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
	path->truncated = v->n > LABEL_PATH_HOPS;
	path->n = path->truncated ? LABEL_PATH_HOPS : v->n;
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
	*o = (struct label_control_options){.format = label_format_default,
					    .interval_ns = 100000000,
					    .t_ns = 50000000,
					    .k = 2,
					    .pro = true,
					    .s_max = 6,
					    .flows = 4096};
}

int label_control_open(struct label_control **out,
		       const struct label_control_options *o)
{
	struct label_control *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->o = *o;
	c->silent_after_ns = (uint64_t)(o->k * (double)o->t_ns);
	if (!c->silent_after_ns)
		c->silent_after_ns = 1;
	c->path_buckets = (o->flows + LABEL_PATHS_BUCKET - 1) /
			  LABEL_PATHS_BUCKET;
	c->path = calloc(label_control_path_slots(c), sizeof(*c->path));
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
 * The paper's loop asks of each port whether more than k * T has passed. Here a
 * port is looked at only when that becomes true: just after k * T, so that a
 * label that comes at exactly k * T is in time. As all ports wait k * T, for
 * silence as for a step of S, those that began to wait first are due first: two
 * fifos suffice, and a label moves its port to the end of one. */

static void report_silence(struct label_control *c, uint32_t index, bool silent,
			   uint64_t now_ns)
{
	struct label_record *r = label_db_at(c->db, index);

	r->silent = silent;
	c->ctr.silent += silent;
	c->ctr.heard += !silent;
	if (silent)
		fifo_remove(&c->heard, index);
	if (c->o.calls.silence)
		c->o.calls.silence(c->o.calls.ctx, r,
				   silent ? LABEL_SILENT : LABEL_HEARD, now_ns,
				   silent ? r->seen_ns : r->previous_ns);
}

static void change_s(struct label_control *c, uint32_t index, uint8_t s,
		     enum label_reason reason, uint64_t now_ns)
{
	struct label_record *r = label_db_at(c->db, index);
	struct label_decision d = {.now_ns = now_ns,
				   .reason = reason,
				   .port = r,
				   .from = r->s,
				   .lost = label_lost(r) - r->reported};

	if (s > r->s)
		c->ctr.raised++;
	else
		c->ctr.lowered++;
	c->ports_with_s[r->s]--;
	c->ports_with_s[s]++;
	r->s = s;
	r->changed_ns = now_ns;
	r->reported = label_lost(r);
	c->err |= fifo_put(&c->steps, index);
	if (c->o.calls.decision)
		c->o.calls.decision(c->o.calls.ctx, &d);
}

/* Algorithm 3, for one port. If its S stays, the port leaves steps until it
 * falls silent or is heard. */
static void step_s(struct label_control *c, uint32_t index, uint64_t at_ns)
{
	const struct label_record *r = label_db_at(c->db, index);

	if (!c->o.pro || at_ns - r->changed_ns < c->silent_after_ns)
		return;
	fifo_remove(&c->steps, index);
	if (r->silent && r->s < c->o.s_max)
		change_s(c, index, (uint8_t)(r->s + 1), LABEL_SILENT, at_ns);
	else if (!r->silent && r->s > 0)
		change_s(c, index, (uint8_t)(r->s - 1), LABEL_HEARD, at_ns);
}

/* S is set to 0 in the switch, too, for the port may come back as a new one. */
static void forget_port(struct label_control *c, uint32_t index, uint64_t at_ns)
{
	const struct label_record *r = label_db_at(c->db, index);
	uint32_t last = label_db_ports(c->db) - 1;

	if (c->o.pro && r->s)
		change_s(c, index, 0, LABEL_FORGOTTEN, at_ns);
	c->ports_with_s[r->s]--;
	c->ctr.forgotten++;
	if (c->o.calls.silence)
		c->o.calls.silence(c->o.calls.ctx, r, LABEL_FORGOTTEN, at_ns,
				   r->seen_ns);
	label_db_forget(c->db, index);
	fifo_renumber(&c->heard, last, index);
	fifo_renumber(&c->steps, last, index);
}

/* Forgets ports that have been silent for long (once a minute). */
static void forget_silent(struct label_control *c, uint64_t at_ns)
{
	uint32_t index = 0;

	while (index < label_db_ports(c->db)) {
		const struct label_record *r = label_db_at(c->db, index);

		if (r->silent &&
		    at_ns - r->seen_ns >
			    (r->labels > 1 ? FORGET_NS : FORGET_ONCE_NS))
			forget_port(c, index, at_ns);
		else
			index++;
	}
}

static uint64_t silence_due(const struct label_control *c)
{
	uint32_t index = fifo_first(&c->heard);

	if (index == FIFO_EMPTY)
		return NEVER;
	return label_db_at(c->db, index)->seen_ns + c->silent_after_ns;
}

static uint64_t step_due(const struct label_control *c)
{
	uint32_t index = fifo_first(&c->steps);

	if (index == FIFO_EMPTY)
		return NEVER;
	return label_db_at(c->db, index)->changed_ns + c->silent_after_ns;
}

/* Does what is due of ports before a time. */
static void run_due(struct label_control *c, uint64_t before_ns)
{
	for (;;) {
		uint64_t silence_ns = silence_due(c), step_ns = step_due(c);
		bool silent = silence_ns <= step_ns;
		uint64_t at_ns = silent ? silence_ns : step_ns;
		uint32_t index = fifo_first(silent ? &c->heard : &c->steps);

		if (at_ns >= before_ns)
			return;
		if (silent)
			report_silence(c, index, true, at_ns);
		step_s(c, index, at_ns);
	}
}

/* A newer state of a port came. */
static void on_port_heard(struct label_control *c, uint32_t index)
{
	struct label_record *r = label_db_at(c->db, index);

	if (r->interval != c->number) {
		r->interval = c->number;
		c->sum.covered++;
	}
	c->err |= fifo_put(&c->heard, index);
	if (r->silent) {
		report_silence(c, index, false, c->now_ns);
		step_s(c, index, c->now_ns);
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
	c->db_before = *label_db_counters(c->db);
	c->sum = (struct label_interval_sum){
		.begin_ns = begin_ns, .end_ns = begin_ns + c->o.interval_ns};
	c->next_end_ns = c->sum.end_ns;
	c->observed_from_ns = now_ns;
}

static void end_interval(struct label_control *c, uint64_t now_ns)
{
	const struct label_db_ledger *now = label_db_counters(c->db);
	const struct label_db_ledger *was = &c->db_before;
	int64_t missing = (int64_t)(now->missing - was->missing);

	c->ctr.intervals++;
	c->sum.observed_ns = now_ns - c->observed_from_ns;
	c->sum.ports = label_db_ports(c->db);
	c->sum.labels = now->items - was->items;
	c->sum.late = now->late - was->late;
	c->sum.odd = now->future - was->future + now->back - was->back;
	c->sum.missing = missing > 0 ? (uint64_t)missing : 0;
	c->sum.silent = (uint32_t)label_control_silent(c);
	for (uint8_t s = 1; s <= LABEL_S_MAX; s++) {
		c->sum.raised += c->ports_with_s[s];
		if (c->ports_with_s[s])
			c->sum.s_max = s;
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

/* Skips the many empty intervals up to now_ns without reporting each. */
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
	    (now_ns - c->next_end_ns) / c->o.interval_ns > EMPTY_MAX)
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
	uint32_t index, ports = label_db_ports(c->db);
	enum label_update result = label_db_update(c->db, item, c->now_ns,
						   &index);

	if (result == LABEL_REFUSED)
		return 0;
	if (label_db_ports(c->db) > ports)
		c->ports_with_s[0]++; /* a port more */
	else if (result == LABEL_STARTED && label_db_at(c->db, index)->s)
		change_s(c, index, 0, LABEL_RESET, c->now_ns);
	on_port_heard(c, index);
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
