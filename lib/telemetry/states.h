/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * states.h - the latest opaque state snapshot of each IOAM node: bytes (RFC
 * 9197, section 4.4.2.13), one for each node, namespace and schema.
 *
 * Memory: 1036 bytes each, taken at the beginning and touched as it is used.
 */
#ifndef TELEMETRY_STATES_H
#define TELEMETRY_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/area.h"

struct states {
	struct area area;
	struct state *at;
	uint32_t *slot, mask; /* hash table: numbers from 1 */
	uint32_t max, used;
	uint64_t no_room; /* times */
};

/* At most so many, below 2^31. 0 or -ENOMEM. */
int states_init(struct states *ss, uint32_t max);
void states_fini(struct states *ss);

/*
 * Whether a node's state is the first, or another than the last; it is the last
 * one now. If there is no room for it, or it is longer than the format has it
 * (1020 bytes), it always is.
 */
bool states_differ(struct states *ss, uint64_t node, uint16_t domain,
		   uint32_t schema, const uint8_t *data, size_t len);

#endif
