/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * picks.h - a narrow plan (fields.h) as permutations of a hop's bytes, for
 * vector.c: what goes where in 64 bytes, little-endian; private to the sink.
 */
#ifndef TELEMETRY_PICKS_H
#define TELEMETRY_PICKS_H

#include "measure/fields.h"

enum {
	PICK_NONE = 0x80, /* in a list: this byte is 0 */
	PICK_BYTES = 64,
	PICK_ONE = 24, /* not of the values, but of words that are 1: the second
			  of two vectors, be they of 8 words or of 16 */
};

struct pick {
	uint8_t from[PICK_BYTES]; /* byte of the hop, below 64 */
	uint64_t set;		  /* bits: of the bytes that are not 0 */
} __attribute__((aligned(64)));

/* What values by metric are to meters, {latest, n, sum} of 4 words each. */
struct pick_meters {
	uint32_t from[16]; /* by word: the metric, or PICK_ONE */
	uint16_t set;	   /* bits: words that are a value, the rest are 0 */
	uint16_t keep;	   /* those that are added to: all but the latest */
} __attribute__((aligned(64)));

struct picks {
	struct pick ids;	      /* as struct place begins: node, id[] */
	struct pick metrics;	      /* words, by metric */
	struct pick_meters hop, wide; /* struct flow_hop, struct flow_wide */
	uint32_t absent[8];	      /* of ids: ones where there is none */
	uint64_t bytes;		      /* bits: the bytes of a hop */
	uint16_t words;	 /* bits: those that must not be all ones */
	uint8_t present; /* bits: metrics */
	uint8_t metrics_n;
	bool usable;
} __attribute__((aligned(64)));

/* Vectors are loaded where they are. */
_Static_assert(offsetof(struct picks, absent) % 32 == 0, "not aligned");

void picks_of(struct picks *p, const struct fields *f);

#endif
