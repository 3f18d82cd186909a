/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic.c - devices as the target: the devices write, this program sleeps, until
 * one of them has something to say or a quarter of a second has passed.
 */
#include "collect.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/page.h"
#include "verbs/verbs_target.h"

enum {
	DEVICES_MAX = 16,
};

struct nics {
	const struct opts *o;
	unsigned n;
	struct verbs_target *target[DEVICES_MAX];
	char *ticket[DEVICES_MAX]; /* their files, or NULL */
};

/* With several devices each has a file of its own: FILE.DEVICE. */
static char *ticket_name(const struct opts *o, const char *device, bool several)
{
	char *name;

	if (!o->ticket)
		return NULL;
	if (asprintf(&name, several && !is_dash(o->ticket) ? "%s.%s" : "%s",
		     o->ticket, device) < 0)
		cli_fail("out of memory");
	return name;
}

/* DEVICE, or DEVICE@PEER. */
static void open_one(struct nics *all, struct region *r, char *device,
		     bool several)
{
	const struct opts *o = all->o;
	char *peer = strchr(device, '@');
	struct ticket at = o->at;
	struct verbs_target_options t = {
		.device = device,
		.at = &at,
		.peer = options_given("--peer-ip") || peer,
		.receives = o->responder.receives == UINT64_MAX
				    ? 0
				    : (unsigned)o->responder.receives,
		.grace_ms = (unsigned)(o->grace_ns / 1000000),
		.readable = o->readable,
		.warn = cli_tell,
	};
	struct fault f = {0};

	if (peer) {
		*peer = '\0';
		if (!options_given("--ip"))
			at.version = 0; /* not that of --peer-ip */
		memset(at.peer_ip, 0, sizeof(at.peer_ip));
		if (options_ip(peer + 1, &at.version, at.peer_ip, &f) < 0)
			cli_refuse("--verbs: '%s' %s", peer + 1, f.text);
	}
	if (all->n == DEVICES_MAX)
		cli_fail("--verbs: more than %d devices", DEVICES_MAX);
	if (verbs_target_open(&all->target[all->n], r, &t, &f) < 0)
		cli_fault("--verbs", &f);
	all->ticket[all->n] = ticket_name(o, device, several);
	if (all->ticket[all->n] && !is_dash(o->ticket))
		cli_apart(region_path(r), all->ticket[all->n]);
	all->n++;
}

static void open_all(struct nics *all, struct region *r)
{
	char *names = strdup(all->o->verbs), *rest = names, *name;
	bool several = strchr(all->o->verbs, ',');

	if (!names)
		cli_fail("out of memory");
	while ((name = strsep(&rest, ",")))
		open_one(all, r, name, several);
	free(names);
}

/* Two devices that add to one counter at a time may lose an addition. */
static void warn_of_counters(const struct nics *all, const struct region *r)
{
	bool alone = false;

	for (unsigned i = 0; i < all->n; i++)
		alone |= verbs_target_adds_alone(all->target[i]);
	for (unsigned i = 0; alone && all->n > 1 && i < region_tables(r); i++)
		if (region_table(r, i)->kind == TABLE_KEYINC)
			cli_warn("table %s: each device adds for itself only: "
				 "a counter must have the reports of one",
				 region_table(r, i)->name);
}

static void listen_all(struct nics *all)
{
	struct fault f = {0};

	for (unsigned i = 0; all->o->cm_port && i < all->n; i++)
		if (verbs_target_listen(all->target[i], all->o->cm_port, &f) <
		    0)
			cli_fault("--cm", &f);
}

static void put_ticket(const struct nics *all, unsigned i)
{
	const struct ticket *t = verbs_target_ticket(all->target[i]);
	int rc;

	if (!t || !all->ticket[i])
		return;
	rc = ticket_put(t, all->ticket[i]);
	if (rc < 0) /* the old one is of no use any more, but we are */
		cli_warn("%s: %s", all->ticket[i], strerror(-rc));
}

static void report(const struct nics *all, const struct notify *n)
{
	struct verbs_target_ledger sum = {0};

	for (unsigned i = 0; i < all->n; i++)
		ledger_add(&verbs_target_ledger, &sum,
			   verbs_target_counters(all->target[i]));
	cli_ledger(&verbs_target_ledger, &sum, all->o->format);
	notify_report(n);
}

static void take_signals(const struct nics *all, const struct notify *n)
{
	if (cli_report) {
		cli_report = 0;
		report(all, n);
	}
	if (cli_hangup) {
		cli_hangup = 0;
		for (unsigned i = 0; i < all->n; i++)
			verbs_target_renew(all->target[i]);
		if (!all->o->quiet)
			cli_warn("%s: SIGHUP: all queue pairs are made anew",
				 all->o->region);
	}
}

static void show_page(const struct nics *all, const struct notify *n)
{
	if (!cli_page_begin())
		return;
	report(all, n);
	cli_page_end();
}

/* Returns 0, or -errno when a device or its address is gone. */
static int work(const struct nics *all, struct notify *n, struct fault *f)
{
	struct pollfd fds[DEVICES_MAX * VERBS_TARGET_FDS];
	unsigned m = 0;
	int rc = 0;

	for (unsigned i = 0; i < all->n; i++)
		m += verbs_target_fds(all->target[i], fds + m);
	/* A signal that comes just before it waits as long as the tick does. */
	poll(fds, m, VERBS_TARGET_TICK_MS);
	take_signals(all, n);
	for (unsigned i = 0; i < all->n && rc >= 0; i++) {
		rc = verbs_target_work(all->target[i], f);
		if (rc > 0)
			put_ticket(all, i);
	}
	notify_tell(n);
	show_page(all, n);
	return rc < 0 ? rc : 0;
}

static void close_all(struct nics *all)
{
	for (unsigned i = 0; i < all->n; i++) {
		verbs_target_close(all->target[i]);
		free(all->ticket[i]);
	}
}

void nic_run(const struct opts *o, struct region *r)
{
	struct nics all = {.o = o};
	struct fault f = {0};
	struct notify *n;
	int rc = 0;

	open_all(&all, r);
	warn_of_counters(&all, r);
	cli_take_hangup();
	n = notify_open(o, r);
	for (unsigned i = 0; i < all.n; i++)
		put_ticket(&all, i);
	if (o->live.user)
		cli_user(o->live.user);
	listen_all(&all);
	cli_page_start(&(struct cli_page_about){
		.region = o->region, .input = o->verbs, .quiet = o->quiet});
	while (!cli_stop && !rc)
		rc = work(&all, n, &f);
	for (unsigned i = 0; i < all.n; i++) /* what came last */
		verbs_target_work(all.target[i], NULL);
	if (!o->quiet)
		report(&all, NULL);
	close_all(&all);
	notify_close(n);
	if (rc < 0)
		cli_fault("--verbs", &f);
}
