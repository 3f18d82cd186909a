/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/fast.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "hash/crc.h"
#include "live/private.h"

enum {
	ROOM = CRC_HEADROOM + FAST_FRAME,
	ROUND_MS = 500, /* nobody tells of an interface that was removed */
};

struct fast {
	struct src src;
	struct int_fast *x;
	struct iface iface;
	int promiscuous; /* a descriptor, or -1 */
	uint8_t *room;	 /* PKT_BATCH times ROOM: frames outlast records */
	struct pkt *pkts;
	int n, max;
	struct fast_path held; /* a record behind frames that go out first */
	size_t held_len;       /* 0: none */
	uint64_t epoch_ns;     /* the clock less CLOCK_MONOTONIC */
	void (*told)(void *ctx, const struct fast_record *r, size_t len,
		     uint64_t ts_ns);
	void *ctx;
};

static void keep(struct fast *s, const struct fast_whole *w, size_t len)
{
	uint8_t *to = s->room + (size_t)s->n * ROOM + CRC_HEADROOM;
	size_t n = len - offsetof(struct fast_whole, byte);

	if (n > w->len)
		n = w->len;
	memcpy(to, w->byte, n);
	s->pkts[s->n++] = (struct pkt){.data = to,
				       .len = (uint32_t)n,
				       .wire_len = w->wire_len,
				       .ts_ns = w->record.ns + s->epoch_ns};
	s->src.done += n;
}

/* The batch is full: the record is handled, and no other comes. What came
 * behind frames is told when they have been taken. */
static int on_record(void *ctx, const struct fast_record *r, size_t len)
{
	struct fast *s = ctx;

	if (r->type == FAST_WHOLE) {
		keep(s, (const struct fast_whole *)r, len);
	} else if (!s->n) {
		s->told(s->ctx, r, len, r->ns + s->epoch_ns);
	} else if (len <= sizeof(s->held)) {
		memcpy(&s->held, r, len);
		s->held_len = len;
		return -ENOBUFS;
	}
	return s->n < s->max ? 0 : -ENOBUFS;
}

static void tell_held(struct fast *s)
{
	if (s->held_len)
		s->told(s->ctx, &s->held.record, s->held_len,
			s->held.record.ns + s->epoch_ns);
	s->held_len = 0;
}

static int wait(struct fast *s, struct fault *f)
{
	int ms = s->src.wait_ms, rc;
	struct pollfd p = {.fd = s->src.fd, .events = POLLIN};

	if (ms < 0 || ms > ROUND_MS)
		ms = ROUND_MS;
	rc = poll(&p, 1, ms);
	if (rc < 0)
		return errno == EINTR
			       ? -EINTR
			       : fault_set(f, -errno, "%s: %s", s->iface.name,
					   strerror(errno));
	if (!rc && !iface_there(s->iface.index))
		return iface_gone(&s->iface, f);
	return 0;
}

static int fast_rx(struct src *src, struct pkt *pkts, int max, struct fault *f)
{
	struct fast *s = (struct fast *)src;
	int rc;

	s->pkts = pkts;
	s->max = max < PKT_BATCH ? max : PKT_BATCH;
	s->n = 0;
	s->epoch_ns = clock_wall_ns() - clock_ns();
	tell_held(s);
	rc = int_fast_poll(s->x, on_record, s);
	if (!rc && !(rc = wait(s, f)))
		rc = int_fast_poll(s->x, on_record, s);
	if (s->n)
		return s->n;
	return rc < 0 ? rc : -EAGAIN;
}

static uint64_t fast_drops(struct src *src)
{
	struct fast_counters c;

	int_fast_counters(((struct fast *)src)->x, &c);
	return c.lost;
}

static void fast_close(struct src *src)
{
	struct fast *s = (struct fast *)src;

	if (s->promiscuous >= 0)
		close(s->promiscuous);
	free(s->room);
	free(s);
}

static const struct src_ops ops = {
	.rx = fast_rx,
	.drops = fast_drops,
	.close = fast_close,
};

static int open_all(struct fast *s, const char *name, bool promiscuous,
		    struct fault *f)
{
	int rc = iface_find(&s->iface, name, f);

	if (!rc && promiscuous) {
		s->promiscuous = iface_promiscuous(&s->iface, f);
		rc = s->promiscuous < 0 ? s->promiscuous : 0;
	}
	if (!rc && !(s->room = calloc(PKT_BATCH, ROOM)))
		rc = fault_set(f, -ENOMEM, "out of memory");
	if (!rc)
		rc = int_fast_attach(s->x, s->iface.index, name, f);
	return rc;
}

int src_open_fast(struct src **out, struct int_fast *x, const char *name,
		  bool promiscuous,
		  void (*told)(void *ctx, const struct fast_record *r,
			       size_t len, uint64_t ts_ns),
		  void *ctx, struct fault *f)
{
	struct fast *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return fault_set(f, -ENOMEM, "out of memory");
	*s = (struct fast){
		.src = {.ops = &ops, .fd = int_fast_fd(x), .wait_ms = -1},
		.x = x,
		.promiscuous = -1,
		.told = told,
		.ctx = ctx,
	};
	if ((rc = open_all(s, name, promiscuous, f))) {
		fast_close(&s->src);
		return rc;
	}
	s->src.kind = int_fast_mode(x);
	*out = &s->src;
	return 0;
}
