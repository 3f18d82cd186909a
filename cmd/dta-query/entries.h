/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * entries.h - rows of list entries: what list and list -f share.
 */
#ifndef QUERY_ENTRIES_H
#define QUERY_ENTRIES_H

#include "options.h"

struct entries {
	const struct opts *o;
	struct places *p;
	struct targets targets;
	struct rows *rows; /* or NULL: each entry is told to */
	void (*take)(void *ctx, unsigned target, const uint8_t *entry);
	void *ctx;
	struct values values; /* the columns */
	uint32_t *list;	      /* ids asked for; none: all that hold entries */
	unsigned lists;
	uint64_t printed, lost;
	bool damaged; /* something could not be read */
	bool fell;    /* a machine can no longer be */
	uint8_t *buf; /* entries that were read */
	size_t buf_len;
};

/*
 * Reads what o asks for, and begins the rows: of entries, or of another schema.
 * Zeroed before. entries_close() says how many there were.
 */
void entries_open(struct entries *e, const struct opts *o, struct places *p,
		  const struct schema *other);
void entries_close(struct entries *e);

/* Goes to the places of a list: those of the collector that owns its id. */
void entries_of_list(struct entries *e, uint32_t list);

/*
 * Prints the entries [from, until) of a list; *lost grows by those that were
 * overwritten. Returns where it stopped: until, or the list's end.
 */
uint64_t entries_print(struct entries *e, unsigned target, unsigned place,
		       const struct view *v, uint32_t list, uint64_t from,
		       uint64_t until, uint64_t *lost);

/* Entries of a list, 0 if its count cannot be read. */
uint64_t entries_count(struct entries *e, unsigned place, const struct view *v,
		       uint32_t list);

/* The next list of t to look at, from *at on; false behind the last. */
bool entries_next_list(const struct entries *e, const struct table *t,
		       uint32_t *at, uint32_t *list);

#endif
