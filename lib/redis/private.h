/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * private.h - private to this room. From below: block.c knows what became of
 * the items of the block in hand, run.c carries those of one node there, send.c
 * goes from node to node.
 */
#ifndef REDIS_PRIVATE_H
#define REDIS_PRIVATE_H

#include "base/url.h"
#include "hash/redis_slot.h"
#include "redis/link.h"

enum {
	REDIS_NODES = 256,
	REDIS_REASON = 200, /* characters of an error that are told */
};

/* What became of an item. */
enum redis_state {
	ITEM_WAITS, /* not sent, or not answered */
	ITEM_MOVED, /* its node is another */
	ITEM_ASKED, /* the same, this once: its slot is on its way there */
	ITEM_LATER, /* the server is not ready for it */
	ITEM_HELD,  /* its slot is not served, or its node not there */
	ITEM_REFUSED,
	ITEM_WRITTEN,
};

/* Of a slot. An item that is sent again goes alone at first: others of its slot
 * may not overtake it. */
enum redis_hold {
	SLOT_FREE,
	SLOT_HELD,
	SLOT_PROBED, /* by the block in hand */
};

struct fate {
	uint8_t state, to; /* to: number of its node */
	bool ask;	   /* that node is told that it is ASKED */
};

struct redis_nodes {
	const struct url *url;
	const struct stop *stop;
	int timeout_ms;
	unsigned n;
	struct redis_link node[REDIS_NODES];
	uint64_t again_ns[REDIS_NODES]; /* not to be tried before */
	uint8_t first;		   /* who is asked where a slot is not known */
	uint8_t of[REDIS_SLOTS];   /* the node of a slot, as far as known */
	uint8_t held[REDIS_SLOTS]; /* enum redis_hold */
	bool any_held;
	/* Of the block in hand. */
	struct item *item;
	struct fate *fate; /* by item */
	uint32_t items, room;
	struct block *block;
	size_t at; /* of the next item that has not been read */
	struct fault why;
};

/* 0 or -ENOMEM. */
int redis_block_begin(struct redis_nodes *n, struct block *b);

/* The next item of a node from one on that is to be sent, n->items: none. Items
 * of the block are read as they are asked for. */
uint32_t redis_block_next(struct redis_nodes *n, uint8_t node, uint32_t i);

/* An item waits, and what comes for its slot. */
void redis_block_hold(struct redis_nodes *n, uint32_t i);

/* An item is written. */
void redis_block_wrote(struct redis_nodes *n, uint32_t i);

/* Those that were moved may be sent, and those whose slot is served now.
 * Returns their number. */
uint32_t redis_block_move(struct redis_nodes *n);

/* What became of all items, read or not; the block has those that wait. 0 or
 * -ENOMEM. */
int redis_block_end(struct redis_nodes *n, struct tally *t);

/* All items of a node. -errno: those that were not answered wait still. */
int redis_run(struct redis_nodes *n, uint8_t node, struct tally *t,
	      struct fault *f);

#endif
