/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dgram.c - Ethernet frames as datagrams of Unix sockets, one each, as QEMU's
 * -netdev dgram speaks them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "hash/crc.h"
#include "live/private.h"

enum {
	BATCH = 256,
	HEADROOM = 64,
	FRAME_MAX = (1 << 16) + HEADROOM, /* with HEADROOM: QEMU's NET_BUFSIZE
					     is 68 KB */
	SLOT = FRAME_MAX + HEADROOM,
	QUEUE = 1 << 18, /* bytes gathered for one sendmmsg() */
	WAIT_MS = 1000,	 /* for a peer to read */
};

_Static_assert((int)HEADROOM >= (int)CRC_HEADROOM, "packets need headroom");

struct receiver {
	struct src src;
	struct sockaddr_un at;
	bool bound;
	uint8_t *mem; /* BATCH slots */
	struct filter *filter;
	struct mmsghdr msg[BATCH];
	struct iovec iov[BATCH];
};

/* Reads what is there. Returns packets, -EAGAIN or -errno. */
static int read_batch(struct receiver *s, struct pkt *pkts, int max)
{
	int n = recvmmsg(s->src.fd, s->msg, max < BATCH ? (unsigned)max : BATCH,
			 MSG_DONTWAIT | MSG_TRUNC, NULL);
	uint64_t ts;

	if (n < 0)
		return -errno;
	ts = clock_wall_ns(); /* one reading for all that were waiting */
	for (int i = 0; i < n; i++) {
		uint32_t wire = s->msg[i].msg_len;

		pkts[i] = (struct pkt){
			.data = s->iov[i].iov_base,
			.len = wire < FRAME_MAX ? wire : FRAME_MAX,
			.wire_len = wire,
			.ts_ns = ts,
		};
		s->src.done += wire;
	}
	return s->filter ? filter_batch(s->filter, pkts, n) : n;
}

static int dgram_rx(struct src *src, struct pkt *pkts, int max, struct fault *f)
{
	struct receiver *s = (struct receiver *)src;
	struct pollfd p = {.fd = src->fd, .events = POLLIN};
	int n;

	while ((n = read_batch(s, pkts, max)) <= 0) {
		if (n && n != -EAGAIN)
			return fault_set(f, n, "%s: %s", s->at.sun_path,
					 strerror(-n));
		if (!n) /* none that matched: see whether there are more */
			continue;
		if ((n = poll(&p, 1, src->wait_ms)) < 0)
			return fault_set(f, -errno, "%s: %s", s->at.sun_path,
					 strerror(errno));
		if (!n)
			return -EAGAIN;
	}
	return n;
}

static void receiver_close(struct src *src)
{
	struct receiver *s = (struct receiver *)src;

	if (s->bound)
		unlink(s->at.sun_path);
	if (src->fd >= 0)
		close(src->fd);
	filter_close(s->filter);
	free(s->mem);
	free(s);
}

static const struct src_ops receiver_ops = {
	.rx = dgram_rx,
	.close = receiver_close,
};

static struct sockaddr_un address(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return a;
}

/* A socket that somebody left behind: nobody reads it any more. */
static bool is_stale(int fd, const struct sockaddr_un *a)
{
	struct stat st;

	return !stat(a->sun_path, &st) && S_ISSOCK(st.st_mode) &&
	       connect(fd, (const struct sockaddr *)a, sizeof(*a)) < 0 &&
	       errno == ECONNREFUSED;
}

static int bind_to(struct receiver *s, struct fault *f)
{
	const struct sockaddr *a = (struct sockaddr *)&s->at;
	int bytes = 1 << 22, err = 0;

	s->src.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s->src.fd < 0)
		return fault_set(f, -errno, "unix socket: %s", strerror(errno));
	setsockopt(s->src.fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (bind(s->src.fd, a, sizeof(s->at)) < 0) {
		err = errno;
		if (err == EADDRINUSE && is_stale(s->src.fd, &s->at) &&
		    !unlink(s->at.sun_path))
			err = bind(s->src.fd, a, sizeof(s->at)) < 0 ? errno : 0;
	}
	if (err)
		return fault_set(f, -err, "%s: %s", s->at.sun_path,
				 strerror(err));
	s->bound = true;
	return 0;
}

int dgram_src_open(struct src **out, const char *path,
		   const struct live_options *o, struct fault *f)
{
	struct receiver *s = calloc(1, sizeof(*s));
	int rc;

	if (!s || !(s->mem = calloc(BATCH, SLOT))) {
		free(s);
		return fault_set(f, -ENOMEM, "out of memory");
	}
	s->src = (struct src){
		.ops = &receiver_ops,
		.kind = "Unix datagrams",
		.fd = -1,
		.wait_ms = -1,
	};
	s->at = address(path);
	for (unsigned i = 0; i < BATCH; i++) {
		s->iov[i].iov_base = s->mem + (size_t)i * SLOT + HEADROOM;
		s->iov[i].iov_len = FRAME_MAX;
		s->msg[i].msg_hdr.msg_iov = &s->iov[i];
		s->msg[i].msg_hdr.msg_iovlen = 1;
	}
	rc = filter_open(&s->filter, o, false, f);
	if (!rc)
		rc = bind_to(s, f);
	if (rc) {
		receiver_close(&s->src);
		return rc;
	}
	*out = &s->src;
	return 0;
}

struct sender {
	struct snk snk;
	struct sockaddr_un to;
	int fd;
	bool stuck; /* the peer read nothing lately: do not wait again */
	unsigned n;
	size_t used; /* bytes of mem */
	uint8_t *mem;
	struct mmsghdr msg[BATCH];
	struct iovec iov[BATCH];
};

static void show_room(struct sender *s)
{
	s->snk.at = s->mem + s->used;
	s->snk.room = s->n < BATCH ? QUEUE - s->used : 0;
}

/* A peer that does not read holds us up once; one that is not there, never. */
static int sender_flush(struct snk *snk)
{
	struct sender *s = (struct sender *)snk;
	unsigned sent = 0;

	while (sent < s->n) {
		int n = sendmmsg(s->fd, s->msg + sent, s->n - sent,
				 s->stuck ? MSG_DONTWAIT : 0);

		if (n > 0) {
			sent += (unsigned)n;
			s->stuck = false;
		} else if (errno != EINTR) {
			s->stuck = errno == EAGAIN;
			snk->drops++;
			sent++;
		}
	}
	s->n = 0;
	s->used = 0;
	show_room(s);
	return 0;
}

static int sender_room(struct snk *snk, size_t len)
{
	(void)len; /* PKT_MAX fits the empty queue */
	return sender_flush(snk);
}

static void sender_done(struct snk *snk, size_t len, uint32_t wire_len,
			uint64_t ts_ns)
{
	struct sender *s = (struct sender *)snk;

	(void)wire_len;
	(void)ts_ns;
	s->iov[s->n] = (struct iovec){snk->at, len};
	s->msg[s->n].msg_hdr = (struct msghdr){
		.msg_name = &s->to,
		.msg_namelen = sizeof(s->to),
		.msg_iov = &s->iov[s->n],
		.msg_iovlen = 1,
	};
	s->n++;
	s->used += len;
	show_room(s);
}

static int sender_close(struct snk *snk, int rc)
{
	struct sender *s = (struct sender *)snk;

	close(s->fd);
	free(s->mem);
	free(s);
	return rc;
}

static const struct snk_ops sender_ops = {
	.room = sender_room,
	.done = sender_done,
	.flush = sender_flush,
	.close = sender_close,
};

int dgram_snk_open(struct snk **out, const char *path, struct fault *f)
{
	struct timeval wait = {.tv_sec = WAIT_MS / 1000};
	struct sender *s = calloc(1, sizeof(*s));
	int rc;

	if (!s || !(s->mem = malloc(QUEUE))) {
		free(s);
		return fault_set(f, -ENOMEM, "out of memory");
	}
	s->snk.ops = &sender_ops;
	s->snk.kind = "Unix datagrams";
	s->to = address(path);
	s->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s->fd < 0) {
		rc = fault_set(f, -errno, "unix socket: %s", strerror(errno));
		free(s->mem);
		free(s);
		return rc;
	}
	setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	show_room(s);
	*out = &s->snk;
	return 0;
}
