/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/flows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

static uint32_t mask_of(const struct reporter_state *r)
{
	return r->bits >= 32 ? UINT32_MAX : (1U << r->bits) - 1;
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
	r->suspect = false;
}

static void gap_grow(struct reporter_state *r, uint32_t from, uint64_t n)
{
	if (!r->run)
		r->run_from = from & mask_of(r);
	r->run += n;
	r->lost += n;
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

static void go_back(struct reporter_state *r, uint32_t number)
{
	if (*word_of(r, number) & bit_of(number)) {
		r->repeated++;
		return;
	}
	*word_of(r, number) |= bit_of(number);
	r->late++;
	r->missing--;
}

/* A number far from the last one. */
static void go_far(struct reporter_state *r, uint32_t number,
		   struct loss_change *news)
{
	uint32_t steps = (number - r->suspected) & mask_of(r);
	uint32_t ahead = (r->suspected - r->last) & mask_of(r);

	if (!r->suspect || !steps || steps > LOSS_WINDOW) {
		r->suspect = true;
		r->suspected = number;
		r->before = r->last;
		return;
	}
	if (ahead <= mask_of(r) / 2 && r->suspected >= LOSS_WINDOW &&
	    r->last == r->before) {
		r->suspect = false;
		go_on(r, ahead, news);
		go_on(r, steps, news);
		return;
	}
	*news = loss_settle(r);
	news->restart = true;
	r->restarts++;
	begin(r, r->suspected);
	go_on(r, steps, news);
}

struct loss_change loss_add_number(struct reporter_state *r, uint32_t number,
				   uint64_t ns)
{
	struct loss_change news = {0};
	uint32_t ahead = (number - r->last) & mask_of(r);
	uint32_t back = (r->last - number) & mask_of(r);

	r->heard_ns = ns;
	number &= mask_of(r);
	if (!r->received++) {
		begin(r, number);
		return news;
	}
	if (ahead && ahead <= LOSS_AHEAD)
		go_on(r, ahead, &news);
	else if (back < LOSS_WINDOW)
		go_back(r, number);
	else
		go_far(r, number, &news);
	return news;
}

struct loss_change loss_settle(struct reporter_state *r)
{
	struct loss_change news = {0};

	if (!r->received)
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
	unsigned room = (unsigned)objects_slots(n);

	*l = (struct losses){.mask = room - 1};
	l->at = calloc(room, sizeof(*l->at));
	l->latest = l->at;
	return l->at ? 0 : -ENOMEM;
}

void losses_fini(struct losses *l)
{
	free(l->at);
	*l = (struct losses){0};
}

static uint64_t hash_of(uint32_t node, uint8_t hw_id)
{
	return rng_mix((uint64_t)node << 8 | hw_id);
}

uint32_t losses_home(const struct losses *l, const struct reporter_state *r)
{
	return (uint32_t)hash_of(r->node, r->hw_id) & l->mask;
}

/* Where it is, or would be. */
static struct reporter_state *find_slot(const struct losses *l, uint32_t node,
					uint8_t hw_id)
{
	uint64_t i = hash_of(node, hw_id);

	for (;; i++) {
		struct reporter_state *r = &l->at[i & l->mask];

		if (!r->used || reporter_is(r, node, hw_id))
			return r;
	}
}

struct reporter_state *losses_find(struct losses *l, uint32_t node,
				   uint8_t hw_id, uint8_t bits)
{
	struct reporter_state *r = find_slot(l, node, hw_id);

	if (r->used)
		return l->latest = r;
	if (2 * (l->used + 1) > l->mask + 1)
		return NULL;
	l->used++;
	*r = (struct reporter_state){
		.used = true, .node = node, .hw_id = hw_id, .bits = bits};
	return l->latest = r;
}
