/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.h - the time of a live interface, for label_control_tick(): that of its
 * packets, which are stamped by the wall clock; between them time goes on as
 * the monotonic clock does. If one is set against the other, that shows.
 *
 * Both are read by the caller: wall_ns, mono_ns.
 */
#ifndef LABEL_CLOCK_H
#define LABEL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define LABEL_CLOCK_STEP_NS INT64_C(1000000000) /* above: it was set */

/* Zeros to begin with. */
struct label_clock {
	bool known;
	int64_t apart_ns;	   /* the wall clock less the monotonic one */
	uint64_t last_ns, mono_ns; /* of the last packet, and when it came */
};

/* Looks at the clocks. Returns by how much the wall clock was set since the
 * last look; 0: it was not. */
static inline int64_t label_clock_look(struct label_clock *c, uint64_t wall_ns,
				       uint64_t mono_ns)
{
	int64_t apart = (int64_t)(wall_ns - mono_ns), by = apart - c->apart_ns;

	if (!c->known)
		c->last_ns = wall_ns, c->mono_ns = mono_ns;
	if (!c->known ||
	    (by <= LABEL_CLOCK_STEP_NS && by >= -LABEL_CLOCK_STEP_NS))
		by = 0;
	c->known = true;
	c->apart_ns = apart;
	c->last_ns += (uint64_t)by;
	return by;
}

/* When a packet came that is stamped stamp_ns: then, unless the clock was set
 * between: it has waited for less than 10 s. */
static inline uint64_t label_clock_packet(struct label_clock *c,
					  uint64_t stamp_ns, uint64_t wall_ns,
					  uint64_t mono_ns)
{
	int64_t ago = (int64_t)(wall_ns - stamp_ns);

	if (ago > 10 * LABEL_CLOCK_STEP_NS || ago < -LABEL_CLOCK_STEP_NS)
		stamp_ns = wall_ns;
	c->last_ns = stamp_ns;
	c->mono_ns = mono_ns;
	return stamp_ns;
}

/* What time it is, so long after the last packet. */
static inline uint64_t label_clock_now(const struct label_clock *c,
				       uint64_t mono_ns)
{
	return c->last_ns + (mono_ns - c->mono_ns);
}

#endif
