/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_src.c - AF_XDP: packets go from the driver to sockets, one for each queue
 * of the interface, bypassing the host's stack. The card writes them to our
 * memory itself (zero-copy), or the kernel copies them there (copy).
 *
 * Frames that xdp_rx() returns stay in the receive ring until its next call,
 * which gives them back to the fill ring.
 *
 * Source: Documentation/networking/af_xdp.rst of Linux 6.1; libxdp(3).
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "base/clock.h"
#include "packet/xdp_ports.h"
#include "hash/crc.h"
#include "packet/xdp_private.h"

enum {
	/* Of a queue, powers of two: a batch of them is in use at once. */
	FRAMES_MAX = 16384,
	FRAMES_MIN = 2048,
	MEMORY = 64 << 20, /* of all queues, unless FRAMES_MIN needs more */
	QUEUES_MAX = 64,
	CHUNK_MIN = 2048,
	CHUNK_MAX = 4096,
	HEADROOM = 256, /* XDP_PACKET_HEADROOM, which the kernel leaves free */
	/* In a chunk besides the MTU: Ethernet, two VLAN tags. */
	OVERHEAD = ETH_HLEN + 8 + HEADROOM,
	ROUND_MS = 500, /* poll() does not notice a removed interface */
};

_Static_assert((int)HEADROOM >= (int)CRC_HEADROOM, "packets need headroom");
_Static_assert((int)LIVE_PORTS == (int)PORTS_MAX, "all ports are asked for");

struct queue {
	struct xsk_ring_cons rx, completion;
	struct xsk_ring_prod fill;
	struct xsk_umem *umem;
	struct xsk_socket *socket;
	uint8_t *mem;
	uint32_t held; /* descriptors at rx's front that the caller has */
};

struct xdp {
	struct src src;
	struct iface iface;
	struct ports ports;
	int promiscuous; /* a file descriptor, or -1 */
	struct filter *filter;
	size_t chunk;	 /* bytes for a frame */
	uint32_t frames; /* in each queue */
	unsigned n;	 /* queues */
	unsigned first;	 /* the queue that is read first, in turn */
	struct queue *queue;
	struct pollfd *poll;
};

static size_t mem_size(const struct xdp *s)
{
	return s->chunk * s->frames;
}

/* Returns the frames that the caller has had to the fill ring. */
static void give_back(const struct xdp *s, struct queue *q)
{
	uint32_t from = q->rx.cached_cons - q->held, to;

	if (!q->held || !xsk_ring_prod__reserve(&q->fill, q->held, &to))
		return;
	for (uint32_t i = 0; i < q->held; i++)
		*xsk_ring_prod__fill_addr(&q->fill, to + i) =
			xsk_ring_cons__rx_desc(&q->rx, from + i)->addr &
			~(uint64_t)(s->chunk - 1);
	xsk_ring_prod__submit(&q->fill, q->held);
	xsk_ring_cons__release(&q->rx, q->held);
	q->held = 0;
	if (xsk_ring_prod__needs_wakeup(&q->fill))
		recvfrom(xsk_socket__fd(q->socket), NULL, 0, MSG_DONTWAIT, NULL,
			 NULL);
}

static int fill_pkts(struct xdp *s, struct queue *q, struct pkt *pkts, int max,
		     uint64_t ts)
{
	uint32_t at, n = xsk_ring_cons__peek(&q->rx, (uint32_t)max, &at);
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct xdp_desc *d = xsk_ring_cons__rx_desc(&q->rx,
								  at + i);

		pkts[i] = (struct pkt){
			.data = q->mem + d->addr,
			.len = d->len,
			.wire_len = d->len,
			.ts_ns = ts,
		};
		bytes += d->len;
	}
	s->src.done += bytes;
	q->held += n;
	return (int)n;
}

/* Each queue in turn, beginning with another one each time. */
static int fill_all_pkts(struct xdp *s, struct pkt *pkts, int max)
{
	/* One time for the batch: descriptors have no timestamps. */
	uint64_t ts = clock_wall_ns();
	int n = 0;

	for (unsigned i = 0; i < s->n && n < max; i++)
		n += fill_pkts(s, &s->queue[(s->first + i) % s->n], pkts + n,
			       max - n, ts);
	s->first++;
	return n;
}

static int wait_for_packets(struct xdp *s, int *left_ms, struct error *err)
{
	int ms = *left_ms < 0 || *left_ms > ROUND_MS ? ROUND_MS : *left_ms;
	int n = poll(s->poll, s->n, ms);

	if (n < 0)
		return error_set(err, -errno, "%s: %s", s->iface.name,
				 strerror(errno));
	if (n && !(s->poll[0].revents & POLLERR))
		return 0;
	if (!iface_there(s->iface.index))
		return iface_gone(&s->iface, err);
	if (!n && *left_ms >= 0 && (*left_ms -= ms) <= 0)
		return -EAGAIN;
	return 0;
}

static int xdp_rx(struct src *src, struct pkt *pkts, int max, struct error *err)
{
	struct xdp *s = (struct xdp *)src;
	int left_ms = src->wait_ms, n, rc;

	for (;;) {
		for (unsigned i = 0; i < s->n; i++)
			give_back(s, &s->queue[i]);
		n = fill_all_pkts(s, pkts, max);
		if (!n && (rc = wait_for_packets(s, &left_ms, err)))
			return rc;
		if (n && s->filter)
			n = filter_batch(s->filter, pkts, n);
		if (n)
			return n;
	}
}

static uint64_t xdp_drops(struct src *src)
{
	struct xdp *s = (struct xdp *)src;
	uint64_t sum = 0;

	for (unsigned i = 0; i < s->n; i++) {
		struct xdp_statistics st = {0};
		socklen_t len = sizeof(st);

		/* Drops by an empty fill ring are in rx_dropped. */
		if (!getsockopt(s->poll[i].fd, SOL_XDP, XDP_STATISTICS, &st,
				&len))
			sum += st.rx_dropped + st.rx_ring_full;
	}
	return sum;
}

static void close_xdp_src(struct src *src)
{
	struct xdp *s = (struct xdp *)src;

	ports_close(
		&s->ports); /* first: later packets go to the host's stack */
	for (unsigned i = 0; s->queue && i < s->n; i++) {
		struct queue *q = &s->queue[i];

		xsk_socket__delete(q->socket);
		if (q->umem)
			xsk_umem__delete(q->umem);
		if (q->mem)
			munmap(q->mem, mem_size(s));
	}
	if (s->n > 1 && s->src.fd >= 0)
		close(s->src.fd);
	if (s->promiscuous >= 0)
		close(s->promiscuous);
	filter_close(s->filter);
	free(s->queue);
	free(s->poll);
	free(s);
}

static const struct src_ops ops = {
	.rx = xdp_rx,
	.drops = xdp_drops,
	.close = close_xdp_src,
};

static int refused(const struct xdp *s, int rc, const char *what,
		   struct error *err)
{
	return xdp_refused(&s->iface, mem_size(s) * s->n, rc, what, err);
}

static int open_rx_queue(struct xdp *s, unsigned i, struct error *err)
{
	const struct xsk_umem_config umem = {
		.fill_size = s->frames,
		.comp_size = XSK_RING_CONS__DEFAULT_NUM_DESCS,
		.frame_size = (uint32_t)s->chunk,
	};
	const struct xsk_socket_config socket = {
		.rx_size = s->frames,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_USE_NEED_WAKEUP,
	};
	struct queue *q = &s->queue[i];
	void *mem = mmap(NULL, mem_size(s), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	uint32_t at;
	int rc;

	if (mem == MAP_FAILED)
		return refused(s, -errno, "memory", err);
	q->mem = mem;
	rc = xsk_umem__create(&q->umem, mem, mem_size(s), &q->fill,
			      &q->completion, &umem);
	if (rc)
		return refused(s, rc, "memory", err);
	if (xsk_ring_prod__reserve(&q->fill, s->frames, &at) == s->frames) {
		for (uint32_t k = 0; k < s->frames; k++)
			*xsk_ring_prod__fill_addr(&q->fill, at + k) = k *
								      s->chunk;
		xsk_ring_prod__submit(&q->fill, s->frames);
	}
	rc = xdp_create(&q->socket, &s->iface, i, q->umem, &q->rx, NULL,
			&socket);
	if (rc)
		return refused(s, rc, "socket", err);
	s->poll[i] = (struct pollfd){
		.fd = xsk_socket__fd(q->socket),
		.events = POLLIN,
	};
	rc = ports_socket(&s->ports, i, s->poll[i].fd);
	return rc ? refused(s, rc, "socket map", err) : 0;
}

static int open_queues(struct xdp *s, const struct live_options *o,
		       struct error *err)
{
	struct epoll_event e = {.events = EPOLLIN};
	int rc = ports_load(&s->ports, s->n, o->port);

	if (rc)
		return refused(s, rc, "program", err);
	if ((rc = ports_attach(&s->ports, s->iface.index)))
		return refused(s, rc, "attaching the program", err);
	for (unsigned i = 0; i < s->n && !rc; i++)
		rc = open_rx_queue(s, i, err);
	if (rc)
		return rc;
	/* One file descriptor to poll for all queues. */
	s->src.fd = s->n == 1 ? s->poll[0].fd : epoll_create1(EPOLL_CLOEXEC);
	for (unsigned i = 0; i < s->n && s->n > 1; i++)
		if (epoll_ctl(s->src.fd, EPOLL_CTL_ADD, s->poll[i].fd, &e) < 0)
			return refused(s, -errno, "epoll", err);
	s->src.kind = xdp_kind(s->poll[0].fd);
	return 0;
}

static int measure_queues(struct xdp *s, struct error *err)
{
	s->n = xdp_queues(&s->iface, false);
	if (s->n > QUEUES_MAX)
		return error_set(err, -ENOTSUP,
				 "%s: AF_XDP: %u queues, at most %d are read: "
				 "ethtool -L %s combined %d",
				 s->iface.name, s->n, QUEUES_MAX, s->iface.name,
				 QUEUES_MAX);
	for (s->chunk = CHUNK_MIN; s->chunk <= CHUNK_MAX; s->chunk *= 2)
		if (s->iface.mtu + OVERHEAD <= s->chunk)
			break;
	if (s->chunk > CHUNK_MAX)
		return error_set(err, -ENOTSUP,
				 "%s: AF_XDP: the MTU is %u, above %d frames "
				 "do not fit",
				 s->iface.name, s->iface.mtu,
				 CHUNK_MAX - OVERHEAD);
	for (s->frames = FRAMES_MAX; s->frames > FRAMES_MIN; s->frames /= 2)
		if (mem_size(s) * s->n <= MEMORY)
			break;
	s->queue = calloc(s->n, sizeof(*s->queue));
	s->poll = calloc(s->n, sizeof(*s->poll));
	if (!s->queue || !s->poll)
		return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

int xdp_src_open(struct src **out, const struct iface *i,
		 const struct live_options *o, struct error *err)
{
	struct xdp *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	libxdp_set_print(NULL); /* what is wrong is said by err */
	s->src = (struct src){
		.ops = &ops,
		.fd = -1,
		.wait_ms = -1,
	};
	s->ports = (struct ports){-1, -1, -1};
	s->promiscuous = -1;
	s->iface = *i;
	rc = filter_open(&s->filter, o, false, err);
	if (!rc)
		rc = measure_queues(s, err);
	if (!rc && o->promiscuous) {
		s->promiscuous = iface_promiscuous(&s->iface, err);
		rc = s->promiscuous < 0 ? s->promiscuous : 0;
	}
	if (rc || (rc = open_queues(s, o, err))) {
		close_xdp_src(&s->src);
		return rc;
	}
	*out = &s->src;
	return 0;
}
