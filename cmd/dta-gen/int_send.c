/* SPDX-License-Identifier: BSD-2-Clause */
/* int_send.c - frames out: some are lost, some change their order. */
#include "int.h"

#include <string.h>

#include "wire/net.h"

enum {
	PER_CENT = 100,
};

static void put(struct int_gen *g, const struct pkt *p)
{
	int rc = 1;

	/* It returns behind a pause, too: then none may go yet. */
	while (g->o.live.name && !cli_stop &&
	       !(rc = cli_pace(&g->pace, 1, NULL)))
		;
	g->done = g->done || rc == CLI_PACE_OVER;
	rc = snk_tx(g->snk, p, 1);
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
	if (g->held.len)
		put(g, &g->held);
	g->held.len = 0;
}

void int_send(struct int_gen *g, uint8_t *frame, size_t len, uint64_t ts_ns)
{
	bool whole = g->o.form == FORM_REPORT || g->o.form == FORM_XD;
	struct pkt p = {frame, (uint32_t)len,
			(uint32_t)len + (whole ? 0 : g->cut), ts_ns};

	if (g->o.to_mac) {
		memcpy(frame, g->to_mac, 6);
		memcpy(frame + NET_ETH_AT_SRC, g->address.mac, 6);
	}
	g->ctr.frames++;
	if (chance(g, g->o.loss)) {
		g->ctr.lost++;
		return;
	}
	if (!g->held.len && chance(g, g->o.reorder)) {
		memcpy(g->hold, frame, len);
		g->held = p;
		g->held.data = g->hold;
		g->ctr.reordered++;
		return;
	}
	put(g, &p);
	int_send_rest(g);
}
