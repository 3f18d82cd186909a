/* SPDX-License-Identifier: BSD-2-Clause */
/* control_private.h - what the control*.c share. */
#ifndef LABEL_CONTROL_PRIVATE_H
#define LABEL_CONTROL_PRIVATE_H

#include "base/chain.h"
#include "base/due.h"
#include "label/control.h"
#include "label/policy.h"

struct label_control {
	struct label_control_options o;
	struct label_control_ledger ctr;
	struct label_db *db;
	struct label_paths *paths;
	bool begun; /* a frame came, or label_control_begin() */
	uint64_t begun_ns, now_ns;
	uint64_t patience_ns; /* k * T */
	/* Ports, by their places: those that are not silent, in the order in
	 * which they were heard; those whose S may be to be moved, in the order
	 * in which it was; and when silent ones are forgotten. */
	struct chain heard, steps;
	struct dues forget;
	uint32_t silent, with_s[LABEL_S_MAX + 1]; /* ports */

	uint64_t next_end_ns;
	uint64_t number;     /* of the interval, from 1 */
	uint64_t watched_ns; /* since when the interval is observed */
	struct label_interval_sum sum;
	struct label_db_ledger before; /* when it began */

	/* Packets' time: a frame that is far ahead of the others; how many in a
	 * row were far behind, and the last one's. */
	uint8_t *held;
	size_t held_len, held_room;
	uint64_t held_ns;
	bool holds;
	unsigned back;
	uint64_t back_ns;
	int err; /* of the memory for due */
};

/* --- control_ports.c: silence, Pro, ports that are forgotten -------------- */

/* Its device began anew. */
void control_reset(struct label_control *c, uint32_t place);
/* Something newer came of it. */
void control_heard(struct label_control *c, uint32_t place);
/* Ports of an earlier run. */
void control_resume(struct label_control *c);
/* When something is due of a port, and is over when it is done: DUE_NEVER. */
uint64_t control_due(const struct label_control *c);
/* Does that, one thing. */
void control_look(struct label_control *c);

/* --- control_time.c: intervals, and clocks -------------------------------- */

void control_begin(struct label_control *c, uint64_t now_ns);
/* The interval that is under way ends, if anything came in it. */
void control_end(struct label_control *c);

enum control_time {
	CONTROL_NOW,  /* *now_ns is when the frame came */
	CONTROL_HOLD, /* it is not clear yet */
};

/* When a frame came that says now_ns. One that is held may be released then:
 * *held_ns is when that came; 0: none is. */
enum control_time control_judge(struct label_control *c, uint64_t *now_ns,
				uint64_t *held_ns);

#endif
