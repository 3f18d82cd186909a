/* SPDX-License-Identifier: BSD-2-Clause */
/* run.c - the controller: packets in, rows and decisions out. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "base/clock.h"
#include "cli/loop.h"
#include "commands.h"
#include "label/state.h"
#include "run.h"

#define STATE_EVERY_NS UINT64_C(10000000000)

struct run {
	struct run_options o;
	struct label_control *c;
	struct run_rows rows;
	struct tables tables;
	struct browse *top; /* NULL: none */
	struct cli_loop loop;
	int64_t apart_ns; /* of -i: the wall clock less clock_ns() */
	uint64_t save_ns; /* the state, of clock_coarse_ns() */
	bool save_failed; /* and that was said */
	int error;
	struct fault fault;
};

static void print_ledgers(void *run)
{
	struct run *r = run;

	cli_ledger(&label_control_ledger, label_control_counters(r->c),
		   r->o.format);
	cli_ledger(&label_db_ledger, label_db_counters(label_control_db(r->c)),
		   r->o.format);
	if (r->rows.orders)
		cli_ledger(&label_orders_ledger,
			   label_orders_counters(r->rows.orders), r->o.format);
	databases_ledgers(&r->rows.list, r->o.format);
}

static void hangup(void *run)
{
	(void)run;
	cli_stop = 1; /* nothing is to be read again */
}

static const void *counters(void *run, uint64_t *received)
{
	struct run *r = run;
	const struct label_control_ledger *l = label_control_counters(r->c);

	*received = l->frames;
	return l;
}

/* A state that cannot be saved is said once, and tried again. */
static void save(struct run *r)
{
	struct fault f;
	int rc = label_state_save(r->o.state, label_control_db(r->c), &f);

	if (rc && !r->save_failed)
		cli_warn("--state: %s", f.text);
	r->save_failed = rc;
	r->save_ns = clock_coarse_ns() + STATE_EVERY_NS;
}

static void check_state(const struct run *r)
{
	struct fault f;

	if (label_state_check(r->o.state, &f) < 0)
		cli_fail("--state: %s", f.text);
}

/* It is kept until the end. The file itself is another one each time that it is
 * saved. Where none can be made none can be saved, and check_state() says why.
 */
static void lock_state(const char *state)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s.lock", state);
	fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
		cli_fail("--state: %s: another controller saves there", state);
}

static void load(struct run *r)
{
	struct fault f;
	int rc;

	lock_state(r->o.state);
	rc = label_state_load(r->o.state, label_control_db(r->c), &f);
	if (rc && rc != -ENOENT)
		cli_fail("--state: %s", f.text);
	if (!r->o.live.user)
		check_state(r);
	r->save_ns = clock_coarse_ns() + STATE_EVERY_NS;
}

/* A capture's time, or a pipe's, is that of its packets, however long their
 * writer takes. */
static int take_capture(struct run *r, const struct pkt *pkts, int n)
{
	int rc = 0;

	for (int i = 0; i < n && !rc; i++)
		rc = label_control_frame(r->c, pkts[i].data, pkts[i].len,
					 pkts[i].ts_ns);
	return rc;
}

/* The time of an interface is the wall clock's, by which packets are stamped.
 * If that moves against a clock which nobody sets, and which stands still while
 * the host is suspended, intervals begin anew. */
static uint64_t live_now(struct run *r)
{
	const int64_t second = 1000000000;
	uint64_t wall_ns = clock_wall_ns();
	int64_t apart_ns = (int64_t)(wall_ns - clock_ns());
	int64_t by_ns = apart_ns - r->apart_ns;

	r->apart_ns = apart_ns;
	if (by_ns < second && by_ns > -second)
		return wall_ns;
	label_control_anew(r->c, wall_ns);
	if (!r->loop.quiet)
		cli_warn("the clock was set by %.1f s, or the host was "
			 "suspended: intervals begin anew",
			 (double)by_ns / 1e9);
	return wall_ns;
}

/* It goes on when nothing comes, or nothing with labels. A stamp is of a moment
 * ago, or of the time before the clock was set. */
static int take_live(struct run *r, const struct pkt *pkts, int n)
{
	uint64_t now_ns = live_now(r);
	int rc = 0;

	for (int i = 0; i < n && !rc; i++)
		rc = label_control_frame(r->c, pkts[i].data, pkts[i].len,
					 now_ns - pkts[i].ts_ns < 10000000000
						 ? pkts[i].ts_ns
						 : now_ns);
	label_control_tick(r->c, now_ns);
	return rc;
}

static int take(void *run, const struct pkt *pkts, int n, struct fault *f)
{
	struct run *r = run;
	int rc = r->o.live.name ? take_live(r, pkts, n)
				: take_capture(r, pkts, n);

	if (r->rows.orders)
		orders_turn(r->rows.orders);
	databases_look(&r->rows.list);
	if (r->o.state && clock_coarse_ns() >= r->save_ns)
		save(r);
	if (!rc && n < PKT_BATCH)
		rc = run_rows_flush(&r->rows);
	if (!rc && r->top && !browse_turn(r->top, !n))
		cli_stop = 1; /* as if by a signal */
	if (rc < 0)
		fault_set(f, rc, "%s", strerror(-rc));
	return rc;
}

/* Ports of an earlier run, and those that are said to be there, are told of
 * before the first label comes. */
static void begin_live(struct run *r)
{
	uint64_t wall_ns = clock_wall_ns();

	r->apart_ns = (int64_t)(wall_ns - clock_ns());
	if (r->o.control.expected || label_db_ports(label_control_db(r->c)))
		label_control_begin(r->c, wall_ns);
}

static void run_open(struct run *r)
{
	static const uint16_t all[LIVE_PORTS];
	struct fault f = {0};

	cli_user_check(r->o.live.user);
	run_rows_open(&r->rows, &r->o, &r->o.control.calls);
	if (label_control_open(&r->c, &r->o.control) < 0)
		cli_fail("out of memory");
	if (r->o.state)
		load(r);
	if (r->o.read && src_open(&r->loop.s, r->o.read, &f) < 0)
		cli_fault(r->o.read, &f);
	if (r->o.live.name)
		r->loop.s = cli_live_open(&r->o.live, all, r->o.quiet);
	if (r->o.top.top) {
		r->tables.c = r->c;
		r->tables.run = r;
		r->tables.from = r->o.read ? r->o.read : r->o.live.name;
		r->top = browse_open(&tables, &r->tables, &r->o.top,
				     r->o.format);
	}
	cli_user(r->o.live.user);
	if (r->o.state && r->o.live.user) /* whose file it will be */
		check_state(r);
	if (r->o.live.name)
		begin_live(r);
	r->loop.quiet = r->o.quiet || r->top;
	r->loop.stats = cli_stats_open(&label_control_ledger,
				       r->o.live.stats_ns, r->o.format, NULL);
}

/* While the screen stays and nothing comes any more. */
static void look_on(void *ctx)
{
	struct run *r = ((struct tables *)ctx)->run;

	databases_look(&r->rows.list);
	if (r->rows.orders)
		orders_turn(r->rows.orders);
	cli_loop_turn(&r->loop);
}

/* Nothing of what came had labels. Whoever stopped it knows why. */
static bool nothing_taken(const struct run *r)
{
	const struct label_control_ledger *l = label_control_counters(r->c);

	return l->frames && !l->labelled && !cli_stop;
}

/* Ends the run, with the ledgers and what went wrong. Returns the exit status.
 */
static int run_close(struct run *r)
{
	uint64_t received;
	int looked = r->top && !r->error ? browse_end(r->top, look_on) : 0,
	    ended, status;

	browse_close(r->top);
	label_control_end(r->c);
	if (r->o.state)
		save(r);
	ended = run_rows_end(&r->rows);
	cli_progress_end();
	cli_stats_close(r->loop.stats, counters(r, &received), r->loop.s);
	if (!r->o.quiet) {
		print_ledgers(r);
		cli_live_drops(&r->o.live, r->loop.s, 0);
	}
	/* What cannot be written is told of by itself. */
	if (r->error && (r->loop.reading || !ended))
		cli_warn_fault(r->loop.reading && r->o.read ? r->o.read
			       : r->loop.reading	    ? r->o.live.name
							    : "labels",
			       &r->fault);
	status = r->error || looked < 0 || ended < 0 || r->save_failed
			 ? CLI_FAIL
			 : CLI_OK;
	if (status == CLI_OK && nothing_taken(r)) {
		cli_warn("%s: nothing was taken: no packet with %slabels is in "
			 "it: another --protocol or --export-port?",
			 r->o.read ? cli_file(r->o.read) : r->o.live.name,
			 label_control_counters(r->c)->plain ? "" : "good ");
		status = CLI_FAIL;
	}
	run_rows_close(&r->rows);
	label_control_close(r->c);
	src_close(r->loop.s);
	return status;
}

int run_main(int argc, char **argv)
{
	static struct run run;

	cli_start(&run_cli);
	run_options_read(&run.o, argc, argv);
	run.loop = (struct cli_loop){
		.live = &run.o.live,
		.input = run.o.read ? run.o.read : run.o.live.name,
		.quiet = run.o.quiet,
		.ctx = &run,
		.counters = counters,
		.take = take,
		.report = print_ledgers,
		.hangup = hangup,
	};
	cli_signals();
	run_open(&run);
	run.error = cli_loop(&run.loop, &run.fault);
	return run_close(&run);
}
