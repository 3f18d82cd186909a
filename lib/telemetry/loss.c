/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/flows.h"

#include <string.h>

#include "base/rng.h"

static uint32_t mask_of(const struct reporter_state *r)
{
	return UINT32_MAX >> (32 - r->bits);
}

static uint64_t *word_of(struct reporter_state *r, uint32_t number)
{
	return &r->came[number % LOSS_WINDOW / 64];
}

static uint64_t bit_of(uint32_t number)
{
	return 1ULL << number % 64;
}

/* What is before the first number is not missing. */
static void begin(struct reporter_state *r, uint32_t number)
{
	memset(r->came, 0xff, sizeof(r->came));
	r->missing = 0;
	r->last = number;
	r->suspected = UINT64_MAX;
	r->heard = true;
}

static void gap_grow(struct reporter_state *r, uint32_t from, uint64_t n)
{
	if (!r->run)
		r->run_from = from & mask_of(r);
	r->run += n;
}

static void gap_end(struct reporter_state *r, struct loss_change *news)
{
	if (!r->run)
		return;
	if (!news->lost)
		news->from = r->run_from;
	news->lost += r->run;
	r->run = 0;
}

/* A number leaves the window. */
static void leave(struct reporter_state *r, uint32_t number,
		  struct loss_change *news)
{
	if (*word_of(r, number) & bit_of(number)) {
		gap_end(r, news);
		return;
	}
	gap_grow(r, number, 1);
	r->missing--;
}

static void go_on(struct reporter_state *r, uint32_t steps,
		  struct loss_change *news)
{
	uint32_t near = steps < LOSS_WINDOW ? steps : LOSS_WINDOW;

	for (uint32_t i = 1; i <= near; i++) {
		uint32_t number = r->last + i;

		leave(r, number - LOSS_WINDOW, news);
		*word_of(r, number) &= ~bit_of(number);
		r->missing++;
	}
	if (steps > near)
		gap_grow(r, r->last + 1, steps - near);
	r->last = (r->last + steps) & mask_of(r);
	*word_of(r, r->last) |= bit_of(r->last);
	r->missing--;
}

static void go_back(struct reporter_state *r, uint32_t number,
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

/* A number far from the last one. */
static void go_far(struct reporter_state *r, uint32_t number,
		   struct loss_change *news)
{
	uint32_t ahead = (number - r->last) & mask_of(r);

	if (number != r->suspected) {
		r->suspected = (number + 1) & mask_of(r);
		r->before = r->last;
		return;
	}
	if (ahead <= mask_of(r) / 2 && number > LOSS_WINDOW &&
	    r->last == r->before) {
		go_on(r, ahead - 1, news);
		go_on(r, 1, news);
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
		go_on(r, ahead, &news);
	else if (back < LOSS_WINDOW)
		go_back(r, number, &news);
	else
		go_far(r, number, &news);
	return news;
}

struct loss_change loss_settle(struct reporter_state *r)
{
	struct loss_change news = {0};

	if (!r->heard)
		return news;
	for (uint32_t i = 1; i <= LOSS_WINDOW; i++)
		leave(r, r->last + i - LOSS_WINDOW, &news);
	gap_end(r, &news);
	r->missing = 0;
	memset(r->came, 0xff, sizeof(r->came));
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
