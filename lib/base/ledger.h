/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ledger.h - counters with names and roles, and a sum of them that must be 0.
 *
 * A stage keeps its counters in a struct of uint64_t, and describes it once, in
 * a table. The table gives the printed ledger, its NDJSON, the list that the
 * man page is tested against, and ledger_balanced().
 *
 * A stage's LEDGER_IN is the sum of its LEDGER_DONE, LEDGER_LOSS and
 * LEDGER_HARMLESS. All that is lost has the role LEDGER_LOSS, and nothing else
 * has: losses are found by that role. What was lost before it came in
 * (LEDGER_BEFORE) is in no sum: it is shown under the stage "arrival", which
 * has no LEDGER_IN; nor has "interface".
 *
 * Threads: a struct of counters belongs to one thread; ledger_add() sums them.
 */
#ifndef BASE_LEDGER_H
#define BASE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ledger_role {
	LEDGER_IN,   /* units that entered the stage */
	LEDGER_DONE, /* units whose purpose was fulfilled */
	LEDGER_LOSS, /* units whose purpose was not: the name is the reason */
	LEDGER_HARMLESS, /* units without a purpose here: other traffic,
			  * duplicates; and units under way, which is a level */
	LEDGER_NOTE,	 /* counts something else; not part of the sum */
};

struct ledger_field {
	const char *name;
	uint16_t offset; /* of the uint64_t in the stage's struct */
	uint8_t role;	 /* enum ledger_role */
	uint8_t level;	 /* 1: how many there are now; else it never falls */
	uint8_t before;	 /* 1: lost before it came in */
};

/* clang-format off */
/* An entry of the table: a counter of the struct, by its own name. */
#define LEDGER_FIELD(type, counter, r) \
	{ .name = #counter, .offset = offsetof(type, counter), .role = r }
/* The same, where it is a level. */
#define LEDGER_LEVEL(type, counter, r) \
	{ .name = #counter, .offset = offsetof(type, counter), .role = r, \
	  .level = 1 }
/* What was lost before it came in. may_fall: 1 if a unit that was counted may
 * arrive after all, and is uncounted then. */
#define LEDGER_BEFORE(type, counter, may_fall) \
	{ .name = #counter, .offset = offsetof(type, counter), \
	  .role = LEDGER_LOSS, .level = may_fall, .before = 1 }

/* Behind the table: every counter of the struct has its entry. */
#define LEDGER_COMPLETE(table, type) \
	_Static_assert(sizeof(table) / sizeof((table)[0]) == \
			       sizeof(type) / sizeof(uint64_t), \
		       "a counter has no name")
/* clang-format on */

struct ledger {
	const char *stage; /* "translate", "responder" */
	const char *unit;  /* "reports", "packets" */
	const struct ledger_field *fields;
	unsigned n;
};

static inline uint64_t ledger_get(const struct ledger *l, const void *ctr,
				  unsigned i)
{
	return *(const uint64_t *)((const char *)ctr + l->fields[i].offset);
}

/* "in", "done", "loss", "harmless", "note". */
const char *ledger_role_name(unsigned role);
/* The stage under which counter i is shown. */
static inline const char *ledger_stage(const struct ledger *l, unsigned i)
{
	return l->fields[i].before ? "arrival" : l->stage;
}

/* in - done - loss - harmless: what is still under way. */
uint64_t ledger_rest(const struct ledger *l, const void *ctr);
/* Whether that is 0. */
bool ledger_balanced(const struct ledger *l, const void *ctr);

/* The name of the largest counter of LEDGER_LOSS and LEDGER_HARMLESS, "" if all
 * are 0; and its value. */
const char *ledger_largest_loss(const struct ledger *l, const void *ctr,
				uint64_t *value);

/* Adds every counter of from to those of to. */
void ledger_add(const struct ledger *l, void *to, const void *from);

#endif
