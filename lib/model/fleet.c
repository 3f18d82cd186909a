/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>

#include "model/model.h"

struct fleet model_fleet(const struct fleet_load *l)
{
	double times = l->mirror ? 2 : 1, n = times;
	double least[FLEET_BOUNDS] = {
		[FLEET_NIC] = l->messages_s / l->nic_messages_s,
		[FLEET_MEMORY] = l->slots * l->slot_bytes / l->memory,
		[FLEET_HASH] = l->slots / 0x1p32,
	};
	struct fleet f = {.bound = FLEET_NIC};

	for (int b = 0; b < FLEET_BOUNDS; b++)
		if (least[b] > least[f.bound])
			f.bound = (enum fleet_bound)b;
	n = fmax(n, ceil(times * least[f.bound]));
	f.collectors = n;
	f.messages_s = times * l->messages_s / n;
	f.slots = ceil(times * l->slots / n);
	f.lost = l->mirror ? 0 : 1 / n;
	/* The same by mod n and mod (n + 1) are n of n (n + 1) remainders. */
	f.moved = n / (n + 1);
	return f;
}
