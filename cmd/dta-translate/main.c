/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta-translate - DTA reports to memory operations: into a region on this
 * machine, or as RoCEv2 packets for a collector elsewhere.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "cli/cli.h"
#include "ears.h"
#include "options.h"
#include "packet/pkt.h"
#include "target.h"
#include "translate/translate.h"

static void report(const struct opts *o, const struct translator *t,
		   struct target *g)
{
	if (o->quiet)
		return;
	cli_ledger(&translate_ledger, translate_counters(t), o->format);
	target_report(g, o->format);
}

/* What stopped the run: the capture or where the operations go. */
struct outcome {
	int rc;
	bool reading;
	struct fault f;
};

/* Interrupts a read that waits; the work is done where it returns. */
static volatile sig_atomic_t alarm_rang;

static void alarmed(int signal)
{
	(void)signal;
	alarm_rang = 1;
}

/*
 * A source may fall silent: then an alarm ends the waiting four times in the
 * flush time, so that partial batches are written. Returns how long it takes,
 * 0: there is none.
 */
static uint64_t alarm_set(const struct target *g, const struct src *s)
{
	struct sigaction action = {.sa_handler = alarmed};
	struct itimerval every = {0};
	uint64_t us = UINT64_MAX;

	if (src_size(s))
		return 0; /* a file does not */
	for (unsigned i = 0; i < g->n; i++)
		if (g->table[i].kind == TABLE_APPEND &&
		    us > g->table[i].flush_ms * UINT64_C(250))
			us = g->table[i].flush_ms * UINT64_C(250);
	if (us == UINT64_MAX)
		return 0;
	every.it_interval.tv_sec = (time_t)(us / 1000000);
	every.it_interval.tv_usec = (suseconds_t)(us % 1000000);
	every.it_value = every.it_interval;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	return us * 1000;
}

/* SIGUSR1 asked for the ledger. */
static void report_if_asked(const struct opts *o, const struct translator *t,
			    struct target *g)
{
	if (!cli_report)
		return;
	cli_report = 0;
	cli_ledger(&translate_ledger, translate_counters(t), o->format);
	target_report(g, o->format);
}

/* A source that gave less than a batch is live: what reads us must not wait
 * for a full buffer. snk_close() tells of an error. */
static void pass_on(const struct target *g, struct snk *nacks)
{
	if (g->packets)
		snk_flush(g->packets);
	if (nacks)
		snk_flush(nacks);
}

/* SIGHUP: a new ticket, or other collectors, if the cluster file has them.
 * Packets that come behind it go to them. */
static int follow_cluster(const struct opts *o, struct translator **t,
			  struct target *g, struct ears *ears,
			  struct translate_options *topt)
{
	int rc;

	target_look(g, o);
	if (!o->cluster)
		return 0;
	rc = target_change(g, o, t, topt);
	ears_renew(ears);
	return rc;
}

/* Reports through the translator until the capture ends or a signal comes. */
static void translate_all(const struct opts *o, struct translator **tp,
			  struct target *g, struct src *s, struct ears *ears,
			  struct translate_options *topt, uint64_t alarm_ns,
			  struct outcome *out)
{
	struct translator *t = *tp;
	struct snk *nacks = topt->nacks;
	static struct pkt pkts[PKT_BATCH];
	struct cli_stats *stats = cli_stats_open(&translate_ledger,
						 o->live.stats_ns, o->format);
	struct cli_limit limit = cli_limit_start(&o->live);
	bool silent = false; /* since the last alarm */
	int n = 1, max;

	while (!cli_stop && n && !out->rc &&
	       (max = cli_limit_room(&limit, PKT_BATCH))) {
		report_if_asked(o, t, g);
		n = src_rx(s, pkts, max, &out->f);
		cli_limit_took(&limit, n);
		out->rc = follow_cluster(o, tp, g, ears, topt);
		t = *tp;
		if (out->rc)
			break;
		if (n == -EINTR || n == -EAGAIN) {
			if (alarm_rang && silent)
				out->rc = translate_idle(t, alarm_ns);
			silent = silent || alarm_rang;
			pass_on(g, nacks);
			alarm_rang = 0;
		} else if (n <= 0) {
			out->rc = n;
			out->reading = true;
		} else {
			/* the road's clock stood still while we waited */
			if (ears)
				out->rc = ears_listen(ears, 0);
			silent = false;
			if (!out->rc)
				out->rc = translate_rx(t, pkts, (size_t)n);
			if (n < PKT_BATCH)
				pass_on(g, nacks);
		}
		if (ears && !out->rc)
			out->rc = ears_listen(ears, 0);
		if (ears && n == -EAGAIN)
			ears_wait(ears, s);
		cli_stats_tick(stats, translate_counters(t), s);
		if (!o->quiet && !stats)
			cli_progress("reports", src_done(s), src_size(s));
	}
	cli_stats_close(stats, translate_counters(t), s);
}

/* How long a live source may wait before the loop looks around, ms. */
enum {
	LOOK_AROUND_MS = 100,
};

static struct src *open_capture(const struct opts *o)
{
	struct fault f = {0};
	struct src *s;

	if (src_open(&s, o->read, &f) < 0)
		cli_fault(o->read, &f);
	return s;
}

static struct src *open_interface(struct opts *o)
{
	static const uint16_t ports[LIVE_PORTS] = {DTA_PORT};
	struct src *s = cli_live_open(&o->live, ports, o->quiet);

	src_wait(s, LOOK_AROUND_MS);
	return s;
}

/* NACKs go to a capture, or back to where the reports come from. */
static struct snk *open_nacks(const struct opts *o)
{
	struct fault f = {0};
	struct snk *k = NULL;

	if (o->nacks && cli_snk_open(&k, o->nacks, &f) < 0)
		cli_fault(o->nacks, &f);
	if (k)
		snk_flush(k); /* a pipe: the reader waits for the header */
	if (!o->nacks && o->live.name &&
	    snk_open_live(&k, o->live.name, &o->live.options, &f) < 0)
		cli_fault(o->live.name, &f);
	return k;
}

int main(int argc, char **argv)
{
	static struct target g;
	struct translate_options topt = {0};
	struct outcome out = {0};
	struct fault f = {0};
	struct translator *t;
	struct ears *ears;
	struct src *s = NULL;
	struct opts o;
	uint64_t unsent = 0;
	int rc, closed, nacks = 0;

	cli_start(&cli);
	o = options_read(argc, argv);
	cli_signals();
	cli_take_hangup();
	cli_user_check(o.live.user);
	/* A capture before what is made of it: who writes one pipe of ours and
	 * reads the other opens them so. */
	if (o.read)
		s = open_capture(&o);
	target_open(&g, &o);
	topt.format = o.dta;
	target_tell(&g, &o, &topt);
	topt.nacks = open_nacks(&o);
	topt.op_rate = o.op_rate;
	topt.op_burst = o.op_burst;
	ears = ears_open(&g, &o);
	if (translate_open(&t, g.table, g.n, g.road, &topt, &f) < 0)
		cli_fail("%s", f.text);
	/* An interface when nothing else can be wrong: it may lose its link. */
	if (o.live.name)
		s = open_interface(&o);
	cli_user(o.live.user);
	if (ears)
		src_wait(s, 0); /* it is ears_wait() that waits */
	translate_all(&o, &t, &g, s, ears, &topt, alarm_set(&g, s), &out);
	rc = translate_flush(t);
	if (!rc && !out.rc)
		rc = ears_finish(ears);
	cli_progress_end();
	if (g.packets)
		unsent = snk_drops(g.packets);
	ears_close(ears);
	closed = target_close(&g);
	if (topt.nacks) {
		unsent += snk_drops(topt.nacks);
		nacks = snk_close(topt.nacks);
	}
	report(&o, t, &g);
	if (!o.quiet)
		cli_live_drops(&o.live, s, unsent);
	translate_close(t);
	src_close(s);
	if (out.rc < 0 && out.reading)
		cli_fault(o.read ? o.read : o.live.name, &out.f);
	if (closed < 0)
		cli_fail("%s: %s", g.name, strerror(-closed));
	if (nacks < 0)
		cli_fail("%s: %s", o.nacks ? o.nacks : o.live.name,
			 strerror(-nacks));
	if (out.rc < 0 || rc < 0)
		cli_fail("%s: %s", o.region ? o.region : g.name,
			 strerror(out.rc < 0 ? -out.rc : -rc));
	return CLI_OK;
}
