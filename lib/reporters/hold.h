/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hold.h - packets that came before their turn, until it is theirs: a bounded
 * number of copies, each known by its owner and the number that the owner gave
 * it. What is said of numbers that follow each other holds across 65535, too.
 *
 * Takes 2 KiB for each packet that it holds, when it first holds so many, and
 * allocates nothing behind hold_open().
 */
#ifndef REPORTERS_HOLD_H
#define REPORTERS_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "packet/pkt.h"

enum {
	HOLD_MAX = 1 << 20, /* packets */
	HOLD_OWNERS = 65536,
	HOLD_FRAME_MAX = 2032, /* bytes; longer ones are not held */
	HOLD_SILENT = 64,
};

struct hold;

/* packets: how many at once, 1 to HOLD_MAX. Returns 0 or -errno. */
int hold_open(struct hold **out, unsigned packets, struct fault *f);
void hold_close(struct hold *h); /* NULL is fine */

/* How many there are of one owner. */
unsigned hold_count(const struct hold *h, uint16_t owner);
bool hold_has(const struct hold *h, uint16_t owner, uint16_t number);

/* How many numbers from `number' on are not there in a row, up to max. */
unsigned hold_missing(const struct hold *h, uint16_t owner, uint16_t number,
		      unsigned max);

/* Copies a packet, in the place of one with that number. False: there is no
 * room for it. */
bool hold_put(struct hold *h, uint16_t owner, uint16_t number,
	      const struct pkt *p);

/*
 * Whether all places are taken, and who has put nothing for longest, while the
 * others put, or tried to put, as many as there are places, or HOLD_SILENT if
 * those are fewer. That one may have gone for good.
 */
bool hold_silent(const struct hold *h, uint16_t *owner);

/*
 * Those numbered from `number' on without a gap, up to max, as packets that
 * came at ts_ns: they stay, and are valid until they are released. Returns how
 * many.
 */
unsigned hold_row(const struct hold *h, uint16_t owner, uint16_t number,
		  struct pkt *pkts, unsigned max, uint64_t ts_ns);

/* Lets the first n of such a row go. */
void hold_release(struct hold *h, uint16_t owner, uint16_t number, unsigned n);

/* Lets all of an owner go. Returns how many. */
unsigned hold_drop(struct hold *h, uint16_t owner);

#endif
