/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op.h - the operation: all that passes from telemetry to memory.
 *
 * Left of it nothing knows transports; right of it nothing knows telemetry.
 * A road takes batches of operations: local.h (copies them into a region),
 * roce_out.h (RoCEv2 packets). One capture leaves the same memory by every
 * road.
 */
#ifndef OP_OP_H
#define OP_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/table.h"

enum op_verb {
	OP_WRITE,     /* length bytes at data */
	OP_WRITE_IMM, /* the same, then the immediate to the collector's CPU */
	OP_FETCH_ADD, /* add to the 8-byte host-order counter at offset */
	OP_CMP_SWAP,  /* data: two uint64_t of host order: compare, then swap */
};

struct op {
	uint64_t offset; /* from the start of the table */
	union {
		const uint8_t *data; /* not owned: valid until exec() returns */
		uint64_t add;
	};
	uint32_t length; /* bytes at offset; 8 for the atomics */
	uint32_t immediate;
	uint16_t table; /* index in the geometry, not the id */
	uint8_t verb;	/* enum op_verb */
};

_Static_assert(sizeof(struct op) == 32, "two to a cache line");

/*
 * A road. The translator calls begin(), any number of exec(), end() for each
 * batch of packets. Offsets and lengths are checked by the translator's own
 * arithmetic; a road that faces strangers (the responder) checks before it
 * makes an op.
 */
struct road {
	/*
	 * Returns a generation (the epoch): when it changes, list heads are
	 * asked again.
	 */
	uint64_t (*begin)(struct road *r);
	/* Carries out ops in order; ts_ns: the packets' time. 0 or -errno. */
	int (*exec)(struct road *r, const struct op *ops, size_t n,
		    uint64_t ts_ns);
	void (*end)(struct road *r);
	/* Entries ever written to a list, where the translator goes on. */
	uint64_t (*head)(struct road *r, unsigned table, uint32_t list);
	/*
	 * Whether operations for a table would be lost now: its queue pair
	 * finds its way back. Asked after begin(); tracked reports of strict
	 * tables are then left to be sent again. May be NULL: never.
	 */
	bool (*busy)(struct road *r, unsigned table);
};

#endif
