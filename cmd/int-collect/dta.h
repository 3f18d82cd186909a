/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta.h - what int-collect tells as DTA reports, for dta-translate: a row sink.
 * Tables, those of IPv6 flows in brackets; keys are flows:
 *
 *	1 (2)	Key-Write: the path, DTA_PATH node ids of 4 bytes, 0 behind the
 *		last; when a flow is new, or goes another way
 *	3 (4)	postcards: the same, an id a hop
 *	5 (6)	Key-Increment: packets, when a flow leaves the cache
 *	7 (8)	Key-Increment: bytes
 *	9	Append: events, of kind K to list K, in the order of
 *		telemetry/rows.h: new_key 0, change 1... Entries of 32 bytes,
 *		big-endian: time, ns (8); metric (1); hw_id (1); 0 (2); node
 *(4); egress (4); queue or buffer (4); value (4); reference (4). All ones: it
 *does not have that.
 */
#ifndef INT_COLLECT_DTA_H
#define INT_COLLECT_DTA_H

#include "base/fault.h"
#include "base/ledger.h"
#include "row/row.h"

enum {
	DTA_PATH = 5,
	DTA_ENTRY_LEN = 32,
	DTA_EVENTS = 9, /* table */
};

/* rows = reported + why not. */
struct dta_ledger {
	uint64_t rows;
	uint64_t reported;
	uint64_t long_path; /* more nodes than DTA_PATH */
	uint64_t wide_node; /* an id of more than 32 bits in the path */
	uint64_t reports;   /* note */
};

extern const struct ledger dta_ledger;

/* Writes a capture, "-" is stdout. 0 or -errno, f says why. */
int dta_open(struct row_sink **out, const char *path, struct fault *f);
const struct dta_ledger *dta_counters(const struct row_sink *s);

#endif
