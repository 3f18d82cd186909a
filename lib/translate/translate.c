/* SPDX-License-Identifier: BSD-2-Clause */
/* translate.c - open, close, and the way of a batch through the stages. */
#include "translate/private.h"

#include <errno.h>
#include <stdlib.h>

#include "translate/clock.h"

#define FIELD(name, role)                                                      \
	{                                                                      \
#name, offsetof(struct translate_ledger, name), role           \
	}

static const struct ledger_field fields[] = {
	FIELD(received, LEDGER_IN),	     FIELD(stored, LEDGER_DONE),
	FIELD(foreign, LEDGER_DROP),	     FIELD(malformed, LEDGER_DROP),
	FIELD(bad_version, LEDGER_DROP),     FIELD(bad_opcode, LEDGER_DROP),
	FIELD(bad_table, LEDGER_DROP),	     FIELD(bad_key, LEDGER_DROP),
	FIELD(bad_data, LEDGER_DROP),	     FIELD(bad_copies, LEDGER_DROP),
	FIELD(bad_hop, LEDGER_DROP),	     FIELD(bad_list, LEDGER_DROP),
	FIELD(bad_value, LEDGER_DROP),	     FIELD(bad_address, LEDGER_DROP),
	FIELD(out_of_order, LEDGER_DROP),    FIELD(repeated, LEDGER_DROP),
	FIELD(rate_limited, LEDGER_DROP),    FIELD(resyncing, LEDGER_DROP),
	FIELD(questions, LEDGER_DROP),	     FIELD(nacks, LEDGER_NOTE),
	FIELD(nacks_sent, LEDGER_NOTE),	     FIELD(gaps, LEDGER_NOTE),
	FIELD(lost_reports, LEDGER_NOTE),    FIELD(ops, LEDGER_NOTE),
	FIELD(bytes, LEDGER_NOTE),	     FIELD(immediates, LEDGER_NOTE),
	FIELD(chunks, LEDGER_NOTE),	     FIELD(early, LEDGER_NOTE),
	FIELD(duplicates, LEDGER_NOTE),	     FIELD(batches, LEDGER_NOTE),
	FIELD(partial_batches, LEDGER_NOTE),
};

_Static_assert(sizeof(fields) / sizeof(fields[0]) ==
		       sizeof(struct translate_ledger) / sizeof(uint64_t),
	       "a counter has no name");

const struct ledger translate_ledger = {
	.stage = "translate",
	.unit = "reports",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

static lane_run *const run_of[] = {
	[TABLE_KEYWRITE] = keywrite_run,
	[TABLE_APPEND] = append_run,
	[TABLE_KEYINC] = keyinc_run,
	[TABLE_POSTCARD] = postcard_run,
};

/* Postcards and entries are charged when they are written. */
static void charge(struct translator *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->nops; i++) {
		uint8_t kind = t->lane[t->op[i].table].kind;

		n += kind == TABLE_POSTCARD || kind == TABLE_APPEND;
	}
	rate_charge(&t->rate, n);
}
static lane_run *const keywrite_of[] = {
	[DART_OFF] = keywrite_run,
	[DART_ONE] = dart_one_run,
	[DART_CAS] = dart_cas_run,
};

void ops_run(struct translator *t)
{
	int rc;

	if (t->rate.per_s)
		charge(t);
	if (t->nops && !t->error) {
		rc = t->road->exec(t->road, t->op, t->nops, t->stamp_ns);
		if (rc < 0)
			t->error = rc;
	}
	t->ctr.ops += t->nops;
	t->nops = 0;
	t->used = 0;
}

/*
 * Bytes written for one slot or chunk that is full. A whole stride is one store
 * where it fits a cache line; beyond that, what the slot holds.
 */
static uint32_t write_len_of(const struct table *t)
{
	uint32_t held = t->kind == TABLE_POSTCARD ? 4u * t->hops
						  : 4u + t->value_len;

	if (t->stride <= SLOT_ONE_STORE && !(t->stride & (t->stride - 1)))
		return t->stride;
	return round4(held);
}

static uint16_t data_len_of(const struct table *t)
{
	switch (t->kind) {
	case TABLE_KEYINC:
		return 8;
	case TABLE_POSTCARD:
		return 4;
	default:
		return t->value_len;
	}
}

static void lane_init(struct lane *l, const struct table *t, unsigned index,
		      const struct translate_options *o)
{
	*l = (struct lane){
		.lists = t->lists,
		.data_len = data_len_of(t),
		.kind = t->kind,
		.key_len = (uint8_t)t->key_len,
		.copies = t->copies,
		.hops = t->hops,
		.index = (uint16_t)index,
		.run = t->kind == TABLE_KEYWRITE ? keywrite_of[o->dart]
						 : run_of[t->kind],
		.write_len = write_len_of(t),
		.copy = {.state = rng_mix(rng_mix(o->seed) + index)},
		.t = *t,
	};
	/* The cache is divided, as the reports are; rows are a power of 2. */
	for (unsigned c = 1; c < o->collectors && l->t.cache_rows > 1; c *= 2)
		l->t.cache_rows /= 2;
	admit_init(l);
	if (o->op_rate)
		l->header = UINT64_MAX; /* no report is common then */
}

/* The lane by which reports are known and judged: the first collector's. */
static int lane_name(struct translator *t, unsigned i, struct fault *f)
{
	struct lane *l = &t->lane[i];

	if (t->by_id[l->t.id] != NO_LANE)
		return fault_set(f, -EINVAL, "%s: table id %u is taken",
				 l->t.name, l->t.id);
	t->by_id[l->t.id] = (uint8_t)i;
	if (t->first_of_kind[l->kind] == NO_LANE && l->key_len == 4)
		t->first_of_kind[l->kind] = (uint8_t)i;
	return 0;
}

static int lane_open(struct translator *t, unsigned i,
		     const struct translate_options *o, size_t *room,
		     struct fault *f)
{
	struct lane *l = &t->lane[i];
	size_t again = CACHES_MAX;
	int rc = i < t->n ? lane_name(t, i, f) : 0;

	if (rc < 0)
		return rc;
	if (l->kind == TABLE_KEYWRITE)
		return dart_check(o, l, f);
	if (l->kind == TABLE_POSTCARD)
		return postcard_open(l, room, f);
	/* A list is of one collector: its batch waits in one lane alone. */
	if (l->kind != TABLE_APPEND)
		return 0;
	rc = append_open(l, i >= t->n && o->steer == STEER_HASH ? &again : room,
			 f);
	if (!t->flush_ns || t->flush_ns > l->t.flush_ms * UINT64_C(1000000))
		t->flush_ns = l->t.flush_ms * UINT64_C(1000000);
	return rc;
}

static bool wants_sequence(const struct translator *t)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->lane[i].t.sequence != TABLE_SEQ_OFF)
			return true;
	return false;
}

/* What the caller gave. */
static int check(const struct table *tables, unsigned n,
		 const struct translate_options *o, struct fault *f)
{
	bool keywrite = false;
	struct fault why = {0};
	int rc;

	if (!n || n > TABLE_MAX)
		return fault_set(f, -EINVAL, "%u tables: 1 to %u", n,
				 TABLE_MAX);
	if (o->collectors > COLLECTORS_MAX)
		return fault_set(f, -EINVAL, "%u collectors: %d at most",
				 o->collectors, COLLECTORS_MAX);
	for (unsigned i = 0; i < n; i++) {
		if ((rc = table_check(&tables[i], &why)) < 0)
			return fault_set(f, rc, "%.*s: %.400s", TABLE_NAME_MAX,
					 tables[i].name, why.text);
		keywrite = keywrite || tables[i].kind == TABLE_KEYWRITE;
	}
	if (o->dart && !keywrite)
		return fault_set(f, -EINVAL,
				 "DART writes Key-Write tables; there is none");
	return 0;
}

static int lanes_open(struct translator *t, const struct table *tables,
		      const struct translate_options *o, struct fault *f)
{
	size_t room = CACHES_MAX;
	int rc = 0;

	for (unsigned i = 0; i < t->lanes; i++)
		lane_init(&t->lane[i], &tables[i % t->n], i, o);
	for (unsigned i = 0; i < t->lanes && !rc; i++)
		rc = lane_open(t, i, o, &room, f);
	if (!rc && o->collectors > 1)
		rc = steer_open(t, o, f);
	return rc;
}

int translate_open(struct translator **out, const struct table *tables,
		   unsigned n, struct road *road,
		   const struct translate_options *options, struct fault *f)
{
	static const struct translate_options none;
	const struct translate_options *o = options ? options : &none;
	unsigned lanes = n * (o->collectors ? o->collectors : 1);
	struct translator *t;
	size_t size;
	int rc = check(tables, n, o, f);

	if (rc < 0)
		return rc;
	size = sizeof(*t) + lanes * sizeof(t->lane[0]);
	t = aligned_alloc(64, (size + 63) & ~(size_t)63);
	if (!t)
		return fault_set(f, -ENOMEM, "no memory for the translator");
	memset(t, 0, size);
	memset(t->by_id, NO_LANE, sizeof(t->by_id));
	memset(t->first_of_kind, NO_LANE, sizeof(t->first_of_kind));
	t->road = road;
	t->format = o->format;
	t->nacks = o->nacks;
	t->dart = o->dart;
	t->n = n;
	t->lanes = lanes;
	if (o->op_rate)
		rate_init(&t->rate, o->op_rate, o->op_burst);
	rc = lanes_open(t, tables, o, f);
	if (!rc && wants_sequence(t)) {
		t->slow = UINT64_C(1) << HEADER_TRACKED;
		rc = sequence_open(t, f);
	}
	if (rc < 0) {
		translate_close(t);
		return rc;
	}
	*out = t;
	return 0;
}

void translate_close(struct translator *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < t->lanes; i++) {
		postcard_close(&t->lane[i]);
		append_close(&t->lane[i]);
	}
	steer_close(t);
	sequence_close(t);
	free(t);
}

const struct translate_ledger *translate_counters(const struct translator *t)
{
	return &t->ctr;
}

void lane_go(struct translator *t, unsigned lane, const struct jobs *j)
{
	struct lane *l = &t->lane[lane];

	l->run(t, l, j);
	ops_run(t);
}

/* One table's jobs, to the lanes of their collectors. */
static void table_go(struct translator *t, unsigned table, struct jobs *j)
{
	if (t->dart == DART_ONE && t->lane[table].kind == TABLE_KEYWRITE)
		dart_draw(&t->lane[table], j);
	if (t->steering)
		steer_run(t, table, j);
	else
		lane_go(t, table, j);
}

/* One lane's jobs of the stage, in their order. Without a branch on the lane,
 * which nobody could predict in mixed traffic. */
static inline __attribute__((always_inline)) struct jobs *
pick_with(struct translator *t, unsigned lane, bool at)
{
	const struct jobs *from = &t->stage;
	struct jobs *to = &t->bucket;
	uint64_t all = UINT64_MAX, any = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < from->n; i++) {
		uint64_t head = from->head[i];
		bool ours = head_lane(head) == lane;

		to->key[n] = from->key[i];
		if (at)
			to->at[n] = from->at[i];
		to->head[n] = head;
		n += ours;
		all &= ours ? head : UINT64_MAX;
		any |= ours ? head : 0;
	}
	to->n = n;
	to->all = all;
	to->any = any;
	return to;
}

static struct jobs *pick(struct translator *t, unsigned lane)
{
	/* Who came when is for lists alone; steering wants it, too. */
	if (t->lane[lane].kind == TABLE_APPEND || t->steering)
		return pick_with(t, lane, true);
	return pick_with(t, lane, false);
}

/* A lane after the other; nearly always there is but one. */
static void stage(struct translator *t, const struct pkt *pkts, size_t n)
{
	struct jobs *j = &t->stage;
	uint64_t lanes = 0;

	admit(t, pkts, n);
	if (t->steering)
		steer_aim(t);
	if (!j->n)
		return;
	if (head_lane(j->all) == head_lane(j->any)) {
		table_go(t, head_lane(j->any), j);
		return;
	}
	for (unsigned i = 0; i < j->n; i++)
		lanes |= UINT64_C(1) << head_lane(j->head[i]);
	for (; lanes; lanes &= lanes - 1) {
		unsigned lane = (unsigned)__builtin_ctzll(lanes);

		table_go(t, lane, pick(t, lane));
	}
}

/* A table is busy if it is so at one of the collectors: nobody knows yet where
 * a report will go. */
static void ask_busy(struct translator *t)
{
	for (unsigned i = 0; i < t->n; i++)
		t->lane[i].busy = false;
	for (unsigned i = 0; i < t->lanes; i++)
		if (t->road->busy(t->road, i))
			t->lane[i % t->n].busy = true;
}

static void begin(struct translator *t)
{
	t->error = 0;
	t->stamp_ns = t->last_ns;
	t->generation = t->road->begin(t->road);
	if (t->road->busy)
		ask_busy(t);
}

static int end(struct translator *t)
{
	ops_run(t);
	t->road->end(t->road);
	return t->error;
}

static void flush_all(struct translator *t)
{
	for (unsigned i = 0; i < t->lanes; i++)
		if (t->lane[i].append)
			append_flush(t, &t->lane[i]);
	ops_run(t);
}

/* The lists whose flush time is over. One that begins to wait from now on is
 * not due before its own. */
static void flush_due(struct translator *t)
{
	uint64_t now = t->last_ns + t->idle_ns;

	if (!t->flush_ns || now < t->due_ns)
		return;
	t->due_ns = now + t->flush_ns;
	t->stamp_ns = 0;
	for (unsigned i = 0; i < t->lanes; i++)
		if (t->lane[i].append)
			append_flush_due(t, &t->lane[i], now);
	ops_run(t);
}

/*
 * By the packets' time. Lists that wait when the clock is set back do so no
 * longer: nobody knows for how long they did.
 */
static void clock_to(struct translator *t, uint64_t now_ns)
{
	bool set = clock_was_set(t->last_ns, now_ns);

	if (set)
		flush_all(t);
	if (set || t->idle_ns)
		t->due_ns = 0; /* to be reckoned anew */
	clock_step(&t->last_ns, now_ns);
	t->idle_ns = 0;
}

/* Whether a packet comes when a list is due, or with a clock that was set. */
static bool comes_later(const struct translator *t, const struct pkt *p)
{
	return p->ts_ns >= t->due_ns || clock_was_set(t->last_ns, p->ts_ns);
}

/* How many packets, of which the first has come, come before that: all, nearly
 * always. */
static size_t until_due(const struct translator *t, const struct pkt *pkts,
			size_t n)
{
	size_t k = 1;

	if (!t->flush_ns || !comes_later(t, &pkts[n - 1]))
		return n;
	while (k < n && !comes_later(t, &pkts[k]))
		k++;
	return k;
}

int translate_rx(struct translator *t, const struct pkt *pkts, size_t n)
{
	size_t some;

	if (!n)
		return 0;
	begin(t);
	for (; n; pkts += some, n -= some) {
		clock_to(t, pkts->ts_ns);
		flush_due(t);
		some = until_due(t, pkts, n < STAGE ? n : STAGE);
		clock_to(t, pkts[some - 1].ts_ns);
		t->pkts = pkts;
		t->stamp_ns = t->last_ns;
		stage(t, pkts, some);
	}
	return end(t);
}

int translate_idle(struct translator *t, uint64_t ns)
{
	begin(t);
	t->idle_ns += ns;
	flush_due(t);
	return end(t);
}

int translate_flush(struct translator *t)
{
	begin(t);
	for (unsigned i = 0; i < t->lanes; i++) {
		if (t->lane[i].postcards)
			postcard_flush(t, &t->lane[i]);
		if (t->lane[i].append)
			append_flush(t, &t->lane[i]);
	}
	return end(t);
}
