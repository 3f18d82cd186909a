/* SPDX-License-Identifier: BSD-2-Clause */
/* snk.c - what all sinks have in common; the rest is in their kinds. */
#include <errno.h>
#include <string.h>

#include "packet/kind.h"

uint8_t *snk_room(struct snk *s, size_t len)
{
	int rc = len > PKT_MAX ? -EMSGSIZE : 0;

	if (!rc && len > s->room)
		rc = s->ops->room(s, len);
	if (rc)
		errno = -rc;
	return rc ? NULL : s->at;
}

void snk_done(struct snk *s, size_t len, uint64_t ts_ns)
{
	s->ops->done(s, len, (uint32_t)len, ts_ns);
}

void snk_done_cut(struct snk *s, size_t len, uint32_t wire_len, uint64_t ts_ns)
{
	s->ops->done(s, len, wire_len, ts_ns);
}

int snk_tx(struct snk *s, const struct pkt *pkts, size_t n)
{
	uint8_t *p;

	for (size_t i = 0; i < n; i++) {
		if (!(p = snk_room(s, pkts[i].len)))
			return -errno;
		memcpy(p, pkts[i].data, pkts[i].len);
		s->ops->done(s, pkts[i].len, pkts[i].wire_len, pkts[i].ts_ns);
	}
	return 0;
}

int snk_flush(struct snk *s)
{
	return s->ops->flush(s);
}

int snk_settle(struct snk *s)
{
	int rc = snk_flush(s);

	if (s->ops->settle)
		s->ops->settle(s);
	return rc;
}

void snk_until(struct snk *s, const atomic_int *stop)
{
	s->stop = stop;
}

uint64_t snk_drops(const struct snk *s)
{
	return s->drops + (s->ops->left ? s->ops->left(s) : 0);
}

const char *snk_kind(const struct snk *s)
{
	return s->kind;
}

int snk_close(struct snk *s)
{
	return s ? s->ops->close(s, snk_settle(s)) : 0;
}
