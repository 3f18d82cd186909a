/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chain.h - a line of those who wait, whom small numbers tell apart: a doubly
 * linked list in which each stands once. Whoever is put goes to its end.
 */
#ifndef BASE_CHAIN_H
#define BASE_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#define CHAIN_NOBODY UINT32_MAX

struct chain_link {
	uint32_t before, behind; /* numbers + 1; 0: the line's own */
};

/* Zeros to begin with. */
struct chain {
	struct chain_link *link; /* of who; link[0] is the line's own */
	uint32_t whos;
};

/* At the end, from wherever it stood. 0 or -ENOMEM. */
int chain_put(struct chain *q, uint32_t who);
/* Out of it, if it stands there. */
void chain_drop(struct chain *q, uint32_t who);
bool chain_has(const struct chain *q, uint32_t who);
/* CHAIN_NOBODY: the line is empty. */
uint32_t chain_first(const struct chain *q);
/* The one behind the first; the same. */
uint32_t chain_second(const struct chain *q);
/* Who has the last number is known by another one now, who has gone. */
void chain_move(struct chain *q, uint32_t last, uint32_t who);
void chain_fini(struct chain *q);

#endif
