/* SPDX-License-Identifier: BSD-2-Clause */
/* block.c - the items of a block on their way to Redis, and the slots of
 * a cluster that are not served. */
#include <errno.h>
#include <stdlib.h>

#include "redis/private.h"

static unsigned slot_of(const struct item *i)
{
	return redis_slot(i->key, i->key_len);
}

static void hold_slot(struct redis_nodes *n, const struct item *i)
{
	n->held[slot_of(i)] = SLOT_HELD;
	n->any_held = true;
}

void redis_block_hold(struct redis_nodes *n, uint32_t i)
{
	n->fate[i].state = ITEM_HELD;
	hold_slot(n, &n->item[i]);
}

void redis_block_wrote(struct redis_nodes *n, uint32_t i)
{
	n->fate[i].state = ITEM_WRITTEN;
	if (n->any_held)
		n->held[slot_of(&n->item[i])] = SLOT_FREE;
}

/* Whether an item may not be sent; one of each slot may that are tried again.
 */
static bool is_held(struct redis_nodes *n, const struct item *i)
{
	uint8_t *held = &n->held[n->any_held ? slot_of(i) : 0];

	if (!n->any_held || *held == SLOT_FREE)
		return false;
	if (!n->block->again || *held == SLOT_PROBED)
		return true;
	*held = SLOT_PROBED;
	return false;
}

/* Reads another item of the block: while those before are on their way, so that
 * the server has something to do. What is none is the end of the block. */
static bool read_item(struct redis_nodes *n)
{
	uint32_t i = n->items;

	if (i == n->block->rows ||
	    item_next(&n->item[i], n->block, &n->at) <= 0 || !n->item[i].parts)
		return false;
	n->fate[i] = (struct fate){.state = ITEM_WAITS};
	if (n->n > 1)
		n->fate[i].to = n->of[slot_of(&n->item[i])];
	if (is_held(n, &n->item[i]))
		n->fate[i].state = ITEM_HELD;
	n->items++;
	return true;
}

uint32_t redis_block_next(struct redis_nodes *n, uint8_t node, uint32_t i)
{
	while ((i < n->items || read_item(n)) &&
	       (n->fate[i].state != ITEM_WAITS || n->fate[i].to != node))
		i++;
	return i;
}

int redis_block_begin(struct redis_nodes *n, struct block *b)
{
	n->block = b;
	n->at = b->at;
	n->items = 0;
	if (b->rows > n->room) {
		free(n->item);
		free(n->fate);
		n->item = calloc(b->rows, sizeof(*n->item));
		n->fate = calloc(b->rows, sizeof(*n->fate));
		n->room = n->item && n->fate ? b->rows : 0;
		if (!n->room)
			return -ENOMEM;
	}
	return 0;
}

/* Whether an item may be sent now: it was moved, or its slot is served now. */
static bool may_go(const struct redis_nodes *n, uint32_t i)
{
	uint8_t state = n->fate[i].state;

	return state == ITEM_MOVED || state == ITEM_ASKED ||
	       (state == ITEM_HELD &&
		n->held[slot_of(&n->item[i])] == SLOT_FREE);
}

uint32_t redis_block_move(struct redis_nodes *n)
{
	uint32_t moved = 0;

	for (uint32_t i = 0; i < n->items; i++)
		if (may_go(n, i)) {
			n->fate[i].ask = n->fate[i].state == ITEM_ASKED;
			n->fate[i].state = ITEM_WAITS;
			moved++;
		}
	return moved;
}

/* Whether items wait, and all that do for slots that are not served. Those that
 * are set apart already hold theirs, whatever they wait for. */
static bool is_apart(struct redis_nodes *n)
{
	bool any = false, all = true;

	for (uint32_t i = 0; i < n->items; i++) {
		if (n->fate[i].state >= ITEM_REFUSED)
			continue;
		any = true;
		all = all && n->fate[i].state == ITEM_HELD;
		if (n->block->again)
			hold_slot(n, &n->item[i]);
	}
	return any && all;
}

int redis_block_end(struct redis_nodes *n, struct tally *t)
{
	struct block *b = n->block, rest;
	uint32_t kept = 0;
	bool *keep = calloc(b->rows + 1, sizeof(*keep));

	if (!keep)
		return -ENOMEM;
	while (read_item(n))
		;
	for (uint32_t i = 0; i < n->items; i++) {
		keep[i] = n->fate[i].state < ITEM_REFUSED;
		kept += keep[i];
		t->written += n->fate[i].state == ITEM_WRITTEN;
	}
	b->apart = is_apart(n);
	rest = (struct block){.rows = b->rows - n->items};
	if (rest.rows)
		block_refuse(&rest, t, "a block that is none of Redis");
	b->rows = kept;
	if (kept)
		items_keep(b, keep, n->items);
	free(keep);
	return 0;
}
