/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_snk.c - AF_PACKET with PACKET_MMAP: frames are built in the slots of a
 * ring, and one send() hands over all that were built since the last one. The
 * interface's queueing discipline is bypassed.
 *
 * Who asks for room often asks for more than he needs. Where that is more than
 * a slot's, the frame is built aside and copied if it fits after all.
 *
 * Source: packet(7); Documentation/networking/packet_mmap.rst of Linux 6.1.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "live/private.h"

enum {
	RING = 8 << 20, /* bytes */
	BLOCK = 1 << 16,
	SLOT_MIN = 1 << 11,
	QUEUE_MAX = 512, /* frames for one send(), if nobody flushes before */
	HEADER = TPACKET2_HDRLEN - sizeof(struct sockaddr_ll),
	NAP_US = 100,
	WAIT_MS = 100, /* for the interface to take something */
	SEND_BUFFER = 16 << 20,
};

struct ring {
	struct snk snk;
	struct iface iface;
	int fd;
	int err; /* the first error, for good */
	uint8_t *map, *aside;
	unsigned slot_size, slots;
	unsigned head;	 /* the next slot */
	unsigned queued; /* before it: built, not handed over */
	bool stuck;	 /* it took nothing lately: do not wait again */
};

static struct tpacket2_hdr *slot(const struct ring *s, unsigned i)
{
	return (void *)(s->map + (size_t)(i % s->slots) * s->slot_size);
}

static bool is_free(const struct ring *s, unsigned i)
{
	return __atomic_load_n(&slot(s, i)->tp_status, __ATOMIC_ACQUIRE) ==
	       TP_STATUS_AVAILABLE;
}

/* The next frame goes to the next slot, if that is free, or aside. */
static void show_room(struct ring *s)
{
	s->snk.at = (uint8_t *)slot(s, s->head) + HEADER;
	s->snk.room = is_free(s, s->head) ? s->slot_size - HEADER : 0;
}

/* Forgets the slots that the kernel took. Returns whether there were any. */
static bool taken(struct ring *s)
{
	unsigned before = s->queued;

	while (s->queued) {
		uint32_t status = __atomic_load_n(
			&slot(s, s->head - s->queued)->tp_status,
			__ATOMIC_ACQUIRE);

		if (status & (TP_STATUS_SEND_REQUEST | TP_STATUS_WRONG_FORMAT))
			break;
		s->queued--;
	}
	return s->queued < before;
}

/* Frames that the kernel did not take: it will look for the next one where the
 * first of them is. */
static void drop_queued(struct ring *s)
{
	s->snk.drops += s->queued;
	for (; s->queued; s->queued--)
		__atomic_store_n(&slot(s, --s->head)->tp_status,
				 TP_STATUS_AVAILABLE, __ATOMIC_RELEASE);
}

/* Hands over what is queued. Returns whether something was taken. */
static bool push(struct ring *s, int flags)
{
	int rc = 0;

	if (send(s->fd, NULL, 0, flags) < 0)
		rc = -errno;
	if (taken(s))
		return true;
	if (!rc || rc == -EAGAIN || rc == -EINTR || rc == -ENOBUFS)
		return false;
	if (rc != -ENETDOWN && !iface_there(s->iface.index))
		s->err = -ENODEV;
	drop_queued(s);
	return false;
}

static int ring_flush(struct snk *snk)
{
	struct ring *s = (struct ring *)snk;

	while (s->queued && !s->err) {
		bool any = push(s, MSG_DONTWAIT);

		if (!any && s->queued && !s->stuck)
			any = push(s, 0); /* waits, at most WAIT_MS */
		s->stuck = !any;
		if (!any)
			drop_queued(s);
	}
	show_room(s);
	return s->err;
}

/*
 * Waits for a slot that the interface has. By looking: poll() tells of room in
 * the socket, and send() with nothing to send spins in the kernel.
 */
static bool wait_free(const struct ring *s)
{
	struct timespec nap = {.tv_nsec = NAP_US * 1000};

	for (int us = 0; us < WAIT_MS * 1000; us += NAP_US) {
		if (is_free(s, s->head))
			return true;
		nanosleep(&nap, NULL);
	}
	return is_free(s, s->head);
}

static int ring_room(struct snk *snk, size_t len)
{
	struct ring *s = (struct ring *)snk;

	if (!is_free(s, s->head)) {
		ring_flush(snk);
		/* all are handed over, none is done with: wait for that */
		if (!s->stuck)
			s->stuck = !wait_free(s);
		show_room(s);
	}
	if (s->err)
		return s->err;
	if (len > snk->room) {
		snk->at = s->aside;
		snk->room = PKT_MAX;
	}
	return 0;
}

static void ring_done(struct snk *snk, size_t len, uint32_t wire_len,
		      uint64_t ts_ns)
{
	struct ring *s = (struct ring *)snk;
	struct tpacket2_hdr *h = slot(s, s->head);

	(void)wire_len;
	(void)ts_ns;
	if (!iface_fits(&s->iface, snk->at, len) || !is_free(s, s->head)) {
		snk->drops++;
		show_room(s);
		return;
	}
	if (snk->at == s->aside)
		memcpy((uint8_t *)h + HEADER, s->aside, len);
	h->tp_len = (uint32_t)len;
	__atomic_store_n(&h->tp_status, TP_STATUS_SEND_REQUEST,
			 __ATOMIC_RELEASE);
	s->head++;
	if (++s->queued >= QUEUE_MAX)
		ring_flush(snk);
	else
		show_room(s);
}

static int ring_close(struct snk *snk, int rc)
{
	struct ring *s = (struct ring *)snk;

	if (s->map)
		munmap(s->map, (size_t)s->slot_size * s->slots);
	if (s->fd >= 0)
		close(s->fd);
	free(s->aside);
	free(s);
	return rc;
}

static const struct snk_ops ops = {
	.room = ring_room,
	.done = ring_done,
	.flush = ring_flush,
	.close = ring_close,
};

static int option(const struct ring *s, int name, int value, struct fault *f)
{
	if (!setsockopt(s->fd, SOL_PACKET, name, &value, sizeof(value)))
		return 0;
	return fault_set(f, -errno, "%s: AF_PACKET option %d: %s",
			 s->iface.name, name, strerror(errno));
}

/* Slots of a power of two, in blocks of whole slots. */
static int map_ring(struct ring *s, struct fault *f)
{
	struct tpacket_req req = {0};
	void *map;

	s->slot_size = SLOT_MIN;
	while (s->slot_size < HEADER + iface_longest(&s->iface))
		s->slot_size *= 2;
	req.tp_block_size = s->slot_size < BLOCK ? BLOCK : s->slot_size;
	req.tp_block_nr = RING / req.tp_block_size;
	req.tp_frame_size = s->slot_size;
	req.tp_frame_nr = s->slots = RING / s->slot_size;
	if (setsockopt(s->fd, SOL_PACKET, PACKET_TX_RING, &req, sizeof(req)) <
	    0)
		return fault_set(f, -errno, "%s: a ring of %d MB: %s",
				 s->iface.name, RING >> 20, strerror(errno));
	map = mmap(NULL, RING, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_POPULATE, s->fd, 0);
	if (map == MAP_FAILED)
		return fault_set(f, -errno, "%s: mapping the ring: %s",
				 s->iface.name, strerror(errno));
	s->map = map;
	return 0;
}

/* Limits on time and memory: as good as we may have them. */
static void set_limits(const struct ring *s)
{
	struct timeval wait = {.tv_usec = WAIT_MS * 1000};
	int bytes = SEND_BUFFER;

	setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	if (setsockopt(s->fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes,
		       sizeof(bytes)) < 0)
		setsockopt(s->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

static int open_ring(struct ring *s, struct fault *f)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_ifindex = s->iface.index,
	};
	int rc;

	if (!(s->aside = malloc(PKT_MAX)))
		return fault_set(f, -ENOMEM, "out of memory");
	s->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		return iface_refused(&s->iface, errno, f);
	rc = option(s, PACKET_VERSION, TPACKET_V2, f);
	if (!rc)
		rc = option(s, PACKET_QDISC_BYPASS, 1, f);
	if (!rc)
		rc = map_ring(s, f);
	if (rc)
		return rc;
	set_limits(s);
	/* Protocol 0: it receives nothing */
	if (bind(s->fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return fault_set(f, -errno, "%s: %s", s->iface.name,
				 strerror(errno));
	return 0;
}

int ring_snk_open(struct snk **out, const struct iface *i, struct fault *f)
{
	struct ring *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return fault_set(f, -ENOMEM, "out of memory");
	s->snk.ops = &ops;
	s->snk.kind = "AF_PACKET";
	s->fd = -1;
	s->iface = *i;
	if ((rc = open_ring(s, f))) {
		ring_close(&s->snk, 0);
		return rc;
	}
	show_room(s);
	*out = &s->snk;
	return 0;
}
