/* SPDX-License-Identifier: BSD-2-Clause */
/* control_private.h - what the control*.c share. */
#ifndef LABEL_CONTROL_PRIVATE_H
#define LABEL_CONTROL_PRIVATE_H

#include "base/chain.h"
#include "base/due.h"
#include "label/control.h"
#include "label/policy.h"

/* A frame that waits until it is clear when it came. */
struct control_held {
	uint8_t *frame;
	size_t len, room;
	uint64_t ns; /* as it says */
};

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

	/* Packets' time: frames that are far ahead of the others, as they came;
	 * how many in a row were far behind, and the last one's. */
	struct control_held held[LABEL_ODD_MAX - 1];
	unsigned holds;
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
/* Nobody listened until now: what is waited for of ports is waited for from now
 * on, and what they lost meanwhile is not counted. */
void control_wait_anew(struct label_control *c);
/* When something is due of a port, and is over when it is done: DUE_NEVER. */
uint64_t control_due(const struct label_control *c);
/* Does that, one thing. */
void control_look(struct label_control *c);

/* --- control_time.c: intervals, and clocks -------------------------------- */

void control_begin(struct label_control *c, uint64_t now_ns);
/* The interval that is under way ends, if anything came in it. */
void control_end(struct label_control *c);

/* --- control_held.c: frames whose time leaps ------------------------------ */

/* Takes a frame that says it came at now_ns, or holds it, and takes those that
 * were held until then. 0 or -ENOMEM. */
int control_judge(struct label_control *c, const uint8_t *frame, size_t len,
		  uint64_t now_ns);
/* Nothing comes any more. 0 or -ENOMEM. */
int control_judge_last(struct label_control *c);
void control_held_free(struct label_control *c);

/* --- control_take.c ------------------------------------------------------- */

/* A frame that came at now_ns, or is said to have. 0 or -ENOMEM. */
int control_take(struct label_control *c, const uint8_t *frame, size_t len,
		 uint64_t now_ns);

#endif
