/* SPDX-License-Identifier: BSD-2-Clause */
/* capture_snk.c - writes nanosecond pcap in the host's byte order. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "packet/kind.h"

enum {
	BUFFER = 1 << 20,
	/* Bytes for one write() to a pipe, which holds BUFFER: its reader has
	 * work while more is made. */
	PIPE_ENOUGH = BUFFER / 8,
	MAGIC_NANO = 0xa1b23c4d,
	RECORD_LEN = 16, /* header of a record */
	LINK_ETHERNET = 1,
	STOP_MS = 1000, /* to wait for a reader once it is time to stop */
};

struct capture {
	struct snk snk;
	int fd;
	bool opened;
	int err;	    /* the first error, for good */
	size_t len, enough; /* bytes in buf; as many as are to be written */
	uint8_t *buf;
};

/* Bytes that write() may be given: all, or, once it is time to stop, as many as
 * the reader has room for; 0: it takes nothing. */
static size_t may_write(const struct capture *s, size_t len)
{
	struct pollfd p = {.fd = s->fd, .events = POLLOUT};
	uint64_t now, until;
	int n = 0;

	if (!s->snk.stop || !*s->snk.stop)
		return len;
	until = clock_ms() + STOP_MS; /* signals do not put it off */
	while ((now = clock_ms()) < until &&
	       (n = poll(&p, 1, (int)(until - now))) < 0 && errno == EINTR)
		;
	return n <= 0 ? 0 : len < PIPE_BUF ? len : PIPE_BUF;
}

/* A signal ends a write() that waits; may_write() then sees a stop. */
static int write_all(const struct capture *s, const uint8_t *p, size_t len)
{
	struct pollfd poller = {.fd = s->fd, .events = POLLOUT};
	size_t some;
	ssize_t n;

	while (len) {
		if (!(some = may_write(s, len)))
			return -ECANCELED;
		n = write(s->fd, p, some);
		if (n < 0 && errno == EAGAIN)
			poll(&poller, 1, -1);
		else if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int open_fd(struct capture *s, const char *path, struct error *err)
{
	struct stat st;

	if (strcmp(path, "-")) {
		s->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			     0666);
		s->opened = s->fd >= 0;
	} else if (isatty(STDOUT_FILENO)) {
		return error_set(err, -EINVAL,
				 "standard output is a terminal: name a "
				 "file, or pipe it on");
	}
	if (s->fd < 0 || fstat(s->fd, &st) < 0)
		return error_set(err, -errno, "%s", strerror(errno));
	if (S_ISFIFO(st.st_mode)) {
		fcntl(s->fd, F_SETPIPE_SZ, BUFFER); /* best effort */
		s->enough = PIPE_ENOUGH;
	}
	return 0;
}

/* Where the next frame goes, behind room for its record header. */
static void lend_room(struct capture *s)
{
	size_t used = s->len + RECORD_LEN;

	s->snk.at = s->buf + used;
	s->snk.room = used < BUFFER && s->len < s->enough ? BUFFER - used : 0;
}

static int capture_flush(struct snk *snk)
{
	struct capture *s = (struct capture *)snk;

	if (!s->err && s->len)
		s->err = write_all(s, s->buf, s->len);
	s->len = 0;
	lend_room(s);
	return s->err;
}

static int capture_room(struct snk *snk, size_t len)
{
	(void)len; /* PKT_MAX fits the empty buffer */
	return capture_flush(snk);
}

static void capture_done(struct snk *snk, size_t len, uint32_t wire_len,
			 uint64_t ts_ns)
{
	struct capture *s = (struct capture *)snk;
	const uint32_t words[4] = {
		(uint32_t)(ts_ns / 1000000000),
		(uint32_t)(ts_ns % 1000000000),
		(uint32_t)len,
		wire_len,
	};

	memcpy(s->buf + s->len, words, sizeof(words));
	s->len += RECORD_LEN + len;
	lend_room(s);
}

static int capture_close(struct snk *snk, int rc)
{
	struct capture *s = (struct capture *)snk;

	if (s->opened && close(s->fd) < 0 && !rc)
		rc = -errno;
	free(s->buf);
	free(s);
	return rc;
}

static const struct snk_ops ops = {
	.room = capture_room,
	.done = capture_done,
	.flush = capture_flush,
	.close = capture_close,
};

int snk_open(struct snk **out, const char *path, struct error *err)
{
	static const uint16_t version[2] = {2, 4};
	static const uint32_t words[6] = {
		[0] = MAGIC_NANO,
		[4] = PKT_MAX,
		[5] = LINK_ETHERNET,
	};
	struct capture *s = calloc(1, sizeof(*s));
	int rc;

	if (!s || !(s->buf = malloc(BUFFER))) {
		free(s);
		return error_set(err, -ENOMEM, "out of memory");
	}
	s->snk.ops = &ops;
	s->snk.kind = "pcap";
	s->fd = STDOUT_FILENO;
	s->enough = BUFFER;
	if ((rc = open_fd(s, path, err))) {
		free(s->buf);
		free(s);
		return rc;
	}
	memcpy(s->buf, words, sizeof(words));
	memcpy(s->buf + 4, version, sizeof(version));
	s->len = sizeof(words);
	lend_room(s);
	*out = &s->snk;
	return 0;
}
