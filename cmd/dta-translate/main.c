/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta-translate - DTA reports to memory operations: into a region on this
 * machine, or as RoCEv2 packets for a collector elsewhere.
 */
#include <string.h>

#include "run.h"

#include "base/clock.h"
#include "cli/confine.h"
#include "cluster/cluster.h"

static struct translate_ledger counters_of(const struct run *r)
{
	return r->cores ? translate_cores_counters(r->cores)
			: *translate_counters(r->translator);
}

/* The translator's ledger, and the transport's: while cores work, as of the
 * last batch that has ended. */
static void show_ledgers(void *run)
{
	struct run *r = run;
	struct transport_ledger of_transport[TRANSPORT_LEDGERS];
	unsigned n = r->transport->ledgers
			     ? r->transport->ledgers(r->transport, of_transport)
			     : 0;
	struct translate_ledger l = counters_of(r);

	if (r->unwritten) { /* how many got through is unknown */
		l.unwritten = l.stored;
		l.stored = 0;
	}
	cli_ledger(&translate_ledger, &l, r->o.format);
	for (unsigned i = 0; i < n; i++)
		cli_ledger(of_transport[i].ledger, of_transport[i].counters,
			   r->o.format);
}

/* Waits for workers: then the translator, the transport and the source are the
 * caller's until the next batch. That batch, or the flush, returns errors. */
static void rest(struct run *r)
{
	if (r->cores)
		translate_cores_rest(r->cores);
}

static void print_ledgers(void *run)
{
	rest(run);
	show_ledgers(run);
}

static uint64_t count_unsent(void *run)
{
	const struct run *r = run;
	uint64_t n = r->transport->unsent ? r->transport->unsent(r->transport)
					  : 0;

	if (r->cores)
		return n + translate_cores_unsent(r->cores);
	return n + (r->t_options.nacks ? snk_drops(r->t_options.nacks) : 0);
}

static void reread_files(void *run)
{
	struct transport *transport = ((struct run *)run)->transport;

	rest(run);
	if (transport->renew)
		transport->renew(transport);
	else
		cli_warn("SIGHUP: there is nothing to read again");
}

/* Called while the transport waits. */
static void turn(void *run)
{
	cli_loop_housekeeping(&((struct run *)run)->loop);
}

/* How often handle_idle() runs while no packets come: four times in the
 * shortest flush time of a list, ns. */
static uint64_t idle_time(const struct run *r)
{
	uint64_t ms = 4 * CLI_LOOK_AROUND_MS;

	for (unsigned i = 0; i < r->tables; i++)
		if (r->table[i].kind == TABLE_APPEND &&
		    ms > r->table[i].flush_ms)
			ms = r->table[i].flush_ms;
	return ms * UINT64_C(250000);
}

/* A source that gave less than a batch is live: readers of our output must not
 * wait for a full buffer. snk_close() tells of an error. */
static void flush_outputs(const struct run *r)
{
	transport_flush(r->transport);
	if (r->keylog)
		keylog_flush(r->keylog);
	if (r->t_options.nacks)
		snk_flush(r->t_options.nacks);
}

/* Called with every batch, in order, before it is translated. */
static void look_at_batch(void *ctx, const struct pkt *pkts, size_t n)
{
	struct run *r = ctx;

	__atomic_store_n(&r->last_ns, clock_ns(), __ATOMIC_RELAXED);
	if (r->keylog)
		keylog_rx(r->keylog, pkts, n);
	if (r->keylog && n < (size_t)r->loop.most)
		keylog_flush(r->keylog);
	drop_clues_note(&r->clues, r->o.dta, pkts, n);
}

/* Called by one worker at a time. Takes none after SIGHUP, until the transport
 * is reopened between two batches. */
static int take_more(void *ctx, const struct pkt **pkts, struct pkt *room,
		     int max)
{
	struct run *r = ctx;

	(void)pkts;
	return __atomic_load_n(&r->transport->wants_reopen, __ATOMIC_RELAXED)
		       ? 0
		       : cli_loop_more(&r->loop, room, max);
}

static void open_cores(struct run *r)
{
	const struct translate_cores_options o = {
		.workers = r->o.cores,
		.take = take_more,
		.look = look_at_batch,
		.ctx = r,
	};
	struct error err = {0};

	if (translate_cores_open(&r->cores, r->translator, &o, &err) < 0)
		cli_fail("-j: %s", err.text);
}

/* Ends the workers, so that others can be started for another translator.
 * Returns 0, or their first error. */
static int close_cores(struct run *r)
{
	int rc = r->cores ? translate_cores_rest(r->cores) : 0;

	translate_cores_close(r->cores);
	r->cores = NULL;
	return rc;
}

/* After SIGHUP, between two batches: what is cached goes to the collectors as
 * they are, then their cluster is opened anew. 0 or -errno. */
static int reopen_cluster(struct run *r)
{
	struct error err = {0};
	int rc;

	if (!r->transport->wants_reopen)
		return 0;
	rc = close_cores(r);
	if (!rc)
		rc = translate_flush(r->translator);
	if (!rc)
		rc = r->transport->reopen(r->transport);
	if (rc < 0)
		return rc;
	r->t_options.collectors = r->transport->collectors;
	r->t_options.mirror = r->transport->mirror;
	rc = translate_succeed(&r->translator, r->table, r->transport->tables,
			       r->transport, &r->t_options, &err);
	if (rc < 0)
		cli_warn_error(r->o.cluster, &err);
	else
		open_cores(r);
	return rc;
}

static unsigned waited_fds(void *run, int *fd, unsigned max)
{
	const struct transport *r = ((struct run *)run)->transport;

	return r->fds ? r->fds(r, fd, max) : 0;
}

static uint64_t next_due(void *run)
{
	const struct run *r = run;
	uint64_t look = __atomic_load_n(&r->last_ns, __ATOMIC_RELAXED) +
			r->idle_ns;
	uint64_t due = r->transport->due ? r->transport->due(r->transport)
					 : UINT64_MAX;

	return due < look ? due : look;
}

/* Without packets for idle_ns: flushes lists that have waited long enough. */
static int handle_idle(struct run *r)
{
	uint64_t passed, now = clock_ns();

	if (now < __atomic_load_n(&r->last_ns, __ATOMIC_RELAXED) + r->idle_ns)
		return 0;
	rest(r);
	now = clock_ns();
	passed = now - r->last_ns;
	r->last_ns = now;
	flush_outputs(r);
	return translate_cores_idle(r->cores, passed);
}

static int take_batch(void *run, const struct pkt *pkts, int n,
		      struct error *err)
{
	struct run *r = run;
	int rc = reopen_cluster(r);

	(void)err;
	if (!rc && !n)
		rc = handle_idle(r);
	if (!rc && n) {
		/* Sets the transport's clock, as time has passed. */
		rc = transport_tick(r->transport);
		if (!rc)
			rc = translate_cores_rx(r->cores, pkts, (size_t)n);
		/* Several cores flush by themselves. */
		if (n < r->loop.most && r->o.cores == 1)
			flush_outputs(r);
	}
	return rc ? rc : transport_tick(r->transport);
}

/* NACKs go to a capture, or back to where the reports come from. */
static struct snk *open_nacks(const struct opts *o)
{
	struct error err = {0};
	struct snk *k = NULL;

	if (o->nacks && cli_snk_open(&k, o->nacks, &err) < 0)
		cli_error(o->nacks, &err);
	if (k)
		snk_flush(k); /* a pipe: the reader waits for the header */
	if (!o->nacks && o->live.name &&
	    snk_open_live(&k, o->live.name, LIVE_PACKET, &err) < 0)
		cli_error(o->live.name, &err);
	return k;
}

/* Allows what will be opened again: tickets, the cluster file, its regions;
 * also, with --verbs, which calls this early, what is opened after it. */
void run_confine(void *run)
{
	const struct opts *o = &((struct run *)run)->o;
	struct error err = {0};
	struct cluster c;

	if (o->verbs) {
		cli_may_write("/dev/infiniband/*");
		cli_may_read("/sys/*");
		cli_may_write(o->nacks);
		cli_may_write(o->key_log);
	}
	cli_may_read(o->ticket);
	cli_may_read(o->cluster);
	if (o->cluster && !cluster_read(&c, o->cluster, &err)) {
		for (unsigned i = 0; i < c.n; i++) {
			cli_may_read(c.collector[i].ticket);
			if (strchr(c.collector[i].region, '/'))
				cli_may_write(c.collector[i].region);
		}
		cluster_fini(&c);
		cli_may_write("/dev/shm/*");
		cli_may_write("/dev/hugepages/*");
	}
	cli_confine(o->quiet || !o->live.name);
}

static void run_open(struct run *r)
{
	static const uint16_t ports[LIVE_PORTS] = {DTA_PORT};
	struct error err = {0};

	/* The input before the output: a program that writes our input pipe and
	 * reads our output opens them in this order. */
	if (r->o.read && src_open(&r->loop.s, r->o.read, &err) < 0)
		cli_error(r->o.read, &err);
	run_open_transport(r, turn);
	if (r->transport->region)
		r->loop.region = r->transport->region;
	r->t_options.dart = r->o.dart;
	r->t_options.seed = r->o.seed;
	r->t_options.collectors = r->transport->collectors;
	r->t_options.mirror = r->transport->mirror;
	r->t_options.format = r->o.dta;
	r->t_options.nacks = open_nacks(&r->o);
	if (r->o.key_log)
		r->keylog = keylog_open(r->o.key_log, r->o.dta, r->table,
					r->tables);
	r->t_options.op_rate = r->o.op_rate;
	r->t_options.op_burst = r->o.op_rate < 6400 ? 64 : r->o.op_rate / 100;
	if (translate_open(&r->translator, r->table, r->transport->tables,
			   r->transport, &r->t_options, &err) < 0)
		cli_fail("%s", err.text);
	/* Last, when all else is right: opening it may take its link down. */
	if (r->o.live.name)
		r->loop.s = cli_live_open(&r->o.live, ports, r->o.quiet);
	src_wait(r->loop.s, 0); /* the loop waits */
	r->idle_ns = idle_time(r);
	r->last_ns = clock_ns();
	if (r->o.cores > 1) {
		if (src_hold_batches(r->loop.s, r->o.cores * THREADS_PLACES) <
		    0)
			cli_fail("out of memory");
		r->loop.most = TRANSLATE_CORES_BATCH;
	}
	if (!r->o.verbs)
		run_confine(r);
	open_cores(r);
}

/* Whether no report was stored. After a signal that is no error, nor if only
 * probes for the sequence came. */
static bool nothing_stored(const struct translate_ledger *l)
{
	return !l->stored && l->received > l->probes && !cli_stop;
}

/* What was sent counts as stored, whether it was acknowledged or not. */
static void warn_unconfirmed(const struct transport_account *a)
{
	if (a->sent > a->acked)
		cli_warn("%llu of %llu requests were never acknowledged: what "
			 "is stored of their reports may be missing there",
			 (unsigned long long)(a->sent - a->acked),
			 (unsigned long long)a->sent);
}

/* What the ledger would have said. */
static void warn_losses(const char *input, struct translate_ledger l)
{
	uint64_t reports = l.received - l.foreign - l.probes, most;
	uint64_t lost = reports - l.stored - l.repeated;

	l.foreign = l.probes = l.repeated = 0; /* these are no losses */
	if (lost)
		cli_warn("%s: %ju of %ju reports were not stored, most as %s",
			 input, (uintmax_t)lost, (uintmax_t)reports,
			 ledger_largest_loss(&translate_ledger, &l, &most));
}

/* Ends the run, with the ledgers and what went wrong. Returns the exit status,
 * or exits. */
static int run_close(struct run *r)
{
	struct transport_account account = {0};
	struct transport *transport = r->transport;
	struct translate_ledger total;
	int stopped, flushed, closed, nacks = 0, keys;
	struct error nothing, where, probably;
	const char *reason,
		*input = r->o.read ? cli_file(r->o.read) : r->o.live.name;
	uint64_t lost;
	bool has_account;

	stopped = close_cores(r);
	if (!r->error)
		r->error = stopped;
	total = *translate_counters(r->translator);
	flushed = translate_flush(r->translator);
	closed = transport->finish ? transport->finish(transport) : 0;
	if (r->t_options.nacks) /* snk_close() tells of an error */
		snk_settle(r->t_options.nacks);
	has_account = transport->account &&
		      transport->account(transport, &account);
	r->unwritten = !has_account &&
		       (closed < 0 || flushed < 0 ||
			(r->error < 0 && !r->loop.source_failed));
	lost = count_unsent(r);
	reason = transport->unacked_reason
			 ? transport->unacked_reason(transport)
			 : NULL;
	if (r->t_options.nacks)
		nacks = snk_close(r->t_options.nacks);
	if (!r->o.quiet) {
		print_ledgers(r);
		cli_live_drops(&r->o.live, r->loop.s, lost);
	}
	if (has_account && account.acked && !r->o.quiet)
		warn_unconfirmed(&account);
	/* Copies, as both are the transport's, which is closed. */
	error_set(&nothing, -1, "%s", reason ? reason : "");
	error_set(&where, -1, "%s", transport->name);
	keys = keylog_close(r->keylog);
	translate_close(r->translator);
	transport->close(transport);
	src_close(r->loop.s);
	if (r->loop.source_failed)
		cli_error(input, &r->err);
	if (closed < 0)
		cli_fail("%s: %s", where.text, strerror(-closed));
	if (keys < 0)
		cli_fail("%s: %s", cli_file(r->o.key_log), strerror(-keys));
	if (nacks < 0)
		cli_fail("%s: %s",
			 r->o.nacks ? cli_file(r->o.nacks) : r->o.live.name,
			 strerror(-nacks));
	if (r->error < 0 || flushed < 0)
		cli_fail("%s: %s", where.text,
			 strerror(r->error < 0 ? -r->error : -flushed));
	if (reason)
		cli_fail("%s", nothing.text);
	if (nothing_stored(&total))
		cli_fail("%s: nothing was stored: %s", input,
			 drop_clues_explain(&probably, &r->clues, &total,
					    r->table, r->tables));
	if (r->o.quiet)
		warn_losses(input, total);
	return CLI_OK;
}

int main(int argc, char **argv)
{
	static struct run run;

	cli_start(&cli);
	run.o = options_read(argc, argv);
	run.loop = (struct cli_loop){
		.live = &run.o.live,
		.region = run.o.region,
		.input = run.o.read ? run.o.read : run.o.live.name,
		.output = run.o.ticket	  ? run.o.ticket
			  : run.o.cluster ? run.o.cluster
					  : run.o.verbs,
		.most = PKT_BATCH,
		.quiet = run.o.quiet,
		.ctx = &run,
		.take = take_batch,
		.report = print_ledgers,
		.show = show_ledgers,
		.unsent = count_unsent,
		.hangup = reread_files,
		.fds = waited_fds,
		.due = next_due,
	};
	cli_signals();
	cli_catch_hangup();
	run_open(&run);
	run.error = cli_loop(&run.loop, &run.err);
	return run_close(&run);
}
