/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_target_event.c - what a device has to say: completions of receives,
 * which carry immediates, and asynchronous events; and how it is told on.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "verbs/verbs_target_private.h"

enum {
	POLL_BATCH = 32,
};

void verbs_warn(struct verbs_target *v, const char *fmt, ...)
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

void verbs_warn_once(struct verbs_target *v, const struct fault *f)
{
	if (!v->warned && v->o.warn)
		v->o.warn(v->o.ctx, f->text);
	v->warned = true;
}

/* Its number tells a send from a receive. */
static void probed(struct verbs_pair *p, const struct ibv_wc *wc)
{
	p->probing = false;
	if (wc->status != IBV_WC_SUCCESS)
		p->remake = true;
}

static void completed(struct verbs_target *v, struct verbs_pair *p,
		      const struct ibv_wc *wc)
{
	v->ctr.completed++;
	p->receives -= p->receives > 0;
	/* A SEND may have one as well: it takes no right to write. */
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
	/* A message that is none of ours is received all the same. */
	if (wc->status != IBV_WC_SUCCESS)
		p->remake = true;
}

static void drain(struct verbs_target *v, struct verbs_pair *p)
{
	struct ibv_wc wc[POLL_BATCH];
	int n;

	do {
		n = ibv_poll_cq(p->cq, POLL_BATCH, wc);
		for (int i = 0; i < n; i++) {
			if (wc[i].wr_id)
				probed(p, &wc[i]);
			else
				completed(v, p, &wc[i]);
		}
		if (n > 0 && !p->remake && verbs_pair_post(p) < 0)
			p->remake = true;
	} while (n == POLL_BATCH);
	if (n < 0)
		p->remake = true;
}

static void take_completions(struct verbs_target *v)
{
	struct ibv_cq *cq;
	void *pair;

	while (!ibv_get_cq_event(v->channel, &cq, &pair)) {
		ibv_ack_cq_events(cq, 1);
		/* Asked first: what comes while we look wakes us again. */
		if (ibv_req_notify_cq(cq, 0))
			((struct verbs_pair *)pair)->remake = true;
		drain(v, pair);
	}
}

static void check_neighbour(struct verbs_target *v)
{
	uint8_t mac[6];

	if (v->neighbour && !verbs_peer_known(v, mac))
		verbs_warn(v,
			   "%s has lost the translator's neighbour entry: no "
			   "answer reaches it before ip neigh replace makes a "
			   "new one",
			   v->port.netdev);
}

static void take_event(struct verbs_target *v, const struct ibv_async_event *e)
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
		verbs_warn(v, "port %d is down", e->element.port_num);
		break;
	case IBV_EVENT_PORT_ACTIVE:
		v->readdressed = true;
		if (!v->down) /* it tells so at the beginning, too */
			break;
		v->down = false;
		v->ctr.port_up++;
		verbs_warn(v, "port %d is up again", e->element.port_num);
		check_neighbour(v);
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

void verbs_events_take(struct verbs_target *v)
{
	struct ibv_async_event e;

	take_completions(v);
	while (!ibv_get_async_event(v->ctx, &e)) {
		take_event(v, &e);
		ibv_ack_async_event(&e);
	}
}
