/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loss.h - reports that did not come: gaps in the sequence numbers of a
 * reporter, which is a node and its hardware id (telemetry report 2.0, section
 * 3.2; in earlier versions a switch numbers its reports, too).
 *
 * Numbers have 22 or 32 bits and wrap. A number may come up to LOSS_WINDOW
 * later than its turn; after that it is lost. A number that is far off counts
 * once the next one follows it (RFC 3550, appendix A.1). If it is ahead by less
 * than half of all numbers (RFC 1982) there is a gap before it, unless the
 * earlier numbers went on meanwhile. Otherwise, and if it is behind or near 0,
 * the reporter has restarted its numbers.
 */
#ifndef TELEMETRY_LOSS_H
#define TELEMETRY_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LOSS_WINDOW = 256,
	LOSS_AHEAD = 1 << 16, /* further ahead: only if the next one follows */
};

struct reporter_state {
	uint32_t node;
	uint8_t hw_id, bits;
	bool used, has_node;
	bool suspect;	  /* next is what would show a new numbering */
	uint16_t missing; /* bits of came that are 0 */
	uint32_t suspected;
	uint32_t before;   /* last, when that came */
	uint32_t last;	   /* the highest number */
	uint32_t run_from; /* the gap that is being found, if run is not 0 */
	uint64_t run;
	uint64_t heard_ns, received, lost, late, repeated, restarts;
	uint64_t came[LOSS_WINDOW / 64]; /* a bit for each of the last numbers,
					    by number mod LOSS_WINDOW */
};

/* What a number has shown; its fields may all be set at once. */
struct loss_change {
	bool restart;
	uint64_t lost; /* gaps that have come to their end: so many in all */
	uint32_t from; /* the first of them */
};

/* The usual case of loss_add_number(): the number after the last one, and
 * nothing is missing. False: it is not. */
static inline bool loss_next(struct reporter_state *r, uint32_t number)
{
	if (number != r->last + 1 || !r->received || r->missing || r->run)
		return false;
	r->last++;
	r->received++;
	return true;
}

/* A reporter's number, at a time. */
struct loss_change loss_add_number(struct reporter_state *r, uint32_t number,
				   uint64_t ns);

/* What has not come by now is lost: at the end, and when a reporter is silent.
 */
struct loss_change loss_settle(struct reporter_state *r);

struct losses {
	struct reporter_state *at; /* a hash table, not more than half full */
	unsigned mask, used;
	struct reporter_state *latest;
};

/* Room for n reporters. 0 or -ENOMEM. */
int losses_init(struct losses *l, unsigned n);
void losses_fini(struct losses *l);
/* NULL: there is no room for another. bits: 22 or 32. */
struct reporter_state *losses_find(struct losses *l, bool has_node,
				   uint32_t node, uint8_t hw_id, uint8_t bits);

/* The slot of at[] in which it is, or behind which: others were there. */
uint32_t losses_home(const struct losses *l, const struct reporter_state *r);

static inline bool reporter_is(const struct reporter_state *r, bool has_node,
			       uint32_t node, uint8_t hw_id)
{
	return r->used && r->node == node && r->hw_id == hw_id &&
	       r->has_node == has_node;
}

static inline struct reporter_state *losses_of(struct losses *l, bool has_node,
					       uint32_t node, uint8_t hw_id,
					       uint8_t bits)
{
	if (reporter_is(l->latest, has_node, node, hw_id))
		return l->latest;
	return losses_find(l, has_node, node, hw_id, bits);
}

#endif
