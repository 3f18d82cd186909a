/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_link.c - from an address to a connection: look it up, resolve it, make
 * the queue pair, connect, check what is answered; and READs through it.
 */
#include "verbs/verbs_link.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"

enum {
	RESOLVE_MS = 2000,
	CONNECT_MS = 10000,
	/* 4.096 us << 18 = 1.1 s until each of 6 retries (IBTA vol. 1, 9):
	 * 7.5 s of silence are survived. Not 7: soft-RoCE takes that for
	 * ever. */
	ACK_TIMEOUT = 18,
	RETRIES = 6,
	RNR_FOREVER = 7,
	REJECT_CONSUMER = 28, /* by the collector itself, with its reason */
};

/* ADDRESS[:PORT]. getaddrinfo() would take port 99999, too: it is checked. */
static int look_up(struct verbs_link *l, const char *address, struct error *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
	uint64_t number = VERBS_TRANSPORT_PORT;
	char host[256], port[16];
	const char *port_text;
	int rc;

	if (!text_host(host, sizeof(host), &port_text, address) ||
	    (port_text && (!text_u64(&number, port_text, 65535) || !number)))
		return error_set(err, -EINVAL,
				 "%s: not ADDRESS, ADDRESS:PORT or "
				 "[IPV6]:PORT",
				 address);
	snprintf(port, sizeof(port), "%u", (unsigned)number);
	rc = getaddrinfo(host, port, &hints, &found);
	if (rc)
		return error_set(err, -EADDRNOTAVAIL, "%s: %s", address,
				 gai_strerror(rc));
	memcpy(&l->address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}

int verbs_link_open(struct verbs_link *l, const char *address,
		    const struct verbs_transport_options *o, struct error *err)
{
	static const atomic_int never;
	struct ibv_device **all;
	int rc;

	verbs_raise_memlock();
	l->stop = o->stop ? o->stop : &never;
	rc = look_up(l, address, err);
	if (rc < 0)
		return rc;
	if (o->confine && (all = ibv_get_device_list(NULL)))
		ibv_free_device_list(all);
	if (o->confine)
		o->confine(o->ctx);
	errno = 0;
	l->channel = rdma_create_event_channel();
	if (!l->channel || verbs_do_not_block(l->channel->fd) < 0)
		return error_set(err, errno ? -errno : -ENODEV,
				 "/dev/infiniband/rdma_cm: %s: load the module "
				 "rdma_ucm, and let this user open it",
				 strerror(errno ? errno : ENODEV));
	return 0;
}

static void handle_event(struct verbs_link *l, const struct rdma_cm_event *e)
{
	const struct rdma_conn_param *param = &e->param.conn;

	l->event = (int)e->event;
	l->status = e->status;
	switch (e->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_REJECTED:
		l->reads_max = param->initiator_depth;
		if (verbs_cm_decode(&l->answer, param->private_data,
				    param->private_data_len) < 0)
			l->answer = (struct verbs_cm){.error = -EPROTO};
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		l->disconnected = true;
		break;
	default:
		break;
	}
}

/* Late events of an earlier connection are ignored. */
void verbs_link_poll(struct verbs_link *l)
{
	struct rdma_cm_event *e;

	while (!rdma_get_cm_event(l->channel, &e)) {
		if (l->id && e->id == l->id)
			handle_event(l, e);
		rdma_ack_cm_event(e);
	}
}

/* If something listens at the port, but at another address, the kernel itself
 * rejects, with the collector's status but without its private data. */
static int rejection_error(const struct verbs_link *l)
{
	int error = l->answer.error;

	return l->status == REJECT_CONSUMER && error && error != -EPROTO
		       ? error
		       : -ECONNREFUSED;
}

/* Waits for the next event: 0 if it is the one wanted. */
static int wait_for_event(struct verbs_link *l, enum rdma_cm_event_type wanted,
			  uint64_t ms)
{
	struct pollfd fd = {.fd = l->channel->fd, .events = POLLIN};
	uint64_t until = clock_ms() + ms;

	l->event = -1;
	for (verbs_link_poll(l); l->event < 0; verbs_link_poll(l)) {
		uint64_t now = clock_ms();

		if (*l->stop)
			return -EINTR;
		if (now >= until)
			return -ETIMEDOUT;
		poll(&fd, 1, until - now < 100 ? (int)(until - now) : 100);
	}
	if (l->event == (int)wanted)
		return 0;
	switch (l->event) {
	case RDMA_CM_EVENT_REJECTED:
		return rejection_error(l);
	case RDMA_CM_EVENT_UNREACHABLE:
		return -EHOSTUNREACH;
	case RDMA_CM_EVENT_DISCONNECTED:
		return -ECONNRESET;
	default:
		return l->status < 0 ? l->status : -EIO;
	}
}

static int error_of(int rc)
{
	return rc ? (errno ? -errno : -EIO) : 0;
}

static int resolve_address(struct verbs_link *l)
{
	uint8_t timeout = ACK_TIMEOUT;
	int rc;

	errno = 0;
	rc = error_of(rdma_create_id(l->channel, &l->id, NULL, RDMA_PS_TCP));
	if (rc < 0) {
		l->id = NULL;
		return rc;
	}
	rc = error_of(rdma_resolve_addr(
		l->id, NULL, (struct sockaddr *)&l->address, RESOLVE_MS));
	if (!rc)
		rc = wait_for_event(l, RDMA_CM_EVENT_ADDR_RESOLVED,
				    2 * RESOLVE_MS);
	if (rc < 0)
		return rc;
	/* Older kernels do not have the option; their timeout is longer. */
	rdma_set_option(l->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
			&timeout, sizeof(timeout));
	rc = error_of(rdma_resolve_route(l->id, RESOLVE_MS));
	return rc ? rc
		  : wait_for_event(l, RDMA_CM_EVENT_ROUTE_RESOLVED,
				   2 * RESOLVE_MS);
}

static int make_qp(struct verbs_link *l)
{
	unsigned depth = l->q.depth;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = depth,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = VERBS_INLINE},
	};

	errno = 0;
	l->q.memory = aligned_alloc(64, VERBS_MEMORY);
	if (!l->q.memory || !(l->pd = ibv_alloc_pd(l->id->verbs)) ||
	    !(l->cq = ibv_create_cq(l->id->verbs, (int)depth, NULL, NULL, 0)) ||
	    !(l->mr = ibv_reg_mr(l->pd, l->q.memory, VERBS_MEMORY,
				 IBV_ACCESS_LOCAL_WRITE)))
		return errno ? -errno : -ENOMEM;
	init.send_cq = init.recv_cq = l->cq;
	if (rdma_create_qp(l->id, l->pd, &init)) {
		/* This device has no room for payloads in work requests. */
		init.cap.max_inline_data = 0;
		if (rdma_create_qp(l->id, l->pd, &init))
			return errno ? -errno : -EIO;
	}
	l->q.inline_max = init.cap.max_inline_data;
	return 0;
}

static int send_request(struct verbs_link *l, uint32_t kind)
{
	uint8_t data[VERBS_CM_LEN];
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = sizeof(data),
		.initiator_depth = l->reads_max,
		.retry_count = RETRIES,
		.rnr_retry_count = RNR_FOREVER,
	};
	int rc;

	verbs_cm_encode(data, &(struct verbs_cm){.kind = kind});
	errno = 0;
	rc = error_of(rdma_connect(l->id, &param));
	if (!rc)
		rc = wait_for_event(l, RDMA_CM_EVENT_ESTABLISHED, CONNECT_MS);
	l->up = !rc;
	if (!rc && (l->answer.error || l->answer.kind != kind))
		rc = -EPROTO;
	return rc;
}

/* The queue pair goes to error: what is outstanding is flushed at once. */
static void flush(struct verbs_link *l)
{
	if (!l->closed)
		rdma_disconnect(l->id);
	l->closed = true;
}

/* Completions must not be waited for when the collector has gone. */
static void poll_events(struct verbs_queue *q)
{
	struct verbs_link *l = (void *)((char *)q -
					offsetof(struct verbs_link, q));

	verbs_link_poll(l);
	if (l->disconnected)
		flush(l);
}

void verbs_link_disconnect(struct verbs_link *l)
{
	struct verbs_link none = {
		.address = l->address, .stop = l->stop, .channel = l->channel};

	if (l->up) {
		flush(l);
		verbs_queue_settle(&l->q);
	}
	if (l->id && l->id->qp)
		rdma_destroy_qp(l->id);
	if (l->mr)
		ibv_dereg_mr(l->mr);
	if (l->cq)
		ibv_destroy_cq(l->cq);
	if (l->pd)
		ibv_dealloc_pd(l->pd);
	if (l->id)
		rdma_destroy_id(l->id);
	free(l->q.memory);
	*l = none;
}

void verbs_link_close(struct verbs_link *l)
{
	verbs_link_disconnect(l);
	if (l->channel)
		rdma_destroy_event_channel(l->channel);
	l->channel = NULL;
}

/* Why there is no connection, and what to do about it. */
static int explain_error(int rc, const struct verbs_link *l, struct error *err)
{
	static const struct {
		int rc;
		const char *why;
	} known[] = {
		{-ECONNREFUSED,
		 "nobody listens at port %u of this address: dta-collect "
		 "--verbs DEV --cm %u does"},
		{-ENODEV, "no RDMA device leads there"},
		{-EAGAIN, "the collector is not ready yet"},
		{-EACCES, "the collector does not let itself be read: "
			  "dta-collect --cm %u --readable does"},
		{-EPROTO,
		 "what answers at port %u is no collector of this version"},
		{-EUSERS, "the collector has too many guests"},
		{-ENOMEM,
		 "no memory that may be locked: raise the limit (ulimit -l), "
		 "or give CAP_IPC_LOCK"},
	};
	unsigned port = ntohs(
		((const struct sockaddr_in *)&l->address)->sin_port);

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (rc == known[i].rc)
			return error_set(err, rc, known[i].why, port, port);
	return error_set(err, rc, "%s", strerror(-rc));
}

/* Sets what the device allows: reads and atomics outstanding, queue depth. */
static int check_device(struct verbs_link *l, struct error *err)
{
	const char *name = ibv_get_device_name(l->id->verbs->device);
	struct ibv_device_attr a;
	int most;

	if (ibv_query_device(l->id->verbs, &a))
		return error_set(err, -EIO, "%s does not answer", name);
	l->has_atomics = a.atomic_cap != IBV_ATOMIC_NONE;
	l->reads_max = (uint8_t)(a.max_qp_init_rd_atom > UINT8_MAX
					 ? UINT8_MAX
					 : a.max_qp_init_rd_atom);
	most = a.max_qp_wr < a.max_cqe ? a.max_qp_wr : a.max_cqe;
	for (l->q.depth = VERBS_DEPTH; (int)l->q.depth > most;)
		l->q.depth /= 2;
	if (l->q.depth < 2 * VERBS_CHAIN || a.max_qp_init_rd_atom <= 0)
		return error_set(err, -ENOTSUP,
				 "%s: send queues of %d, and %d READs at a "
				 "time, are too few",
				 name, most, a.max_qp_init_rd_atom);
	return 0;
}

static int connect_as(struct verbs_link *l, uint32_t kind, struct error *err)
{
	int rc = resolve_address(l);

	if (rc < 0)
		return explain_error(rc, l, err);
	rc = check_device(l, err);
	if (rc < 0)
		return rc;
	rc = make_qp(l);
	if (!rc) {
		l->q.poll_events = poll_events;
		l->q.qp = l->id->qp;
		l->q.cq = l->cq;
		l->q.lkey = l->mr->lkey;
		l->q.ctr = &l->ctr;
		verbs_queue_init(&l->q);
		rc = send_request(l, kind);
	}
	if (!rc && !l->reads_max)
		return error_set(err, -ENOTSUP,
				 "the collector's device takes no READs");
	return rc < 0 ? explain_error(rc, l, err) : 0;
}

int verbs_link_connect(struct verbs_link *l, uint32_t kind, struct error *err)
{
	int rc = connect_as(l, kind, err);

	if (rc < 0)
		verbs_link_disconnect(l);
	return rc;
}

static int explain_broken(const struct verbs_link *l, struct error *err)
{
	if (l->ctr.access || l->ctr.refused)
		return error_set(err, -EACCES,
				 "the collector refused to be read");
	if (l->ctr.unanswered)
		return error_set(err, -ETIMEDOUT,
				 "the collector does not answer any more");
	return error_set(err, -ECONNRESET, "connection lost");
}

/* READs that are outstanding together, and where to copy what they bring. */
struct round {
	unsigned n;
	struct {
		void *to;
		const uint8_t *from;
		uint32_t length;
	} part[VERBS_DEPTH];
};

static int finish_round(struct verbs_link *l, struct round *round,
			struct error *err)
{
	verbs_queue_settle(&l->q);
	if (l->q.broken)
		return explain_broken(l, err);
	for (unsigned i = 0; i < round->n; i++)
		memcpy(round->part[i].to, round->part[i].from,
		       round->part[i].length);
	round->n = 0;
	return 0;
}

int verbs_link_read(struct verbs_link *l, const struct memory_piece *p,
		    size_t n, struct error *err)
{
	struct round round = {.n = 0};
	uint32_t length;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		if (p[i].offset > l->answer.length ||
		    p[i].length > l->answer.length - p[i].offset)
			return error_set(err, -ERANGE, "not in the region");
	verbs_link_poll(l);
	if (l->q.broken || l->disconnected)
		return explain_broken(l, err);
	for (size_t i = 0; i < n; i++)
		for (size_t done = 0; done < p[i].length; done += length) {
			size_t left = p[i].length - done;

			if (round.n == l->q.depth)
				rc = finish_round(l, &round, err);
			if (rc < 0)
				return rc;
			length = left < VERBS_PAYLOAD ? (uint32_t)left
						      : VERBS_PAYLOAD;
			round.part[round.n].to = (uint8_t *)p[i].to + done;
			round.part[round.n].length = length;
			round.part[round.n++].from = verbs_queue_read(
				&l->q, l->answer.address + p[i].offset + done,
				l->answer.rkey, length);
		}
	return finish_round(l, &round, err);
}

static int read_memory(void *ctx, const struct memory_piece *p, size_t n,
		       struct error *err)
{
	return verbs_link_read(ctx, p, n, err);
}

static void close_memory(void *ctx)
{
	verbs_link_close(ctx);
	free(ctx);
}

int verbs_memory(struct memory **out, const char *address,
		 const atomic_int *stop, struct error *err)
{
	struct verbs_link *l = calloc(1, sizeof(*l));
	const struct verbs_transport_options o = {.stop = stop};
	struct memory_link link = {read_memory, close_memory, l};
	struct error why = {""};
	int rc;

	if (!l)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	rc = verbs_link_open(l, address, &o, &why);
	if (!rc)
		rc = verbs_link_connect(l, VERBS_CM_READ, &why);
	if (rc < 0) {
		close_memory(l);
		return error_about(err, rc, address, &why);
	}
	link.size = l->answer.length;
	rc = memory_open_link(out, address, &link, l->stop, &why);
	return rc < 0 ? error_about(err, rc, address, &why) : 0;
}
