/* SPDX-License-Identifier: BSD-2-Clause */
/* What all sources have in common: the rest is up to their kinds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash/crc.h"
#include "packet/kind.h"

/* Copies of packets for src_keep(), where a source cannot keep its own. */
enum {
	GAP = 64, /* CRC_HEADROOM, and a cache line */
};

_Static_assert((int)GAP >= (int)CRC_HEADROOM, "packets need headroom");

struct board {
	uint8_t *mem;
	size_t size;
};

/* A board for each batch, the oldest of which makes room for the next. */
struct shelf {
	unsigned n, next;
	struct board board[];
};

static struct shelf *shelf_new(unsigned boards)
{
	struct shelf *s = calloc(1, sizeof(*s) + boards * sizeof(struct board));

	if (s)
		s->n = boards;
	return s;
}

static size_t room_of(const struct pkt *p)
{
	return (GAP + (size_t)p->len + GAP - 1) & ~(size_t)(GAP - 1);
}

/* What it held is not wanted any more. */
static int grow(struct board *b, size_t size)
{
	if (size <= b->size)
		return 0;
	free(b->mem);
	b->mem = aligned_alloc(GAP, (size + GAP - 1) & ~(size_t)(GAP - 1));
	b->size = b->mem ? size : 0;
	return b->mem ? 0 : -ENOMEM;
}

/* Copies n packets and has pkts point to the copies. */
static int shelf_put(struct shelf *s, struct pkt *pkts, int n)
{
	struct board *b = &s->board[s->next];
	size_t size = 0;
	uint8_t *p;
	int rc;

	s->next = (s->next + 1) % s->n;
	for (int i = 0; i < n; i++)
		size += room_of(&pkts[i]);
	if ((rc = grow(b, size)) < 0)
		return rc;
	p = b->mem;
	for (int i = 0; i < n; i++) {
		size = room_of(&pkts[i]);
		memset(p, 0, GAP);
		memcpy(p + GAP, pkts[i].data, pkts[i].len);
		pkts[i].data = p + GAP;
		p += size;
	}
	return 0;
}

static void shelf_free(struct shelf *s)
{
	for (unsigned i = 0; s && i < s->n; i++)
		free(s->board[i].mem);
	free(s);
}

static int take(struct src *s, struct pkt *pkts, int max, struct fault *f)
{
	int n;

	if (s->error)
		return fault_set(f, s->error, "%s", s->why.text);
	n = s->ops->rx(s, pkts, max, f);
	if (s->shelf && n > 0 && shelf_put(s->shelf, pkts, n) < 0)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	return n;
}

int src_rx(struct src *s, struct pkt *pkts, int max, struct fault *f)
{
	return take(s, pkts, max, f);
}

int src_rx_now(struct src *s, struct pkt *pkts, int max, struct fault *f)
{
	int wait_ms = s->wait_ms, n;

	if (!s->size) /* a file never waits */
		s->wait_ms = 0;
	n = take(s, pkts, max, f);
	s->wait_ms = wait_ms;
	/* Who does not wait may not be who tells of it; and a socket tells of
	 * an error once. */
	if (n < 0 && n != -EAGAIN && n != -EINTR) {
		s->error = n;
		s->why = *f;
	}
	return n;
}

int src_keep(struct src *s, unsigned calls)
{
	if (s->ops->keep)
		return s->ops->keep(s, calls);
	s->shelf = shelf_new(calls);
	return s->shelf ? 0 : -ENOMEM;
}

uint64_t src_done(const struct src *s)
{
	return s->done;
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

/* The count is the kernel's: asking for it changes nothing that is seen. */
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
	shelf_free(s->shelf);
	s->ops->close(s);
}
