/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_peer.c - the collector's address, and what comes of its connections. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "verbs/verbs_link.h"
#include "verbs/verbs_private.h"

enum {
	REJECT_NO_LISTENER = 8, /* invalid service ID (IBTA 12.6.7.2) */
	REJECT_CONSUMER = 28,	/* the collector's own word follows */
};

/* ADDRESS[:PORT], the port ours if it is not said. */
static int split(const char *address, char *host, size_t room, char *port,
		 size_t port_room)
{
	const char *said;

	if (!text_host(host, room, &said, address))
		return -EINVAL;
	if (said)
		snprintf(port, port_room, "%s", said);
	else
		snprintf(port, port_room, "%d", VERBS_ROAD_PORT);
	return 0;
}

/* getaddrinfo() takes 99999, too. */
static bool is_port(const char *text)
{
	uint64_t port;

	return text_u64(&port, text, 65535) && port;
}

static int look_up(struct verbs_peer *p, const char *address, struct fault *f)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
	char host[256], port[16];
	int rc = split(address, host, sizeof(host), port, sizeof(port));

	if (rc < 0 || !is_port(port))
		return fault_set(f, -EINVAL,
				 "%s: not ADDRESS, ADDRESS:PORT or "
				 "[IPV6]:PORT",
				 address);
	rc = getaddrinfo(host, port, &hints, &found);
	if (rc)
		return fault_set(f, -EADDRNOTAVAIL, "%s: %s", address,
				 gai_strerror(rc));
	memcpy(&p->at, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}

int verbs_peer_open(struct verbs_peer *p, const char *address,
		    const atomic_int *stop, struct fault *f)
{
	static const atomic_int never;
	int rc;

	*p = (struct verbs_peer){.stop = stop ? stop : &never};
	rc = look_up(p, address, f);
	if (rc < 0)
		return rc;
	errno = 0;
	p->channel = rdma_create_event_channel();
	if (!p->channel)
		return fault_set(f, errno ? -errno : -ENODEV,
				 "/dev/infiniband/rdma_cm: %s: load the module "
				 "rdma_ucm, and let this user open it",
				 strerror(errno ? errno : ENODEV));
	rc = verbs_do_not_block(p->channel->fd);
	if (rc < 0) {
		verbs_peer_close(p);
		return fault_set(f, rc, "%s: %s", address, strerror(-rc));
	}
	return 0;
}

void verbs_peer_close(struct verbs_peer *p)
{
	if (p->channel)
		rdma_destroy_event_channel(p->channel);
	p->channel = NULL;
}

static void take_event(struct verbs_link *l, const struct rdma_cm_event *e)
{
	const struct rdma_conn_param *param = &e->param.conn;
	uint8_t room = sizeof(l->data);

	l->event = (int)e->event;
	l->status = e->status;
	l->data_len = 0;
	switch (e->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_REJECTED:
		l->atomics = param->initiator_depth;
		if (!param->private_data)
			break;
		l->data_len = param->private_data_len < room
				      ? param->private_data_len
				      : room;
		memcpy(l->data, param->private_data, l->data_len);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		l->disconnected = true;
		break;
	default:
		break;
	}
}

void verbs_peer_poll(struct verbs_peer *p)
{
	struct rdma_cm_event *e;

	while (!rdma_get_cm_event(p->channel, &e)) {
		if (e->id && e->id->context)
			take_event(e->id->context, e);
		rdma_ack_cm_event(e);
	}
}

/*
 * Zeros where the collector's word would be: the kernel itself refuses, as the
 * port is not listened at by this address.
 */
static int refused(const struct verbs_link *l)
{
	int why = verbs_cm_refusal_decode(l->data, l->data_len);

	if (l->status == REJECT_NO_LISTENER)
		return -ECONNREFUSED;
	if (l->status != REJECT_CONSUMER)
		return -EPROTO;
	return why ? why : -ECONNREFUSED;
}

int verbs_peer_wait(struct verbs_peer *p, struct verbs_link *l,
		    enum rdma_cm_event_type wanted, uint64_t ms)
{
	struct pollfd fd = {.fd = p->channel->fd, .events = POLLIN};
	uint64_t until = clock_ms() + ms;

	l->event = -1;
	for (verbs_peer_poll(p); l->event < 0; verbs_peer_poll(p)) {
		uint64_t now = clock_ms();

		if (*p->stop)
			return -EINTR;
		if (now >= until)
			return -ETIMEDOUT;
		poll(&fd, 1, until - now < 100 ? (int)(until - now) : 100);
	}
	if (l->event == (int)wanted)
		return 0;
	switch (l->event) {
	case RDMA_CM_EVENT_REJECTED:
		return refused(l);
	case RDMA_CM_EVENT_UNREACHABLE:
		return -EHOSTUNREACH;
	case RDMA_CM_EVENT_DISCONNECTED:
		return -ECONNRESET;
	default:
		return l->status < 0 ? l->status : -EIO;
	}
}
