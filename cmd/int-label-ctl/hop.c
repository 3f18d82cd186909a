/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hop.c - int-label-ctl label: packets from a capture to a capture, one way, or
 * between two interfaces, both ways.
 */
#include "hop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/loop.h"
#include "commands.h"

/* From one side to the other. */
struct way {
	struct src *src;
	struct snk *snk; /* NULL: packets go nowhere */
	enum hop_side from, to;
};

struct hop_run {
	struct hop_options o;
	struct label_hop *h;
	struct way way[HOP_SIDES]; /* the first one is the loop's */
	struct hop_export export;
	struct hop_control control;
	struct cli_loop loop;
	uint8_t *room; /* PKT_MAX and a label, for exports */
	int error;
	struct fault fault;
	const char *at; /* whose fault it is; NULL: the first way's source */
};

static void print_ledgers(void *run)
{
	struct hop_run *r = run;

	cli_ledger(&label_hop_ledger, label_hop_counters(r->h), r->o.format);
}

static void hangup(void *run)
{
	(void)run;
	cli_stop = 1; /* nothing is to be read again */
}

static const void *counters(void *run, uint64_t *received)
{
	struct hop_run *r = run;
	const struct label_hop_ledger *l = label_hop_counters(r->h);

	*received = l->packets;
	return l;
}

static uint32_t saturate(uint64_t v)
{
	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

/* A capture's clock is its packets'; an interface's is ours, and a packet has
 * waited since the kernel had it, behind it as many as are left of its batch.
 */
static void set_state(const struct hop_run *r, struct label_transit *t,
		      const struct pkt *p, int behind)
{
	uint64_t now_ns;

	t->now_us = p->ts_ns / 1000;
	t->latency_ns = t->queue = 0;
	if (!r->o.live.name)
		return;
	now_ns = clock_wall_ns();
	t->now_us = now_ns / 1000;
	t->queue = (uint32_t)behind;
	if (now_ns > p->ts_ns)
		t->latency_ns = saturate(now_ns - p->ts_ns);
}

static int pass(struct hop_run *r, const struct way *w, const struct pkt *pkts,
		int n)
{
	struct label_transit t = {
		.in = w->from + 1,
		.out = w->to + 1,
		.from_edge = r->o.edge >> w->from & 1,
		.to_edge = r->o.edge >> w->to & 1,
	};
	static uint8_t nowhere[PKT_MAX + LABEL_HOP_GROWTH];

	for (int i = 0; i < n; i++) {
		const struct pkt *p = &pkts[i];
		size_t cap = p->len + LABEL_HOP_GROWTH;
		uint8_t *out = w->snk ? snk_room(w->snk, cap) : nowhere;
		struct label_outcome o;

		if (!out)
			return -errno;
		set_state(r, &t, p, n - 1 - i);
		o = label_hop_pass(r->h, &t, p->data, p->len, out,
				   hop_exports(&r->o) ? r->room : NULL, cap);
		if (o.len && w->snk)
			snk_done_cut(w->snk, o.len,
				     (uint32_t)o.len + p->wire_len - p->len,
				     p->ts_ns);
		if (o.export)
			hop_export_put(&r->export, r->room, o.export, p->ts_ns);
	}
	if (w->snk && n < PKT_BATCH)
		return snk_flush(w->snk);
	return 0;
}

/* The other way; it does not wait. */
static int pass_back(struct hop_run *r, struct fault *f)
{
	static struct pkt pkts[PKT_BATCH];
	const struct way *w = &r->way[1];
	int n;

	if (!w->src)
		return 0;
	n = src_rx(w->src, pkts, PKT_BATCH, f);
	if (n == -EAGAIN || n == -EINTR)
		return 0;
	if (n < 0) {
		r->at = r->o.to;
		return n;
	}
	return pass(r, w, pkts, n);
}

static int take(void *run, const struct pkt *pkts, int n, struct fault *f)
{
	struct hop_run *r = run;
	int rc;

	hop_control_look(&r->control, r->h);
	rc = pass(r, &r->way[0], pkts, n);
	if (!rc)
		rc = pass_back(r, f);
	if (n < PKT_BATCH)
		hop_export_flush(&r->export);
	if (rc < 0 && !f->text[0])
		fault_set(f, rc, "%s", strerror(-rc));
	return rc;
}

static unsigned fds(void *run, int *fd, unsigned max)
{
	struct hop_run *r = run;
	unsigned n = 0;

	(void)max;
	if (r->way[1].src)
		fd[n++] = src_fd(r->way[1].src);
	if (r->control.fd >= 0)
		fd[n++] = r->control.fd;
	return n;
}

static uint64_t due(void *run)
{
	(void)run;
	return UINT64_MAX;
}

/* All packets of an interface, whoever they are for. */
static void open_live(struct hop_run *r)
{
	const char *name[HOP_SIDES] = {r->o.live.name, r->o.to};
	struct live_options all = r->o.live.options;
	struct fault f = {0};

	if (all.kind != LIVE_XDP)
		all.kind = LIVE_PACKET;
	all.promiscuous = true;
	for (int i = 0; i < HOP_SIDES; i++) {
		struct way *w = &r->way[i];

		w->from = (enum hop_side)i;
		w->to = (enum hop_side) !i;
		if (src_open_live(&w->src, name[i], &all, &f) < 0)
			cli_fault(name[i], &f);
		if (snk_open_live(&w->snk, name[!i], LIVE_PACKET, &f) < 0)
			cli_fault(name[!i], &f);
		src_wait(w->src, 0); /* the loop waits for both */
	}
	r->o.live.beside.name = r->o.to;
	r->o.live.beside.s = r->way[HOP_OUT].src;
	r->loop.fds = fds;
	r->loop.due = due;
}

static void open_captures(struct hop_run *r)
{
	struct way *w = &r->way[0];
	struct fault f = {0};

	w->from = HOP_IN;
	w->to = HOP_OUT;
	if (src_open(&w->src, r->o.read, &f) < 0)
		cli_fault(r->o.read, &f);
	if (r->o.write && cli_snk_open(&w->snk, r->o.write, &f) < 0)
		cli_fault(r->o.write, &f);
}

/* Of the links that labels leave by, not those to hosts; of two the shorter. 0:
 * there is no limit. */
static size_t mtu_of(const struct hop_options *o)
{
	const char *name[HOP_SIDES] = {o->live.name, o->to};
	size_t mtu = 0;

	for (int i = 0; o->live.name && i < HOP_SIDES; i++) {
		size_t its = o->edge >> i & 1 ? 0 : live_mtu(name[i]);

		if (its && (!mtu || its < mtu))
			mtu = its;
	}
	return mtu;
}

/* Packets as long as hosts may send them have no room for labels. */
static void check_mtu(const struct hop_options *o)
{
	const char *name[HOP_SIDES] = {o->live.name, o->to};
	size_t most = LABEL_OPTION_LEN +
		      (size_t)o->hop.format.max_hop * LABEL_ITEM_LEN;

	for (int i = 0; o->live.name && i < HOP_SIDES; i++) {
		size_t outside = live_mtu(name[i]);

		if (o->edge == 1u << i && o->hop.mtu < outside + most)
			cli_warn("%s: packets of up to %zu bytes come from "
				 "%s, and an MTU of %zu has no room for labels "
				 "of these: %zu has, on all links between "
				 "devices",
				 name[!i], outside, name[i], o->hop.mtu,
				 outside + most);
	}
}

static void hop_open(struct hop_run *r)
{
	cli_user_check(r->o.live.user);
	r->room = malloc(PKT_MAX + LABEL_HOP_GROWTH);
	r->o.hop.mtu = mtu_of(&r->o);
	if (!r->room || label_hop_open(&r->h, &r->o.hop) < 0)
		cli_fail("out of memory");
	/* First, as a pipe's packets may be long in coming. */
	hop_control_open(&r->control, r->o.control, r->o.quiet);
	if (r->o.live.name)
		open_live(r);
	else
		open_captures(r);
	hop_export_open(&r->export, &r->o);
	if (!r->o.quiet)
		check_mtu(&r->o);
	cli_user(r->o.live.user);
	r->loop.s = r->way[0].src;
	r->loop.stats = cli_stats_open(&label_hop_ledger, r->o.live.stats_ns,
				       r->o.format, NULL);
	cli_stats_beside(r->loop.stats, r->way[HOP_OUT].src);
}

static uint64_t unsent(void *run)
{
	const struct hop_run *r = run;
	uint64_t sum = 0;

	for (int i = 0; i < HOP_SIDES; i++)
		if (r->way[i].snk)
			sum += snk_drops(r->way[i].snk);
	return sum;
}

/* 0, or -1: a sink's trouble, and that was said. */
static int close_ways(struct hop_run *r)
{
	const char *name = r->o.write ? cli_file(r->o.write) : "interfaces";
	int rc, status = 0;

	for (int i = 0; i < HOP_SIDES; i++) {
		if (!r->way[i].snk)
			continue;
		if ((rc = snk_close(r->way[i].snk)) < 0) {
			cli_warn("%s: %s", name, strerror(-rc));
			status = -1;
		}
	}
	return status;
}

static int hop_close(struct hop_run *r)
{
	uint64_t received, lost;
	int status = r->error ? CLI_FAIL : CLI_OK;
	bool said;

	cli_progress_end();
	cli_stats_close(r->loop.stats, counters(r, &received), r->loop.s);
	for (int i = 0; i < HOP_SIDES; i++)
		if (r->way[i].snk) /* snk_close() tells of an error */
			snk_settle(r->way[i].snk);
	lost = unsent(r);
	said = close_ways(r) < 0;
	said |= hop_export_close(&r->export) < 0;
	if (said)
		status = CLI_FAIL;
	if (!r->o.quiet) {
		print_ledgers(r);
		cli_live_drops(&r->o.live, r->loop.s, lost);
	}
	/* What cannot be written is not the input's fault. */
	if (r->error && (r->loop.reading || r->at || !said))
		cli_warn_fault(r->at	   ? r->at
			       : r->o.read ? r->o.read
					   : r->o.live.name,
			       &r->fault);
	hop_control_close(&r->control);
	src_close(r->way[0].src);
	src_close(r->way[1].src);
	label_hop_close(r->h);
	free(r->room);
	return status;
}

int hop_main(int argc, char **argv)
{
	static struct hop_run run;

	cli_start(&hop_cli);
	hop_options_read(&run.o, argc, argv);
	run.loop = (struct cli_loop){
		.live = &run.o.live,
		.input = run.o.read ? run.o.read : run.o.live.name,
		.output = run.o.write ? run.o.write : run.o.to,
		.quiet = run.o.quiet || run.o.live.name,
		.ctx = &run,
		.counters = counters,
		.take = take,
		.report = print_ledgers,
		.unsent = unsent,
		.hangup = hangup,
	};
	cli_signals();
	hop_open(&run);
	if (run.o.read && run.o.control)
		hop_control_begin(&run.control, run.h, run.o.read);
	run.error = cli_loop(&run.loop, &run.fault);
	return hop_close(&run);
}
