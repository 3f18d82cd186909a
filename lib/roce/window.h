/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window.h - private to this room: the requests of a queue pair that may have
 * to be sent again, in order. A request is what one packet carries.
 *
 * Requests are numbered as in snd.h, of which there are as many at once as the
 * window has room for: end - una <= size.
 */
#ifndef ROCE_WINDOW_H
#define ROCE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/snd.h"
#include "op/op.h"

struct request {
	struct op op; /* data points at payload */
	uint8_t opcode;
	uint8_t payload[] __attribute__((aligned(8)));
};

struct window {
	uint8_t *mem;
	size_t stride, longest; /* bytes of a request, of a payload */
	uint64_t mask;		/* size - 1 */
	struct snd snd;
};

/* size: a power of 2; payload: bytes of the longest request. 0 or -ENOMEM. */
int window_open(struct window *w, uint64_t size, size_t payload);
void window_close(struct window *w);

static inline struct request *window_at(const struct window *w, uint64_t i)
{
	return (struct request *)(w->mem + (i & w->mask) * w->stride);
}

static inline bool window_full(const struct window *w)
{
	return w->snd.end - w->snd.una > w->mask;
}

/* Bytes that op->data points at. */
static inline size_t op_payload(const struct op *op)
{
	return op->verb == OP_FETCH_ADD	 ? 0
	       : op->verb == OP_CMP_SWAP ? 16
					 : op->length;
}

/* Adds a request; its payload is copied. There is room. */
static inline void window_add(struct window *w, const struct op *op,
			      uint8_t opcode)
{
	struct request *r = window_at(w, w->snd.end++);
	size_t len = op_payload(op);

	r->op = *op;
	r->opcode = opcode;
	if (!len)
		return;
	r->op.data = r->payload;
	memcpy(r->payload, op->data, len);
}

/*
 * Forgets requests from una on and before until, but those that keep() says;
 * the others move up. Returns how many are forgotten. nxt and max are una
 * then: none counts as sent any more.
 */
uint64_t window_thin(struct window *w, uint64_t until,
		     bool (*keep)(const struct request *r));

#endif
