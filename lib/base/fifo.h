/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fifo.h - a FIFO list of small numbers, in which each stands at most once: a
 * doubly linked list in an array.
 */
#ifndef BASE_FIFO_H
#define BASE_FIFO_H

#include <stdbool.h>
#include <stdint.h>

#define FIFO_EMPTY UINT32_MAX

struct fifo_link {
	uint32_t before, behind; /* numbers + 1; 0: the list's head */
};

/* Begins as all zero. */
struct fifo {
	struct fifo_link *link; /* [n + 1]: number n's; [0]: the head */
	uint32_t links;		/* how many are allocated */
};

/* Puts a number at the end; if it was in the list, it moves. 0 or -ENOMEM. */
int fifo_put(struct fifo *q, uint32_t number);
/* Removes a number, if it is in the list. */
void fifo_remove(struct fifo *q, uint32_t number);
/* The first number, which stays in the list; FIFO_EMPTY: there is none. */
uint32_t fifo_first(const struct fifo *q);
/* For an array whose last element moves into a hole: `number` leaves the list,
 * then takes the place of `last` in it. */
void fifo_renumber(struct fifo *q, uint32_t last, uint32_t number);
void fifo_fini(struct fifo *q);

#endif
