/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * postcard.c - postcards to rows (gather/gather.h), and rows to operations.
 *
 * A row whose hops are all there is written whole, blanks behind the path, in
 * one operation a copy. A row that must make room, or is flushed, is written to
 * its own key's chunk: only the hops that it holds, and the blanks behind a
 * known path_len. So an early emission never erases what is stored already.
 *
 * In a team they are grouped by rows (gather/groups.h) before their turn.
 */
#include "translate/private.h"

#include <errno.h>
#include <stdlib.h>

#include "gather/groups.h"
#include "gather/hashed.h"

enum {
	ROWS_ASKED = 32,	  /* at once */
	RUNS_MAX = HASH_HOPS / 2, /* of adjacent hops in a row */
};

_Static_assert((int)GROUPS_MAX == (int)STAGE, "all of a batch are grouped");

struct postcards {
	struct gather gather;
	struct hashed hashed; /* emissions in hand */
};

/* One operation for each run of hops in which, to the chunk at offset. */
static void write_runs(struct translator *t, const struct lane *l,
		       uint64_t offset, const uint8_t *entries, unsigned which)
{
	unsigned n;

	for (unsigned at; which; which &= ~(mask_of(n) << at)) {
		n = run_of_hops(which, &at);
		op_write(t, l, offset + 4u * at, entries + 4u * at, 4 * n);
	}
}

static void emit_one(struct translator *t, const struct lane *l,
		     const struct jobs *j, unsigned k)
{
	const struct hashed *h = &l->postcards->hashed;
	const struct emission *e = h->which[k];
	unsigned which = emission_hops(e, l->hops);
	uint32_t room = l->write_len > 4u * HASH_HOPS ? l->write_len
						      : 4u * HASH_HOPS;
	uint8_t *p;

	ops_reserve(t, RUNS_MAX * e->copies, room);
	if (j && t->road->stamped)
		t->stamp_ns = t->pkts[j->at[e->at]].ts_ns;
	p = made_take(t->made, room);
	for (unsigned i = 0; i < l->hops; i++)
		be32_store(p + 4 * i,
			   h->hop[i][k] ^ (e->held >> i & 1 ? e->value[i]
							    : TABLE_BLANK));
	memset(p + 4u * l->hops, 0, room - 4u * l->hops);
	for (unsigned c = 0; c < e->copies; c++) {
		uint64_t offset = hash_mod(h->chunk[c][k], l->t.units) *
				  l->t.stride;

		if (e->whole)
			op_write(t, l, offset, p, l->write_len);
		else
			write_runs(t, l, offset, p, which);
	}
	if (e->immediate)
		op_make_immediate(t, l, &t->made->op[t->made->n - 1],
				  e->sequence);
}

void postcard_emit(struct translator *t, const struct lane *l,
		   const struct jobs *j)
{
	struct postcards *pc = l->postcards;
	struct gather *g = &pc->gather;
	unsigned at = 0, n;

	for (unsigned left = g->n; left; left -= n) {
		n = emissions_hash(&pc->hashed, l->t.hash, g, left, &at);
		for (unsigned k = 0; k < n; k++)
			emit_one(t, l, j, k);
	}
	g->n = 0;
	g->grouped = false;
}

/* To the ledger. */
static void count(struct translator *t, struct gather *g)
{
	t->ctr.chunks += g->chunks;
	t->ctr.early += g->early;
	t->ctr.duplicates += g->repeats;
	g->chunks = g->early = g->repeats = 0;
}

static inline struct postcard postcard_of(const void *jobs, unsigned i)
{
	const struct jobs *j = jobs;
	const uint8_t *key = j->key[i];
	uint64_t head = j->head[i];

	return (struct postcard){
		.key = key,
		.value = be32_load(key + head_data_at(head)),
		.sequence = head_sequence(head),
		.hop = (uint8_t)head_hop(head),
		.path_len = (uint8_t)head_path_len(head),
		.copies = (uint8_t)head_copies(head),
		.immediate = head_immediate(head),
	};
}

/* Asks for the rows of the next jobs; returns the first behind them. */
static unsigned find_rows(struct translator *t, const struct gather *g,
			  const struct jobs *j, unsigned from)
{
	unsigned n = j->n - from < ROWS_ASKED ? j->n - from : ROWS_ASKED;
	uint32_t sum[ROWS_ASKED];

	gather_hash(g, j->key + from, n, sum);
	for (unsigned i = 0; i < n; i++) {
		t->work.row[from + i] = gather_row(g,
						   hash_mod(sum[i], g->nrows));
		__builtin_prefetch(t->work.row[from + i], 1);
	}
	return from + n;
}

void postcard_run(struct translator *t, struct lane *l, const struct jobs *j)
{
	struct gather *g = &l->postcards->gather;
	const struct jobs in = *j; /* that nobody changes: in registers */
	unsigned found = find_rows(t, g, &in, 0);

	for (unsigned i = 0; i < in.n; i++) {
		const struct postcard p = postcard_of(&in, i);

		if (i + ROWS_ASKED >= found && found < in.n)
			found = find_rows(t, g, &in, found);
		if (g->n + 2 > g->max) /* one pushed out, one complete */
			postcard_emit(t, l, &in);
		row_take(g, t->work.row[i], &p, i);
	}
	count(t, g);
	if (t->pass == PASS_WHOLE)
		postcard_emit(t, l, &in);
}

void postcard_look(struct translator *t, const struct lane *l,
		   const struct jobs *j)
{
	struct gather *g = &l->postcards->gather;
	uint32_t *sum = t->work.sum;

	groups_clear(g->groups);
	gather_hash(g, j->key, j->n, sum);
	for (unsigned i = 0; i < j->n; i++) {
		const struct postcard p = postcard_of(j, i);

		groups_add(g, (uint32_t)hash_mod(sum[i], g->nrows), &p);
	}
}

void postcard_turn(struct translator *t, struct lane *l, const struct jobs *j)
{
	struct gather *g = &l->postcards->gather;

	/* What was no common report was good all the same: the numbers of the
	 * postcards are not those that were looked at. */
	if (g->groups->postcards != j->n) {
		postcard_run(t, l, j);
		return;
	}
	groups_go(g, postcard_of, j);
	count(t, g);
}

void postcard_flush(struct translator *t, struct lane *l)
{
	struct gather *g = &l->postcards->gather;

	for (uint64_t at = 0; at < g->nrows;) {
		at = gather_flush(g, at);
		count(t, g);
		postcard_emit(t, l, NULL);
	}
}

int postcard_team(struct lane *l, bool twin, bool grouped)
{
	const struct postcards *of = l->postcards;

	if (!of)
		return 0;
	if (twin && !(l->postcards = calloc(1, sizeof(*of))))
		return -ENOMEM;
	return gather_team(&l->postcards->gather, twin ? &of->gather : NULL,
			   grouped);
}

void postcard_alone(struct lane *l)
{
	if (l->postcards)
		gather_alone(&l->postcards->gather);
}

int postcard_open(struct lane *l, size_t *room, struct fault *f)
{
	const size_t own = sizeof(struct postcards) +
			   EMISSIONS * sizeof(struct emission);
	size_t row_size = gather_row_size(l->key_len), need;
	struct postcards *pc;

	if (l->t.hash == HASH_DTA0 && l->copies > 1)
		return fault_set(
			f, -EINVAL,
			"%s: copies: hash dta0 has one chunk for a key",
			l->t.name);
	need = own + l->t.cache_rows * row_size;
	if (!l->t.cache_rows || need > *room)
		return fault_set(f, -EINVAL,
				 "%s: cache: %u rows of %zu bytes; there is "
				 "room for 1 to %zu",
				 l->t.name, l->t.cache_rows, row_size,
				 *room > own ? (*room - own) / row_size : 0);
	l->postcards = pc = calloc(1, sizeof(*pc));
	if (pc) {
		pc->gather.nrows = l->t.cache_rows;
		pc->gather.key_len = l->key_len;
		pc->gather.hops = l->hops;
	}
	if (!pc || gather_open(&pc->gather) < 0)
		return fault_set(f, -ENOMEM, "%s: no memory for the cache",
				 l->t.name);
	*room -= need;
	return 0;
}

void postcard_close(struct lane *l)
{
	if (l->postcards)
		gather_close(&l->postcards->gather);
	free(l->postcards);
	l->postcards = NULL;
}
