/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * absent.h - why a key is not found: what its units, the load of its table, and
 * keys that are known tell of that, in words.
 *
 * Whose units are all other keys' was overwritten or never reported. Of the
 * keys that were stored, 1 - s are overwritten (s: load.average); of those that
 * never were, u^N look the same (u: load.used_share, N copies). With a = load
 * and u = 1 - exp(-N a), 1 - s is the mean of (1 - exp(-N x))^N over the ages x
 * from 0 to a, which is never below u^N / (N + 1), since that over x^N falls
 * with x. So what is seen is at most N + 1 times as likely of a key that was
 * never reported: 3 times with 2 copies, and less the fuller the table. Nobody
 * knows how many of the keys that are asked for were reported; without that,
 * odds of less than 20 to 1 decide nothing, and these are never more than 17.
 * So it is told what may be, and what would tell them apart.
 */
#ifndef QUERY_ABSENT_H
#define QUERY_ABSENT_H

#include "query/load.h"

/* What was seen of one key. */
struct absent {
	bool any;	   /* an epoch was there to be looked at */
	bool unreadable;   /* some unit was not */
	bool back;	   /* the other direction of the flow is there */
	bool listed;	   /* there are keys known to have been reported, */
	bool known;	   /* and it is one of them */
	unsigned copies;   /* that were looked at */
	unsigned taken;	   /* epochs in which all units are other keys' */
	uint64_t taken_in; /* the newest of them */
	uint64_t gone;	   /* epochs 1 to this are, 0: none */
};

enum {
	ABSENT_TEXT = 512,
};

/* What the load of a table means to its keys. l->used > 0. */
void absent_load(char text[ABSENT_TEXT], const struct table *t,
		 const struct load *l);

/* Whether nothing is more likely than something else: then that is said. */
bool absent_is_open(const struct absent *a);

/* What is likely. l: of the epoch taken_in, or of the newest one; NULL: not
 * known. The text is in room, or a constant. */
const char *absent_why(char room[ABSENT_TEXT], const struct absent *a,
		       const struct load *l);

#endif
