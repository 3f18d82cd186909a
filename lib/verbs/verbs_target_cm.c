/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_target_cm.c - hosts that come through librdmacm (verbs_cm.h): each
 * fetches the ticket, then makes a reliable connection for every table.
 */
#include "verbs/verbs_host_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "verbs/verbs_private.h"

enum {
	CONNECTIONS_MAX = 256,
	BACKLOG = 64,
	PATIENCE_MS = 10000, /* for a ticket to be fetched, a hand to shake */
	PULSE_MS = 10000,    /* between signs of life */
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

static int listen_on(struct verbs_cm *cm, const struct verbs_target *v,
		     uint16_t port)
{
	struct sockaddr_storage at = own_address(v, port);
	int rc;

	cm->channel = rdma_create_event_channel();
	if (!cm->channel)
		return -errno;
	rc = verbs_do_not_block(cm->channel->fd);
	if (rc < 0)
		return rc;
	if (rdma_create_id(cm->channel, &cm->listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(cm->listener, (struct sockaddr *)&at) ||
	    rdma_listen(cm->listener, BACKLOG))
		return -errno;
	return 0;
}

int verbs_cm_open(struct verbs_target *v, uint16_t port, struct fault *f)
{
	static const char node[] = "/dev/infiniband/rdma_cm";
	int rc;

	v->cm = calloc(1, sizeof(*v->cm));
	if (!v->cm)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	rc = listen_on(v->cm, v, port);
	if (!rc)
		return 0;
	verbs_cm_close(v);
	if (access(node, R_OK | W_OK) < 0)
		return fault_set(f, -errno,
				 "%s: %s: load the module rdma_ucm, and let "
				 "this user open it (chmod 0666)",
				 node, strerror(errno));
	return fault_set(f, rc, "%s: port %u: %s", v->name, port,
			 strerror(-rc));
}

int verbs_cm_fd(const struct verbs_target *v)
{
	return v->cm ? v->cm->channel->fd : -1;
}

static void drop(struct verbs_cm *cm, struct connection *c)
{
	cm->readers -= c->reads;
	verbs_host_free(c);
	cm->n--;
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
	struct connection *c = calloc(1, sizeof(*c));
	int rc;

	if (!c) {
		refuse(v, q->id, -ENOMEM);
		rdma_destroy_id(q->id);
		return;
	}
	c->id = q->id;
	c->id->context = c;
	c->since_ms = c->pulse_ms = clock_ms();
	rc = v->cm->n++ < CONNECTIONS_MAX ? verbs_host_serve(c, v, q) : -EUSERS;
	if (rc < 0) {
		refuse(v, q->id, rc);
		drop(v->cm, c);
		return;
	}
	c->next = v->cm->first;
	v->cm->first = c;
}

static void happened(struct verbs_target *v, struct connection *c,
		     enum rdma_cm_event_type what)
{
	switch (what) {
	case RDMA_CM_EVENT_ESTABLISHED:
		c->established = true;
		v->ctr.connections++;
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
	uint64_t now = clock_ms();

	while ((c = *at)) {
		if ((!c->established || c->text) &&
		    now - c->since_ms > PATIENCE_MS)
			c->broken = true;
		if (c->established && now - c->pulse_ms > PULSE_MS) {
			c->pulse_ms = now;
			verbs_host_pulse(c);
		}
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
		drop(v->cm, c);
	}
}

void verbs_cm_work(struct verbs_target *v)
{
	if (!v->cm)
		return;
	take_cm_events(v);
	reap(v);
}

/*
 * A ticket that is being fetched is stale, too: the host will be told so.
 * Readers see for themselves which epochs there are.
 */
void verbs_cm_hang_up(struct verbs_target *v)
{
	struct connection *c;

	for (c = v->cm ? v->cm->first : NULL; c; c = c->next)
		if (!c->text && !c->reads)
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
		drop(cm, c);
	}
	if (cm->listener)
		rdma_destroy_id(cm->listener);
	if (cm->channel)
		rdma_destroy_event_channel(cm->channel);
	free(cm);
	v->cm = NULL;
}
