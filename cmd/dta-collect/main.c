/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta-collect - own the collector's memory: create regions, be the RDMA target
 * (a NIC, or in software), print immediates, rotate epochs, take and restore
 * snapshots, print tickets.
 */
#include <errno.h>
#include <stdio.h>

#include "collect.h"
#include "query/show.h"
#include "region/layout.h"
#include "region/snapshot.h"

static void create_region(const struct opts *o)
{
	struct layout layout;
	struct error err = {0};
	int rc;

	if (layout_read(&layout, o->layout, &err) < 0)
		cli_fail("%s", err.text);
	for (unsigned i = 0; i < layout.n; i++) {
		const struct table *t = &layout.table[i];
		struct show types;
		struct error why;

		if (*t->show && (query_show_parse(&types, t->show, &why) < 0 ||
				 show_fits(&types, t->value_len, &why) < 0))
			cli_fail("%s: table %s: show: %s", cli_file(o->layout),
				 t->name, why.text);
	}
	if (ticket_check_mtu(layout.table, layout.n, o->want.mtu, &err) < 0)
		cli_error(cli_file(o->layout), &err);
	rc = region_create_absent(o->region, &layout, &o->make, &err);
	if (rc < 0)
		cli_error(o->region, &err);
	if (!rc && !o->quiet)
		cli_warn("%s: is there already, as the layout says", o->region);
	layout_fini(&layout);
}

static void restore_region(const struct opts *o)
{
	struct snapshot *s;
	struct error err = {0};
	int rc;

	if (snapshot_open(&s, o->restore, &err) < 0)
		cli_error(o->restore, &err);
	rc = snapshot_restore(s, o->region, &o->make, &err);
	snapshot_close(s);
	if (rc < 0)
		cli_error(rc == -EBADMSG ? o->restore : o->region, &err);
}

static bool only_listens(const struct opts *o)
{
	return o->notify && !o->read && !o->live.name && !o->verbs;
}

/* A snapshot writes, too: what a killed writer left is completed first. */
static struct region *open_region(const struct opts *o)
{
	bool write = o->read || o->live.name || o->verbs || o->rotate ||
		     o->snapshot;
	struct error err = {0};
	struct region *r;
	int rc;

	rc = region_open(&r, o->region, write || only_listens(o), &err);
	if ((rc == -EACCES || rc == -EROFS) && !write)
		rc = region_open(&r, o->region, false, &err);
	if (rc < 0)
		cli_error(o->region, &err);
	return r;
}

/* Everything that works on a region which is there, in this order. */
static void work_on_region(struct opts *o)
{
	struct error err = {0};
	struct notify *n;
	struct region *r;
	uint64_t old = 0, first, last;
	struct ticket t;
	int rc;

	if (!options_use_region(o))
		return;
	r = open_region(o);
	cli_check_distinct_files(region_path(r), o->ticket);
	cli_check_distinct_files(region_path(r), o->write);
	cli_check_distinct_files(region_path(r), o->snapshot);
	/* Before a device is touched. */
	rc = ticket_can_put(o->ticket);
	if (rc < 0)
		cli_fail("%s: %s", cli_file(o->ticket), strerror(-rc));
	if (o->ticket && !o->verbs && !o->live.name) {
		ticket_for(&t, o, r);
		rc = ticket_put(&t, o->ticket);
		ticket_fini(&t);
		if (rc < 0)
			cli_fail("%s: %s", cli_file(o->ticket), strerror(-rc));
	}
	if (o->read || o->live.name)
		respond(o, r);
	if (o->verbs)
		nic_run(o, r);
	if (only_listens(o)) {
		n = notify_open(o, r);
		notify_run(n);
		notify_close(n);
	}
	if (o->rotate && region_rotate(r, &old, &err) < 0)
		cli_error(o->region, &err);
	first = o->rotate ? old : region_oldest(r);
	last = o->rotate ? old : region_epoch(r);
	if (o->snapshot &&
	    snapshot_write(r, first, last, o->snapshot, &err) < 0)
		cli_error(o->snapshot, &err);
	region_close(r);
}

int main(int argc, char **argv)
{
	struct error err = {0};
	struct opts o;

	cli_start(&cli);
	o = options_read(argc, argv);
	cli_signals();
	if (o.remove) {
		if (region_remove(o.region, &err) < 0)
			cli_error(o.region, &err);
		return CLI_OK;
	}
	if (o.create)
		create_region(&o);
	if (o.restore)
		restore_region(&o);
	work_on_region(&o);
	return CLI_OK;
}
