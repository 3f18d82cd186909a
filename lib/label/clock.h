/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.h - the time of a live interface, for label_control_tick(): that of its
 * packets, which are stamped by the wall clock; between them time goes on as
 * the clock does that nobody can set, and that goes on while the host is
 * suspended. If the one is set against the other, that shows; that the host was
 * suspended shows from the one that stands still then.
 *
 * All three are read by the caller.
 */
#ifndef LABEL_CLOCK_H
#define LABEL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define LABEL_CLOCK_STEP_NS INT64_C(1000000000) /* above: it was set */

struct label_times {
	uint64_t wall_ns;  /* CLOCK_REALTIME */
	uint64_t boot_ns;  /* CLOCK_BOOTTIME */
	uint64_t awake_ns; /* CLOCK_MONOTONIC */
};

/* Zeros to begin with. */
struct label_clock {
	bool known;
	int64_t apart_ns;	   /* the wall clock less the boot clock */
	int64_t asleep_ns;	   /* the boot clock less the awake one */
	uint64_t last_ns, boot_ns; /* of the last packet, and when it came */
};

struct label_clock_news {
	int64_t set_ns; /* the wall clock was, by so much */
	bool slept;	/* the host did: nobody listened meanwhile */
};

/* More than a step's length from what was known. */
static inline int64_t label_clock_step(int64_t now_ns, int64_t *known_ns)
{
	int64_t by = now_ns - *known_ns;

	*known_ns = now_ns;
	return by > LABEL_CLOCK_STEP_NS || by < -LABEL_CLOCK_STEP_NS ? by : 0;
}

/* Looks at the clocks: what has happened to them since the last look. */
static inline struct label_clock_news
label_clock_look(struct label_clock *c, const struct label_times *t)
{
	struct label_clock_news news = {
		.set_ns = label_clock_step((int64_t)(t->wall_ns - t->boot_ns),
					   &c->apart_ns),
		.slept = label_clock_step((int64_t)(t->boot_ns - t->awake_ns),
					  &c->asleep_ns) > 0,
	};

	if (!c->known) {
		c->known = true;
		c->last_ns = t->wall_ns;
		c->boot_ns = t->boot_ns;
		return (struct label_clock_news){0};
	}
	c->last_ns += (uint64_t)news.set_ns;
	return news;
}

/* When a packet came that is stamped stamp_ns: then, unless the clock was set
 * between: it has waited for less than 10 s. */
static inline uint64_t label_clock_packet(struct label_clock *c,
					  uint64_t stamp_ns,
					  const struct label_times *t)
{
	int64_t ago = (int64_t)(t->wall_ns - stamp_ns);

	if (ago > 10 * LABEL_CLOCK_STEP_NS || ago < -LABEL_CLOCK_STEP_NS)
		stamp_ns = t->wall_ns;
	c->last_ns = stamp_ns;
	c->boot_ns = t->boot_ns;
	return stamp_ns;
}

/* What time it is, so long after the last packet. */
static inline uint64_t label_clock_now(const struct label_clock *c,
				       const struct label_times *t)
{
	return c->last_ns + (t->boot_ns - c->boot_ns);
}

#endif
