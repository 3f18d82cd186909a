/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link.c - sends at a pace, reads NACKs, and sends again what they ask for.
 *
 * On an interface, time is the clock's. In a capture it is the traffic's, and
 * goes on with retransmissions and waiting.
 */
#include "gen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

enum {
	SECOND = 1000000000,
	MS = 1000000,
	TURNS_MAX = 64,	  /* frames that the pace grants at once */
	NACKS_EVERY = 32, /* reports between two reads of NACKs */
	WAIT_MS = 1,	  /* for a NACK, when there is nothing else to do */
	NACKS_MAX = 64,	  /* read at once */
	STOP_MS = 1000,	  /* to wait for NACKs when interrupted */
};

struct link {
	struct src *nacks;
	struct resend *resend;
	struct resend_ledger ledger;
	struct cli_pace pace;
	struct backoff backoff;
	bool live;
	bool no_nacks; /* their source has ended, or is not waited for */
	int turns; /* frames that may go before cli_pace() is called again */
	unsigned since_nacks; /* reports since NACKs were read */
	uint64_t now_ns, tick_ns;
	uint64_t virtual_ns; /* of a capture: when the next frame goes */
	uint64_t rate_nacks, packets; /* NACKs "too fast" so far; frames sent */
	uint64_t start_ns;
	uint64_t stop_ns; /* when interrupted: no waiting beyond it; 0: not */
};

static int send_kept(void *ctx, unsigned reporter, const uint8_t *payload,
		     size_t len, uint64_t ts_ns)
{
	struct gen *g = ctx;
	struct link *l = g->link;
	uint8_t *frame = snk_room(g->snk, HEADER_LEN + len);
	double rate = l->backoff.rate > 0 ? l->backoff.rate : (double)g->o.rate;

	if (!frame)
		return errno ? -errno : -EIO;
	frame_headers(g, frame, len, reporter);
	memcpy(frame + HEADER_LEN, payload, len);
	if (ts_ns > l->virtual_ns)
		l->virtual_ns = ts_ns;
	snk_done(g->snk, HEADER_LEN + len, l->virtual_ns);
	if (!ts_ns || l->backoff.cuts)
		l->virtual_ns += (uint64_t)(SECOND / rate);
	l->packets++;
	return 0;
}

bool link_keeps(const struct gen *g)
{
	return g->link->resend != NULL;
}

void show_link_page(struct gen *g)
{
	struct link *l = g->link;

	if (!cli_page_begin())
		return;
	cli_ledger(g->ledger, &g->ctr, g->o.output);
	if (l->resend)
		cli_ledger(&resend_ledger, link_ledger(g), g->o.output);
	if (l->live)
		cli_live_ledger(&g->o.live, l->nacks, snk_drops(g->snk));
	cli_page_end();
}

/* Cuts the rate when NACKs say "too fast", raises it after a while without. */
static void adapt_rate(struct gen *g)
{
	struct link *l = g->link;
	uint64_t rate_nacks = resend_counters(l->resend).nacks_rate;
	uint64_t now = l->live ? l->now_ns : l->virtual_ns;
	double at = (double)g->o.rate;
	bool changed;

	if (l->live && l->pace.rate > 0)
		at = l->pace.rate;
	else if (l->live)
		at = (double)l->packets * SECOND /
		     (double)(now - l->start_ns + MS);
	changed = rate_nacks > l->rate_nacks ? backoff_cut(&l->backoff, at, now)
					     : backoff_grow(&l->backoff, now);
	l->rate_nacks = rate_nacks;
	g->ctr.backoffs = l->backoff.cuts;
	if (changed && l->live) {
		cli_pace_change(&l->pace, l->backoff.rate);
		l->turns = 0;
	}
}

static void end_nacks(struct link *l)
{
	l->no_nacks = true;
	resend_alone(l->resend);
}

/* Reads NACKs; waits up to wait_ms for the first. */
static void read_nacks(struct gen *g, int wait_ms)
{
	struct link *l = g->link;
	struct pkt pkts[NACKS_MAX];
	struct timespec nap = {.tv_nsec = (long)wait_ms * MS};
	struct error err = {""};
	int n = -EAGAIN;

	if (l->no_nacks) {
		nanosleep(&nap, NULL);
	} else {
		src_wait(l->nacks, wait_ms);
		n = src_rx(l->nacks, pkts, NACKS_MAX, &err);
	}
	l->now_ns = clock_ns();
	if (n > 0)
		resend_rx(l->resend, pkts, (size_t)n, l->now_ns);
	else if (n != -EAGAIN && n != -EINTR)
		end_nacks(l);
}

/* Reads NACKs and does what else is due between reports. */
static void serve_nacks(struct gen *g, int wait_ms)
{
	struct link *l = g->link;
	uint64_t before = l->now_ns;

	emit_flush(g);
	read_nacks(g, wait_ms);
	l->since_nacks = 0;
	if (wait_ms)
		l->virtual_ns += l->now_ns - before;
	if (l->now_ns - l->tick_ns >= MS) {
		l->tick_ns = l->now_ns;
		resend_tick(l->resend, l->now_ns);
	}
	adapt_rate(g);
	show_link_page(g);
}

/* How many frames may go now; if none, *wait_ns is how long to wait. */
static int run_turns(struct gen *g, uint64_t *wait_ns)
{
	struct link *l = g->link;
	int n;

	if (!l->live)
		return TURNS_MAX;
	if (!l->turns) {
		n = cli_pace(&l->pace, TURNS_MAX, wait_ns);
		l->turns = n > 0 ? n : 0;
	}
	return l->turns;
}

/* Sends pending reports, as many as the pace allows. */
static void pump_link(struct gen *g)
{
	struct link *l = g->link;
	uint64_t wait_ns = 0;
	int n = run_turns(g, &wait_ns);

	if (!n) {
		serve_nacks(g, wait_ns < MS ? 0 : WAIT_MS);
		return;
	}
	n = resend_pump(l->resend, (unsigned)n, l->now_ns);
	if (n < 0)
		gen_failed(g, n);
	else if (l->live)
		l->turns -= n;
}

/* Whether to send nothing more. After one signal, pending reports are still
 * sent at their pace; a second one ends that. */
static bool is_over(struct gen *g)
{
	if (cli_stop > 1)
		g->done = true;
	return g->done || g->err;
}

/* Whether, since a signal, NACKs have been waited for long enough. */
static bool is_late(struct link *l)
{
	if (cli_stop && !l->stop_ns)
		l->stop_ns = l->now_ns + (uint64_t)STOP_MS * MS;
	return l->stop_ns && l->now_ns >= l->stop_ns;
}

/* While a new report is held back, the pace serves retransmissions. */
bool link_report(struct gen *g, unsigned reporter, const uint8_t *payload,
		 size_t len, uint64_t ts_ns)
{
	struct link *l = g->link;
	int before;

	if (!l->virtual_ns)
		l->virtual_ns = ts_ns; /* of the first report */
	if (++l->since_nacks >= NACKS_EVERY)
		serve_nacks(g, 0);
	while (!is_over(g)) {
		if (resend_pending(l->resend) || !run_turns(g, &(uint64_t){0}))
			pump_link(g);
		else if (resend_room(l->resend, reporter))
			break;
		else if (is_late(l))
			end_nacks(l);
		else
			serve_nacks(g, WAIT_MS);
	}
	if (is_over(g))
		return false;
	l->stop_ns = 0; /* there was room */
	before = l->turns;
	gen_failed(g, resend_add(l->resend, reporter, payload, len, ts_ns));
	if (!g->err)
		pump_link(g);
	if (l->live && l->turns == before)
		l->turns--;
	return true;
}

static __attribute__((noinline)) bool wait_turn(struct gen *g)
{
	struct link *l = g->link;

	while (!l->turns && !is_over(g)) {
		uint64_t wait_ns = 0;

		if (!run_turns(g, &wait_ns)) {
			snk_flush(g->snk);
			nanosleep(&(struct timespec){.tv_nsec = (long)wait_ns},
				  NULL);
		}
		l->now_ns = clock_ns();
		show_link_page(g);
	}
	if (!l->turns)
		return false;
	l->turns--;
	return true;
}

bool link_turn(struct gen *g)
{
	return !g->link->live || wait_turn(g);
}

void link_finish(struct gen *g)
{
	struct link *l = g->link;

	if (!l->resend)
		return;
	resend_finish(l->resend);
	while (!g->err && cli_stop < 2 && !resend_settled(l->resend)) {
		if (is_late(l) && !l->no_nacks)
			end_nacks(l);
		if (resend_pending(l->resend))
			pump_link(g);
		else
			serve_nacks(g, WAIT_MS);
	}
}

const struct resend_ledger *link_ledger(struct gen *g)
{
	struct link *l = g->link;

	if (!l || !l->resend)
		return NULL;
	l->ledger = resend_counters(l->resend);
	return &l->ledger;
}

void link_drops(const struct gen *g)
{
	const struct link *l = g->link;

	if (!l->live)
		return;
	snk_settle(g->snk); /* snk_close() tells of an error */
	cli_live_drops(&g->o.live, l->nacks, snk_drops(g->snk));
}

/* --- opening ------------------------------------------------------------- */

/* The capture's header is written first: its reader may need that before it
 * opens the pipe that NACKs come from. */
static int open_nacks(struct gen *g, struct error *err)
{
	static const uint16_t ports[LIVE_PORTS] = {DTA_NACK_PORT};
	const char *name = g->o.nacks;
	struct error why = {""};
	int rc;

	if (g->o.live.name && !name) {
		/* NACKs are few: not worth an XDP program */
		g->o.live.options.kind = LIVE_PACKET;
		g->link->nacks = cli_live_open(&g->o.live, ports, true);
		return 0;
	}
	if ((rc = snk_flush(g->snk)) < 0)
		return error_set(err, rc, "%s: %s", cli_file(g->o.out),
				 strerror(-rc));
	rc = src_open(&g->link->nacks, name, &why);
	return rc < 0 ? error_about(err, rc, name, &why) : 0;
}

/* Bytes of the longest report that can come. */
static size_t report_max(const struct gen *g)
{
	const struct workload *w = g->run.w;
	size_t value = w->needs == NEEDS_NOTHING || w->needs == NEEDS_ROWS
			       ? g->o.work.value_len
		       : w->value_len[0] > w->value_len[1] ? w->value_len[0]
							   : w->value_len[1];

	return DTA_HEADER_LEN + KEY_MAX + (value < 8 ? 8 : value);
}

int link_open(struct gen *g, struct error *err)
{
	struct link *l = g->link = calloc(1, sizeof(*l));
	struct resend_options o = {.reporters = g->run.topology.switches + 1,
				   .window = (unsigned)g->o.resend,
				   .payload_max = report_max(g),
				   .address = GEN_SOURCE,
				   .wait = g->o.wait,
				   .send = send_kept,
				   .ctx = g};
	const char *name = g->o.out ? g->o.out : g->o.live.name;
	int rc;

	if (!l)
		return error_set(err, -ENOMEM, "out of memory");
	l->live = g->o.live.name != NULL;
	l->pace.rate = l->backoff.ceiling = (double)g->o.pace;
	rc = g->o.out ? cli_snk_open(&g->snk, name, err)
		      : snk_open_live(&g->snk, name, g->o.live.options.kind,
				      err);
	if (rc < 0)
		cli_error(name, err);
	if (!g->o.out && !g->o.quiet)
		cli_warn("%s: %s", name, snk_kind(g->snk));
	if (g->o.tracked && g->o.resend && !(rc = open_nacks(g, err)))
		rc = resend_open(&l->resend, &o, err);
	if (rc < 0)
		return rc;
	l->start_ns = l->now_ns = clock_ns();
	cli_page_start(&(struct cli_page_about){
		.input = g->o.from, .output = name, .quiet = g->o.quiet});
	return 0;
}

int link_close(struct gen *g)
{
	struct link *l = g->link;
	int rc = snk_close(g->snk);

	g->snk = NULL;
	resend_close(l->resend);
	src_close(l->nacks);
	free(l);
	g->link = NULL;
	return rc;
}
