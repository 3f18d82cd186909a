/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/objects.h"

#include <string.h>

#include "base/rng.h"

enum {
	STATE_MAX = 255 * 4, /* bytes: the length is one of words */
};

struct state {
	uint64_t node;
	uint32_t schema;
	uint16_t domain, len;
	uint8_t data[STATE_MAX];
};

int states_init(struct states *ss, uint32_t max)
{
	size_t size = max * sizeof(struct state);
	uint64_t slots = objects_slots(max);
	int rc;

	*ss = (struct states){.max = max, .mask = (uint32_t)(slots - 1)};
	rc = area_init(&ss->area, size + slots * sizeof(*ss->slot));
	if (rc < 0)
		return rc;
	ss->at = (struct state *)ss->area.base;
	ss->slot = (uint32_t *)(ss->area.base + size);
	return 0;
}

/* NULL: there is no room for another. */
static struct state *state_of(struct states *ss, uint64_t node, uint16_t domain,
			      uint32_t schema, bool *fresh)
{
	uint64_t i = rng_mix(node ^ rng_mix((uint64_t)domain << 32 | schema));
	struct state *s;
	uint32_t *slot;

	for (*fresh = false;; i++) {
		slot = &ss->slot[i & ss->mask];
		if (!*slot)
			break;
		s = &ss->at[*slot - 1];
		if (s->node == node && s->domain == domain &&
		    s->schema == schema)
			return s;
	}
	if (ss->used == ss->max) {
		ss->no_room++;
		return NULL;
	}
	s = &ss->at[ss->used++];
	*slot = ss->used;
	*s = (struct state){.node = node, .schema = schema, .domain = domain};
	*fresh = true;
	return s;
}

bool states_differ(struct states *ss, uint64_t node, uint16_t domain,
		   uint32_t schema, const uint8_t *data, size_t len)
{
	struct state *s;
	bool fresh;

	if (len > STATE_MAX ||
	    !(s = state_of(ss, node, domain, schema, &fresh)))
		return true;
	if (!fresh && s->len == len && (!len || !memcmp(s->data, data, len)))
		return false;
	s->len = (uint16_t)len;
	if (len)
		memcpy(s->data, data, len);
	return true;
}
