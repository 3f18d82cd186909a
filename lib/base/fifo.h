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
	struct fifo_link
		*link; /* link[n + 1] is number n's, link[0] the head */
	uint32_t links;
};

/* Puts a number at the end; if it was in the list, it moves. 0 or -ENOMEM. */
int fifo_put(struct fifo *q, uint32_t number);
/* Removes a number, if it is in the list. */
void fifo_remove(struct fifo *q, uint32_t number);
/* FIFO_EMPTY: there is none. */
uint32_t fifo_first(const struct fifo *q);
/* Removes number, then gives it to the entry that had the number last. */
void fifo_renumber(struct fifo *q, uint32_t last, uint32_t number);
void fifo_fini(struct fifo *q);

#endif
