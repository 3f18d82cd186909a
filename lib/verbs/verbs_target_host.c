/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_target_host.c - what a host is given: a ticket's text, or a queue pair
 * for a table, or one to read with.
 *
 * Queue pairs are made on the target's own context, where the memory is
 * registered; librdmacm is asked for their attributes only.
 */
#include "verbs/verbs_host_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	READERS_MAX = 128, /* the other connections are for who writes */
};

void verbs_host_free(struct connection *c)
{
	verbs_pair_drop(&c->pair);
	if (c->mr)
		ibv_dereg_mr(c->mr);
	if (c->id)
		rdma_destroy_id(c->id);
	free(c->text);
	free(c);
}

static unsigned rights(const struct connection *c, const struct verbs_target *v)
{
	if (c->text || c->reads)
		return IBV_ACCESS_REMOTE_READ;
	return (unsigned)verbs_access(v,
				      region_table(v->region, c->pair.table));
}

/* As rdma_accept() would do, were the queue pair librdmacm's own. */
static int change_state(struct connection *c, const struct verbs_target *v,
			enum ibv_qp_state state, uint8_t resources)
{
	struct ibv_qp_attr a = {.qp_state = state};
	int mask;

	if (rdma_init_qp_attr(c->id, &a, &mask))
		return -errno;
	if (mask & IBV_QP_ACCESS_FLAGS)
		a.qp_access_flags = rights(c, v);
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		a.max_dest_rd_atomic = resources;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		a.max_rd_atomic = 0; /* we ask for nothing */
	return -ibv_modify_qp(c->pair.qp, &a, mask);
}

static int make_ready(struct connection *c, const struct verbs_target *v,
		      uint8_t resources)
{
	int rc = change_state(c, v, IBV_QPS_INIT, 0);

	if (!rc)
		rc = verbs_pair_post(&c->pair);
	if (!rc)
		rc = change_state(c, v, IBV_QPS_RTR, resources);
	return rc ? rc : change_state(c, v, IBV_QPS_RTS, 0);
}

/* Makes the queue pair and says yes. */
static int serve_place(struct connection *c, struct verbs_target *v,
		       const struct request *q, unsigned receives,
		       const struct verbs_cm_place *place)
{
	uint8_t data[VERBS_CM_PLACE_LEN];
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = sizeof(data),
		.responder_resources = q->resources,
		.rnr_retry_count = 7,
	};
	int rc = verbs_pair_create(&c->pair, v, IBV_QPT_RC, receives, NULL);

	if (param.responder_resources > v->attr.max_qp_rd_atom)
		param.responder_resources = (uint8_t)v->attr.max_qp_rd_atom;
	if (!rc)
		rc = make_ready(c, v, param.responder_resources);
	if (rc < 0)
		return rc;
	param.qp_num = c->pair.qp->qp_num;
	verbs_cm_place_encode(data, place);
	return rdma_accept(c->id, &param) ? -errno : 0;
}

static int write_text(struct connection *c, struct verbs_target *v)
{
	struct ticket *t = malloc(sizeof(*t));
	FILE *out = t ? open_memstream(&c->text, &c->len) : NULL;
	int rc = out ? verbs_ticket_make(v, t, NULL) : -ENOMEM;

	if (!rc) {
		rc = ticket_write(t, out);
		ticket_fini(t);
	}
	if (out && fclose(out) != 0 && !rc)
		rc = -errno;
	free(t);
	return rc;
}

/* Gives what has this memory region to be read. */
static int serve_read(struct connection *c, struct verbs_target *v,
		      const struct request *q, const struct ibv_mr *mr)
{
	const struct verbs_cm_place place = {
		.kind = q->ask.kind,
		.rkey = mr->rkey,
		.address = (uintptr_t)mr->addr,
		.length = mr->length,
	};

	return serve_place(c, v, q, 1, &place);
}

static int serve_ticket(struct connection *c, struct verbs_target *v,
			const struct request *q)
{
	int rc = write_text(c, v);

	if (rc < 0)
		return rc;
	c->mr = ibv_reg_mr(v->pd, c->text, c->len, IBV_ACCESS_REMOTE_READ);
	return c->mr ? serve_read(c, v, q, c->mr) : errno ? -errno : -ENOMEM;
}

static int serve_table(struct connection *c, struct verbs_target *v,
		       const struct request *q)
{
	const struct table *t = region_by_id(v->region, q->ask.table);
	struct verbs_cm_place place;
	const struct ibv_mr *mr;

	if (!t)
		return -ENOENT;
	if (q->ask.epoch != region_epoch(v->region) ||
	    q->ask.epoch != v->now.epoch)
		return -ESTALE;
	c->pair.table = (unsigned)(t - region_table(v->region, 0));
	mr = v->now.mr[c->pair.table];
	place = (struct verbs_cm_place){
		.kind = VERBS_CM_TABLE,
		.table = q->ask.table,
		.rkey = mr->rkey,
		.address = (uintptr_t)mr->addr,
		.epoch = v->now.epoch,
	};
	return serve_place(c, v, q, v->o.receives, &place);
}

static int serve_reader(struct connection *c, struct verbs_target *v,
			const struct request *q)
{
	if (!v->readable)
		return -EACCES;
	if (v->cm->readers == READERS_MAX)
		return -EUSERS;
	c->reads = true;
	v->cm->readers++;
	return serve_read(c, v, q, v->readable);
}

int verbs_host_serve(struct connection *c, struct verbs_target *v,
		     const struct request *q)
{
	if (q->rc < 0)
		return q->rc;
	if (!v->now.n)
		return -EAGAIN;
	if (strcmp(ibv_get_device_name(q->id->verbs->device), v->name) != 0)
		return -ENODEV;
	switch (q->ask.kind) {
	case VERBS_CM_TICKET:
		return serve_ticket(c, v, q);
	case VERBS_CM_READ:
		return serve_reader(c, v, q);
	default:
		return serve_table(c, v, q);
	}
}

void verbs_host_pulse(struct connection *c)
{
	struct ibv_send_wr wr =
				   {
					   .wr_id = 1,
					   .opcode = IBV_WR_RDMA_WRITE,
					   .send_flags = IBV_SEND_SIGNALED,
				   },
			   *bad;
	int rc;

	if (c->text || c->pair.probing)
		return;
	rc = ibv_post_send(c->pair.qp, &wr, &bad);
	/* Without privileges that were dropped rxe does not send: so be it. */
	if (!rc)
		c->pair.probing = true;
	else if (rc != EACCES && rc != EPERM)
		c->broken = true;
}
