/* SPDX-License-Identifier: BSD-2-Clause */
/* nic.c - a device as the target: it writes, and this program sleeps until the
 * device has an event, or for a quarter of a second. */
#include "collect.h"

#include <poll.h>

#include "cli/confine.h"

struct nic {
	const struct opts *o;
	struct verbs_target *target;
	struct notify *notify;
};

/* librdmacm opens a device when the first host comes. */
static void confine(void *opts)
{
	const struct opts *o = opts;

	cli_may_write(o->ticket);
	cli_may_write("/dev/infiniband/*");
	cli_may_read("/sys/*");
	cli_confine(o->quiet);
}

static struct verbs_target *open_device(const struct opts *o, struct region *r)
{
	struct verbs_target_options t = {
		.device = o->verbs,
		.want = &o->want,
		.peer = o->peer_ip,
		.receives = o->responder.receives == UINT64_MAX
				    ? 0
				    : (unsigned)o->responder.receives,
		.grace_ms = (unsigned)(o->grace_ns / 1000000),
		.readable = o->readable,
		.warn = cli_warn_callback,
		.confine = confine,
		.ctx = (void *)o,
	};
	struct verbs_target *v;
	struct error err = {0};

	if (verbs_target_open(&v, r, &t, &err) < 0)
		cli_error("--verbs", &err);
	return v;
}

static int put_ticket(const struct nic *n)
{
	const struct ticket *t = verbs_target_ticket(n->target);
	const char *path = n->o->ticket;

	return t && path ? ticket_put(t, path) : 0;
}

static void print_ledgers(const struct nic *n)
{
	cli_ledger(&verbs_target_ledger, verbs_target_counters(n->target),
		   n->o->format);
	notify_report(n->notify);
}

/* Returns 0, or -errno when the device or its address is gone. */
static int serve_device(const struct nic *n, struct error *err)
{
	struct pollfd fds[VERBS_TARGET_FDS];
	int rc, ticket;

	/* A signal that comes just before poll() is noticed a tick later. */
	poll(fds, verbs_target_fds(n->target, fds), VERBS_TARGET_TICK_MS);
	if (cli_report) {
		cli_report = 0;
		print_ledgers(n);
	}
	if (cli_hangup) {
		cli_hangup = 0;
		verbs_target_renew(n->target);
		if (!n->o->quiet)
			cli_warn("%s: SIGHUP: all queue pairs are made anew",
				 n->o->region);
	}
	rc = verbs_target_work(n->target, err);
	ticket = rc > 0 ? put_ticket(n) : 0;
	if (ticket < 0) /* the file is outdated, but that is no reason to end */
		cli_warn("%s: %s", n->o->ticket, strerror(-ticket));
	notify_print(n->notify);
	if (cli_page_begin()) {
		print_ledgers(n);
		cli_page_end();
	}
	return rc < 0 ? rc : 0;
}

void nic_run(const struct opts *o, struct region *r)
{
	struct nic n = {.o = o, .target = open_device(o, r)};
	struct error err = {0};
	struct notify *notify;
	int rc = 0;

	if (o->ticket && !is_dash(o->ticket))
		cli_check_distinct_files(region_path(r), o->ticket);
	cli_log_times();
	cli_catch_hangup();
	n.notify = notify = notify_open(o, r);
	rc = put_ticket(&n);
	if (rc < 0)
		cli_fail("%s: %s", cli_file(o->ticket), strerror(-rc));
	if (o->cm_port && verbs_target_listen(n.target, o->cm_port, &err) < 0)
		cli_error("--cm", &err);
	cli_page_start(&(struct cli_page_about){
		.region = o->region, .input = o->verbs, .quiet = o->quiet});
	while (!cli_stop && !rc)
		rc = serve_device(&n, &err);
	verbs_target_work(n.target, NULL); /* what came last */
	n.notify = NULL;		   /* reported by notify_close() */
	if (!o->quiet)
		print_ledgers(&n);
	verbs_target_close(n.target);
	notify_close(notify);
	if (rc < 0)
		cli_error("--verbs", &err);
}
