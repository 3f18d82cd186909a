/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake_verbs.h - a device behind libibverbs' own dispatch (the ops of a
 * context) that needs no hardware: it keeps work requests as a NIC would, and
 * carries them out, late, into a piece of memory.
 *
 * Inline payloads are taken when posted, others when carried out: who changes
 * them in between is found out.
 */
#ifndef TESTS_UNIT_FAKE_VERBS_H
#define TESTS_UNIT_FAKE_VERBS_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	FAKE_DEPTH = 1024,
	FAKE_INLINE = 64,
	FAKE_RKEY = 0x1234,
	FAKE_LKEY = 0x77,
};

struct fake_wqe {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	uint8_t inlined[FAKE_INLINE];
};

struct fake_verbs {
	struct ibv_context context;
	struct ibv_qp qp;
	struct ibv_cq cq;
	struct fake_wqe wqe[FAKE_DEPTH];
	uint64_t posted, done;	  /* ever */
	uint64_t doorbells, most; /* outstanding at once */
	uint8_t *memory;	  /* of the collector, at address */
	uint64_t address, length;
	const uint8_t *registered;
	size_t registered_len;
	uint64_t fail_at; /* this one completes with status, the rest flushes */
	enum ibv_wc_status status;
	uint64_t refuse_at; /* posting this one fails */
	unsigned pace;	    /* requests carried out for a look at the CQ */
	bool error, wrong;
};

static inline struct fake_verbs *fake_of(struct ibv_context *c)
{
	return (struct fake_verbs *)c; /* its first member */
}

static inline bool fake_take(struct fake_verbs *f, const struct ibv_send_wr *wr)
{
	struct fake_wqe *w = &f->wqe[f->posted % FAKE_DEPTH];
	const struct ibv_sge *s = wr->sg_list;
	bool atomic = wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;

	if (f->posted - f->done == FAKE_DEPTH || f->posted == f->refuse_at)
		return false;
	w->wr = *wr;
	w->sge = *s;
	w->wr.sg_list = &w->sge;
	if (!wr->num_sge)
		w->sge.length = 0;
	if ((atomic ? wr->wr.atomic.rkey : wr->wr.rdma.rkey) != FAKE_RKEY)
		f->wrong = true;
	if (wr->send_flags & IBV_SEND_INLINE) {
		if (atomic || w->sge.length > FAKE_INLINE)
			f->wrong = true;
		else
			memcpy(w->inlined, (const void *)(uintptr_t)s->addr,
			       w->sge.length);
	} else if (s->lkey != FAKE_LKEY || s->addr < (uintptr_t)f->registered ||
		   s->addr + s->length >
			   (uintptr_t)f->registered + f->registered_len) {
		f->wrong = true;
	}
	f->posted++;
	if (f->posted - f->done > f->most)
		f->most = f->posted - f->done;
	return true;
}

static inline int fake_post(struct ibv_qp *qp, struct ibv_send_wr *wr,
			    struct ibv_send_wr **bad)
{
	struct fake_verbs *f = fake_of(qp->context);

	f->doorbells++;
	for (; wr; wr = wr->next)
		if (!fake_take(f, wr)) {
			*bad = wr;
			return ENOMEM;
		}
	return 0;
}

static inline void fake_carry_out(struct fake_verbs *f, struct fake_wqe *w)
{
	uint64_t old, *counter;
	uint8_t *to;

	switch (w->wr.opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		to = f->memory + (w->wr.wr.rdma.remote_addr - f->address);
		memcpy(to,
		       w->wr.send_flags & IBV_SEND_INLINE
			       ? w->inlined
			       : (const void *)(uintptr_t)w->sge.addr,
		       w->sge.length);
		break;
	case IBV_WR_RDMA_READ:
		if (w->wr.wr.rdma.remote_addr < f->address ||
		    w->wr.wr.rdma.remote_addr + w->sge.length >
			    f->address + f->length)
			f->wrong = true;
		else
			memcpy((void *)(uintptr_t)w->sge.addr,
			       f->memory +
				       (w->wr.wr.rdma.remote_addr - f->address),
			       w->sge.length);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		to = f->memory + (w->wr.wr.atomic.remote_addr - f->address);
		counter = (uint64_t *)to;
		old = *counter;
		*counter += w->wr.wr.atomic.compare_add;
		memcpy((void *)(uintptr_t)w->sge.addr, &old, sizeof(old));
		break;
	default:
		f->wrong = true;
	}
}

static inline int fake_poll(struct ibv_cq *cq, int room, struct ibv_wc *wc)
{
	struct fake_verbs *f = fake_of(cq->context);
	unsigned some = f->pace;
	int n = 0;

	for (; some && n < room && f->done < f->posted; some--, f->done++) {
		struct fake_wqe *w = &f->wqe[f->done % FAKE_DEPTH];
		enum ibv_wc_status status = IBV_WC_SUCCESS;

		if (f->error) {
			status = IBV_WC_WR_FLUSH_ERR;
		} else if (f->done == f->fail_at) {
			f->error = true;
			status = f->status;
		} else {
			fake_carry_out(f, w);
		}
		if (status != IBV_WC_SUCCESS ||
		    w->wr.send_flags & IBV_SEND_SIGNALED)
			wc[n++] = (struct ibv_wc){.wr_id = w->wr.wr_id,
						  .status = status};
	}
	return n;
}

static inline void fake_init(struct fake_verbs *f, uint8_t *memory,
			     uint64_t address, uint64_t length)
{
	memset(f, 0, sizeof(*f));
	f->context.ops.post_send = fake_post;
	f->context.ops.poll_cq = fake_poll;
	f->qp.context = f->cq.context = &f->context;
	f->memory = memory;
	f->address = address;
	f->length = length;
	f->fail_at = f->refuse_at = UINT64_MAX;
	f->pace = 16;
}

#endif
