/* SPDX-License-Identifier: BSD-2-Clause */
/* flows.c - the flow cache: memory, hops and blocks of a flow, rows, aging. */
#include "telemetry/flows.h"

#include <errno.h>

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct flows_ledger, created, LEDGER_IN),
	LEDGER_LEVEL(struct flows_ledger, live, LEDGER_DONE),
	LEDGER_FIELD(struct flows_ledger, evicted, LEDGER_DONE),
	LEDGER_FIELD(struct flows_ledger, expired, LEDGER_DONE),
	LEDGER_FIELD(struct flows_ledger, flushed, LEDGER_DONE),
	LEDGER_FIELD(struct flows_ledger, no_block, LEDGER_NOTE),
};

LEDGER_COMPLETE(fields, struct flows_ledger);

const struct ledger flows_ledger = {"flows", "flows", fields,
				    sizeof(fields) / sizeof(fields[0])};

struct hop_block {
	uint32_t next;
	uint32_t unused[15]; /* so that each hop is one cache line */
	struct flow_hop hop[FLOW_BLOCK];
	struct flow_rare rare[FLOW_BLOCK];
};

/* An entry for each bucket of the share, and entry 0, which is no flow. */
static size_t entries_of(const struct flows_options *o)
{
	uint32_t shards = o->shards ? o->shards : 1;

	return ((size_t)o->rows + shards - 1) / shards * o->buckets + 1;
}

int flows_init(struct flows *fl, const struct flows_options *o)
{
	uint64_t n = (uint64_t)o->rows * o->buckets;
	size_t hops = o->hops *
		      (sizeof(struct flow_hop) + sizeof(struct flow_rare));
	int rc;

	if (!n || n >= UINT32_MAX || o->buckets > FLOW_BUCKETS_MAX ||
	    o->hops > FLOW_HOPS_MAX)
		return -EINVAL;
	*fl = (struct flows){.o = *o};
	fl->stride = (sizeof(struct flow_entry) + hops + 63) & ~(size_t)63;
	fl->age.period_ns = o->idle_ns ? o->idle_ns / 2 + 1 : 0;
	rc = area_init(&fl->row, n * sizeof(struct flow_bucket));
	if (!rc)
		rc = area_init(&fl->occupied, (o->rows / 64 + 1ULL) * 8);
	if (!rc)
		rc = area_init(&fl->entry, entries_of(o) * fl->stride);
	if (!rc)
		rc = area_init(&fl->block,
			       (o->blocks + 1ULL) * sizeof(struct hop_block));
	if (rc)
		flows_fini(fl);
	return rc;
}

void flows_fini(struct flows *fl)
{
	area_fini(&fl->row);
	area_fini(&fl->occupied);
	area_fini(&fl->entry);
	area_fini(&fl->block);
	area_fini(&fl->end);
}

int flows_keep_end_metrics(struct flows *fl)
{
	return fl->end.base ? 0
			    : area_init(&fl->end,
					entries_of(&fl->o) * END_METRICS *
						sizeof(struct flow_end_metric));
}

static struct hop_block *block_at(const struct flows *fl, uint32_t i)
{
	return (struct hop_block *)fl->block.base + i;
}

/* The block of hop i, for i >= options.hops. */
static struct hop_block *block_of(const struct flows *fl,
				  const struct flow_entry *f, unsigned i)
{
	struct hop_block *b = block_at(fl, f->first_block);

	for (i = (i - fl->o.hops) / FLOW_BLOCK; i; i--)
		b = block_at(fl, b->next);
	return b;
}

struct flow_hop *flow_hop(const struct flows *fl, struct flow_entry *f,
			  unsigned i)
{
	if (i < fl->o.hops)
		return flow_hops(f) + i;
	return &block_of(fl, f, i)->hop[(i - fl->o.hops) % FLOW_BLOCK];
}

struct flow_rare *flow_rare(const struct flows *fl, struct flow_entry *f,
			    unsigned i)
{
	if (i < fl->o.hops)
		return (struct flow_rare *)(flow_hops(f) + fl->o.hops) + i;
	return &block_of(fl, f, i)->rare[(i - fl->o.hops) % FLOW_BLOCK];
}

/* Adds a block to the end of the flow's list. */
static bool add_block(struct flows *fl, struct flow_entry *f)
{
	uint32_t *last = &f->first_block, i = fl->blocks_free;

	if (i)
		fl->blocks_free = block_at(fl, i)->next;
	else if (fl->blocks_used < fl->o.blocks)
		i = ++fl->blocks_used;
	else
		return false;
	block_at(fl, i)->next = 0;
	while (*last)
		last = &block_at(fl, *last)->next;
	*last = i;
	return true;
}

static void free_blocks(struct flows *fl, struct flow_entry *f)
{
	while (f->first_block) {
		struct hop_block *b = block_at(fl, f->first_block);
		uint32_t next = b->next;

		b->next = fl->blocks_free;
		fl->blocks_free = f->first_block;
		f->first_block = next;
	}
}

bool flow_add_hop(struct flows *fl, struct flow_entry *f)
{
	unsigned i = f->kept;

	if (i == FLOW_HOPS_MAX ||
	    (i >= fl->o.hops && (i - fl->o.hops) % FLOW_BLOCK == 0 &&
	     !add_block(fl, f))) {
		fl->ledger.no_block++;
		return false;
	}
	f->kept++;
	memset(flow_hop(fl, f, i), 0, sizeof(struct flow_hop));
	memset(flow_rare(fl, f, i), 0, sizeof(struct flow_rare));
	return true;
}

void flow_swap_hops(const struct flows *fl, struct flow_entry *f, unsigned i,
		    unsigned k)
{
	struct flow_hop *a = flow_hop(fl, f, i), *b = flow_hop(fl, f, k);
	struct flow_rare *c = flow_rare(fl, f, i), *d = flow_rare(fl, f, k);
	struct flow_hop hop = *a;
	struct flow_rare rare = *c;

	*a = *b;
	*b = hop;
	*c = *d;
	*d = rare;
}

struct flow_entry *flows_guess(const struct flows *fl, uint64_t hash)
{
	const struct flow_bucket *row = flows_row(fl, hash);

	for (uint32_t i = 0; i < fl->o.buckets && row[i].at; i++)
		if (row[i].tag == (uint32_t)hash)
			return flows_entry(fl, row[i].at);
	return NULL;
}

/* Moves bucket i to the front of its row. */
static void to_front(struct flow_bucket *row, uint32_t i)
{
	struct flow_bucket b = row[i];

	memmove(row + 1, row, i * sizeof(*row));
	row[0] = b;
}

static void entry_free(struct flows *fl, uint32_t at)
{
	struct flow_entry *f = flows_entry(fl, at);

	free_blocks(fl, f);
	f->key_len = 0;
	f->path = fl->free;
	fl->free = at;
	fl->ledger.live--;
}

static uint32_t entry_new(struct flows *fl)
{
	uint32_t at = fl->free;
	struct flow_end_metric *end;

	if (at)
		fl->free = flows_entry(fl, at)->path;
	else
		at = ++fl->used;
	memset(flows_entry(fl, at), 0, sizeof(struct flow_entry));
	if ((end = flow_end_metrics(fl, flows_entry(fl, at))))
		memset(end, 0, END_METRICS * sizeof(*end));
	fl->ledger.created++;
	fl->ledger.live++;
	return at;
}

/* Sets whether the row of this hash has flows. */
static void mark_row(struct flows *fl, uint64_t hash, bool occupied)
{
	uint64_t row = flows_row_of(fl, hash), bit = 1ULL << row % 64;
	uint64_t *word = (uint64_t *)fl->occupied.base + row / 64;

	*word = occupied ? *word | bit : *word & ~bit;
}

static void evict(struct flows *fl, const struct flow_bucket *b)
{
	fl->ledger.evicted++;
	fl->leave(fl->ctx, flows_entry(fl, b->at), FLOW_EVICTED);
	entry_free(fl, b->at);
}

struct flow_entry *flows_find(struct flows *fl, uint64_t hash,
			      const uint8_t *key, size_t len)
{
	struct flow_bucket *row = flows_row(fl, hash);
	struct flow_entry *f;
	uint32_t i;

	for (i = 0; i < fl->o.buckets && row[i].at; i++) {
		f = flows_entry(fl, row[i].at);
		if (row[i].tag != (uint32_t)hash || !flow_is(f, key, len))
			continue;
		if (i)
			to_front(row, i);
		return f;
	}
	if (i == fl->o.buckets)
		evict(fl, &row[--i]);
	if (!i)
		mark_row(fl, hash, true);
	row[i] = (struct flow_bucket){(uint32_t)hash, entry_new(fl)};
	f = flows_entry(fl, row[i].at);
	to_front(row, i);
	memcpy(f->key, key, len);
	f->key_len = (uint8_t)len;
	f->hash = hash;
	return f;
}

/* Takes the flow out of its row. */
static void row_drop(struct flows *fl, uint64_t hash, uint32_t at)
{
	struct flow_bucket *row = flows_row(fl, hash);
	uint32_t i = 0;

	while (row[i].at != at)
		i++;
	for (; i + 1 < fl->o.buckets && row[i + 1].at; i++)
		row[i] = row[i + 1];
	row[i] = (struct flow_bucket){0};
	if (!i)
		mark_row(fl, hash, false);
}

static void remove_flow(struct flows *fl, uint32_t at, enum flow_leave why)
{
	struct flow_entry *f = flows_entry(fl, at);

	fl->leave(fl->ctx, f, why);
	row_drop(fl, f->hash, at);
	entry_free(fl, at);
}

uint64_t flows_next(const struct flows *fl, uint64_t row, uint64_t to)
{
	const uint64_t *word = (const uint64_t *)fl->occupied.base;

	while (row < to) {
		uint64_t left = word[row / 64] >> row % 64;

		if (left) {
			row += (unsigned)__builtin_ctzll(left);
			break;
		}
		row = (row | 63) + 1;
	}
	return row < to ? row : to;
}

static void age_row(struct flows *fl, const struct flow_bucket *row,
		    uint64_t now_ns)
{
	for (uint32_t i = 0; i < fl->o.buckets && row[i].at;) {
		uint32_t at = row[i].at;

		if (flows_entry(fl, at)->last_ns + fl->o.idle_ns > now_ns) {
			i++;
			continue;
		}
		fl->ledger.expired++;
		remove_flow(fl, at, FLOW_EXPIRED);
	}
}

void flows_age(struct flows *fl, uint64_t now_ns)
{
	uint64_t from, to = sweep_due(&fl->age, now_ns, fl->o.rows, &from);

	while ((from = flows_next(fl, from, to)) < to)
		age_row(fl, flows_row_at(fl, from++), now_ns);
}

void flows_flush(struct flows *fl)
{
	for (uint32_t at = 1; at <= fl->used; at++) {
		if (!flows_entry(fl, at)->key_len)
			continue;
		fl->ledger.flushed++;
		remove_flow(fl, at, FLOW_FLUSHED);
	}
}
