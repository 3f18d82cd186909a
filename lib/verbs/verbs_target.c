/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_target.c - the target: opening, its work, its ticket, closing. */
#include "verbs/verbs_target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verbs/verbs_target_private.h"

enum {
	MEND_MS = 2000, /* until mending is tried again */
};

/* clang-format off */
#define COUNTER(name, role) \
	{ #name, offsetof(struct verbs_target_ledger, name), role }

static const struct ledger_field fields[] = {
	COUNTER(completed, LEDGER_IN),
	COUNTER(immediates, LEDGER_DONE),
	COUNTER(flushed, LEDGER_DROP),
	COUNTER(failed, LEDGER_DROP),
	COUNTER(qp_errors, LEDGER_NOTE),
	COUNTER(qp_made, LEDGER_NOTE),
	COUNTER(port_down, LEDGER_NOTE),
	COUNTER(port_up, LEDGER_NOTE),
	COUNTER(device_lost, LEDGER_NOTE),
	COUNTER(device_back, LEDGER_NOTE),
	COUNTER(rotations, LEDGER_NOTE),
	COUNTER(tickets, LEDGER_NOTE),
	COUNTER(connections, LEDGER_NOTE),
	COUNTER(refused, LEDGER_NOTE),
	COUNTER(disconnected, LEDGER_NOTE),
	COUNTER(broken, LEDGER_NOTE),
};
/* clang-format on */

_Static_assert(sizeof(fields) / sizeof(fields[0]) ==
		       sizeof(struct verbs_target_ledger) / sizeof(uint64_t),
	       "a counter has no name");

const struct ledger verbs_target_ledger = {
	.stage = "verbs",
	.unit = "receives",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void verbs_tell(struct verbs_target *v, const char *fmt, ...)
{
	char text[256], line[sizeof(text) + VERBS_TARGET_NAME_MAX + 4];
	va_list ap;

	if (!v->o.tell)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "%s: %s", v->name, text);
	v->o.tell(v->o.ctx, line);
}

void verbs_complain(struct verbs_target *v, const struct fault *f)
{
	if (!v->complained && v->o.tell)
		v->o.tell(v->o.ctx, f->text);
	v->complained = true;
}

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
static int take_mtu(struct verbs_target *v, const struct verbs_port *port,
		    struct fault *f)
{
	unsigned most = verbs_mtu_bytes(port->mtu);
	struct fault why = {""};
	int rc = 0;

	v->mtu = most < TICKET_MTU ? most : TICKET_MTU;
	if (v->want.mtu)
		v->mtu = v->want.mtu;
	if (v->o.peer)
		rc = ticket_check_mtu(region_table(v->region, 0),
				      region_tables(v->region), v->mtu, &why);
	return rc < 0 ? fault_set(f, rc, "%s: %.400s", v->name, why.text) : 0;
}

static void give_up(struct verbs_target *v);

/* The device, its memory and its queue pairs: all or nothing. */
static int take_device(struct verbs_target *v, struct fault *f)
{
	int rc = verbs_device_open(v, f);
	uint8_t mac[6];

	if (rc < 0)
		return rc;
	rc = check_tables(v, f);
	if (!rc)
		rc = verbs_port_find(&v->port, v, f);
	if (!rc)
		rc = take_mtu(v, &v->port, f);
	if (!rc)
		rc = verbs_memory_make(&v->now, v, writer_enter(v->seat), f);
	if (!rc && v->o.readable)
		rc = verbs_memory_share(v, f);
	for (unsigned i = 0; v->o.peer && !rc && i < region_tables(v->region);
	     i++)
		rc = verbs_pair_make(&v->pair[i], v, i, f);
	if (!rc && v->cm_port)
		rc = verbs_cm_open(v, f);
	if (!rc)
		v->neighbour = v->o.peer && verbs_neighbour(v, mac);
	else
		give_up(v);
	v->stale = v->o.peer;
	return rc;
}

static void drop_ticket(struct verbs_target *v)
{
	if (v->has_ticket)
		ticket_fini(&v->ticket);
	v->has_ticket = false;
}

/* Nothing can be written by the device from here on. */
static void give_up(struct verbs_target *v)
{
	verbs_cm_close(v);
	for (unsigned i = 0; i < region_tables(v->region); i++)
		verbs_pair_drop(&v->pair[i]);
	verbs_memory_drop(&v->now);
	verbs_memory_drop(&v->old);
	verbs_memory_unshare(v);
	verbs_device_close(v);
	writer_leave(v->seat);
	v->lost = v->renumber = v->renew = v->stale = false;
}

static bool renew_ticket(struct verbs_target *v)
{
	struct ticket *t = malloc(sizeof(*t));
	struct fault f = {0};

	if (!t)
		return false;
	if (verbs_ticket_make(v, t, &f) < 0) {
		free(t);
		return false; /* the next tick tries again */
	}
	drop_ticket(v);
	v->ticket = *t;
	free(t);
	v->has_ticket = true;
	v->stale = false;
	v->ctr.tickets++;
	return true;
}

/* A queue pair made again, or for the first time. */
static int mend_pair(struct verbs_target *v, unsigned i)
{
	struct verbs_pair *p = &v->pair[i];
	uint32_t was = p->qp ? p->qp->qp_num : 0;
	struct fault f = {0};
	int rc;

	verbs_pair_drop(p);
	rc = verbs_pair_make(p, v, i, &f);
	if (rc < 0) {
		p->lame = true;
		verbs_complain(v, &f);
		return rc;
	}
	v->ctr.qp_made++;
	v->stale = true;
	if (was)
		verbs_tell(v, "table %s: queue pair 0x%x made again as 0x%x",
			   region_table(v->region, i)->name, was,
			   p->qp->qp_num);
	return 0;
}

static void tell_dead(struct verbs_target *v, struct verbs_pair *p)
{
	if (p->told || !p->qp)
		return;
	p->told = true;
	v->ctr.qp_errors++;
	verbs_tell(v, "table %s: queue pair 0x%x is dead%s",
		   region_table(v->region, p->table)->name, p->qp->qp_num,
		   v->ctr.rotations ? ": perhaps an R_Key of an older epoch: "
				      "its ticket is out of date"
				    : "");
}

/*
 * Where the peer cannot be found, the kernel takes seconds to say so: one try
 * each time, and not all the time.
 */
static void mend_pairs(struct verbs_target *v)
{
	bool lame = false;

	for (unsigned i = 0; v->o.peer && i < region_tables(v->region); i++) {
		struct verbs_pair *p = &v->pair[i];

		if (p->lame)
			tell_dead(v, p);
		if (v->renew)
			p->lame = p->told = true;
		lame |= p->lame;
	}
	v->renew = false;
	if (!lame || now_ms() < v->mend_ms)
		return;
	for (unsigned i = 0; i < region_tables(v->region); i++)
		if (v->pair[i].lame && mend_pair(v, i) < 0) {
			v->mend_ms = now_ms() + MEND_MS;
			return;
		}
	v->complained = false;
}

/* An address that came back may be in another place: all depends on it. */
static void mend_address(struct verbs_target *v)
{
	struct verbs_port port;
	struct fault f = {0};

	if (verbs_port_holds(v)) {
		v->renumber = false;
		return;
	}
	if (verbs_port_find(&port, v, &f) < 0 || take_mtu(v, &port, &f) < 0) {
		verbs_complain(v, &f);
		return;
	}
	v->port = port;
	v->complained = false;
	v->renumber = false;
	v->renew = v->o.peer;
	verbs_tell(v, "its address moved");
	if (!v->cm_port)
		return;
	verbs_cm_close(v);
	if (verbs_cm_open(v, &f) < 0)
		verbs_complain(v, &f);
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
		verbs_complain(v, &f);
		return;
	}
	v->complained = false;
	verbs_memory_drop(&v->old);
	v->old = v->now;
	v->now = fresh;
	v->old_until_ms = now + v->o.grace_ms;
	v->stale = v->o.peer;
	v->ctr.rotations++;
	verbs_tell(v, "epoch %llu", (unsigned long long)epoch);
	verbs_cm_hang_up(v);
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
	uint64_t now = now_ms();

	if (now - v->looked_ms < VERBS_TARGET_TICK_MS)
		return;
	v->looked_ms = now;
	if (verbs_device_leaves(v)) {
		v->lost = true;
		return;
	}
	for (unsigned i = 0; v->o.peer && i < region_tables(v->region); i++)
		if (v->pair[i].qp && verbs_pair_is_dead(&v->pair[i]))
			v->pair[i].lame = true;
	follow_epoch(v, now);
	end_grace(v, now);
}

static void take_back(struct verbs_target *v)
{
	uint64_t now = now_ms();
	struct fault f = {0};

	if (now - v->looked_ms < VERBS_TARGET_TICK_MS)
		return;
	v->looked_ms = now;
	if (take_device(v, &f) < 0) {
		verbs_complain(v, &f);
		return;
	}
	v->ctr.device_back++;
	v->complained = false;
	verbs_tell(v, "the device is back");
}

int verbs_target_work(struct verbs_target *v)
{
	if (!v->dev.ctx)
		take_back(v);
	if (!v->dev.ctx)
		return 0;
	verbs_events_take(v);
	verbs_cm_work(v);
	tick(v);
	if (v->lost) {
		v->ctr.device_lost++;
		verbs_tell(v, "the device is lost; what is stored is not");
		give_up(v);
		drop_ticket(v);
		return 0;
	}
	if (v->renumber)
		mend_address(v);
	if (!v->renumber)
		mend_pairs(v);
	return v->stale && v->now.n && renew_ticket(v);
}

int verbs_target_listen(struct verbs_target *v, uint16_t port, struct fault *f)
{
	v->cm_port = port;
	return verbs_cm_open(v, f);
}

void verbs_target_renew(struct verbs_target *v)
{
	v->renew = v->o.peer;
}

unsigned verbs_target_fds(const struct verbs_target *v, struct pollfd *fds)
{
	int all[VERBS_TARGET_FDS];
	unsigned n = 0;

	if (v->dev.ctx) {
		all[n++] = v->dev.channel->fd;
		all[n++] = v->dev.ctx->async_fd;
		n += verbs_cm_fds(v, all + n);
	}
	for (unsigned i = 0; i < n; i++)
		fds[i] = (struct pollfd){all[i], POLLIN, 0};
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
	rc = writer_open(&v->seat, r, f);
	if (!rc)
		rc = take_device(v, f);
	if (rc < 0) {
		verbs_target_close(v);
		return rc;
	}
	v->looked_ms = now_ms();
	if (v->stale && !renew_ticket(v))
		v->looked_ms = 0; /* rotated under us: work() sees it */
	*out = v;
	return 0;
}

const struct ticket *verbs_target_ticket(const struct verbs_target *v)
{
	return v->has_ticket ? &v->ticket : NULL;
}

bool verbs_target_adds_alone(const struct verbs_target *v)
{
	return v->attr.atomic_cap != IBV_ATOMIC_GLOB;
}

const char *verbs_target_name(const struct verbs_target *v)
{
	return v->name;
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
	if (v->dev.ctx)
		give_up(v);
	drop_ticket(v);
	writer_close(v->seat);
	free(v);
}
