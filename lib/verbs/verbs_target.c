/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_target.c - the target: opening, its work, its ticket, closing. */
#include "verbs/verbs_target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "verbs/verbs_private.h"
#include "verbs/verbs_target_private.h"

enum {
	REMAKE_MS = 2000, /* until what failed is tried again */
};

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct verbs_target_ledger, completed, LEDGER_IN),
	LEDGER_FIELD(struct verbs_target_ledger, immediates, LEDGER_DONE),
	LEDGER_FIELD(struct verbs_target_ledger, flushed, LEDGER_HARMLESS),
	LEDGER_FIELD(struct verbs_target_ledger, failed, LEDGER_LOSS),
	LEDGER_FIELD(struct verbs_target_ledger, qp_errors, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_target_ledger, qp_made, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_target_ledger, port_down, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_target_ledger, port_up, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_target_ledger, rotations, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_target_ledger, tickets, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_target_ledger, connections, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_target_ledger, refused, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_target_ledger, disconnected, LEDGER_NOTE),
	LEDGER_FIELD(struct verbs_target_ledger, broken, LEDGER_NOTE),
};

LEDGER_COMPLETE(fields, struct verbs_target_ledger);

const struct ledger verbs_target_ledger = {
	.stage = "verbs",
	.unit = "receives",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

static int check_tables(const struct verbs_target *v, struct fault *f)
{
	unsigned n = region_tables(v->region);

	if (v->o.peer && n > (unsigned)v->attr.max_qp)
		return fault_set(f, -EMFILE,
				 "%s: %u tables, and the device has %d queue "
				 "pairs",
				 v->name, n, v->attr.max_qp);
	for (unsigned i = 0; i < n; i++) {
		const struct table *t = region_table(v->region, i);

		if (t->kind == TABLE_KEYINC && !verbs_has_atomics(v))
			return fault_set(
				f, -ENOTSUP,
				"%s: table %s: counters need FETCH_ADD, and "
				"this device has no atomic operations: keep "
				"the table in a region of another device, or "
				"use the software responder",
				v->name, t->name);
	}
	return 0;
}

/* Of hosts, which have RC, the MTU is their own matter. */
static int check_mtu(const struct verbs_target *v, struct fault *f)
{
	struct fault why = {""};
	int rc = 0;

	if (v->o.peer)
		rc = ticket_check_mtu(region_table(v->region, 0),
				      region_tables(v->region), v->mtu, &why);
	return rc < 0 ? fault_set(f, rc, "%s: %.400s", v->name, why.text) : 0;
}

/* The device, its memory and its queue pairs. */
static int set_up(struct verbs_target *v, struct fault *f)
{
	int rc = verbs_device_open(v, f);
	uint8_t mac[6];

	if (!rc)
		rc = check_tables(v, f);
	if (!rc)
		rc = verbs_port_find(v, f);
	if (!rc)
		rc = check_mtu(v, f);
	if (!rc)
		rc = verbs_memory_make(&v->now, v, writer_enter(v->seat), f);
	if (!rc && v->o.readable)
		rc = verbs_memory_share(v, f);
	for (unsigned i = 0; v->o.peer && !rc && i < region_tables(v->region);
	     i++)
		rc = verbs_pair_make(&v->pair[i], v, i, f);
	v->neighbour = !rc && v->o.peer && verbs_peer_known(v, mac);
	v->stale = v->o.peer;
	return rc;
}

static void drop_ticket(struct verbs_target *v)
{
	if (v->ticket)
		ticket_fini(v->ticket);
	free(v->ticket);
	v->ticket = NULL;
}

static bool renew_ticket(struct verbs_target *v)
{
	struct ticket *t = malloc(sizeof(*t));

	if (!t || verbs_ticket_make(v, t, NULL) < 0) {
		free(t);
		return false; /* the next tick tries again */
	}
	drop_ticket(v);
	v->ticket = t;
	v->stale = false;
	v->ctr.tickets++;
	return true;
}

/* A queue pair made again, or for the first time. */
static int remake_pair(struct verbs_target *v, unsigned i)
{
	struct verbs_pair *p = &v->pair[i];
	uint32_t was = p->qp ? p->qp->qp_num : 0;
	struct fault f = {0};
	int rc;

	verbs_pair_drop(p);
	rc = verbs_pair_make(p, v, i, &f);
	if (rc < 0) {
		p->remake = true;
		verbs_warn_once(v, &f);
		return rc;
	}
	v->ctr.qp_made++;
	v->stale = true;
	if (was)
		verbs_warn(v, "table %s: queue pair 0x%x made again as 0x%x",
			   region_table(v->region, i)->name, was,
			   p->qp->qp_num);
	return 0;
}

static void warn_dead(struct verbs_target *v, struct verbs_pair *p)
{
	if (p->warned || !p->qp)
		return;
	p->warned = true;
	v->ctr.qp_errors++;
	verbs_warn(v, "table %s: queue pair 0x%x is dead%s",
		   region_table(v->region, p->table)->name, p->qp->qp_num,
		   v->ctr.rotations ? ": perhaps an R_Key of an older epoch: "
				      "its ticket is out of date"
				    : "");
}

/*
 * Where the peer cannot be found, the kernel takes seconds to say so: one try
 * each time, and not all the time.
 */
static void remake_pairs(struct verbs_target *v)
{
	bool remake = false;

	for (unsigned i = 0; v->o.peer && i < region_tables(v->region); i++) {
		struct verbs_pair *p = &v->pair[i];

		if (p->remake)
			warn_dead(v, p);
		if (v->renew)
			p->remake = p->warned = true;
		remake |= p->remake;
	}
	v->renew = false;
	if (!remake || clock_ms() < v->remake_ms)
		return;
	for (unsigned i = 0; i < region_tables(v->region); i++)
		if (v->pair[i].remake && remake_pair(v, i) < 0) {
			v->remake_ms = clock_ms() + REMAKE_MS;
			return;
		}
	v->warned = false;
}

/* The region was rotated: R_Keys for the new epoch, a while for the old. */
static void follow_epoch(struct verbs_target *v, uint64_t now)
{
	uint64_t epoch = region_epoch(v->region);
	struct verbs_memory fresh;
	struct fault f = {0};

	if (epoch == v->now.epoch)
		return;
	if (verbs_memory_make(&fresh, v, epoch, &f) < 0) {
		verbs_warn_once(v, &f);
		return;
	}
	v->warned = false;
	verbs_memory_drop(&v->old);
	v->old = v->now;
	v->now = fresh;
	v->old_until_ms = now + v->o.grace_ms;
	v->stale = v->o.peer;
	v->ctr.rotations++;
	verbs_warn(v, "epoch %llu", (unsigned long long)epoch);
	verbs_cm_disconnect(v);
}

/*
 * The old R_Keys are revoked before the seat moves on, so that the rotation
 * ends when the device cannot write into the old epoch any more. As long as the
 * seat is there, there is no further rotation, but for one between two
 * instructions of writer_enter(): then the keys are late, and go at once.
 */
static void end_grace(struct verbs_target *v, uint64_t now)
{
	if (!v->old.n || now < v->old_until_ms)
		return;
	verbs_memory_drop(&v->old);
	if (writer_enter(v->seat) != v->now.epoch)
		verbs_memory_drop(&v->now);
}

static void tick(struct verbs_target *v)
{
	uint64_t now = clock_ms();

	if (now - v->ticked_ms < VERBS_TARGET_TICK_MS)
		return;
	v->ticked_ms = now;
	if (verbs_device_leaving(v)) {
		v->lost = true;
		return;
	}
	for (unsigned i = 0; v->o.peer && i < region_tables(v->region); i++)
		if (v->pair[i].qp && verbs_pair_is_dead(&v->pair[i]))
			v->pair[i].remake = true;
	follow_epoch(v, now);
	end_grace(v, now);
}

int verbs_target_work(struct verbs_target *v, struct fault *f)
{
	int rc = 0;

	verbs_events_take(v);
	verbs_cm_work(v);
	tick(v);
	if (v->lost)
		return fault_set(f, -ENODEV,
				 "%s: the device is gone; start again when it "
				 "is back: what is stored stays",
				 v->name);
	if (v->readdressed)
		rc = verbs_port_check(v, f);
	if (rc < 0)
		return rc;
	v->readdressed = false;
	remake_pairs(v);
	return v->stale && renew_ticket(v);
}

int verbs_target_listen(struct verbs_target *v, uint16_t port, struct fault *f)
{
	return verbs_cm_open(v, port, f);
}

void verbs_target_renew(struct verbs_target *v)
{
	v->renew = v->o.peer;
}

unsigned verbs_target_fds(const struct verbs_target *v, struct pollfd *fds)
{
	const int all[] = {v->channel->fd, v->ctx->async_fd, verbs_cm_fd(v)};
	unsigned n = 0;

	for (; n < VERBS_TARGET_FDS && all[n] >= 0; n++)
		fds[n] = (struct pollfd){all[n], POLLIN, 0};
	return n;
}

int verbs_target_open(struct verbs_target **out, struct region *r,
		      const struct verbs_target_options *o, struct fault *f)
{
	struct verbs_target *v = calloc(1, sizeof(*v));
	int rc;

	if (!v)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	v->region = r;
	v->o = *o;
	v->want = *o->at;
	v->o.device = NULL; /* the caller's: v->name and v->want are ours */
	v->o.at = NULL;
	if (!v->want.version)
		v->want.version = 4;
	snprintf(v->name, sizeof(v->name), "%s", o->device);
	verbs_raise_memlock();
	rc = writer_open(&v->seat, r, f);
	if (!rc)
		rc = set_up(v, f);
	if (rc < 0) {
		verbs_target_close(v);
		return rc;
	}
	v->ticked_ms = clock_ms();
	if (v->stale && !renew_ticket(v))
		v->ticked_ms = 0; /* rotated under us: work() sees it */
	*out = v;
	return 0;
}

const struct ticket *verbs_target_ticket(const struct verbs_target *v)
{
	return v->ticket;
}

bool verbs_target_adds_alone(const struct verbs_target *v)
{
	return v->attr.atomic_cap != IBV_ATOMIC_GLOB;
}

const struct verbs_target_ledger *
verbs_target_counters(const struct verbs_target *v)
{
	return &v->ctr;
}

void verbs_target_close(struct verbs_target *v)
{
	if (!v)
		return;
	verbs_cm_close(v);
	for (unsigned i = 0; i < region_tables(v->region); i++)
		verbs_pair_drop(&v->pair[i]);
	verbs_memory_drop(&v->now);
	verbs_memory_drop(&v->old);
	verbs_memory_unshare(v);
	verbs_device_close(v);
	/* Nothing can be written by the device from here on. */
	drop_ticket(v);
	writer_close(v->seat);
	free(v);
}
