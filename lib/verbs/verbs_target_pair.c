/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_target_pair.c - queue pairs that are ready to receive from a peer whose
 * numbers are known beforehand: no connection manager is asked.
 *
 * A responder never leaves ready-to-receive: it answers from there (IBTA
 * 10.3.1.3), and the send queue stays empty.
 */
#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "base/text.h"
#include "verbs/verbs_target_private.h"
#include "wire/proto.h"

enum {
	POST_BATCH = 32,
	RNR_TIMER = 12, /* 0.64 ms (IBTA table 45) */
};

/* A receive has no room: an immediate is all that comes. */
static int post_some(struct verbs_pair *p, unsigned n)
{
	struct ibv_recv_wr wr[POST_BATCH], *bad;

	memset(wr, 0, sizeof(wr));
	for (unsigned i = 0; i + 1 < n; i++)
		wr[i].next = &wr[i + 1];
	return -ibv_post_recv(p->qp, wr, &bad);
}

int verbs_pair_post(struct verbs_pair *p)
{
	while (p->receives < p->depth) {
		unsigned n = p->depth - p->receives;
		int rc;

		n = n < POST_BATCH ? n : POST_BATCH;
		rc = post_some(p, n);
		if (rc < 0)
			return rc;
		p->receives += n;
	}
	return 0;
}

static unsigned least(unsigned a, int b)
{
	return b > 0 && (unsigned)b < a ? (unsigned)b : a;
}

int verbs_pair_create(struct verbs_pair *p, const struct verbs_target *v,
		      enum ibv_qp_type type, unsigned receives, struct fault *f)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.qp_context = p,
		.cap = {.max_send_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};
	unsigned depth = receives ? receives : VERBS_TARGET_RECEIVES;
	int rc;

	*p = (struct verbs_pair){.table = p->table};
	p->depth = least(least(depth, v->attr.max_qp_wr), v->attr.max_cqe - 1);
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
	return fault_set(f, rc, "%s: queue pair: %s", v->name, strerror(-rc));
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
		.qp_access_flags = (unsigned)verbs_access(v, t),
	};

	return -ibv_modify_qp(p->qp, &a,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				      IBV_QP_ACCESS_FLAGS);
}

uint8_t verbs_pair_atomics(const struct verbs_target *v)
{
	int n = v->attr.max_qp_rd_atom;

	return (uint8_t)(n < 0 ? 0 : n > UINT8_MAX ? UINT8_MAX : n);
}

/*
 * A translator has the same queue pair number as we: the ticket says one. The
 * first PSN is a random one: what is still on its way to an earlier queue pair
 * of that number does not fit this one, and its ticket tells them apart.
 */
static int to_rtr(struct verbs_pair *p, const struct verbs_target *v)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = verbs_mtu_of(v->mtu),
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

/* The kernel resolves the peer's address itself, and may fail to. */
static int cannot_reach(int err, const struct verbs_target *v, struct fault *f)
{
	char ip[TEXT_IP_MAX];

	text_of_ip(ip, v->want.version, v->want.peer_ip);
	if (err == -ENETUNREACH)
		return fault_set(f, err,
				 "%s: no route to the translator, %s, through "
				 "%s: give it one: ip route add %s dev %s",
				 v->name, ip, v->port.netdev, ip,
				 v->port.netdev);
	if (err == -EHOSTUNREACH || err == -ETIMEDOUT || err == -ENODATA ||
	    err == -EINVAL)
		return fault_set(
			f, err,
			"%s: the translator, %s, does not answer ARP on %s: "
			"is it there? A switch needs no ARP: ip neigh replace "
			"%s dev %s lladdr MAC nud permanent (%s)",
			v->name, ip, v->port.netdev, ip, v->port.netdev,
			strerror(-err));
	return fault_set(f, err, "%s: translator %s: %s", v->name, ip,
			 strerror(-err));
}

int verbs_pair_make(struct verbs_pair *p, struct verbs_target *v,
		    unsigned table, struct fault *f)
{
	bool reliable = region_table(v->region, table)->qp == TABLE_QP_RC;
	int rc;

	p->table = table;
	rc = verbs_pair_create(p, v, reliable ? IBV_QPT_RC : IBV_QPT_UC,
			       v->o.receives, f);
	if (rc < 0)
		return rc;
	rc = to_init(p, v);
	if (!rc)
		rc = verbs_pair_post(p);
	if (rc < 0) {
		fault_set(f, rc, "%s: queue pair: %s", v->name, strerror(-rc));
	} else {
		p->first_psn = (uint32_t)rng_seed() & ROCE_PSN_MASK;
		rc = to_rtr(p, v);
		if (rc < 0)
			cannot_reach(rc, v, f);
	}
	if (rc < 0)
		verbs_pair_drop(p);
	return rc;
}

bool verbs_pair_is_dead(const struct verbs_pair *p)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	if (ibv_query_qp(p->qp, &a, IBV_QP_STATE, &init))
		return true;
	return a.qp_state != IBV_QPS_RTR && a.qp_state != IBV_QPS_RTS;
}

uint32_t verbs_pair_psn(const struct verbs_pair *p)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a = {.rq_psn = 0};

	if (ibv_query_qp(p->qp, &a, IBV_QP_RQ_PSN, &init))
		return 0;
	return a.rq_psn & ROCE_PSN_MASK;
}
