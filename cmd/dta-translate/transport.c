/* SPDX-License-Identifier: BSD-2-Clause */
/* transport.c - opens the transport that the options name, and sets its tables.
 */
#include "run.h"

#include <errno.h>
#include <string.h>

#include "cluster/packet_transport.h"
#include "rdma/local.h"
#include "region/layout.h"
#include "region/region.h"
#include "verbs/verbs.h"
#include "net/proto.h"

static const char *output_name(const struct opts *o)
{
	return o->write ? o->write : o->to ? o->to : o->live.name;
}

/* AF_XDP takes a queue of the interface for itself, so it is not used where
 * reports come from. */
static int open_sink(void *ctx, struct snk **out, struct error *err)
{
	const struct opts *o = &((struct run *)ctx)->o;
	const char *name = output_name(o);
	bool shared = o->live.name && !strcmp(name, o->live.name);
	int rc;

	if (o->write)
		return cli_snk_open(out, o->write, err);
	rc = snk_open_live(out, name,
			   shared ? LIVE_PACKET : o->live.options.kind, err);
	if (!rc && o->to && !o->quiet)
		cli_warn("--to %s: %s", name, snk_kind(*out));
	return rc;
}

static int open_answers(void *ctx, struct src **out, struct error *err)
{
	const struct opts *o = &((struct run *)ctx)->o;
	struct live_options live = o->live.options;

	if (o->answers)
		return src_open(out, o->answers, err);
	memset(live.port, 0, sizeof(live.port));
	live.port[0] = ROCE_PORT;
	live.filter = NULL;	 /* it is for reports */
	live.kind = LIVE_PACKET; /* so is AF_XDP; answers are few */
	return src_open_live(out, output_name(o), &live, err);
}

static int open_packets(struct run *r, void (*turn)(void *run),
			struct error *err)
{
	const struct opts *o = &r->o;
	bool packets = o->ticket || o->write || o->to;
	struct packet_transport_options po = {
		.ticket = o->ticket,
		.cluster = o->cluster,
		.dart = o->dart,
		.ack_every = o->ack_every,
		.window = o->window,
		.live = o->live.name,
		.quiet = o->quiet,
		.stop = &cli_stop,
		.open_sink = packets ? open_sink : NULL,
		.open_answers = o->write && !o->answers ? NULL : open_answers,
		.to = cli_file(output_name(o)),
		.from = cli_file(o->answers ? o->answers : output_name(o)),
		.turn = turn,
		.warn = cli_warn_callback,
		.ctx = r,
	};

	return packet_transport_open(&r->transport, &po, err);
}

/* One -T TABLE:FIELD=VALUE. Only what the translator alone decides can be
 * changed: another geometry would miss the slots that queries read. */
static void apply_setting(struct table *table, unsigned n, const char *setting)
{
	static const char *const fields[] = {"copies", "batch",	   "flush",
					     "cache",  "sequence", "immediate"};
	const char *colon = strchr(setting, ':'), *equals;
	struct error err = {0};
	struct table *t;
	char name[TABLE_NAME_MAX], field[32];
	bool known = false;
	unsigned batch;

	equals = colon ? strchr(colon, '=') : NULL;
	if (!equals || colon - setting >= (int)sizeof(name) ||
	    equals - colon - 1 >= (int)sizeof(field))
		cli_refuse("-t: '%s' is not TABLE:FIELD=VALUE", setting);
	snprintf(name, sizeof(name), "%.*s", (int)(colon - setting), setting);
	snprintf(field, sizeof(field), "%.*s", (int)(equals - colon - 1),
		 colon + 1);
	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		known = known || !strcmp(field, fields[i]);
	if (!known)
		cli_refuse("-t: '%s' cannot be changed here, only copies, "
			   "batch, flush, cache, sequence, immediate",
			   field);
	t = (struct table *)table_pick(table, n, 0, name, &err);
	if (!t)
		cli_fail("-t %s: %s", setting, err.text);
	batch = t->batch;
	if (layout_set(t, field, equals + 1, &err) < 0)
		cli_refuse("-t %s: %s", setting, err.text);
	/* Readers stay a batch away from what may be overwritten: query.h. */
	if (t->batch > batch)
		cli_fail("-t %s: readers of this table reckon with batches "
			 "of %u at most",
			 setting, batch);
}

/* Makes the region if there is none of that name; exits if there is one that
 * differs from the layout. */
static void make_region(const struct opts *o)
{
	static const struct region_options make = {.epochs = 0};
	struct layout layout;
	struct error err = {0};
	int rc;

	if (layout_read(&layout, o->layout, &err) < 0)
		cli_fail("%s", err.text);
	rc = region_create_absent(o->region, &layout, &make, &err);
	layout_fini(&layout);
	if (rc < 0)
		cli_error(o->region, &err);
}

void run_open_transport(struct run *r, void (*turn)(void *run))
{
	const struct verbs_transport_options vo = {.stop = &cli_stop,
						   .warn = cli_warn_callback,
						   .confine = run_confine,
						   .ctx = r};
	const struct opts *o = &r->o;
	struct error err = {0};
	int rc = 0;

	if (o->layout)
		make_region(o);
	if (o->region &&
	    local_transport_open(&r->transport, o->region, &err) < 0)
		cli_error(o->region, &err);
	if (o->verbs)
		rc = verbs_transport_open(&r->transport, o->verbs, &vo, &err);
	if (rc == -EINVAL)
		cli_refuse("--verbs: %s", err.text);
	if (rc < 0)
		cli_error(o->verbs, &err);
	if ((o->ticket || o->cluster) && open_packets(r, turn, &err) < 0)
		cli_fail("%s", err.text);
	r->tables = r->transport->tables;
	memcpy(r->table, r->transport->table, r->tables * sizeof(*r->table));
	for (unsigned i = 0; o->setting[i]; i++)
		apply_setting(r->table, r->transport->tables, o->setting[i]);
}
