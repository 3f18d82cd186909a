/* SPDX-License-Identifier: BSD-2-Clause */
/* minute.h - how much came of something in each part of the last minute, or how
 * high it stood. */
#ifndef SCREEN_MINUTE_H
#define SCREEN_MINUTE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	MINUTE_PARTS = 15, /* of 4 s */
	MINUTE_TEXT = MINUTE_PARTS * 3 + 1,
};

struct minute {
	uint64_t first, last; /* parts that are known, counted since clock_ns()
				 began; last 0: none */
	float part[MINUTE_PARTS]; /* of number n at n % MINUTE_PARTS */
	bool level;		  /* parts say how high it stood */
};

/* So much came, from one time of clock_ns() to another. */
void minute_add(struct minute *m, uint64_t from_ns, uint64_t to_ns,
		double amount);

/* Of what is a level: so high it is now, and stays until the next time. */
void minute_level(struct minute *m, uint64_t now_ns, double height);

/* Adds what another one has. */
void minute_sum(struct minute *m, const struct minute *other);

/*
 * A sparkline that ends at now: for each part a character, blank where nothing
 * is known, else from the lowest, for nothing, to the highest of those shown,
 * or for what is at least, if that is more. They are U+2581 to U+2588, three
 * bytes each, or plain ASCII.
 */
void minute_text(char out[MINUTE_TEXT], const struct minute *m, uint64_t now_ns,
		 double least, bool plain);

#endif
