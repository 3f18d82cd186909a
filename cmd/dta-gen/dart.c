/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dart.c - a translator inside the reporter: it takes the frames of a batch
 * and has the road of a DART switch behind it.
 */
#include "gen.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "hash/crc.h"
#include "fleet/fleet.h"
#include "translate/translate.h"

enum {
	LIVE_BATCH = 32, /* so that a pace stays one */
};

struct dart_switch {
	struct ticket *ticket; /* until the fleet has it */
	struct cluster cluster;
	struct fleet *fleet;
	struct translator *t;
	unsigned n, batch;
	struct pkt pkt[PKT_BATCH];
	uint8_t frame[PKT_BATCH][CRC_HEADROOM + HEADER_LEN + REPORT_MAX];
};

int dart_read(struct gen *g, struct fault *f)
{
	struct dart_switch *d;
	int rc;

	if (!g->o.dart)
		return 0;
	if (!(d = g->dart = calloc(1, sizeof(*d))))
		return fault_set(f, -ENOMEM, "out of memory");
	if (!g->o.ticket)
		return cluster_read(&d->cluster, g->o.cluster, f);
	if (!(d->ticket = malloc(sizeof(*d->ticket))))
		return fault_set(f, -ENOMEM, "out of memory");
	rc = ticket_read(d->ticket, g->o.ticket, f);
	if (rc < 0) {
		free(d->ticket);
		d->ticket = NULL;
	}
	return rc;
}

static int open_fleet(struct gen *g, struct dart_switch *d, struct fault *f)
{
	struct fleet_options o = {
		.sink = g->snk,
		.dart = true,
		.mirror = d->cluster.mirror,
	};
	const char *name = g->o.ticket ? g->o.ticket : g->o.cluster;
	struct fault why = {""};
	struct ticket *t = d->ticket;
	int rc;

	d->ticket = NULL;
	if (t)
		rc = fleet_open_ticket(&d->fleet, t, g->o.ticket, &o, &why);
	else
		rc = fleet_open(&d->fleet, &d->cluster, &o, &why);
	return rc < 0 ? fault_of(f, rc, name, &why) : 0;
}

int dart_open(struct gen *g, struct fault *f)
{
	struct translate_options o = {
		.format = g->o.format,
		.dart = DART_ONE,
		.seed = g->o.work.seed,
	};
	struct dart_switch *d = g->dart;
	int rc = open_fleet(g, d, f);

	if (rc < 0)
		return rc;
	/* A switch has no address to go by: the key tells the collector. */
	o.collectors = fleet_collectors(d->fleet);
	d->batch = g->o.live.name ? LIVE_BATCH : PKT_BATCH;
	return translate_open(&d->t, fleet_table(d->fleet, 0),
			      fleet_tables(d->fleet), fleet_road(d->fleet), &o,
			      f);
}

uint8_t *dart_room(struct gen *g)
{
	return g->dart->frame[g->dart->n] + CRC_HEADROOM;
}

int dart_done(struct gen *g, size_t len, uint64_t ts_ns)
{
	struct dart_switch *d = g->dart;

	d->pkt[d->n] = (struct pkt){
		.data = d->frame[d->n] + CRC_HEADROOM,
		.len = (uint32_t)len,
		.wire_len = (uint32_t)len,
		.ts_ns = ts_ns,
	};
	return ++d->n == d->batch ? dart_flush(g) : 0;
}

int dart_flush(struct gen *g)
{
	struct dart_switch *d = g->dart;
	struct fault f = {0};
	int rc;

	while ((rc = fleet_look(d->fleet, clock_ns(), &f)))
		if (rc < 0 || !g->o.quiet)
			cli_warn("%s", f.text);
	rc = d->n ? translate_rx(d->t, d->pkt, d->n) : 0;

	d->n = 0;
	return rc;
}

int dart_close(struct gen *g)
{
	struct dart_switch *d = g->dart;
	int rc = 0;

	if (!d)
		return 0;
	if (d->t) {
		rc = dart_flush(g);
		if (!rc)
			rc = translate_flush(d->t);
		if (!g->o.quiet)
			cli_ledger(&translate_ledger, translate_counters(d->t),
				   g->o.output);
	}
	translate_close(d->t);
	fleet_close(d->fleet);
	if (d->ticket)
		ticket_fini(d->ticket);
	free(d->ticket);
	cluster_fini(&d->cluster);
	free(d);
	g->dart = NULL;
	return rc;
}
