/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_target_cm.c - hosts that connect by librdmacm (verbs_cm.h): each has
 * one connection, to read the ticket and write by it, or to read the region.
 *
 * Queue pairs are made on the target's own context, where the memory is
 * registered; librdmacm is asked for their attributes only.
 */
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "verbs/verbs_cm.h"
#include "verbs/verbs_target_private.h"

enum {
	CONNECTIONS_MAX = 256,
	READERS_MAX = 128, /* of them; the rest is for hosts that write */
	BACKLOG = 64,
	TIMEOUT_MS = 10000, /* to be established */
	PROBE_MS = 10000,   /* between probes of a connection */
};

struct connection {
	struct connection *next;
	struct rdma_cm_id *id;
	struct verbs_pair pair;
	bool established, disconnected, broken;
	bool reads; /* the region, and writes nothing */
	uint64_t since_ms, probed_ms;
	char *text; /* the ticket, to be read as mr; NULL for a reader */
	struct ibv_mr *mr;
};

struct verbs_hosts {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct connection *first;
	unsigned n;	  /* connections */
	unsigned readers; /* those that read */
};

/* A host's request, copied: its event is acknowledged before it is judged. */
struct cm_request {
	struct rdma_cm_id *id;
	struct verbs_cm message;
	int rc;		 /* of verbs_cm_decode() */
	uint8_t atomics; /* and READs that it wants outstanding */
};

static struct sockaddr_storage own_address(const struct verbs_target *v,
					   uint16_t port)
{
	struct sockaddr_storage s = {0};
	struct sockaddr_in *in = (void *)&s;
	struct sockaddr_in6 *in6 = (void *)&s;

	if (v->want.version == 4) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, v->port.gid.raw + 12, 4);
	} else {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		in6->sin6_scope_id = v->port.ifindex;
		memcpy(&in6->sin6_addr, v->port.gid.raw, 16);
	}
	return s;
}

static int listen_at(struct verbs_hosts *hosts, struct sockaddr_storage address)
{
	int rc;

	hosts->channel = rdma_create_event_channel();
	if (!hosts->channel)
		return -errno;
	rc = verbs_do_not_block(hosts->channel->fd);
	if (rc < 0)
		return rc;
	if (rdma_create_id(hosts->channel, &hosts->listener, NULL,
			   RDMA_PS_TCP) ||
	    rdma_bind_addr(hosts->listener, (struct sockaddr *)&address) ||
	    rdma_listen(hosts->listener, BACKLOG))
		return -errno;
	return 0;
}

int verbs_target_listen(struct verbs_target *v, uint16_t port,
			struct error *err)
{
	static const char node[] = "/dev/infiniband/rdma_cm";
	int rc;

	v->hosts = calloc(1, sizeof(*v->hosts));
	if (!v->hosts)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	rc = listen_at(v->hosts, own_address(v, port));
	if (!rc)
		return 0;
	verbs_hosts_close(v);
	if (access(node, R_OK | W_OK) < 0)
		return error_set(err, -errno,
				 "%s: %s: load the module rdma_ucm, and let "
				 "this user open it (chmod 0666)",
				 node, strerror(errno));
	return error_set(err, rc, "%s: port %u: %s", v->name, port,
			 strerror(-rc));
}

int verbs_hosts_fd(const struct verbs_target *v)
{
	return v->hosts ? v->hosts->channel->fd : -1;
}

static void drop_connection(struct verbs_hosts *hosts, struct connection *c)
{
	hosts->readers -= c->reads;
	hosts->n--;
	verbs_pair_drop(&c->pair);
	if (c->mr)
		ibv_dereg_mr(c->mr);
	rdma_destroy_id(c->id);
	free(c->text);
	free(c);
}

/* As rdma_accept() would do, were the queue pair librdmacm's own. */
static int change_state(struct connection *c, const struct verbs_target *v,
			enum ibv_qp_state state, uint8_t atomics)
{
	struct ibv_qp_attr a = {.qp_state = state};
	unsigned rights = IBV_ACCESS_REMOTE_READ;
	int mask;

	if (!c->reads)
		rights |= IBV_ACCESS_REMOTE_WRITE;
	if (!c->reads && verbs_has_atomics(v))
		rights |= IBV_ACCESS_REMOTE_ATOMIC;
	if (rdma_init_qp_attr(c->id, &a, &mask))
		return -errno;
	if (mask & IBV_QP_ACCESS_FLAGS)
		a.qp_access_flags = rights;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		a.max_dest_rd_atomic = atomics;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		a.max_rd_atomic = 0; /* this side sends none */
	return -ibv_modify_qp(c->pair.qp, &a, mask);
}

/* Makes the queue pair and accepts the connection. */
static int accept_host(struct connection *c, struct verbs_target *v,
		       const struct cm_request *req, const struct ibv_mr *mr)
{
	struct verbs_cm answer = {
		.kind = req->message.kind,
		.rkey = mr->rkey,
		.address = (uintptr_t)mr->addr,
		.length = mr->length,
	};
	uint8_t data[VERBS_CM_LEN], most = verbs_pair_atomics(v);
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = sizeof(data),
		.responder_resources = req->atomics < most ? req->atomics
							   : most,
		.rnr_retry_count = 7, /* for ever */
	};
	int rc = verbs_pair_create(&c->pair, v, IBV_QPT_RC,
				   c->reads ? 1 : v->o.receives, NULL);

	if (!rc)
		rc = change_state(c, v, IBV_QPS_INIT, 0);
	if (!rc)
		rc = verbs_pair_post(&c->pair);
	if (!rc)
		rc = change_state(c, v, IBV_QPS_RTR, param.responder_resources);
	if (!rc)
		rc = change_state(c, v, IBV_QPS_RTS, 0);
	if (rc < 0)
		return rc;
	param.qp_num = c->pair.qp->qp_num;
	verbs_cm_encode(data, &answer);
	return rdma_accept(c->id, &param) ? -errno : 0;
}

/* Makes the ticket's text and registers it, so that the host can read it. */
static int offer_ticket(struct connection *c, struct verbs_target *v)
{
	struct ticket *t = malloc(sizeof(*t));
	size_t len = 0;
	FILE *out = t ? open_memstream(&c->text, &len) : NULL;
	int rc = out ? verbs_ticket_make(v, t, NULL) : -ENOMEM;

	if (!rc) {
		rc = ticket_write(t, out);
		ticket_fini(t);
	}
	if (out && fclose(out) != 0 && !rc)
		rc = -errno;
	free(t);
	if (rc < 0)
		return rc;
	c->mr = ibv_reg_mr(v->pd, c->text, len, IBV_ACCESS_REMOTE_READ);
	return c->mr ? 0 : errno ? -errno : -ENOMEM;
}

static int count_reader(struct connection *c, const struct verbs_target *v)
{
	if (!v->readable)
		return -EACCES;
	if (v->hosts->readers == READERS_MAX)
		return -EUSERS;
	c->reads = true;
	v->hosts->readers++;
	return 0;
}

/* Gives a host what it asks for: 0, or the -errno to reject it with. */
static int serve_host(struct connection *c, struct verbs_target *v,
		      const struct cm_request *req)
{
	bool reads = req->message.kind == VERBS_CM_READ;
	int rc = req->rc;

	if (!rc && !v->current.n)
		rc = -EAGAIN;
	if (!rc && strcmp(ibv_get_device_name(req->id->verbs->device), v->name))
		rc = -ENODEV;
	if (!rc)
		rc = reads ? count_reader(c, v) : offer_ticket(c, v);
	return rc < 0 ? rc
		      : accept_host(c, v, req, reads ? v->readable : c->mr);
}

static void reject_host(struct verbs_target *v, struct rdma_cm_id *id,
			int error)
{
	uint8_t data[VERBS_CM_LEN];

	verbs_cm_encode(data, &(struct verbs_cm){.error = error});
	rdma_reject(id, data, sizeof(data));
	v->ctr.refused++;
}

static void answer_request(struct verbs_target *v, const struct cm_request *req)
{
	struct connection *c = calloc(1, sizeof(*c));
	int rc;

	if (!c) {
		reject_host(v, req->id, -ENOMEM);
		rdma_destroy_id(req->id);
		return;
	}
	c->id = req->id;
	c->id->context = c;
	c->since_ms = c->probed_ms = clock_ms();
	rc = v->hosts->n++ < CONNECTIONS_MAX ? serve_host(c, v, req) : -EUSERS;
	if (rc < 0) {
		reject_host(v, req->id, rc);
		drop_connection(v->hosts, c);
		return;
	}
	c->next = v->hosts->first;
	v->hosts->first = c;
}

static void handle_event(struct verbs_target *v, struct connection *c,
			 enum rdma_cm_event_type type)
{
	switch (type) {
	case RDMA_CM_EVENT_ESTABLISHED:
		c->established = true;
		v->ctr.connections++;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		c->disconnected = true;
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
	case RDMA_CM_EVENT_ADDR_CHANGE:
		break;
	default: /* unreachable, rejected, the device is gone... */
		c->broken = true;
		break;
	}
}

static void handle_events(struct verbs_target *v)
{
	struct rdma_cm_event *e;

	while (!rdma_get_cm_event(v->hosts->channel, &e)) {
		const struct rdma_conn_param *param = &e->param.conn;
		enum rdma_cm_event_type type = e->event;
		struct connection *c = e->id->context;
		struct cm_request req = {.id = e->id};

		if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
			req.rc = verbs_cm_decode(&req.message,
						 param->private_data,
						 param->private_data_len);
			req.atomics = param->responder_resources;
		}
		rdma_ack_cm_event(e);
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
			answer_request(v, &req);
		else if (c)
			handle_event(v, c, type);
		else if (type == RDMA_CM_EVENT_DEVICE_REMOVAL)
			v->lost = true;
	}
}

/* Writes no bytes, which the host's device must acknowledge. So a host that has
 * died is noticed. */
static void probe_host(struct connection *c, uint64_t now)
{
	struct ibv_send_wr *bad, wr = {.wr_id = 1};
	int rc;

	if (c->pair.probing || now - c->probed_ms <= PROBE_MS)
		return;
	c->probed_ms = now;
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.send_flags = IBV_SEND_SIGNALED;
	rc = ibv_post_send(c->pair.qp, &wr, &bad);
	/* rxe refuses to send once privileges were dropped: no probe then. */
	c->pair.probing = !rc;
	c->broken |= rc && rc != EACCES && rc != EPERM;
}

/* Closes connections that have ended, or failed. One that is to end must have
 * been established: before that, a host would take the end for a rejection. */
static void close_ended(struct verbs_target *v)
{
	struct connection **at = &v->hosts->first, *c;
	uint64_t now = clock_ms();

	while ((c = *at)) {
		if (c->established)
			probe_host(c, now);
		else if (now - c->since_ms > TIMEOUT_MS)
			c->broken = true;
		if (!(c->established && c->disconnected) && !c->broken &&
		    !c->pair.remake) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		if (c->disconnected)
			v->ctr.disconnected++;
		else
			v->ctr.broken++;
		rdma_disconnect(c->id);
		drop_connection(v->hosts, c);
	}
}

void verbs_hosts_work(struct verbs_target *v)
{
	if (!v->hosts)
		return;
	handle_events(v);
	close_ended(v);
}

/* Not readers: they see in the region which epochs there are. */
void verbs_hosts_disconnect(struct verbs_target *v)
{
	struct connection *c;

	for (c = v->hosts ? v->hosts->first : NULL; c; c = c->next)
		c->disconnected |= !c->reads;
}

void verbs_hosts_close(struct verbs_target *v)
{
	struct verbs_hosts *hosts = v->hosts;
	struct connection *c;

	if (!hosts)
		return;
	while ((c = hosts->first)) {
		hosts->first = c->next;
		if (c->established)
			rdma_disconnect(c->id);
		drop_connection(hosts, c);
	}
	if (hosts->listener)
		rdma_destroy_id(hosts->listener);
	if (hosts->channel)
		rdma_destroy_event_channel(hosts->channel);
	free(hosts);
	v->hosts = NULL;
}
