/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake_device.h - an RDMA device for unit tests: the calls of libibverbs that a
 * target makes, as a device of this file answers them. It counts what is alive,
 * fails whichever call it is told to, and says what a real one seldom says.
 */
#ifndef TESTS_UNIT_FAKE_DEVICE_H
#define TESTS_UNIT_FAKE_DEVICE_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FAKE_EVENTS = 16,
	FAKE_QPS = 64,
};

struct fake_qp {
	struct ibv_qp qp; /* first: it is what the caller has */
	unsigned receives;
	uint32_t psn;
};

static struct fake_device {
	bool there;
	struct ibv_device dev;
	struct ibv_context ctx;
	struct ibv_device_attr attr;
	unsigned gid_index;
	/* Objects alive: context, domain, channel, completions, pairs, memory
	 */
	unsigned alive;
	/* Calls that may fail: how many were made, which of them does. */
	unsigned calls, fails;
	int with; /* errno of it */
	uint32_t next_qpn, next_rkey;
	unsigned access, given;		/* of the last memory, of any */
	struct fake_qp *pair[FAKE_QPS]; /* by table, as they were made last */
	unsigned pairs;
	/* What waits to be told. */
	struct ibv_async_event event[FAKE_EVENTS];
	unsigned events;
	struct {
		struct ibv_cq *cq;
		struct ibv_wc wc;
	} done[FAKE_EVENTS];
	unsigned dones;
} fake;

static bool fake_fails(void)
{
	if (++fake.calls != fake.fails)
		return false;
	errno = fake.with;
	return true;
}

static void *fake_new(size_t size)
{
	void *p = fake_fails() ? NULL : calloc(1, size);

	fake.alive += p != NULL;
	return p;
}

static int fake_free(void *p)
{
	fake.alive--;
	free(p);
	return 0;
}

#undef ibv_get_device_list
struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **list = calloc(2, sizeof(struct ibv_device *));

	if (n)
		*n = fake.there;
	list[0] = fake.there ? &fake.dev : NULL;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

static int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			  struct ibv_recv_wr **bad)
{
	struct fake_qp *q = (struct fake_qp *)qp;

	*bad = wr;
	if (fake_fails())
		return fake.with;
	for (; wr; wr = wr->next)
		q->receives++;
	return 0;
}

static int fake_req_notify(struct ibv_cq *cq, int solicited)
{
	(void)cq;
	(void)solicited;
	return fake_fails() ? fake.with : 0;
}

static int fake_poll(struct ibv_cq *cq, int most, struct ibv_wc *wc)
{
	int n = 0;

	for (unsigned i = 0; i < fake.dones && n < most; i++)
		if (fake.done[i].cq == cq) {
			wc[n++] = fake.done[i].wc;
			fake.done[i].cq = NULL;
		}
	return n;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	if (fake_fails())
		return NULL;
	fake.alive++;
	fake.ctx = (struct ibv_context){
		.device = device,
		.async_fd = open("/dev/null", O_RDONLY),
		.ops =
			{
				.post_recv = fake_post_recv,
				.poll_cq = fake_poll,
				.req_notify_cq = fake_req_notify,
			},
	};
	return &fake.ctx;
}

int ibv_close_device(struct ibv_context *ctx)
{
	close(ctx->async_fd);
	fake.alive--;
	return 0;
}

int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	(void)ctx;
	*attr = fake.attr;
	return fake_fails() ? fake.with : 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *ctx, uint8_t port,
		   struct _compat_ibv_port_attr *attr)
{
	(void)ctx;
	(void)port;
	((struct ibv_port_attr *)attr)->active_mtu = IBV_MTU_1024;
	return fake_fails() ? fake.with : 0;
}

/* One address, ::ffff:10.0.0.51, on the loopback interface. */
ssize_t _ibv_query_gid_table(struct ibv_context *ctx, struct ibv_gid_entry *all,
			     size_t max, uint32_t flags, size_t size)
{
	static const uint8_t gid[16] = {[10] = 0xff, 0xff, 10, 0, 0, 51};

	(void)ctx;
	(void)max;
	(void)flags;
	(void)size;
	if (fake_fails())
		return -fake.with;
	if (!fake.gid_index)
		return 0;
	*all = (struct ibv_gid_entry){
		.gid_index = fake.gid_index,
		.port_num = 1,
		.gid_type = IBV_GID_TYPE_ROCE_V2,
		.ndev_ifindex = 1,
	};
	memcpy(all->gid.raw, gid, 16);
	return 1;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx)
{
	(void)ctx;
	return fake_new(sizeof(struct ibv_pd));
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	return fake_free(pd);
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ctx)
{
	struct ibv_comp_channel *c = fake_new(sizeof(*c));

	(void)ctx;
	if (c)
		c->fd = open("/dev/null", O_RDONLY);
	return c;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *c)
{
	close(c->fd);
	return fake_free(c);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int n, void *context,
			     struct ibv_comp_channel *c, int vector)
{
	struct ibv_cq *cq = fake_new(sizeof(*cq));

	(void)n;
	(void)c;
	(void)vector;
	if (cq) {
		cq->context = ctx;
		cq->cq_context = context;
	}
	return cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	return fake_free(cq);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct fake_qp *q = fake_new(sizeof(*q));

	(void)pd;
	if (!q)
		return NULL;
	q->qp.context = &fake.ctx;
	q->qp.qp_context = init->qp_context;
	q->qp.qp_type = init->qp_type;
	q->qp.qp_num = fake.next_qpn++;
	q->qp.recv_cq = init->recv_cq;
	fake.pair[fake.pairs++ % FAKE_QPS] = q;
	return &q->qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	return fake_free(qp);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	if (fake_fails())
		return fake.with;
	qp->state = a->qp_state;
	if (mask & IBV_QP_RQ_PSN)
		((struct fake_qp *)qp)->psn = a->rq_psn;
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask,
		 struct ibv_qp_init_attr *init)
{
	(void)mask;
	(void)init;
	a->qp_state = qp->state;
	a->rq_psn = ((struct fake_qp *)qp)->psn;
	return 0;
}

static struct ibv_mr *fake_register(void *addr, size_t length, unsigned access)
{
	struct ibv_mr *mr = fake_new(sizeof(*mr));

	if (mr) {
		mr->addr = addr;
		mr->length = length;
		mr->rkey = fake.next_rkey++;
		fake.access = access;
		fake.given |= access;
	}
	return mr;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int a)
{
	(void)pd;
	return fake_register(addr, length, (unsigned)a);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int a)
{
	(void)pd;
	(void)iova;
	return fake_register(addr, length, a);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	return fake_free(mr);
}

int ibv_get_cq_event(struct ibv_comp_channel *c, struct ibv_cq **cq, void **to)
{
	(void)c;
	for (unsigned i = 0; i < fake.dones; i++)
		if (fake.done[i].cq) {
			*cq = fake.done[i].cq;
			*to = (*cq)->cq_context;
			return 0;
		}
	fake.dones = 0;
	errno = EAGAIN;
	return -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	(void)cq;
	(void)n;
}

int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *e)
{
	(void)ctx;
	errno = EAGAIN;
	if (!fake.events)
		return -1;
	*e = fake.event[--fake.events];
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *e)
{
	(void)e;
}

static void fake_init(void)
{
	fake = (struct fake_device){
		.there = true,
		.gid_index = 3,
		.next_qpn = 0x20,
		.next_rkey = 0x100,
		.with = ENOMEM,
		.attr =
			{
				.max_mr_size = UINT64_MAX,
				.max_qp = 100,
				.max_qp_wr = 50,
				.max_cqe = 1000,
				.max_qp_rd_atom = 16,
				.atomic_cap = IBV_ATOMIC_HCA,
			},
	};
	strcpy(fake.dev.name, "fake0");
	strcpy(fake.dev.dev_name, "null");
	strcpy(fake.dev.dev_path, "/dev/null");
}

static void fake_completes(struct fake_qp *q, enum ibv_wc_status status,
			   uint32_t immediate)
{
	fake.done[fake.dones].cq = q->qp.recv_cq;
	fake.done[fake.dones++].wc = (struct ibv_wc){
		.status = status,
		.opcode = IBV_WC_RECV_RDMA_WITH_IMM,
		.wc_flags = status ? 0 : IBV_WC_WITH_IMM,
		.imm_data = htonl(immediate),
	};
}

static void fake_tells(enum ibv_event_type type, struct fake_qp *q)
{
	struct ibv_async_event *e = &fake.event[fake.events++];

	*e = (struct ibv_async_event){.event_type = type};
	if (q)
		e->element.qp = &q->qp;
	else
		e->element.port_num = 1;
}

#endif
