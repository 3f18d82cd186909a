/* SPDX-License-Identifier: BSD-2-Clause */
/* What all sources have in common: the rest is up to their kinds. */
#include <errno.h>
#include <string.h>

#include "packet/kind.h"
#include "packet/shelf.h"

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
	s->share = 0;
	return take(s, pkts, max, f);
}

int src_rx_now(struct src *s, struct pkt *pkts, int max, struct fault *f)
{
	int wait_ms = s->wait_ms, n;

	if (!s->size) /* a file never waits */
		s->wait_ms = 0;
	s->share++;
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
