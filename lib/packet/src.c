/* SPDX-License-Identifier: BSD-2-Clause */
/* src.c - what all sources have in common; the rest is in their kinds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash/crc.h"
#include "packet/kind.h"

/* Copies of packets for src_hold_batches(), where a source cannot keep its own.
 */
enum {
	GAP = 64, /* before each copy: CRC_HEADROOM, and a cache line */
};

_Static_assert((int)GAP >= (int)CRC_HEADROOM, "packets need headroom");

struct batch_copy {
	uint8_t *mem;
	size_t size;
};

/* Copies of so many batches; the next batch replaces the oldest. */
struct batch_pool {
	unsigned n, next;
	struct batch_copy copy[];
};

static size_t copy_size(const struct pkt *p)
{
	return (GAP + (size_t)p->len + GAP - 1) & ~(size_t)(GAP - 1);
}

/* Copies n packets and has pkts point to the copies. */
static int batch_pool_copy(struct batch_pool *pool, struct pkt *pkts, int n)
{
	struct batch_copy *b = &pool->copy[pool->next];
	size_t size = 0;
	uint8_t *p;

	pool->next = (pool->next + 1) % pool->n;
	for (int i = 0; i < n; i++)
		size += copy_size(&pkts[i]);
	if (size > b->size) { /* what it held is lost */
		free(b->mem);
		b->mem = aligned_alloc(GAP, size);
		b->size = b->mem ? size : 0;
	}
	if (!(p = b->mem))
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		size = copy_size(&pkts[i]);
		memset(p, 0, GAP);
		memcpy(p + GAP, pkts[i].data, pkts[i].len);
		pkts[i].data = p + GAP;
		p += size;
	}
	return 0;
}

int src_rx(struct src *s, struct pkt *pkts, int max, struct error *err)
{
	int n;

	if (s->error)
		return error_set(err, s->error, "%s", s->why.text);
	n = s->ops->rx(s, pkts, max, err);
	if (s->pool && n > 0 && batch_pool_copy(s->pool, pkts, n) < 0)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	return n;
}

int src_rx_now(struct src *s, struct pkt *pkts, int max, struct error *err)
{
	int wait_ms = s->wait_ms, n;

	if (!s->size) /* a file never waits */
		s->wait_ms = 0;
	n = src_rx(s, pkts, max, err);
	s->wait_ms = wait_ms;
	/* A caller that does not wait may not report errors, and a socket
	 * reports each only once: it is kept for the next call. */
	if (n < 0 && n != -EAGAIN && n != -EINTR) {
		s->error = n;
		s->why = *err;
	}
	return n;
}

int src_hold_batches(struct src *s, unsigned calls)
{
	if (calls > SRC_HOLD_MAX)
		return -EINVAL;
	if (s->ops->hold && s->ops->hold(s))
		return 0;
	s->pool = calloc(1,
			 sizeof(*s->pool) + calls * sizeof(struct batch_copy));
	if (!s->pool)
		return -ENOMEM;
	s->pool->n = calls;
	return 0;
}

uint64_t src_done(const struct src *s)
{
	return __atomic_load_n(&s->done, __ATOMIC_RELAXED);
}

uint64_t src_size(const struct src *s)
{
	return s->size;
}

void src_wait(struct src *s, int ms)
{
	s->wait_ms = ms;
}

int src_fd(const struct src *s)
{
	return s->fd;
}

/* The cast hides only what a kind keeps to add up the kernel's counts. */
uint64_t src_drops(const struct src *s)
{
	return s->ops->drops ? s->ops->drops((struct src *)s) : 0;
}

const char *src_kind(const struct src *s)
{
	return s->kind;
}

void src_close(struct src *s)
{
	if (!s)
		return;
	for (unsigned i = 0; s->pool && i < s->pool->n; i++)
		free(s->pool->copy[i].mem);
	free(s->pool);
	if (s->ops->close)
		s->ops->close(s);
}
