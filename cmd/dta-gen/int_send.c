/* SPDX-License-Identifier: BSD-2-Clause */
/* int_send.c - frames out: some are lost, some change their order. */
#include "int.h"

#include <string.h>

enum {
	PER_CENT = 100,
};

static void put(struct int_gen *g, const uint8_t *frame, size_t len,
		uint64_t ts_ns)
{
	struct pkt p = {frame, (uint32_t)len, (uint32_t)len, ts_ns};
	int rc;

	if (g->o.live.name && cli_pace(&g->pace, 1, NULL) == CLI_PACE_OVER)
		g->done = true;
	rc = snk_tx(g->snk, &p, 1);
	if (!rc && g->o.live.name)
		rc = snk_flush(g->snk);
	if (!g->err)
		g->err = rc;
}

static bool chance(struct int_gen *g, double percent)
{
	return percent > 0 && rng_unit(&g->rng) * PER_CENT < percent;
}

void int_send_rest(struct int_gen *g)
{
	if (g->held)
		put(g, g->hold, g->held, g->held_ns);
	g->held = 0;
}

void int_send(struct int_gen *g, const uint8_t *frame, size_t len,
	      uint64_t ts_ns)
{
	g->ctr.frames++;
	if (chance(g, g->o.loss)) {
		g->ctr.lost++;
		return;
	}
	if (!g->held && chance(g, g->o.reorder)) {
		memcpy(g->hold, frame, len);
		g->held = len;
		g->held_ns = ts_ns;
		g->ctr.reordered++;
		return;
	}
	put(g, frame, len, ts_ns);
	int_send_rest(g);
}
