/* SPDX-License-Identifier: BSD-2-Clause */
#include "team/relay.h"

#include <stddef.h>
#include <string.h>

#include "team/team.h"

static void work(void *ctx, unsigned number)
{
	struct relay *r = ctx;
	uint64_t batch = number;
	bool any;

	while (turn_wait(&r->take, (uint32_t)batch), !r->over) {
		any = r->o.take(r->o.ctx, number);
		turn_pass(&r->take);
		r->o.carry(r->o.ctx, number, batch, any);
		batch += r->o.workers;
	}
	turn_pass(&r->take); /* the others are to see it, too */
}

int relay_open(struct relay *r, const struct relay_options *o, struct fault *f)
{
	int rc;

	*r = (struct relay){.o = *o};
	turn_init(&r->take);
	for (unsigned i = 0; i < RELAY_STEPS; i++)
		turn_init(&r->step[i]);
	rc = team_start(&r->threads, o->workers, work, r);
	return rc ? fault_set(f, rc, "threads: %s", strerror(-rc)) : 0;
}

void relay_go(struct relay *r, bool any)
{
	turn_pass(&r->take);
	r->o.carry(r->o.ctx, 0, r->batch, any);
	r->batch += r->o.workers;
	turn_wait(&r->take, (uint32_t)r->batch);
}

void relay_rest(struct relay *r)
{
	relay_wait(r, r->o.steps - 1, r->batch);
}

void relay_close(struct relay *r)
{
	relay_rest(r);
	r->over = true;
	turn_pass(&r->take);
	team_join(r->threads);
	r->threads = NULL;
}

void relay_skip(struct relay *r, uint64_t batch)
{
	for (unsigned i = 0; i < r->o.steps; i++) {
		relay_wait(r, i, batch);
		relay_pass(r, i);
	}
}
