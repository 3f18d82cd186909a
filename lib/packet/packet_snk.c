/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_snk.c - AF_PACKET: frames are built one behind the other, and one
 * sendmmsg() hands over all that were built since the last one. The interface's
 * queueing discipline is bypassed.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "packet/live_private.h"

enum {
	QUEUE_MAX = 512, /* frames for one sendmmsg(), unless it is flushed
			    before */
	BUFFER = 1 << 20,
	LINE = 64,
	WAIT_MS = 100, /* for the interface to take something */
};

struct packet_snk {
	struct snk snk;
	struct iface iface;
	int fd;
	int err; /* the first error, for good */
	unsigned queued;
	bool stuck; /* it took nothing lately: do not wait again */
	uint8_t *buffer;
	struct iovec frame[QUEUE_MAX];
	struct mmsghdr message[QUEUE_MAX];
};

static void lend_room(struct packet_snk *s, uint8_t *at)
{
	s->snk.at = at;
	s->snk.room = (size_t)(s->buffer + BUFFER - at);
}

/* Hands over frames from the first on. Returns how many were taken. */
static unsigned send_queued(struct packet_snk *s, unsigned first, int flags)
{
	int n = sendmmsg(s->fd, s->message + first, s->queued - first, flags);

	if (n >= 0)
		return (unsigned)n;
	if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS) {
		if (errno != ENETDOWN && !iface_there(s->iface.index))
			s->err = -ENODEV;
		s->stuck = true;
	}
	return 0;
}

static int packet_flush(struct snk *snk)
{
	struct packet_snk *s = (struct packet_snk *)snk;
	unsigned at = 0, n = 0;

	while (at < s->queued && !s->err) {
		n = send_queued(s, at, MSG_DONTWAIT);
		if (!n && !s->stuck)
			n = send_queued(s, at, 0); /* waits, at most WAIT_MS */
		s->stuck = !n;
		if (!n)
			break;
		at += n;
	}
	snk->drops += s->queued - at;
	s->queued = 0;
	lend_room(s, s->buffer);
	return s->err;
}

static int packet_room(struct snk *snk, size_t len)
{
	(void)len; /* PKT_MAX fits the empty buffer */
	return packet_flush(snk);
}

static void packet_done(struct snk *snk, size_t len, uint32_t wire_len,
			uint64_t ts_ns)
{
	struct packet_snk *s = (struct packet_snk *)snk;

	(void)wire_len;
	(void)ts_ns;
	if (!iface_fits(&s->iface, snk->at, len)) {
		snk->drops++;
		return;
	}
	s->frame[s->queued++] = (struct iovec){snk->at, len};
	if (s->queued == QUEUE_MAX)
		packet_flush(snk);
	else
		lend_room(s, snk->at + (len + LINE - 1) / LINE * LINE);
}

static int packet_close(struct snk *snk, int rc)
{
	struct packet_snk *s = (struct packet_snk *)snk;

	if (s->fd >= 0)
		close(s->fd);
	free(s->buffer);
	free(s);
	return rc;
}

static const struct snk_ops ops = {
	.room = packet_room,
	.done = packet_done,
	.flush = packet_flush,
	.close = packet_close,
};

static int open_socket(struct packet_snk *s, struct error *err)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_ifindex = s->iface.index,
	};
	struct timeval wait = {.tv_usec = WAIT_MS * 1000};
	int bypass = 1;

	s->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		return iface_refused(&s->iface, errno, err);
	setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	iface_send_buffer(s->fd);
	/* Protocol 0: it receives nothing */
	if (setsockopt(s->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &bypass,
		       sizeof(bypass)) < 0 ||
	    bind(s->fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return error_set(err, -errno, "%s: AF_PACKET: %s",
				 s->iface.name, strerror(errno));
	return 0;
}

int packet_snk_open(struct snk **out, const struct iface *i, struct error *err)
{
	struct packet_snk *s = calloc(1, sizeof(*s));
	int rc;

	if (!s || !(s->buffer = aligned_alloc(LINE, BUFFER))) {
		free(s);
		return error_set(err, -ENOMEM, "out of memory");
	}
	s->snk.ops = &ops;
	s->snk.kind = "AF_PACKET";
	s->fd = -1;
	s->iface = *i;
	for (unsigned k = 0; k < QUEUE_MAX; k++) {
		s->message[k].msg_hdr.msg_iov = &s->frame[k];
		s->message[k].msg_hdr.msg_iovlen = 1;
	}
	if ((rc = open_socket(s, err))) {
		packet_close(&s->snk, 0);
		return rc;
	}
	lend_room(s, s->buffer);
	*out = &s->snk;
	return 0;
}
