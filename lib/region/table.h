/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.h - the geometry of one table of a collector's memory (dta(7), MEMORY).
 *
 * Known to translators, collectors and queries alike: from the region's header,
 * from a ticket, or from a layout file. Plain data, host byte order; the
 * region's header holds these structs as they are (dta-region(5)).
 *
 * Key-Write:     units slots of stride bytes: checksum (4), value, padding.
 * Postcard:      units chunks of stride bytes: hops entries of 4 bytes.
 * Append:        lists rings of units entries of stride bytes, one after the
 *                other; then, at heads, lists counts of 8 bytes, big-endian:
 *                entries ever written. What a list keeps is a batch less.
 * Key-Increment: units counters of 8 bytes, host order.
 */
#ifndef REGION_TABLE_H
#define REGION_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* The opcodes of DTA's primitives. */
enum table_kind {
	TABLE_KEYWRITE = 1,
	TABLE_APPEND = 2,
	TABLE_KEYINC = 3,
	TABLE_POSTCARD = 4,
	TABLE_KINDS, /* one above the last */
};

/* What all tables of a kind have in common. */
struct table_traits {
	const char *units; /* what they are made of, for people */
	bool counts;	   /* a unit is a counter: only atomics change it */
};

extern const struct table_traits table_traits[]; /* by enum table_kind */

enum table_qp { TABLE_QP_RC, TABLE_QP_UC };

enum table_sequence {
	TABLE_SEQ_COUNT,  /* reports that are missing are counted */
	TABLE_SEQ_STRICT, /* what comes after a gap is dropped and NACKed */
	TABLE_SEQ_OFF,
};

enum {
	TABLE_MAX = 64,	      /* tables of a region */
	TABLE_NAME_MAX = 32,  /* with the NUL */
	TABLE_BATCH_MAX = 64, /* Append entries per write */
	TABLE_STORE_MAX = 64, /* strides up to here are written as one store */
	/* Key-Write value, Append entry: a slot fits a path MTU of 1024. */
	TABLE_VALUE_MAX = 1020,
	TABLE_SHOW_MAX = 104,
	/* For table_finish(): what a unit holds, to 4; 0: to a power of 2. */
	TABLE_STRIDE_PACKED = 1,
};

/* The value of a hop past the path's end; never in V, which is the set of
 * values that a table's postcards can carry. */
#define TABLE_BLANK UINT32_C(0xffffffff)

struct table {
	char name[TABLE_NAME_MAX];
	uint16_t id;	     /* the report's Table field */
	uint8_t kind;	     /* enum table_kind */
	uint8_t hash;	     /* enum hash_family */
	uint8_t key_type;    /* enum key_type; KEY_U32 for Append */
	uint8_t copies;	     /* default N, 1..4; 1 for Append */
	uint8_t hops;	     /* postcards: entries of a chunk (B), 1..8 */
	uint8_t qp;	     /* enum table_qp */
	uint16_t key_len;    /* bytes; Append: 4 */
	uint16_t value_len;  /* of a value, entry; postcard 4, counter 8 */
	uint32_t stride;     /* bytes from one slot, chunk, entry to the next */
	uint64_t units;	     /* slots, chunks, counters; a ring's entries */
	uint32_t lists;	     /* Append: rings, else 0 */
	uint16_t batch;	     /* Append: entries per write, 1..64 */
	uint8_t sequence;    /* enum table_sequence */
	uint8_t immediate;   /* 1: every report wakes the collector */
	uint32_t flush_ms;   /* Append: a partial batch waits this long */
	uint32_t cache_rows; /* postcards: rows of the translator's cache */
	uint32_t value_min;  /* postcards: V as a range, if values is 0, */
	uint32_t value_max;  /* else the bounds of the set */
	uint64_t values;     /* postcards: V as a set: its size, else 0 */
	uint64_t values_at;  /* offset in the file of the sorted uint32_t set */
	uint64_t offset;     /* in the region's file, of the first epoch set */
	uint64_t length;     /* bytes, in each epoch */
	uint64_t heads;	     /* Append: offset of the counts in the table */
	/* What a value is made of, for people: "flow4,u8,u32:reason", ends with
	 * a NUL; "": not known. query/show.h knows the types. */
	char show[TABLE_SHOW_MAX];
	uint8_t protocol; /* of flows written without one; 0: they need one */
	uint8_t reserved[135 - TABLE_SHOW_MAX];
};

_Static_assert(sizeof(struct table) == 256, "the region format");

/* "count"...: by enum table_sequence, up to NULL. */
extern const char *const table_sequences[];
const char *table_kind_name(uint8_t kind); /* the opcode's; NULL if unknown */
int table_kind_of(const char *name);	   /* -1 if unknown */

static inline bool table_counts(const struct table *t)
{
	return table_traits[t->kind].counts;
}

/* Checks a geometry that came from outside (a region's header, a ticket, a
 * layout) and is not to be trusted: every number in range, lengths that add up
 * without overflow. err names the field. Returns 0 or -EINVAL. */
int table_check(const struct table *t, struct error *err);

/* Whether show is printable text with a NUL at its end. */
bool table_show_ok(const char show[TABLE_SHOW_MAX]);

/*
 * Completes a geometry that was set field by field (layout_set): defaults of
 * what is 0 (copies, hops, batch, flush, cache), the stride, the units where
 * only length (bytes of memory) is known, length and heads; then table_check().
 * A complete geometry stays as it is. Placement (offset, values_at) is the
 * region's.
 */
int table_finish(struct table *t, struct error *err);

/* Before table_finish(): sizes an Append table's rings so that each list keeps
 * this many entries. */
void table_set_kept(struct table *t, uint64_t entries);

/* The table of this name or id, or (NULL) the only one there is; of a kind, or
 * (kind <= 0) of any. NULL and err otherwise. */
const struct table *table_pick(const struct table *tables, unsigned n, int kind,
			       const char *name_or_id, struct error *err);

/*
 * Append: how many of its newest entries a list keeps. The ring's oldest batch
 * is not among them: a writer overwrites it before it counts the new entries.
 */
static inline uint64_t table_kept(const struct table *t)
{
	return t->units - t->batch;
}

/* The next multiple of a number. */
static inline uint64_t table_round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

/* Offset in the table of a unit, list entry, list count. Arguments in range. */
static inline uint64_t table_unit(const struct table *t, uint64_t unit)
{
	return unit * t->stride;
}

/* Bytes that a slot (with its checksum), chunk, entry or counter holds. */
static inline uint32_t table_unit_len(const struct table *t)
{
	return t->kind == TABLE_POSTCARD   ? 4u * t->hops
	       : t->kind == TABLE_KEYWRITE ? 4u + t->value_len
					   : t->value_len;
}

/* Bytes written for one slot or chunk that is full. A whole stride is one store
 * where it fits a cache line; beyond that, what the slot holds, in words. */
static inline uint32_t table_write_len(const struct table *t)
{
	if (t->stride <= TABLE_STORE_MAX && !(t->stride & (t->stride - 1)))
		return t->stride;
	return (table_unit_len(t) + 3) & ~UINT32_C(3);
}

static inline uint64_t table_entry(const struct table *t, uint32_t list,
				   uint64_t entry)
{
	return (list * t->units + entry) * t->stride;
}

static inline uint64_t table_head(const struct table *t, uint32_t list)
{
	return t->heads + 8ull * list;
}

#endif
