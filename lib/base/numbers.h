/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * numbers.h - which of a sender's numbers did not come. All zero is a sender of
 * whom nothing has come. Numbers have 16 bits, or 8, and wrap.
 *
 * The first number is taken as it is. One that is ahead of the last by up to
 * NUMBERS_RECENT leaves those between missing; each of them that comes late
 * takes one back, and what comes twice changes nothing: the last NUMBERS_RECENT
 * numbers are remembered one by one.
 *
 * A number from elsewhere is believed when the next one follows it. Then it is
 * a loss, if it is ahead by NUMBERS_FAR at most and no beginning (0 or 1); else
 * the sender has begun anew, and nobody knows what is missing between. What
 * was before is kept a while: where it goes on after all, two senders share
 * an address, or much came late, and nothing was lost by the step.
 */
#ifndef BASE_NUMBERS_H
#define BASE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	NUMBERS_RECENT = 1024,
	NUMBERS_FAR = 16384,
	/* Both, for numbers of 8 bits. */
	NUMBERS_NARROW = 64,
};

/* A row of numbers that follow each other. */
struct numbering {
	uint8_t state;	/* enum numbering_state */
	bool idle;	/* the other one went once around meanwhile */
	uint16_t first; /* of them */
	uint16_t last;	/* the one that is farthest on */
	uint16_t step;	/* numbers that are missing before the first */
	uint64_t came[NUMBERS_RECENT / 64]; /* up to last */
};

struct numbers {
	bool narrow; /* 8 bits */
	uint8_t now; /* which of them goes on */
	struct numbering row[2];
};

/* What is added to by what came; missing may become less again. */
struct numbers_count {
	uint64_t gaps, missing, restarts;
};

/* A number came. counted: what is missing before it is. */
void numbers_note(struct numbers *n, struct numbers_count *c, uint16_t number,
		  bool counted);

/* So did all behind the last, up to this one, in order: less than 65536. */
void numbers_follow(struct numbers *n, uint16_t last);

/* Nothing before this number is missing any more. */
void numbers_settle(struct numbers *n, uint16_t last);

static inline uint16_t numbers_last(const struct numbers *n)
{
	return n->row[n->now].last;
}

#endif
