/* SPDX-License-Identifier: BSD-2-Clause */
/* translate.c - opens, closes, and takes batches, which admit.c processes. */
#include "dta/private.h"

#include <errno.h>
#include <stdlib.h>

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct translate_ledger, received, LEDGER_IN),
	LEDGER_FIELD(struct translate_ledger, stored, LEDGER_DONE),
	LEDGER_FIELD(struct translate_ledger, foreign, LEDGER_HARMLESS),
	LEDGER_FIELD(struct translate_ledger, malformed, LEDGER_LOSS),
	LEDGER_FIELD(struct translate_ledger, bad_version, LEDGER_LOSS),
	LEDGER_FIELD(struct translate_ledger, bad_opcode, LEDGER_LOSS),
	LEDGER_FIELD(struct translate_ledger, bad_table, LEDGER_LOSS),
	LEDGER_FIELD(struct translate_ledger, bad_key, LEDGER_LOSS),
	LEDGER_FIELD(struct translate_ledger, bad_data, LEDGER_LOSS),
	LEDGER_FIELD(struct translate_ledger, bad_copies, LEDGER_LOSS),
	LEDGER_FIELD(struct translate_ledger, bad_hop, LEDGER_LOSS),
	LEDGER_FIELD(struct translate_ledger, bad_list, LEDGER_LOSS),
	LEDGER_FIELD(struct translate_ledger, bad_value, LEDGER_LOSS),
	LEDGER_FIELD(struct translate_ledger, out_of_order, LEDGER_LOSS),
	LEDGER_FIELD(struct translate_ledger, repeated, LEDGER_HARMLESS),
	LEDGER_FIELD(struct translate_ledger, rate_limited, LEDGER_LOSS),
	LEDGER_FIELD(struct translate_ledger, resyncing, LEDGER_LOSS),
	LEDGER_FIELD(struct translate_ledger, unwritten, LEDGER_LOSS),
	LEDGER_FIELD(struct translate_ledger, probes, LEDGER_HARMLESS),
	LEDGER_FIELD(struct translate_ledger, nacks, LEDGER_NOTE),
	LEDGER_FIELD(struct translate_ledger, nacks_sent, LEDGER_NOTE),
	LEDGER_FIELD(struct translate_ledger, gaps, LEDGER_NOTE),
	LEDGER_BEFORE(struct translate_ledger, missing, 1),
	LEDGER_FIELD(struct translate_ledger, restarts, LEDGER_NOTE),
	LEDGER_BEFORE(struct translate_ledger, lost_reports, 0),
	LEDGER_FIELD(struct translate_ledger, ops, LEDGER_NOTE),
	LEDGER_FIELD(struct translate_ledger, bytes, LEDGER_NOTE),
	LEDGER_FIELD(struct translate_ledger, immediates, LEDGER_NOTE),
	LEDGER_FIELD(struct translate_ledger, chunks, LEDGER_NOTE),
	LEDGER_FIELD(struct translate_ledger, early_emissions, LEDGER_NOTE),
	LEDGER_FIELD(struct translate_ledger, duplicates, LEDGER_NOTE),
	LEDGER_FIELD(struct translate_ledger, batches, LEDGER_NOTE),
	LEDGER_FIELD(struct translate_ledger, partial_batches, LEDGER_NOTE),
	LEDGER_FIELD(struct translate_ledger, partial_checksums, LEDGER_NOTE),
};

LEDGER_COMPLETE(fields, struct translate_ledger);

const struct ledger translate_ledger = {
	.stage = "translate",
	.unit = "reports",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

static table_run *const run_of[] = {
	[TABLE_KEYWRITE] = keywrite_run,
	[TABLE_APPEND] = append_run,
	[TABLE_KEYINC] = keyinc_run,
	[TABLE_POSTCARD] = postcard_run,
};

_Static_assert(sizeof(run_of) / sizeof(run_of[0]) == TABLE_KINDS,
	       "a kind makes no operations");

static void init_table_state(struct table_state *state, const struct table *t,
			     unsigned index, const struct translate_options *o)
{
	*state = (struct table_state){
		.index = (uint16_t)index,
		.run = run_of[t->kind],
		.write_len = table_write_len(t),
		.t = *t,
	};
	/* Collectors share the reports, so they share the cache's rows, too:
	 * a power of 2 each. */
	for (unsigned c = o->mirror ? 2 : 1;
	     c < o->collectors && state->t.cache_rows > 1; c *= 2)
		state->t.cache_rows /= 2;
}

/* Makes a table known by its id and kind. Reports are checked against the first
 * collector's. */
static int register_table(struct translator *t, unsigned i, struct error *err)
{
	struct table_state *state = &t->state[i];

	if (t->by_id[htobe16(state->t.id)] != NO_TABLE)
		return error_set(err, -EINVAL, "%s: table id %u is taken",
				 state->t.name, state->t.id);
	t->by_id[htobe16(state->t.id)] = (uint8_t)i;
	if (t->first_of_kind[state->t.kind] == NO_TABLE &&
	    state->t.key_len == 4)
		t->first_of_kind[state->t.kind] = (uint8_t)i;
	return 0;
}

static int open_table_state(struct translator *t, unsigned i, size_t *room,
			    struct error *err)
{
	struct table_state *state = &t->state[i];
	size_t not_charged = CACHES_MAX;
	int rc = i < t->n ? register_table(t, i, err) : 0;

	if (rc < 0)
		return rc;
	if (state->t.kind == TABLE_POSTCARD) {
		if (i < t->n)
			t->postcards |= UINT64_C(1) << i;
		return postcard_open(state, room, err);
	}
	/* A list's entries go to one collector: the memory that it has at the
	 * others is hardly touched, and not charged. */
	if (state->t.kind != TABLE_APPEND)
		return 0;
	rc = append_open(state, i >= t->n ? &not_charged : room, err);
	if (!t->flush_ns || t->flush_ns > state->t.flush_ms * UINT64_C(1000000))
		t->flush_ns = state->t.flush_ms * UINT64_C(1000000);
	if (i < t->n)
		t->append |= UINT64_C(1) << i;
	return rc;
}

static int sequences_open(struct translator *t, struct error *err)
{
	bool wanted = false;

	for (unsigned i = 0; i < t->n; i++) {
		uint8_t mode = t->state[i].t.sequence;

		wanted = wanted || mode != TABLE_SEQ_OFF;
		t->strict = t->strict || mode == TABLE_SEQ_STRICT;
		if (mode == TABLE_SEQ_COUNT)
			t->counted |= UINT64_C(1) << i;
	}
	return wanted ? sequence_open(t, err) : 0;
}

static int check_options(const struct table *tables, unsigned n,
			 const struct translate_options *o, struct error *err)
{
	bool keywrite = false;
	struct error why = {0};
	int rc;

	for (unsigned i = 0; i < n; i++) {
		if ((rc = table_check(&tables[i], &why)) < 0)
			return error_set(err, rc, "%.*s: %.400s",
					 TABLE_NAME_MAX, tables[i].name,
					 why.text);
		keywrite = keywrite || tables[i].kind == TABLE_KEYWRITE;
	}
	if (o->dart && !keywrite)
		return error_set(err, -EINVAL,
				 "DART writes Key-Write tables; there is none");
	return 0;
}

static int open_table_states(struct translator *t,
			     const struct translate_options *o,
			     struct error *err)
{
	size_t room = CACHES_MAX;
	int rc = 0;

	for (unsigned i = 0; i < t->states && !rc; i++)
		rc = open_table_state(t, i, &room, err);
	t->mirror = o->mirror && o->collectors > 1;
	if (!rc && steer_open(t, o->collectors, t->mirror))
		rc = error_set(err, -ENOMEM, "no memory for the collectors");
	return rc;
}

int translate_open(struct translator **out, const struct table *tables,
		   unsigned n, struct transport *transport,
		   const struct translate_options *options, struct error *err)
{
	static const struct translate_options none;
	const struct translate_options *o = options ? options : &none;
	unsigned states = n * (o->collectors ? o->collectors : 1);
	size_t size = translator_size(states);
	struct translator *t;
	int rc = check_options(tables, n, o, err);

	if (rc < 0)
		return rc;
	t = aligned_alloc(64, size);
	if (!t)
		return error_set(err, -ENOMEM, "no memory for the translator");
	memset(t, 0, offsetof(struct translator, stage));
	report_batch_init(t);
	memset(t->by_id, NO_TABLE, sizeof(t->by_id));
	memset(t->first_of_kind, NO_TABLE, sizeof(t->first_of_kind));
	t->transport = transport;
	t->format = o->format;
	t->nacks = o->nacks;
	t->dart = o->dart;
	t->seed = rng_mix(o->seed);
	t->n = n;
	t->states = states;
	for (unsigned i = 0; i < states; i++)
		init_table_state(&t->state[i], &tables[i % n], i, o);
	if (o->op_rate)
		rate_init(&t->rate, o->op_rate, o->op_burst);
	/* No prefetching with a rate limit, which counts operations at once. */
	if ((rc = ops_open(t, transport->mem && !o->op_rate)) < 0)
		error_set(err, rc, "no memory for operations");
	else
		rc = open_table_states(t, o, err);
	if (!rc)
		rc = sequences_open(t, err);
	if (rc < 0) {
		translate_close(t);
		return rc;
	}
	admit_init(t);
	*out = t;
	return 0;
}

void translate_close(struct translator *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < t->states; i++) {
		postcard_close(&t->state[i]);
		append_close(&t->state[i]);
	}
	free(t->steering);
	sequence_close(t);
	ops_close(t);
	free(t);
}

const struct translate_ledger *translate_counters(const struct translator *t)
{
	return &t->ctr;
}

int translate_rx(struct translator *t, const struct pkt *pkts, size_t n)
{
	if (!n)
		return 0;
	translator_begin(t);
	for (size_t at = 0; at < n; at += STEP)
		stage_run(t, pkts + at, n - at < STEP ? n - at : STEP);
	return translator_end(t);
}

int translate_idle(struct translator *t, uint64_t ns)
{
	translator_begin(t);
	t->idle_ns += ns;
	clock_flush(t);
	return translator_end(t);
}

int translate_flush(struct translator *t)
{
	translator_begin(t);
	for (unsigned i = 0; i < t->states; i++) {
		if (t->state[i].postcards)
			postcard_flush(t, &t->state[i]);
		if (t->state[i].append)
			append_flush(t, &t->state[i]);
	}
	return translator_end(t);
}

int translate_succeed(struct translator **t, const struct table *tables,
		      unsigned n, struct transport *transport,
		      const struct translate_options *o, struct error *err)
{
	struct translator *next, *from = *t;
	int rc = translate_open(&next, tables, n, transport, o, err);

	if (rc < 0)
		return rc;
	sequence_close(next);
	/* What does not depend on the collectors is taken over. */
	next->ctr = from->ctr;
	next->rate = from->rate;
	next->last_ns = from->last_ns;
	next->idle_ns = from->idle_ns;
	next->heard = from->heard;
	next->reporters = from->reporters;
	next->expected = from->expected;
	from->reporters = NULL;
	translate_close(from);
	*t = next;
	return 0;
}
