/* SPDX-License-Identifier: BSD-2-Clause */
/* What all sources have in common: the rest is up to their kinds. */
#include "packet/private.h"

int src_rx(struct src *s, struct pkt *pkts, int max, struct fault *f)
{
	return s->ops->rx(s, pkts, max, f);
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
	if (s)
		s->ops->close(s);
}
