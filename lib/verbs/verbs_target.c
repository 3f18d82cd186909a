/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_target.c - the target: tables as memory regions, one for each table and
 * epoch, so that the bounds are the table's and an epoch's R_Keys end with it;
 * queue pairs that are ready to receive from a peer whose numbers are known
 * beforehand; completions and events of the device; the ticket; and the tick.
 *
 * A responder never leaves ready-to-receive: it answers from there (IBTA
 * vol. 1, 10.3.1), and the send queue stays empty.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/zero.h"
#include "packet/live.h"
#include "verbs/verbs_cm.h"
#include "verbs/verbs_target_private.h"
#include "net/proto.h"

enum {
	REMAKE_MS = 2000, /* until what failed is tried again */
	BATCH = 32,	  /* completions taken at once */
	RNR_TIMER = 12,	  /* 0.64 ms (IBTA vol. 1, table 45) */
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

/* Tells the caller what happened; the device's name comes first. */
__attribute__((format(printf, 2, 3))) static void report(struct verbs_target *v,
							 const char *fmt, ...)
{
	char text[256], line[sizeof(text) + VERBS_TARGET_NAME_MAX + 4];
	va_list ap;

	if (!v->o.warn)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "%s: %s", v->name, text);
	v->o.warn(v->o.ctx, line);
}

/* Reports a failure, once until all is well again. */
static void report_once(struct verbs_target *v, const struct error *err)
{
	if (!v->warned && v->o.warn)
		v->o.warn(v->o.ctx, err->text);
	v->warned = true;
}

/* Atomics only for counters, which are RC's. */
static int access_of(const struct verbs_target *v, const struct table *t)
{
	int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

	if (verbs_has_atomics(v) && table_counts(t))
		rights |= IBV_ACCESS_REMOTE_ATOMIC;
	return rights;
}

/* Too much memory locked is by far the likeliest reason. */
static int cannot_register(const struct verbs_target *v, const char *what,
			   uint64_t length, struct error *err)
{
	int rc = errno ? -errno : -EIO;

	return error_set(err, rc,
			 "%s: %s: cannot lock %.1f MiB: %s: raise the limit "
			 "(ulimit -l unlimited as root, memlock in "
			 "/etc/security/limits.d, LimitMEMLOCK=infinity in a "
			 "systemd unit), or grant CAP_IPC_LOCK",
			 v->name, what, (double)length / 0x1p20, strerror(-rc));
}

/* Revokes an epoch's R_Keys: when it returns, nothing can be written by them.
 */
static void drop_memory(struct verbs_memory *m)
{
	while (m->n)
		ibv_dereg_mr(m->mr[--m->n]);
	m->epoch = 0;
}

/* Registers all tables of an epoch. */
static int make_memory(struct verbs_memory *m, struct verbs_target *v,
		       uint64_t epoch, struct error *err)
{
	*m = (struct verbs_memory){.epoch = epoch};
	for (; m->n < region_tables(v->region); m->n++) {
		const struct table *t = region_table(v->region, m->n);
		void *at = (void *)region_read(v->region, t, epoch);

		errno = 0;
		m->mr[m->n] = ibv_reg_mr(v->pd, at, t->length, access_of(v, t));
		if (!m->mr[m->n]) {
			int rc = cannot_register(v, t->name, t->length, err);

			drop_memory(m);
			return rc;
		}
	}
	return 0;
}

/* Receives have no buffer, since an immediate is all that comes. */
int verbs_pair_post(struct verbs_pair *p)
{
	struct ibv_recv_wr wr = {.wr_id = 0}, *bad;
	int rc = 0;

	while (p->receives < p->depth && !rc) {
		rc = -ibv_post_recv(p->qp, &wr, &bad);
		p->receives += !rc;
	}
	return rc;
}

static unsigned limit_to(unsigned a, int b)
{
	return b > 0 && (unsigned)b < a ? (unsigned)b : a;
}

int verbs_pair_create(struct verbs_pair *p, const struct verbs_target *v,
		      enum ibv_qp_type type, unsigned receives,
		      struct error *err)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.qp_context = p,
		.cap = {.max_send_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};
	unsigned depth = receives ? receives : VERBS_TARGET_RECEIVES;
	int rc;

	*p = (struct verbs_pair){.table = p->table};
	p->depth = limit_to(limit_to(depth, v->attr.max_qp_wr),
			    v->attr.max_cqe - 1);
	errno = 0;
	p->cq = ibv_create_cq(v->ctx, (int)p->depth + 1, p, v->channel, 0);
	if (!p->cq)
		goto fail;
	init.send_cq = init.recv_cq = p->cq;
	init.cap.max_recv_wr = p->depth;
	p->qp = ibv_create_qp(v->pd, &init);
	if (!p->qp)
		goto fail;
	rc = -ibv_req_notify_cq(p->cq, 0);
	if (!rc)
		return 0;
	errno = -rc;
fail:
	rc = errno ? -errno : -EIO;
	verbs_pair_drop(p);
	return error_set(err, rc, "%s: queue pair: %s", v->name, strerror(-rc));
}

void verbs_pair_drop(struct verbs_pair *p)
{
	if (p->qp)
		ibv_destroy_qp(p->qp);
	if (p->cq)
		ibv_destroy_cq(p->cq);
	*p = (struct verbs_pair){.table = p->table};
}

static int to_init(struct verbs_pair *p, const struct verbs_target *v)
{
	const struct table *t = region_table(v->region, p->table);
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT,
		.port_num = v->port.number,
		.qp_access_flags = (unsigned)access_of(v, t),
	};

	return -ibv_modify_qp(p->qp, &a,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				      IBV_QP_ACCESS_FLAGS);
}

/*
 * The translator's queue pair has the same number: the ticket gives one for
 * both. The first PSN is random, so that packets still on their way to an
 * earlier queue pair of that number do not fit this one, and tickets tell the
 * two apart.
 */
static int to_rtr(struct verbs_pair *p, const struct verbs_target *v)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = (enum ibv_mtu)(ffs((int)v->mtu) - 8),
		.dest_qp_num = p->qp->qp_num,
		.rq_psn = p->first_psn,
		.max_dest_rd_atomic = verbs_pair_atomics(v),
		.min_rnr_timer = RNR_TIMER,
		.ah_attr = verbs_peer(v),
	};
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
		   IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	if (p->qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return -ibv_modify_qp(p->qp, &a, mask);
}

/* Makes p for a table and its peer, ready to receive. */
static int make_pair(struct verbs_pair *p, struct verbs_target *v,
		     unsigned table, struct error *err)
{
	bool reliable = region_table(v->region, table)->qp == TABLE_QP_RC;
	char ip[TEXT_IP_MAX];
	int rc;

	p->table = table;
	rc = verbs_pair_create(p, v, reliable ? IBV_QPT_RC : IBV_QPT_UC,
			       v->o.receives, err);
	if (rc < 0)
		return rc;
	rc = to_init(p, v);
	if (!rc)
		rc = verbs_pair_post(p);
	if (rc < 0) {
		error_set(err, rc, "%s: queue pair: %s", v->name,
			  strerror(-rc));
	} else {
		p->first_psn = (uint32_t)rng_seed() & ROCE_PSN_MASK;
		rc = to_rtr(p, v);
		text_of_ip(ip, v->want.version, v->want.peer_ip);
		if (rc < 0) /* the kernel resolves the peer's address itself */
			error_set(err, rc,
				  "%s: the translator, %s, is not reached "
				  "through %s: %s: give it a route (ip route "
				  "add), and if it answers no ARP, as a "
				  "switch: ip neigh replace %s dev %s lladdr "
				  "MAC nud permanent",
				  v->name, ip, v->port.netdev, strerror(-rc),
				  ip, v->port.netdev);
	}
	if (rc < 0)
		verbs_pair_drop(p);
	return rc;
}

/* Sets *psn to the expected one, if the device tells. */
static bool pair_is_dead(const struct verbs_pair *p, uint32_t *psn)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a = {.rq_psn = 0};

	if (ibv_query_qp(p->qp, &a, IBV_QP_STATE | IBV_QP_RQ_PSN, &init))
		return true;
	*psn = a.rq_psn & ROCE_PSN_MASK;
	return a.qp_state != IBV_QPS_RTR && a.qp_state != IBV_QPS_RTS;
}

int verbs_ticket_make(struct verbs_target *v, struct ticket *t,
		      struct error *err)
{
	unsigned ready = 0;
	int rc;

	*t = v->want;
	t->mtu = (uint16_t)v->mtu;
	t->atomics = verbs_pair_atomics(v);
	memcpy(t->ip, v->port.gid.raw + (t->version == 4 ? 12 : 0),
	       t->version == 4 ? 4 : 16);
	if (is_zero(t->mac, 6))
		memcpy(t->mac, v->port.mac, 6);
	if (!v->pairs)
		memcpy(t->peer_ip, t->ip, 16);
	else if (is_zero(t->peer_mac, 6))
		live_neighbour(t->peer_mac, v->port.netdev, v->want.version,
			       v->want.peer_ip);
	rc = ticket_of_region(t, v->region, err);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < t->n && t->epoch == v->current.epoch; i++) {
		const struct verbs_pair *p = &v->pair[i];
		struct ticket_table *at = &t->at[i];

		at->rkey = v->current.mr[i]->rkey;
		at->address = (uintptr_t)v->current.mr[i]->addr;
		if (i >= v->pairs)
			continue;
		if (!p->qp)
			break;
		at->qpn = p->qp->qp_num;
		at->first_psn = p->first_psn;
		at->lasting = true;
		pair_is_dead(p, &at->psn);
		ready++;
	}
	if (t->epoch == v->current.epoch && ready == v->pairs)
		return 0;
	ticket_fini(t);
	return error_set(err, -EAGAIN, "%s: not ready yet", v->name);
}

static void note_receive(struct verbs_target *v, struct verbs_pair *p,
			 const struct ibv_wc *wc)
{
	v->ctr.completed++;
	p->receives -= p->receives > 0;
	/* Not a SEND's: it needs no right to write into a table. */
	if (wc->status == IBV_WC_SUCCESS &&
	    wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
		v->ctr.immediates++;
		region_notify(v->region, ntohl(wc->imm_data));
		return;
	}
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		v->ctr.flushed++;
	else
		v->ctr.failed++;
	/* A stray SEND that was received well does no harm. */
	if (wc->status != IBV_WC_SUCCESS)
		p->remake = true;
}

static void drain_completions(struct verbs_target *v, struct verbs_pair *p)
{
	struct ibv_wc wc[BATCH];
	int n;

	do {
		n = ibv_poll_cq(p->cq, BATCH, wc);
		for (int i = 0; i < n; i++) {
			if (!wc[i].wr_id) {
				note_receive(v, p, &wc[i]);
				continue;
			}
			p->probing = false; /* wr_id is probe_host()'s */
			p->remake |= wc[i].status != IBV_WC_SUCCESS;
		}
		if (n > 0 && !p->remake && verbs_pair_post(p) < 0)
			p->remake = true;
	} while (n == BATCH);
	if (n < 0)
		p->remake = true;
}

static void handle_completions(struct verbs_target *v)
{
	struct ibv_cq *cq;
	void *pair;

	while (!ibv_get_cq_event(v->channel, &cq, &pair)) {
		ibv_ack_cq_events(cq, 1);
		/* Before polling: what completes meanwhile wakes us again. */
		if (ibv_req_notify_cq(cq, 0))
			((struct verbs_pair *)pair)->remake = true;
		drain_completions(v, pair);
	}
}

static void handle_event(struct verbs_target *v,
			 const struct ibv_async_event *e)
{
	switch (e->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		((struct verbs_pair *)e->element.qp->qp_context)->remake = true;
		break;
	case IBV_EVENT_CQ_ERR:
		((struct verbs_pair *)e->element.cq->cq_context)->remake = true;
		break;
	case IBV_EVENT_PORT_ERR:
		v->down = true;
		v->ctr.port_down++;
		report(v, "port %d is down", e->element.port_num);
		break;
	case IBV_EVENT_PORT_ACTIVE:
		v->readdressed = true;
		if (!v->down) /* the event comes at the beginning, too */
			break;
		v->down = false;
		v->ctr.port_up++;
		report(v,
		       "port %d is up again; where %s has lost the translator's"
		       " neighbour entry, ip neigh replace makes a new one",
		       e->element.port_num, v->port.netdev);
		break;
	case IBV_EVENT_GID_CHANGE:
		v->readdressed = true;
		break;
	case IBV_EVENT_DEVICE_FATAL:
		v->lost = true;
		break;
	default: /* nothing is lost by them */
		break;
	}
}

static int check_tables(const struct verbs_target *v, struct error *err)
{
	for (unsigned i = 0; i < region_tables(v->region); i++) {
		const struct table *t = region_table(v->region, i);

		if (table_counts(t) && !verbs_has_atomics(v))
			return error_set(
				err, -ENOTSUP,
				"%s: table %s: counters need FETCH_ADD, and "
				"this device has no atomic operations: keep "
				"the table in a region of another device, or "
				"use the software responder",
				v->name, t->name);
	}
	return 0;
}

/* Opens the device, registers the memory and makes the queue pairs. */
static int set_up(struct verbs_target *v, struct error *err)
{
	uint64_t length = region_size(v->region);
	int rc = verbs_device_open(v, err);
	struct error why = {""};

	if (!rc)
		rc = check_tables(v, err);
	if (!rc)
		rc = verbs_port_find(v, err);
	if (!rc && v->pairs) /* it is about UC, which hosts do not have */
		rc = ticket_check_mtu(region_table(v->region, 0), v->pairs,
				      v->mtu, &why);
	if (*why.text)
		error_about(err, rc, v->name, &why);
	if (!rc)
		rc = make_memory(&v->current, v, writer_enter(v->writer), err);
	errno = 0;
	if (!rc && v->o.readable &&
	    !(v->readable = ibv_reg_mr(v->pd, (void *)region_file(v->region),
				       length, IBV_ACCESS_REMOTE_READ)))
		rc = cannot_register(v, "--readable: the region once more",
				     length, err);
	for (unsigned i = 0; !rc && i < v->pairs; i++)
		rc = make_pair(&v->pair[i], v, i, err);
	v->stale = v->pairs;
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

/* Makes a queue pair anew, or tries again after an attempt that failed. */
static int remake_pair(struct verbs_target *v, unsigned i)
{
	struct verbs_pair *p = &v->pair[i];
	uint32_t was = p->qp ? p->qp->qp_num : 0;
	struct error err = {0};
	int rc;

	verbs_pair_drop(p);
	rc = make_pair(p, v, i, &err);
	if (rc < 0) {
		p->remake = true;
		report_once(v, &err);
		return rc;
	}
	v->ctr.qp_made++;
	v->stale = true;
	if (was)
		report(v, "table %s: queue pair 0x%x made again as 0x%x",
		       region_table(v->region, i)->name, was, p->qp->qp_num);
	return 0;
}

static void report_dead(struct verbs_target *v, struct verbs_pair *p)
{
	if (p->warned || !p->qp)
		return;
	p->warned = true;
	v->ctr.qp_errors++;
	report(v, "table %s: queue pair 0x%x is dead%s",
	       region_table(v->region, p->table)->name, p->qp->qp_num,
	       v->ctr.rotations ? ": perhaps an R_Key of an older epoch: "
				  "its ticket is out of date"
				: "");
}

/* If the peer cannot be found, the kernel takes seconds to say so. So the first
 * failure ends a call, and the next attempt waits for REMAKE_MS. */
static void remake_pairs(struct verbs_target *v)
{
	for (unsigned i = 0; i < v->pairs; i++)
		if (v->pair[i].remake)
			report_dead(v, &v->pair[i]);
	if (clock_ms() < v->remake_ms)
		return;
	for (unsigned i = 0; i < v->pairs; i++) {
		if (!v->pair[i].remake)
			continue;
		if (remake_pair(v, i) < 0) {
			v->remake_ms = clock_ms() + REMAKE_MS;
			return;
		}
		v->warned = false;
	}
}

/* After a rotation: makes R_Keys for the new epoch, and keeps the old ones for
 * a while. */
static void follow_epoch(struct verbs_target *v, uint64_t now)
{
	uint64_t epoch = region_epoch(v->region);
	struct verbs_memory fresh;
	struct error err = {0};

	if (epoch == v->current.epoch)
		return;
	if (make_memory(&fresh, v, epoch, &err) < 0) {
		report_once(v, &err);
		return;
	}
	v->warned = false;
	drop_memory(&v->old);
	v->old = v->current;
	v->current = fresh;
	v->old_until_ms = now + v->o.grace_ms;
	v->stale = v->pairs;
	v->ctr.rotations++;
	report(v, "epoch %llu", (unsigned long long)epoch);
	verbs_hosts_disconnect(v);
}

static void tick_target(struct verbs_target *v)
{
	uint64_t now = clock_ms();
	uint32_t psn;

	if (now - v->ticked_ms < VERBS_TARGET_TICK_MS)
		return;
	v->ticked_ms = now;
	if (verbs_device_leaving(v)) {
		v->lost = true;
		return;
	}
	for (unsigned i = 0; i < v->pairs; i++)
		if (v->pair[i].qp && pair_is_dead(&v->pair[i], &psn))
			v->pair[i].remake = true;
	follow_epoch(v, now);
	/*
	 * The old R_Keys are revoked before the writer enters the new epoch, so
	 * that the rotation ends when the device cannot write into the old one
	 * any more. Until then nothing can rotate again. But a rotation may
	 * come within writer_enter(): then the current keys are old already,
	 * and are revoked at once.
	 */
	if (v->old.n && now >= v->old_until_ms) {
		drop_memory(&v->old);
		if (writer_enter(v->writer) != v->current.epoch)
			drop_memory(&v->current);
	}
}

int verbs_target_work(struct verbs_target *v, struct error *err)
{
	struct ibv_async_event e;
	int rc = 0;

	handle_completions(v);
	while (!ibv_get_async_event(v->ctx, &e)) {
		handle_event(v, &e);
		ibv_ack_async_event(&e);
	}
	verbs_hosts_work(v);
	tick_target(v);
	if (v->lost)
		return error_set(err, -ENODEV,
				 "%s: the device is gone; start again when it "
				 "is back: what is stored stays",
				 v->name);
	if (v->readdressed)
		rc = verbs_port_check(v, err);
	if (rc < 0)
		return rc;
	v->readdressed = false;
	remake_pairs(v);
	return v->stale && renew_ticket(v);
}

void verbs_target_renew(struct verbs_target *v)
{
	for (unsigned i = 0; i < v->pairs; i++)
		v->pair[i].remake = v->pair[i].warned = true;
}

unsigned verbs_target_fds(const struct verbs_target *v, struct pollfd *fds)
{
	const int all[] = {v->channel->fd, v->ctx->async_fd, verbs_hosts_fd(v)};
	unsigned n = 0;

	for (; n < VERBS_TARGET_FDS && all[n] >= 0; n++)
		fds[n] = (struct pollfd){all[n], POLLIN, 0};
	return n;
}

int verbs_target_open(struct verbs_target **out, struct region *r,
		      const struct verbs_target_options *o, struct error *err)
{
	struct verbs_target *v = calloc(1, sizeof(*v));
	int rc;

	if (!v)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	v->region = r;
	v->o = *o;
	v->want = *o->want;
	v->pairs = o->peer ? region_tables(r) : 0;
	v->o.device = NULL; /* the caller's: v->name and v->want are copies */
	v->o.want = NULL;
	if (!v->want.version)
		v->want.version = 4;
	snprintf(v->name, sizeof(v->name), "%s", o->device);
	verbs_raise_memlock();
	rc = writer_open(&v->writer, r, err);
	if (!rc)
		rc = set_up(v, err);
	if (rc < 0) {
		verbs_target_close(v);
		return rc;
	}
	v->ticked_ms = clock_ms();
	if (v->stale && !renew_ticket(v))
		v->ticked_ms = 0; /* a rotation: work() follows it at once */
	*out = v;
	return 0;
}

const struct ticket *verbs_target_ticket(const struct verbs_target *v)
{
	return v->ticket;
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
	verbs_hosts_close(v);
	for (unsigned i = 0; i < region_tables(v->region); i++)
		verbs_pair_drop(&v->pair[i]);
	drop_memory(&v->current);
	drop_memory(&v->old);
	if (v->readable)
		ibv_dereg_mr(v->readable);
	verbs_device_close(v);
	/* Nothing can be written by the device from here on. */
	drop_ticket(v);
	writer_close(v->writer);
	free(v);
}
