/* SPDX-License-Identifier: BSD-2-Clause */
/* loss.c - lost, late and repeated reports by sequence numbers (flows.h). */
#include "telemetry/flows.h"

#include <string.h>

#include "base/rng.h"

static uint32_t mask_of(const struct reporter_state *r)
{
	return UINT32_MAX >> (32 - r->bits);
}

static uint64_t *word_of(struct reporter_state *r, uint32_t number)
{
	return &r->received[number % LOSS_WINDOW / 64];
}

static uint64_t bit_of(uint32_t number)
{
	return 1ULL << number % 64;
}

/* Starts a sequence: no number before this one is missing. */
static void begin(struct reporter_state *r, uint32_t number)
{
	memset(r->received, 0xff, sizeof(r->received));
	r->missing = 0;
	r->last = number;
	r->expected = UINT64_MAX;
	r->heard = true;
}

static void gap_grow(struct reporter_state *r, uint32_t from, uint64_t n)
{
	if (!r->gap)
		r->gap_from = from & mask_of(r);
	r->gap += n;
}

static void gap_end(struct reporter_state *r, struct loss_change *news)
{
	if (!r->gap)
		return;
	if (!news->lost)
		news->from = r->gap_from;
	news->lost += r->gap;
	r->gap = 0;
}

/* A number leaves the window: if it is missing it is lost, and part of a gap;
 * if not, the gap ends before it. */
static void leave_window(struct reporter_state *r, uint32_t number,
			 struct loss_change *news)
{
	if (*word_of(r, number) & bit_of(number)) {
		gap_end(r, news);
		return;
	}
	gap_grow(r, number, 1);
	r->missing--;
}

/* Moves the highest number on; those between are missing, or lost if they are
 * out of the window already. */
static void advance(struct reporter_state *r, uint32_t steps,
		    struct loss_change *news)
{
	uint32_t near = steps < LOSS_WINDOW ? steps : LOSS_WINDOW;

	for (uint32_t i = 1; i <= near; i++) {
		uint32_t number = r->last + i;

		leave_window(r, number - LOSS_WINDOW, news);
		*word_of(r, number) &= ~bit_of(number);
		r->missing++;
	}
	if (steps > near)
		gap_grow(r, r->last + 1, steps - near);
	r->last = (r->last + steps) & mask_of(r);
	*word_of(r, r->last) |= bit_of(r->last);
	r->missing--;
}

/* A number within the window. */
static void add_late(struct reporter_state *r, uint32_t number,
		     struct loss_change *news)
{
	if (*word_of(r, number) & bit_of(number)) {
		news->repeated = true;
		return;
	}
	*word_of(r, number) |= bit_of(number);
	news->late = true;
	r->missing--;
}

/* A number far from the last one, which is suspect; or the one after it. */
static void add_suspect(struct reporter_state *r, uint32_t number,
			struct loss_change *news)
{
	uint32_t ahead = (number - r->last) & mask_of(r);

	if (number != r->expected) {
		r->expected = (number + 1) & mask_of(r);
		r->last_at_suspicion = r->last;
		return;
	}
	if (ahead <= mask_of(r) / 2 && number > LOSS_WINDOW &&
	    r->last == r->last_at_suspicion) {
		advance(r, ahead - 1, news);
		advance(r, 1, news);
		return;
	}
	*news = loss_settle(r);
	news->restart = true;
	begin(r, number);
}

struct loss_change loss_add_number(struct reporter_state *r, uint32_t number,
				   uint64_t ns)
{
	struct loss_change news = {0};
	uint32_t ahead = (number - r->last) & mask_of(r);
	uint32_t back = (r->last - number) & mask_of(r);

	r->heard_ns = ns;
	number &= mask_of(r);
	if (!r->heard)
		begin(r, number);
	else if (ahead && ahead <= LOSS_AHEAD)
		advance(r, ahead, &news);
	else if (back < LOSS_WINDOW)
		add_late(r, number, &news);
	else
		add_suspect(r, number, &news);
	return news;
}

struct loss_change loss_settle(struct reporter_state *r)
{
	struct loss_change news = {0};

	if (!r->heard)
		return news;
	for (uint32_t i = 1; i <= LOSS_WINDOW; i++)
		leave_window(r, r->last + i - LOSS_WINDOW, &news);
	gap_end(r, &news);
	r->missing = 0;
	memset(r->received, 0xff, sizeof(r->received));
	return news;
}

int losses_init(struct losses *l, unsigned n)
{
	int rc = key_table_init(&l->table, n, sizeof(*l->latest),
				offsetof(struct reporter_state, hw_id) + 1);

	l->latest = l->table.at;
	return rc;
}

struct reporter_state *losses_find(struct losses *l, uint32_t node,
				   uint8_t hw_id, uint8_t bits)
{
	const struct reporter_state key = {.node = node, .hw_id = hw_id};
	struct reporter_state *r = l->table.at;
	bool fresh;
	uint32_t nr = key_table_get(
		&l->table, rng_mix((uint64_t)node << 8 | hw_id), &key, &fresh);

	if (!nr)
		return NULL;
	l->latest = r + nr;
	if (fresh)
		l->latest->bits = bits;
	return l->latest;
}
