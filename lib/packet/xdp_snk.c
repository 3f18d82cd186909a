/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_snk.c - AF_XDP: frames are built in memory that the card reads itself
 * (zero-copy), or that the kernel copies from (copy), and leave by one queue of
 * the interface, past the host's queueing discipline.
 *
 * A frame is in one of four states: free; built, in the ring, but not shown to
 * the kernel yet; shown, but not taken (it counts as a drop until it is taken,
 * which may be when the link is back); taken, and free again when the kernel
 * says that it is sent. In copy mode the kernel looks at the ring only in our
 * send(), and no further than 32 frames.
 *
 * Drivers that read frames themselves do so only while the interface has an XDP
 * program, and receive into the same memory. The one that is loaded here hands
 * all packets to the host.
 *
 * Source: Documentation/networking/af_xdp.rst and net/xdp/xsk.c of Linux 6.1;
 * libxdp(3).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "packet/xdp_ports.h"
#include "packet/xdp_private.h"

enum {
	FRAMES = 2048, /* a power of two */
	CHUNK_MIN = 2048,
	CHUNK_MAX = 4096,
	QUEUE_MAX =
		512, /* frames for the kernel, unless it is flushed before */
	NAP_US = 100,
	WAIT_MS = 100, /* for the interface to take something */
};

struct xdp_out {
	struct snk snk;
	struct iface iface;
	struct ports ports;
	struct xsk_ring_prod tx, fill;
	struct xsk_ring_cons completion;
	struct xsk_umem *umem;
	struct xsk_socket *socket;
	uint8_t *mem;	/* FRAMES chunks; zero-copy: and FRAMES to receive */
	uint8_t *aside; /* a frame is built here if no chunk has room */
	size_t chunk;	/* bytes for a frame */
	size_t size;	/* of mem */
	int fd;
	int err;	 /* the first error, for good */
	unsigned queued; /* built, and not shown */
	bool zero_copy;
	bool stuck;	 /* it took nothing lately: do not wait again */
	bool settled;	 /* xdp_settle() has waited: what is unsent is lost */
	unsigned n_free; /* chunks without a frame */
	uint64_t free_at[FRAMES]; /* where in mem free chunks are */
};

/* Frames that were shown to the kernel and not taken. */
static uint32_t frames_left(const struct xdp_out *s)
{
	return s->tx.cached_prod - s->queued -
	       __atomic_load_n(s->tx.consumer, __ATOMIC_ACQUIRE);
}

/* The next frame goes to a free place, if there is one, or aside. */
static void lend_room(struct xdp_out *s)
{
	s->snk.at = s->n_free ? s->mem + s->free_at[s->n_free - 1] : s->aside;
	s->snk.room = s->n_free ? s->chunk : 0;
}

/* Takes back what was sent. */
static void reclaim_sent(struct xdp_out *s)
{
	uint32_t at, n = xsk_ring_cons__peek(&s->completion, FRAMES, &at);

	for (uint32_t i = 0; i < n; i++)
		s->free_at[s->n_free++] = *xsk_ring_cons__comp_addr(
			&s->completion, at + i);
	xsk_ring_cons__release(&s->completion, n);
	if (n && s->zero_copy) /* the link is back */
		s->stuck = false;
}

/* Has the kernel look at the ring. Returns whether it took something. */
static bool push_once(struct xdp_out *s)
{
	uint32_t before = frames_left(s);
	int rc = sendto(s->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 ? -errno : 0;

	if (rc == -EBUSY) /* took one, which the interface did not */
		s->snk.drops++;
	if (rc == -EBUSY || frames_left(s) != before)
		return true;
	if (rc == -ENETDOWN)
		s->stuck = true;
	else if (rc == -ENXIO && !iface_there(s->iface.index))
		s->err = -ENODEV;
	return false;
}

static int flush_xdp_snk(struct snk *snk)
{
	const struct timespec nap = {.tv_nsec = NAP_US * 1000};
	struct xdp_out *s = (struct xdp_out *)snk;

	xsk_ring_prod__submit(&s->tx, s->queued);
	s->queued = 0;
	if (s->zero_copy && xsk_ring_prod__needs_wakeup(&s->tx))
		push_once(s);
	while (!s->zero_copy && frames_left(s) && !s->err) {
		bool any = push_once(s);

		for (int us = 0;
		     !any && !s->stuck && !s->err && us < WAIT_MS * 1000;
		     us += NAP_US) {
			nanosleep(&nap, NULL);
			any = push_once(s);
		}
		s->stuck = !any;
		if (s->stuck)
			break;
	}
	reclaim_sent(s);
	lend_room(s);
	return s->err;
}

static int xdp_room(struct snk *snk, size_t len)
{
	const struct timespec nap = {.tv_nsec = NAP_US * 1000};
	struct xdp_out *s = (struct xdp_out *)snk;

	if (!s->n_free)
		flush_xdp_snk(snk);
	for (int us = 0;
	     !s->n_free && !s->stuck && !s->err && us < WAIT_MS * 1000;
	     us += NAP_US) {
		nanosleep(&nap, NULL);
		reclaim_sent(s);
	}
	if (s->err)
		return s->err;
	s->stuck |= !s->n_free;
	lend_room(s);
	if (len > snk->room) {
		snk->at = s->aside;
		snk->room = PKT_MAX;
	}
	return 0;
}

static void xdp_done(struct snk *snk, size_t len, uint32_t wire_len,
		     uint64_t ts_ns)
{
	struct xdp_out *s = (struct xdp_out *)snk;
	uint32_t at;

	(void)wire_len;
	(void)ts_ns;
	if (!s->n_free || !iface_fits(&s->iface, snk->at, len) ||
	    !xsk_ring_prod__reserve(&s->tx, 1, &at)) {
		snk->drops++;
		lend_room(s);
		return;
	}
	s->n_free--;
	if (snk->at == s->aside)
		memcpy(s->mem + s->free_at[s->n_free], s->aside, len);
	*xsk_ring_prod__tx_desc(&s->tx, at) = (struct xdp_desc){
		.addr = s->free_at[s->n_free],
		.len = (uint32_t)len,
	};
	if (++s->queued >= QUEUE_MAX)
		flush_xdp_snk(snk);
	else
		lend_room(s);
}

/* A card that reads frames itself (zero-copy) does so in its own time: only at
 * the end it is known how many it did not send. */
static uint64_t xdp_left(const struct snk *snk)
{
	const struct xdp_out *s = (const struct xdp_out *)snk;

	if (!s->zero_copy)
		return frames_left(s);
	return s->settled ? FRAMES - s->n_free : 0;
}

static void close_socket(struct xdp_out *s)
{
	xsk_socket__delete(s->socket);
	if (s->umem)
		xsk_umem__delete(s->umem);
	if (s->mem)
		munmap(s->mem, s->size);
	ports_close(&s->ports);
	s->socket = NULL;
	s->umem = NULL;
	s->mem = NULL;
}

/* What the card has not read yet would go with the socket. */
static void xdp_settle(struct snk *snk)
{
	struct xdp_out *s = (struct xdp_out *)snk;
	struct timespec nap = {.tv_nsec = NAP_US * 1000};
	unsigned before = s->n_free;

	if (!s->socket || !s->zero_copy)
		return;
	for (int us = 0; s->n_free < FRAMES && us < WAIT_MS * 1000;
	     us += NAP_US) {
		nanosleep(&nap, NULL);
		reclaim_sent(s);
		us = s->n_free > before ? 0 : us;
		before = s->n_free;
	}
	s->settled = true;
}

static int close_xdp_snk(struct snk *snk, int rc)
{
	struct xdp_out *s = (struct xdp_out *)snk;

	close_socket(s);
	free(s->aside);
	free(s);
	return rc;
}

static const struct snk_ops ops = {
	.room = xdp_room,
	.done = xdp_done,
	.flush = flush_xdp_snk,
	.left = xdp_left,
	.settle = xdp_settle,
	.close = close_xdp_snk,
};

static int refused(const struct xdp_out *s, int rc, const char *what,
		   struct error *err)
{
	return xdp_refused(&s->iface, s->size, rc, what, err);
}

/* The first free queue; else the last one, as soon as it is free. */
static int open_socket(struct xdp_out *s, uint16_t flags)
{
	const struct xsk_socket_config c = {
		.tx_size = FRAMES,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = (uint16_t)(XDP_USE_NEED_WAKEUP | flags),
	};
	unsigned n = xdp_queues(&s->iface, true);

	for (unsigned i = 0; i + 1 < n; i++) {
		int rc = xsk_socket__create(&s->socket, s->iface.name, i,
					    s->umem, NULL, &s->tx, &c);

		if (rc != -EBUSY)
			return rc;
	}
	return xdp_create(&s->socket, &s->iface, n - 1, s->umem, NULL, &s->tx,
			  &c);
}

static int open_memory(struct xdp_out *s)
{
	const struct xsk_umem_config c = {
		.fill_size = FRAMES,
		.comp_size = FRAMES,
		.frame_size = (uint32_t)s->chunk,
	};
	uint32_t at;
	void *mem;
	int rc;

	s->size = s->chunk * FRAMES * (s->zero_copy ? 2 : 1);
	mem = mmap(NULL, s->size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (mem == MAP_FAILED)
		return -errno;
	s->mem = mem;
	for (s->n_free = 0; s->n_free < FRAMES; s->n_free++)
		s->free_at[s->n_free] = s->n_free * s->chunk;
	rc = xsk_umem__create(&s->umem, mem, s->size, &s->fill, &s->completion,
			      &c);
	if (rc || !s->zero_copy ||
	    xsk_ring_prod__reserve(&s->fill, FRAMES, &at) != FRAMES)
		return rc;
	/*
	 * A card that reads our memory receives into it, too: all that comes in
	 * by the queue, which the XDP program hands to the host. Then the
	 * driver fills the chunk again (xsk_buff_free()). Without these chunks
	 * the host would receive nothing by that queue.
	 */
	for (uint32_t i = 0; i < FRAMES; i++)
		*xsk_ring_prod__fill_addr(&s->fill, at + i) = (FRAMES + i) *
							      s->chunk;
	xsk_ring_prod__submit(&s->fill, FRAMES);
	return 0;
}

static int open_mode(struct xdp_out *s, uint16_t flags, struct error *err)
{
	static const uint16_t all[PORTS_MAX];
	int rc;

	s->zero_copy = flags & XDP_ZEROCOPY;
	if ((rc = open_memory(s)))
		return refused(s, rc, "memory", err);
	if ((rc = open_socket(s, flags)))
		return refused(s, rc, "socket", err);
	s->fd = xsk_socket__fd(s->socket);
	if (s->zero_copy) {
		if (!(rc = ports_load(&s->ports, 1, all)))
			rc = ports_attach(&s->ports, s->iface.index);
		if (rc && rc != -EBUSY) /* another program is as good */
			return refused(s, rc, "program", err);
	}
	iface_send_buffer(s->fd);
	s->snk.kind = xdp_kind(s->fd);
	return 0;
}

static int open_xdp_snk(struct xdp_out *s, struct error *err)
{
	int rc;

	for (s->chunk = CHUNK_MIN; s->chunk < iface_longest(&s->iface);)
		s->chunk *= 2;
	if (s->chunk > CHUNK_MAX)
		return error_set(err, -ENOTSUP,
				 "%s: AF_XDP: the MTU is %u, frames above %d "
				 "bytes do not fit",
				 s->iface.name, s->iface.mtu, CHUNK_MAX);
	if (!(s->aside = malloc(PKT_MAX)))
		return error_set(err, -ENOMEM, "out of memory");
	rc = open_mode(s, XDP_ZEROCOPY, err);
	if (!rc || rc == -EPERM || rc == -EBUSY || rc == -ENOBUFS)
		return rc;
	close_socket(s);
	return open_mode(s, XDP_COPY, err);
}

int xdp_snk_open(struct snk **out, const struct iface *i, struct error *err)
{
	struct xdp_out *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	libxdp_set_print(NULL); /* what is wrong is said by err */
	s->snk.ops = &ops;
	s->ports = (struct ports){-1, -1, -1};
	s->iface = *i;
	if ((rc = open_xdp_snk(s, err))) {
		close_xdp_snk(&s->snk, 0);
		return rc;
	}
	lend_room(s);
	*out = &s->snk;
	return 0;
}
