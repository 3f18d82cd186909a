/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_link.c - from an address to a connection: resolve, make the queue pair,
 * connect, and check what is answered.
 */
#include "verbs/verbs_link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "verbs/verbs_private.h"

enum {
	RESOLVE_MS = 2000,
	CONNECT_MS = 10000,
	TICKET_MAX = 256 << 20,
	/* 4.096 us << 18 = 1.1 s until each of 6 retries (IBTA 9.9.2.1.1):
	 * 7.5 s of silence are survived. Not 7: soft-RoCE takes that for
	 * ever. */
	ACK_TIMEOUT = 18,
	RETRIES = 6,
	RNR_FOREVER = 7,
};

static int error_of(int rc)
{
	return rc ? (errno ? -errno : -EIO) : 0;
}

static int resolve(struct verbs_link *l, struct verbs_peer *p)
{
	uint8_t timeout = ACK_TIMEOUT;
	int rc;

	errno = 0;
	rc = error_of(rdma_create_id(p->channel, &l->id, l, RDMA_PS_TCP));
	if (rc < 0) {
		l->id = NULL;
		return rc;
	}
	rc = error_of(rdma_resolve_addr(l->id, NULL, (struct sockaddr *)&p->at,
					RESOLVE_MS));
	if (!rc)
		rc = verbs_peer_wait(p, l, RDMA_CM_EVENT_ADDR_RESOLVED,
				     2 * RESOLVE_MS);
	if (rc < 0)
		return rc;
	/* Older kernels do not know it, and have a longer one. */
	rdma_set_option(l->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
			&timeout, sizeof(timeout));
	rc = error_of(rdma_resolve_route(l->id, RESOLVE_MS));
	return rc ? rc
		  : verbs_peer_wait(p, l, RDMA_CM_EVENT_ROUTE_RESOLVED,
				    2 * RESOLVE_MS);
}

static int make_pair(struct verbs_link *l, unsigned depth)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = depth,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = VERBS_INLINE},
	};
	int rc;

	errno = 0;
	l->memory = aligned_alloc(64, VERBS_MEMORY);
	if (!l->memory)
		return -ENOMEM;
	memset(l->memory, 0, VERBS_MEMORY);
	if (!(l->pd = ibv_alloc_pd(l->id->verbs)) ||
	    !(l->channel = ibv_create_comp_channel(l->id->verbs)) ||
	    !(l->cq = ibv_create_cq(l->id->verbs, (int)depth, NULL, l->channel,
				    0)) ||
	    !(l->mr = ibv_reg_mr(l->pd, l->memory, VERBS_MEMORY,
				 IBV_ACCESS_LOCAL_WRITE)))
		return errno ? -errno : -ENOMEM;
	rc = verbs_do_not_block(l->channel->fd);
	if (rc < 0)
		return rc;
	init.send_cq = init.recv_cq = l->cq;
	if (rdma_create_qp(l->id, l->pd, &init)) {
		/* A device without room for payloads in work requests. */
		init.cap.max_inline_data = 0;
		if (rdma_create_qp(l->id, l->pd, &init))
			return errno ? -errno : -EIO;
	}
	l->q.inline_max = init.cap.max_inline_data;
	return 0;
}

static int connect_as(struct verbs_link *l, struct verbs_peer *p,
		      const struct verbs_cm_ask *ask, uint8_t atomics)
{
	uint8_t data[VERBS_CM_ASK_LEN];
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = sizeof(data),
		.initiator_depth = atomics,
		.retry_count = RETRIES,
		.rnr_retry_count = RNR_FOREVER,
	};
	int rc;

	verbs_cm_ask_encode(data, ask);
	errno = 0;
	rc = error_of(rdma_connect(l->id, &param));
	if (!rc)
		rc = verbs_peer_wait(p, l, RDMA_CM_EVENT_ESTABLISHED,
				     CONNECT_MS);
	l->up = !rc;
	return rc;
}

/* The queue pair goes to error: what is outstanding is flushed at once. */
static void disconnect(struct verbs_link *l)
{
	if (!l->closed)
		rdma_disconnect(l->id);
	l->closed = true;
}

/* Who waits for completions shall not wait for a collector that has gone. */
static void poll_events(struct verbs_queue *q)
{
	struct verbs_link *l = (void *)((char *)q -
					offsetof(struct verbs_link, q));

	verbs_peer_poll(l->peer);
	if (l->disconnected)
		disconnect(l);
}

void verbs_link_close(struct verbs_link *l)
{
	if (l->up)
		disconnect(l);
	if (l->up && l->q.qp)
		verbs_queue_settle(&l->q);
	if (l->id && l->id->qp)
		rdma_destroy_qp(l->id);
	if (l->mr)
		ibv_dereg_mr(l->mr);
	if (l->cq)
		ibv_destroy_cq(l->cq);
	if (l->channel)
		ibv_destroy_comp_channel(l->channel);
	if (l->pd)
		ibv_dealloc_pd(l->pd);
	if (l->id)
		rdma_destroy_id(l->id);
	free(l->memory);
	memset(l, 0, sizeof(*l));
}

/* Why there is no connection, and what to do about it. */
static int explain(int rc, const struct verbs_peer *p, struct fault *f)
{
	unsigned port = ntohs(((const struct sockaddr_in *)&p->at)->sin_port);

	switch (rc) {
	case -ECONNREFUSED:
		return fault_set(f, rc,
				 "nobody listens at port %u of this address: "
				 "dta-collect --verbs DEV --cm %u does",
				 port, port);
	case -ENODEV:
		return fault_set(f, rc, "no RDMA device leads there");
	case -EAGAIN:
		return fault_set(f, rc, "the collector is not ready yet");
	case -ESTALE:
		return fault_set(f, rc, "the epoch is over");
	case -ENOENT:
		return fault_set(f, rc, "no such table at the collector");
	case -EACCES:
		return fault_set(f, rc,
				 "the collector does not let itself be read: "
				 "dta-collect --cm %u --readable does",
				 port);
	case -EPROTO:
		return fault_set(
			f, rc, "what answers at port %u is no collector", port);
	case -EUSERS:
		return fault_set(f, rc, "the collector has too many guests");
	case -ENOMEM:
		return fault_set(
			f, rc,
			"no memory that may be locked: raise the limit "
			"(ulimit -l), or give CAP_IPC_LOCK");
	default:
		return fault_set(f, rc, "%s", strerror(-rc));
	}
}

/*
 * What the device allows; a table of counters needs its atomics. t is NULL for
 * a reader, whose READs count as they do.
 */
static int check_device(const struct verbs_link *l, const struct table *t,
			unsigned *depth, uint8_t *atomics, struct fault *f)
{
	const char *name = ibv_get_device_name(l->id->verbs->device);
	struct ibv_device_attr a;

	if (ibv_query_device(l->id->verbs, &a))
		return fault_set(f, -EIO, "%s does not answer", name);
	*atomics = (uint8_t)(a.max_qp_init_rd_atom < 0 ? 0
			     : a.max_qp_init_rd_atom > 255
				     ? 255
				     : a.max_qp_init_rd_atom);
	if (!t && !*atomics)
		return fault_set(f, -ENOTSUP, "%s does not READ", name);
	if (t && t->kind == TABLE_KEYINC &&
	    (a.atomic_cap == IBV_ATOMIC_NONE || !*atomics))
		return fault_set(f, -ENOTSUP,
				 "table %s: counters need atomics, which %s "
				 "does not have",
				 t->name, name);
	while (*depth > (unsigned)(a.max_qp_wr > 0 ? a.max_qp_wr : 0) ||
	       *depth > (unsigned)(a.max_cqe > 0 ? a.max_cqe : 0))
		*depth /= 2;
	if (*depth < 2 * VERBS_CHAIN)
		return fault_set(f, -ENOTSUP,
				 "%s: send queues of %d at most, which is too "
				 "short",
				 name, a.max_qp_wr);
	return 0;
}

static int check_place(struct verbs_link *l, const struct table *t,
		       uint64_t epoch, struct fault *f)
{
	struct verbs_cm_place place;
	int rc = verbs_cm_place_decode(&place, VERBS_CM_TABLE, l->data,
				       l->data_len);

	if (rc < 0 || place.table != t->id || place.epoch != epoch ||
	    place.address & 7 || place.address > UINT64_MAX - t->length)
		return fault_set(f, -EPROTO,
				 "table %s: the collector's answer makes no "
				 "sense",
				 t->name);
	if (t->kind == TABLE_KEYINC && !l->atomics)
		return fault_set(f, -ENOTSUP,
				 "table %s: counters need atomics, which the "
				 "collector does not take",
				 t->name);
	l->q.address = place.address;
	l->q.rkey = place.rkey;
	return 0;
}

/* What is there to be read. */
static int check_readable(struct verbs_link *l, uint16_t kind, uint64_t *length,
			  struct fault *f)
{
	struct verbs_cm_place place;
	int rc = verbs_cm_place_decode(&place, kind, l->data, l->data_len);

	if (rc < 0 || place.address & 7 ||
	    place.address > UINT64_MAX - place.length)
		return fault_set(f, -EPROTO,
				 "the collector's answer makes no sense");
	if (!l->atomics)
		return fault_set(f, -ENOTSUP,
				 "the collector's device takes no READs");
	*length = place.length;
	l->q.address = place.address;
	l->q.rkey = place.rkey;
	return 0;
}

/* Connects a link as ask says; t is NULL for a reader. */
static int make_link(struct verbs_link *l, struct verbs_peer *p,
		     const struct verbs_cm_ask *ask, const struct table *t,
		     struct verbs_road_ledger *ctr, struct fault *f)
{
	unsigned depth = VERBS_DEPTH;
	uint8_t atomics = 0;
	int rc = resolve(l, p);

	if (rc < 0)
		return explain(rc, p, f);
	rc = check_device(l, t, &depth, &atomics, f);
	if (rc < 0)
		return rc;
	rc = make_pair(l, depth);
	if (!rc)
		rc = connect_as(l, p, ask, atomics);
	if (rc < 0)
		return explain(rc, p, f);
	l->peer = p;
	l->q.poll_events = poll_events;
	l->q.qp = l->id->qp;
	l->q.cq = l->cq;
	l->q.lkey = l->mr->lkey;
	l->q.memory = l->memory;
	l->q.depth = depth;
	l->q.ctr = ctr;
	verbs_queue_init(&l->q);
	return 0;
}

int verbs_link_table(struct verbs_link *l, struct verbs_peer *p,
		     const struct table *t, uint64_t epoch,
		     struct verbs_road_ledger *ctr, struct fault *f)
{
	struct verbs_cm_ask ask = {VERBS_CM_TABLE, t->id, epoch};
	int rc = make_link(l, p, &ask, t, ctr, f);

	if (!rc)
		rc = check_place(l, t, epoch, f);
	if (rc < 0)
		verbs_link_close(l);
	return rc;
}

int verbs_link_reader(struct verbs_link *l, struct verbs_peer *p, uint16_t kind,
		      uint64_t *length, struct verbs_road_ledger *ctr,
		      struct fault *f)
{
	struct verbs_cm_ask ask = {.kind = kind};
	int rc = make_link(l, p, &ask, NULL, ctr, f);

	if (!rc)
		rc = check_readable(l, kind, length, f);
	if (rc < 0)
		verbs_link_close(l);
	return rc;
}

/* The text, a ring's length at a time. */
static int read_text(struct verbs_link *l, char *text, size_t len)
{
	for (size_t done = 0, n; done < len; done += n) {
		n = len - done < VERBS_STAGE ? len - done : VERBS_STAGE;
		verbs_queue_read(&l->q, done, 0, (uint32_t)n);
		verbs_queue_settle(&l->q);
		if (l->q.broken)
			return -ECONNRESET;
		memcpy(text + done, l->memory + VERBS_SCRATCH, n);
	}
	return 0;
}

/* The text is untrusted: ticket_parse() checks it. */
static int parse(struct ticket *t, char *text, size_t len, struct fault *f)
{
	FILE *in = fmemopen(text, len, "r");
	int rc;

	if (!in)
		return fault_set(f, -errno, "%s", strerror(errno));
	rc = ticket_parse(t, in, "ticket", f);
	fclose(in);
	return rc;
}

int verbs_link_ticket(struct verbs_peer *p, struct ticket *t, struct fault *f)
{
	struct verbs_link *l = calloc(1, sizeof(*l));
	struct verbs_road_ledger ctr = {0};
	char *text = NULL;
	uint64_t len;
	int rc;

	if (!l)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	rc = verbs_link_reader(l, p, VERBS_CM_TICKET, &len, &ctr, f);
	if (!rc) {
		if (!len || len > TICKET_MAX)
			rc = -EPROTO;
		else if (!(text = malloc(len)))
			rc = -ENOMEM;
		else
			rc = read_text(l, text, len);
		rc = rc < 0 ? explain(rc, p, f) : parse(t, text, len, f);
		verbs_link_close(l);
	}
	free(text);
	free(l);
	return rc;
}
