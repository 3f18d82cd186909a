/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/seat.h"

#include <string.h>

void seats_init(struct seats *all, unsigned n)
{
	memset(all, 0, sizeof(*all));
	all->n = n;
	for (unsigned i = 0; i < n; i++)
		all->seat[i].all = all;
	pthread_mutex_init(&all->alone, NULL);
}

void seats_fini(struct seats *all)
{
	pthread_mutex_destroy(&all->alone);
}

void seat_enter(struct seat *s)
{
	struct seats *all = s->all;
	uint32_t at = turn_now(&s->at);

	for (unsigned i = 0; i < all->n; i++) {
		struct turn *other = &all->seat[i].at;

		if (turn_reached(other, at))
			continue;
		turn_watch(other, at);
		s->late = true;
	}
	pthread_mutex_lock(&all->alone);
}

void seat_leave(struct seat *s)
{
	pthread_mutex_unlock(&s->all->alone);
}
