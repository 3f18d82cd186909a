/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.h - time by the packets' own stamps, whatever they are from: an
 * interface, a capture, several captures in one.
 */
#ifndef PACKET_CLOCK_H
#define PACKET_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum {
	/* Packets may be out of order by this much; a step back of more means
	 * that a clock was set. */
	CLOCK_BACK_NS = 100000000,
};

static inline bool clock_was_set(uint64_t last_ns, uint64_t now_ns)
{
	return now_ns < last_ns && last_ns - now_ns > CLOCK_BACK_NS;
}

/* The time that a packet's stamp says has passed, ns. *last_ns: the latest
 * stamp so far. Packets out of order do not count; where the clock was set
 * back, time goes on from there. */
static inline uint64_t clock_step(uint64_t *last_ns, uint64_t now_ns)
{
	uint64_t ns = now_ns > *last_ns ? now_ns - *last_ns : 0;

	if (ns || clock_was_set(*last_ns, now_ns))
		*last_ns = now_ns;
	return ns;
}

#endif
