/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_target_cm.c - hosts that come through librdmacm (verbs_cm.h): each
 * fetches the ticket, then makes a reliable connection for every table.
 *
 * Queue pairs of tables are made on the target's own context, where the memory
 * is registered; librdmacm is asked for their attributes only. Those of tickets
 * are made on librdmacm's: the target's may have been opened with privileges
 * that are gone, and some drivers (rxe) then let nothing be sent through it.
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rdma/verbs_cm.h"
#include "rdma/verbs_target_private.h"

enum {
	CONNECTIONS_MAX = 256,
	BACKLOG = 64,
	SENDS = 16,	     /* chunks of a ticket on their way */
	PATIENCE_MS = 10000, /* for a ticket to be fetched, a hand to shake */
};

struct connection {
	struct connection *next;
	struct rdma_cm_id *id;
	struct verbs_pair pair;
	bool established, over, broken;
	uint64_t since_ms;
	/* A ticket's text on its way; NULL: the connection is a table's. */
	char *text;
	size_t len, posted;
	unsigned sending;
	struct ibv_mr *mr;
};

struct verbs_cm {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct verbs_side side; /* librdmacm's, for tickets */
	struct connection *first;
	unsigned n;
};

/* What a host asks, copied: the event is acknowledged before it is judged. */
struct request {
	struct rdma_cm_id *id;
	struct verbs_cm_ask ask;
	int rc;		   /* of its decoding */
	uint8_t resources; /* reads and atomics that it wants outstanding */
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static struct sockaddr_storage own_address(const struct verbs_target *v)
{
	struct sockaddr_storage s = {0};
	struct sockaddr_in *in = (void *)&s;
	struct sockaddr_in6 *in6 = (void *)&s;

	if (v->want.version == 4) {
		in->sin_family = AF_INET;
		in->sin_port = htons(v->cm_port);
		memcpy(&in->sin_addr, v->port.gid.raw + 12, 4);
	} else {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(v->cm_port);
		in6->sin6_scope_id = v->port.ifindex;
		memcpy(&in6->sin6_addr, v->port.gid.raw, 16);
	}
	return s;
}

static int do_not_block(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

static int make_side(struct verbs_side *s, struct ibv_context *ctx)
{
	errno = 0;
	s->ctx = ctx;
	s->pd = ibv_alloc_pd(ctx);
	s->channel = s->pd ? ibv_create_comp_channel(ctx) : NULL;
	if (!s->channel)
		return errno ? -errno : -EIO;
	return do_not_block(s->channel->fd);
}

static int listen_on(struct verbs_cm *cm, const struct verbs_target *v)
{
	struct sockaddr_storage at = own_address(v);
	int rc;

	cm->channel = rdma_create_event_channel();
	if (!cm->channel)
		return -errno;
	rc = do_not_block(cm->channel->fd);
	if (rc < 0)
		return rc;
	if (rdma_create_id(cm->channel, &cm->listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(cm->listener, (struct sockaddr *)&at) ||
	    rdma_listen(cm->listener, BACKLOG))
		return -errno;
	return make_side(&cm->side, cm->listener->verbs);
}

int verbs_cm_open(struct verbs_target *v, struct fault *f)
{
	static const char node[] = "/dev/infiniband/rdma_cm";
	int rc;

	v->cm = calloc(1, sizeof(*v->cm));
	if (!v->cm)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	rc = listen_on(v->cm, v);
	if (!rc)
		return 0;
	verbs_cm_close(v);
	if (access(node, R_OK | W_OK) < 0)
		return fault_set(f, -errno,
				 "%s: %s: load the module rdma_ucm, and let "
				 "this user open it (chmod 0666)",
				 node, strerror(errno));
	return fault_set(f, rc, "%s: port %u: %s", v->name, v->cm_port,
			 strerror(-rc));
}

unsigned verbs_cm_fds(const struct verbs_target *v, int fds[2])
{
	if (!v->cm)
		return 0;
	fds[0] = v->cm->channel->fd;
	fds[1] = v->cm->side.channel->fd;
	return 2;
}

static void free_connection(struct verbs_cm *cm, struct connection *c)
{
	verbs_pair_drop(&c->pair);
	if (c->mr)
		ibv_dereg_mr(c->mr);
	if (c->id)
		rdma_destroy_id(c->id);
	free(c->text);
	free(c);
	cm->n--;
}

/* As rdma_accept() would do, were the queue pair librdmacm's own. */
static int change_state(struct connection *c, const struct verbs_target *v,
			enum ibv_qp_state state, uint8_t resources)
{
	const struct table *t = region_table(v->region, c->pair.table);
	struct ibv_qp_attr a = {.qp_state = state};
	int mask;

	if (rdma_init_qp_attr(c->id, &a, &mask))
		return -errno;
	if (mask & IBV_QP_ACCESS_FLAGS)
		a.qp_access_flags = c->text ? 0 : (unsigned)verbs_access(v, t);
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

static int accept_with(struct connection *c, uint8_t resources,
		       const uint8_t *data, uint8_t len)
{
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = len,
		.responder_resources = resources,
		.rnr_retry_count = 7,
		.qp_num = c->pair.qp->qp_num,
	};

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
	if (!rc && c->len > UINT32_MAX)
		rc = -EFBIG;
	return rc;
}

static int serve_ticket(struct connection *c, struct verbs_target *v)
{
	const struct verbs_pair_options o = {
		.receives = 1,
		.sends = SENDS,
		.reliable = true,
	};
	uint8_t data[VERBS_CM_LENGTH_LEN];
	int rc = write_text(c, v);

	if (rc < 0)
		return rc;
	c->mr = ibv_reg_mr(v->cm->side.pd, c->text, c->len, 0);
	if (!c->mr)
		return errno ? -errno : -ENOMEM;
	rc = verbs_pair_create(&c->pair, v, &v->cm->side, &o, NULL);
	if (!rc)
		rc = make_ready(c, v, 0);
	verbs_cm_word_encode(data, (uint32_t)c->len);
	return rc ? rc : accept_with(c, 0, data, sizeof(data));
}

static int find_table(const struct verbs_target *v, uint16_t id)
{
	for (unsigned i = 0; i < region_tables(v->region); i++)
		if (region_table(v->region, i)->id == id)
			return (int)i;
	return -ENOENT;
}

static int serve_table(struct connection *c, struct verbs_target *v,
		       const struct request *q)
{
	struct verbs_pair_options o = {
		.receives = v->o.receives,
		.reliable = true,
	};
	int rc, table = find_table(v, q->ask.table);
	uint8_t data[VERBS_CM_PLACE_LEN];
	struct verbs_cm_place place;
	uint8_t resources = q->resources;

	if (table < 0)
		return table;
	if (q->ask.epoch != region_epoch(v->region) ||
	    q->ask.epoch != v->now.epoch)
		return -ESTALE;
	if (resources > v->attr.max_qp_rd_atom)
		resources = (uint8_t)v->attr.max_qp_rd_atom;
	o.table = (unsigned)table;
	rc = verbs_pair_create(&c->pair, v, &v->dev, &o, NULL);
	if (!rc)
		rc = make_ready(c, v, resources);
	if (rc < 0)
		return rc;
	place = (struct verbs_cm_place){
		.table = q->ask.table,
		.rkey = v->now.mr[table]->rkey,
		.address = (uintptr_t)v->now.mr[table]->addr,
		.epoch = v->now.epoch,
	};
	verbs_cm_place_encode(data, &place);
	return accept_with(c, resources, data, sizeof(data));
}

static int serve(struct connection *c, struct verbs_target *v,
		 const struct request *q)
{
	if (q->rc < 0)
		return q->rc;
	if (!v->now.n)
		return -EAGAIN;
	if (strcmp(ibv_get_device_name(q->id->verbs->device), v->name) != 0)
		return -ENODEV;
	return q->ask.kind == VERBS_CM_TICKET ? serve_ticket(c, v)
					      : serve_table(c, v, q);
}

static void refuse(struct verbs_target *v, struct rdma_cm_id *id, int why)
{
	uint8_t data[VERBS_CM_REFUSAL_LEN];

	verbs_cm_word_encode(data, (uint32_t)why);
	rdma_reject(id, data, sizeof(data));
	v->ctr.refused++;
}

static void requested(struct verbs_target *v, const struct request *q)
{
	struct connection *c = NULL;
	int rc = -EUSERS;

	if (v->cm->n < CONNECTIONS_MAX) {
		c = calloc(1, sizeof(*c));
		rc = -ENOMEM;
	}
	if (!c) {
		refuse(v, q->id, rc);
		rdma_destroy_id(q->id);
		return;
	}
	c->id = q->id;
	c->id->context = c;
	c->since_ms = now_ms();
	v->cm->n++;
	rc = serve(c, v, q);
	if (rc < 0) {
		refuse(v, q->id, rc);
		free_connection(v->cm, c);
		return;
	}
	c->next = v->cm->first;
	v->cm->first = c;
}

/* Sends as many chunks as there is room for. */
static void send_text(struct connection *c)
{
	while (c->posted < c->len && c->sending < SENDS) {
		size_t n = c->len - c->posted;
		struct ibv_sge piece = {
			.addr = (uintptr_t)c->text + c->posted,
			.length = n < VERBS_CM_CHUNK ? (uint32_t)n
						     : VERBS_CM_CHUNK,
			.lkey = c->mr->lkey,
		};
		struct ibv_send_wr wr =
					   {
						   .wr_id = 1,
						   .sg_list = &piece,
						   .num_sge = 1,
						   .opcode = IBV_WR_SEND,
						   .send_flags =
							   IBV_SEND_SIGNALED,
					   },
				   *bad;

		if (ibv_post_send(c->pair.qp, &wr, &bad)) {
			c->broken = true;
			return;
		}
		c->posted += piece.length;
		c->sending++;
	}
}

void verbs_cm_completed(struct verbs_target *v, struct verbs_pair *p,
			const struct ibv_wc *wc)
{
	struct connection *c = NULL;

	for (c = v->cm ? v->cm->first : NULL; c && &c->pair != p;)
		c = c->next;
	if (!c)
		return;
	c->sending -= c->sending > 0;
	if (wc->status != IBV_WC_SUCCESS)
		c->broken = true;
	else
		send_text(c);
}

static void happened(struct verbs_target *v, struct connection *c,
		     enum rdma_cm_event_type what)
{
	switch (what) {
	case RDMA_CM_EVENT_ESTABLISHED:
		c->established = true;
		v->ctr.connections++;
		if (c->text)
			send_text(c);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		c->over = true;
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
	case RDMA_CM_EVENT_ADDR_CHANGE:
		break;
	default: /* unreachable, rejected, the device is gone... */
		c->broken = true;
		break;
	}
}

static void take_cm_events(struct verbs_target *v)
{
	struct rdma_cm_event *e;

	while (!rdma_get_cm_event(v->cm->channel, &e)) {
		const struct rdma_conn_param *param = &e->param.conn;
		enum rdma_cm_event_type what = e->event;
		struct connection *c = e->id->context;
		struct request q = {.id = e->id};

		if (what == RDMA_CM_EVENT_CONNECT_REQUEST) {
			q.rc = verbs_cm_ask_decode(&q.ask, param->private_data,
						   param->private_data_len);
			q.resources = param->responder_resources;
		}
		rdma_ack_cm_event(e);
		if (what == RDMA_CM_EVENT_CONNECT_REQUEST)
			requested(v, &q);
		else if (c)
			happened(v, c, what);
		else if (what == RDMA_CM_EVENT_DEVICE_REMOVAL)
			v->lost = true;
	}
}

/* Those that have ended, or that nothing comes of. */
static void reap(struct verbs_target *v)
{
	struct connection **at = &v->cm->first, *c;
	uint64_t now = now_ms();

	while ((c = *at)) {
		if ((!c->established || c->text) &&
		    now - c->since_ms > PATIENCE_MS)
			c->broken = true;
		if (!c->over && !c->broken && !c->pair.lame) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		if (c->over)
			v->ctr.disconnected++;
		else
			v->ctr.broken++;
		rdma_disconnect(c->id);
		free_connection(v->cm, c);
	}
}

void verbs_cm_work(struct verbs_target *v)
{
	if (!v->cm)
		return;
	take_cm_events(v);
	verbs_completions_take(v, v->cm->side.channel);
	reap(v);
}

/* A ticket that is being fetched is stale, too: the host will be told so. */
void verbs_cm_hang_up(struct verbs_target *v)
{
	struct connection *c;

	for (c = v->cm ? v->cm->first : NULL; c; c = c->next)
		if (!c->text)
			c->over = true;
}

void verbs_cm_close(struct verbs_target *v)
{
	struct verbs_cm *cm = v->cm;
	struct connection *c;

	if (!cm)
		return;
	while ((c = cm->first)) {
		cm->first = c->next;
		if (c->established)
			rdma_disconnect(c->id);
		free_connection(cm, c);
	}
	if (cm->side.channel)
		ibv_destroy_comp_channel(cm->side.channel);
	if (cm->side.pd)
		ibv_dealloc_pd(cm->side.pd);
	if (cm->listener)
		rdma_destroy_id(cm->listener);
	if (cm->channel)
		rdma_destroy_event_channel(cm->channel);
	free(cm);
	v->cm = NULL;
}
