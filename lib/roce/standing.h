/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * standing.h - how a collector stands that should acknowledge what is sent:
 * what is wrong with it and what to do about it, once when it changes, and once
 * when it is well again.
 */
#ifndef ROCE_STANDING_H
#define ROCE_STANDING_H

#include "roce/roce_out.h"

enum standing_state {
	STANDING_WELL,
	STANDING_SILENT,  /* no answer */
	STANDING_VAIN,	  /* answers, of which none confirms anything */
	STANDING_REFUSED, /* a table's queue pair is closed */
};

/* To begin with, all 0. */
struct standing {
	enum standing_state state;
	unsigned stuck;	  /* the table that this was said of, */
	uint64_t acked;	  /* and what of it was confirmed then */
	uint64_t answers; /* so far, and when they were found to be more */
	uint64_t heard_ns;
	struct {
		uint64_t acked, since_ns;
		bool refused;
	} table[TABLE_MAX];
};

/*
 * To be called some times a second: away after a second without. waits: reports
 * are left unread while the collector takes none. Returns whether there is
 * something to say, which f has then.
 */
bool standing_look(struct standing *st, const struct roce_out *o,
		   uint64_t now_ns, bool away, bool waits, struct fault *f);

/* Why nothing was acknowledged of what waits for a collector; false: nothing
 * waits. Then there is no more to say than standing_nothing. */
extern const char standing_nothing[];
bool standing_why(const struct roce_out *o, struct fault *f);

#endif
