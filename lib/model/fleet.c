/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>

#include "model/model.h"

/*
 * hash mod n and hash mod (n + 1) are the same for n of the n (n + 1)
 * remainders that a hash can have by both: one key in n + 1 keeps its owner.
 */
struct fleet model_fleet(const struct fleet_load *l)
{
	double times = l->mirror ? 2 : 1, n;
	double messages_s = times * l->messages_s, slots = times * l->slots;
	double least[] = {
		[FLEET_NIC] = messages_s / l->nic_messages_s,
		[FLEET_MEMORY] = slots * l->slot_bytes / l->memory,
		[FLEET_HASH] = slots / 0x1p32,
	};
	struct fleet f = {.bound = FLEET_NIC};

	for (int b = FLEET_MEMORY; b <= FLEET_HASH; b++)
		if (least[b] > least[f.bound])
			f.bound = (enum fleet_bound)b;
	n = fmax(ceil(least[f.bound]), times);
	f.collectors = n;
	f.messages_s = messages_s / n;
	f.slots = ceil(slots / n);
	f.lost = l->mirror ? 0 : 1 / n;
	f.lost_messages_s = messages_s / (n - 1);
	f.moved = n / (n + 1);
	f.moved_least = 1 / (n + 1);
	return f;
}
