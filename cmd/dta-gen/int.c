/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int.c - dta-gen int. The truth is CSV, a row for each node of each packet,
 * the first node first; what is not asked of nodes is empty:
 *
 *     packet,time,flow,hops,hop,node,ingress,egress,latency,queue,occupancy,
 *     ingress_time,egress_time,utilization,buffer,buffer_occupancy
 */
#include "int.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page.h"
#include "gen.h"
#include "traffic/frame.h"
#include "truth.h"

enum {
	CLOCK_EVERY = 1024, /* packets */
};

/* Synthetic time begins here: 2023-11-14 22:13:20 UTC. */
static const uint64_t start_ns = 1700000000000000000;

/* clang-format off */
#define FIELD(counter, role) LEDGER_FIELD(struct int_gen_ledger, counter, role)
#define TRAFFIC(counter, r) \
	{ .name = #counter, .role = r, \
	  .offset = offsetof(struct int_gen_ledger, traffic.counter) }
static const struct ledger_field fields[] = {
	TRAFFIC(packets, LEDGER_IN),
	FIELD(carried, LEDGER_DONE),
	TRAFFIC(not_ip, LEDGER_HARMLESS),
	TRAFFIC(malformed, LEDGER_LOSS),
	FIELD(unfit, LEDGER_HARMLESS),
	FIELD(spikes, LEDGER_NOTE),
	FIELD(frames, LEDGER_NOTE),
	FIELD(lost, LEDGER_NOTE),
	FIELD(reordered, LEDGER_NOTE),
	TRAFFIC(evicted, LEDGER_NOTE),
};
#undef TRAFFIC
#undef FIELD
LEDGER_COMPLETE(fields, struct int_gen_ledger);
/* clang-format on */

const struct ledger int_gen_ledger = {"gen", "packets", fields,
				      sizeof(fields) / sizeof(fields[0])};

/* A field of the truth, empty if nobody was asked. */
static void put_field(const struct int_gen *g, const struct inband_hop *h,
		      enum int_field field)
{
	const struct int_plan *plan = g->o.form == FORM_XD ? &g->own : &g->plan;
	/* In the header of each report. */
	bool told = g->o.form == FORM_XD && g->report_version < 2 &&
		    field == INT_INGRESS_TIME;

	if (told || plan->has >> field & 1)
		fprintf(g->truth, ",%" PRIu64, h->value[field]);
	else
		fputc(',', g->truth);
}

static void tell(struct int_gen *g, const struct inband_path *path,
		 const struct traffic_packet *p)
{
	static const uint8_t shown[] = {
		INT_INGRESS,	 INT_EGRESS,
		INT_LATENCY,	 INT_QUEUE,
		INT_OCCUPANCY,	 INT_INGRESS_TIME,
		INT_EGRESS_TIME, INT_UTILIZATION,
		INT_BUFFER,	 INT_BUFFER_OCCUPANCY,
	};
	char flow[KEY_TEXT_MAX];

	errno = 0;
	key_format(flow, p->v6 ? KEY_FLOW6 : KEY_FLOW4, p->key, p->key_len);
	for (unsigned i = 0; i < path->n; i++) {
		const struct inband_hop *h = &path->hop[i];

		fprintf(g->truth,
			"%" PRIu64 ",%" PRIu64 ".%09" PRIu64
			",%s,%u,%u,%" PRIu64,
			g->ctr.carried, p->ts_ns / 1000000000,
			p->ts_ns % 1000000000, flow, path->n, i + 1,
			h->value[INT_NODE]);
		for (unsigned k = 0; k < sizeof(shown); k++)
			put_field(g, h, shown[k]);
		fputc('\n', g->truth);
	}
	if (ferror(g->truth)) {
		g->truth_err = errno ? -errno : -EIO;
		g->done = true; /* as in truth_row() */
	}
}

/* The packet's frame: of the capture, or as the model's would be. */
static size_t frame_of(struct int_gen *g, const struct traffic *t,
		       const struct traffic_packet *p, const uint8_t **frame)
{
	const struct pkt *pkt = traffic_pkt(t);
	int len;

	if (pkt) {
		*frame = pkt->data;
		g->cut = pkt->wire_len - pkt->len;
		return p->fragment ? 0 : pkt->len;
	}
	len = traffic_frame(g->packet, INT_FRAME_MAX, p, g->o.data, 0);
	*frame = g->packet;
	return len < 0 ? 0 : (size_t)len;
}

static void one(struct int_gen *g, const struct traffic *t,
		const struct traffic_packet *p)
{
	struct inband_path path;
	const uint8_t *frame;
	size_t len = frame_of(g, t, p, &frame);

	if (!len) {
		g->ctr.unfit++;
		return;
	}
	inband_say(&g->model, &path, p);
	if (!int_make(g, &path, p, frame, len)) {
		g->ctr.unfit++;
		return;
	}
	g->ctr.carried++;
	g->ctr.spikes += path.spike;
	if (g->truth)
		tell(g, &path, p);
	g->done = g->done || (g->o.count && g->ctr.carried == g->o.count);
}

static bool again(void *ctx)
{
	const struct int_gen *g = ctx;

	/* Where no packet is fit, none will be. */
	return (g->o.count || g->o.live.name) && g->ctr.carried;
}

static void before_wait(void *ctx)
{
	snk_flush(((struct int_gen *)ctx)->snk);
}

static void open_traffic(struct int_gen *g, struct traffic **t)
{
	struct traffic_options o = {
		.capture = g->o.from,
		.model = {.seed = g->o.seed,
			  .flows = g->o.flows,
			  .rate = g->o.rate ? g->o.rate : 1000000,
			  .start_ns = start_ns,
			  .ipv6_percent = (unsigned)g->o.ipv6,
			  .ends = g->ends,
			  .gap_ns = 50000000},
		.of = TRAFFIC_PACKETS,
		.ctr = &g->ctr.traffic,
		.again = again,
		.before_wait = before_wait,
		.ctx = g,
	};
	struct fault f = {0};

	if (g->o.form == FORM_IOAM && !g->o.from)
		o.model.ipv6_percent = 100; /* it has no other place */
	if (traffic_open(t, &o, &f) < 0)
		cli_fault(g->o.from ? g->o.from : "traffic", &f);
}

static void open_out(struct int_gen *g)
{
	const char *name = g->o.out ? g->o.out : g->o.live.name;
	struct fault f = {0};
	int rc = g->o.out ? cli_snk_open(&g->snk, name, &f)
			  : snk_open_live(&g->snk, name, g->o.live.options.kind,
					  &f);

	if (rc < 0)
		cli_fault(name, &f);
	if (!g->o.out && !g->o.quiet)
		cli_warn("%s: %s", name, snk_kind(g->snk));
	if (g->o.to_mac && !live_address(&g->address, name))
		cli_fail("%s: it has no Ethernet address", name);
	if (!g->o.truth)
		return;
	g->truth = strcmp(g->o.truth, "-") ? fopen(g->o.truth, "we") : stdout;
	if (!g->truth)
		cli_fail("%s: %s", g->o.truth, strerror(errno));
	fputs("packet,time,flow,hops,hop,node,ingress,egress,latency,queue,"
	      "occupancy,ingress_time,egress_time,utilization,buffer,"
	      "buffer_occupancy\n",
	      g->truth);
}

static void take_memory(struct int_gen *g)
{
	uint8_t *all = malloc((size_t)4 * INT_FRAME_MAX);
	size_t nodes = (size_t)g->model.o.topology.switches + 1;

	g->sequence = calloc(nodes, sizeof(*g->sequence));
	if (!all || !g->sequence)
		cli_fail("out of memory");
	g->frame = all;
	g->hold = all + INT_FRAME_MAX;
	g->packet = all + (size_t)2 * INT_FRAME_MAX;
	g->tunnel = all + (size_t)3 * INT_FRAME_MAX;
	g->rng.state = rng_mix(g->o.seed);
}

static void progress(const struct int_gen *g, const struct traffic *t)
{
	struct cli_progress p = {
		.unit = "packets",
		.count = g->ctr.carried,
		.count_all = g->o.count,
		.limit_ns = g->o.live.duration_ns,
	};

	if (g->o.from) {
		p.bytes = traffic_done(t);
		p.bytes_all = traffic_size(t);
	}
	cli_progress(&p);
}

/* Returns 0 or the source's -errno. */
static int run(struct int_gen *g, struct traffic *t, struct fault *f)
{
	struct traffic_packet p;
	int rc = 1;

	for (uint64_t n = 1; !g->err && !g->done && !cli_stop; n++) {
		rc = traffic_next(t, &p, f);
		if (rc <= 0 && rc != -EINTR)
			break;
		if (rc > 0)
			one(g, t, &p);
		if (cli_report) {
			cli_report = 0;
			cli_ledger(&int_gen_ledger, &g->ctr, g->o.output);
		}
		if ((g->o.live.name || n % CLOCK_EVERY == 0) &&
		    cli_page_begin()) {
			cli_ledger(&int_gen_ledger, &g->ctr, g->o.output);
			if (g->o.live.name)
				cli_interface(&g->o.live, NULL,
					      snk_drops(g->snk));
			cli_page_end();
		}
		if (!g->o.quiet && n % CLOCK_EVERY == 0)
			progress(g, t);
	}
	int_send_rest(g);
	cli_progress_end();
	return rc < 0 && rc != -EINTR ? rc : 0;
}

static int end(struct int_gen *g, int src_err, const struct fault *f)
{
	int err, status = CLI_OK;
	struct fault why;
	uint64_t lost;

	snk_settle(g->snk); /* snk_close() tells of an error */
	lost = snk_drops(g->snk);
	err = snk_close(g->snk);

	if (!g->o.quiet) {
		cli_ledger(&int_gen_ledger, &g->ctr, g->o.output);
		cli_live_drops(&g->o.live, NULL, lost);
	}
	if (src_err) {
		cli_warn_fault(g->o.from, f);
		status = CLI_FAIL;
	}
	if (g->err || err) {
		cli_warn("%s: %s",
			 g->o.out ? cli_file(g->o.out) : g->o.live.name,
			 strerror(g->err ? -g->err : -err));
		status = CLI_FAIL;
	}
	if (g->ctr.unfit && !g->ctr.carried) {
		cli_warn("no packet has room for that: fewer hops or "
			 "instructions; or none has a place for it: another "
			 "--over, or more flows");
		status = CLI_FAIL;
	}
	g->truth_err = truth_close(g->truth, g->truth_err);
	if (g->truth_err) {
		fault_set(&why, -1, "%s", strerror(-g->truth_err));
		cli_warn_fault(g->o.truth, &why);
		status = CLI_FAIL;
	}
	free(g->frame);
	free(g->sequence);
	return status;
}

int int_main(int argc, char **argv)
{
	static struct int_gen g;
	struct fault fault = {0};
	struct traffic *t = NULL;
	int err, status;

	int_options_read(&g, argc, argv);
	cli_signals();
	cli_user_check(g.o.live.user);
	take_memory(&g);
	open_traffic(&g, &t);
	open_out(&g);
	cli_user(g.o.live.user);
	cli_page_start(&(struct cli_page_about){
		.input = g.o.from,
		.output = g.o.out ? g.o.out : g.o.live.name,
		.quiet = g.o.quiet});
	err = run(&g, t, &fault);
	status = end(&g, err, &fault);
	traffic_close(t);
	return status;
}
