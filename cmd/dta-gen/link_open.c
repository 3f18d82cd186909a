/* SPDX-License-Identifier: BSD-2-Clause */
/* link_open.c - the sink, where NACKs come from, what is kept for them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/page.h"
#include "link_private.h"

static int open_sink(struct gen *g, struct fault *f)
{
	const struct gen_options *o = &g->o;
	struct fault why = {""};
	int rc;

	if (!o->live.name) {
		rc = cli_snk_open(&g->snk, o->out, &why);
		return rc < 0 ? fault_of(f, rc, o->out, &why) : 0;
	}
	rc = snk_open_live(&g->snk, o->live.name, o->live.options.kind, &why);
	return rc < 0 ? fault_of(f, rc, o->live.name, &why) : 0;
}

/* Whoever reads what we write may have to see that it is a capture before he
 * opens where the NACKs come from: a pipe, too. */
static int open_nacks(struct gen *g, struct fault *f)
{
	static const uint16_t ports[LIVE_PORTS] = {DTA_NACK_PORT};
	const char *name = g->o.nacks;
	struct fault why = {""};
	int rc;

	if (g->o.live.name && !name) {
		/* they are few: not worth a program on the interface */
		g->o.live.options.kind = LIVE_PACKET;
		g->link->nacks = cli_live_open(&g->o.live, ports, true);
		return 0;
	}
	if ((rc = snk_flush(g->snk)) < 0)
		return fault_set(f, rc, "%s: %s", cli_file(g->o.out),
				 strerror(-rc));
	rc = src_open(&g->link->nacks, name, &why);
	return rc < 0 ? fault_of(f, rc, name, &why) : 0;
}

/* Bytes of the longest report that can come. */
static size_t report_max(const struct gen *g)
{
	const struct workload *w = g->run.w;
	size_t value = w->needs == NEEDS_NOTHING || w->needs == NEEDS_ROWS
			       ? g->o.work.value_len
		       : w->value[0] > w->value[1] ? w->value[0]
						   : w->value[1];

	return DTA_HEADER_LEN + KEY_MAX + (value < 8 ? 8 : value);
}

static int open_window(struct gen *g, struct fault *f)
{
	struct link *l = g->link;
	struct resend_options o = {
		.reporters = g->run.topology.switches + 1,
		.window = (unsigned)g->o.resend,
		.payload_max = report_max(g),
		.address = g->o.source,
		.wait = g->o.wait,
		.send = link_send_kept,
		.ctx = g,
	};
	int rc;

	if (!g->o.tracked || !g->o.resend)
		return 0;
	rc = open_nacks(g, f);
	return rc < 0 ? rc : resend_open(&l->resend, &o, f);
}

/* All packets with reports in them, also those that are sent again. */
static void read_sent(void *ctx, uint64_t *value)
{
	struct gen *g = ctx;

	*value = g->link->resend ? resend_counters(g->link->resend).packets
				 : g->ctr.reports;
}

static void open_stats(struct gen *g)
{
	static const struct cli_stats_column sent = {NULL, "sent_s", false};
	struct link *l = g->link;
	const struct cli_stats_more more = {&sent, 1, read_sent, g};

	l->stats = cli_stats_open(l->resend ? &resend_ledger : g->ledger,
				  g->o.live.stats_ns, g->o.output, &more);
}

int link_open(struct gen *g, struct fault *f)
{
	struct link *l = g->link = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return fault_set(f, -ENOMEM, "out of memory");
	l->live = g->o.live.name != NULL;
	l->pace.rate = l->backoff.ceiling = (double)g->o.pace;
	rc = open_sink(g, f);
	if (rc < 0)
		return rc;
	if (l->live && !g->o.quiet)
		cli_warn("%s: %s", g->o.live.name, snk_kind(g->snk));
	rc = open_window(g, f);
	if (rc < 0)
		return rc;
	l->start_ns = l->now_ns = clock_ns();
	if (g->o.duration_ns)
		l->end_ns = l->now_ns + g->o.duration_ns;
	open_stats(g);
	cli_page_start(&(struct cli_page_about){
		.input = g->o.from,
		.output = g->o.out ? g->o.out : g->o.live.name,
		.quiet = g->o.quiet});
	return 0;
}
