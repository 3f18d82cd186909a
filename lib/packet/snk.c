/* SPDX-License-Identifier: BSD-2-Clause */
/* Nanosecond pcap in the host's byte order, gathered in one buffer. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packet/pkt.h"
#include "packet/walk.h"

enum {
	BUFFER = 1 << 20,
	MAGIC_NANO = 0xa1b23c4d,
};

struct snk {
	int fd;
	bool opened;
	int err; /* the first error, for good */
	size_t len;
	uint8_t *buf;
};

static void put_file_header(struct snk *s)
{
	const uint16_t version[2] = {2, 4};
	const uint32_t words[6] = {
		[0] = MAGIC_NANO,
		[4] = PKT_MAX,
		[5] = WALK_ETHERNET,
	};

	memcpy(s->buf, words, sizeof(words));
	memcpy(s->buf + 4, version, sizeof(version));
	s->len = sizeof(words);
}

/* The record header, in front of a frame that is there already or comes next.
 */
static void put_record_header(uint8_t *p, size_t len, uint32_t wire_len,
			      uint64_t ts_ns)
{
	const uint32_t words[4] = {
		(uint32_t)(ts_ns / 1000000000),
		(uint32_t)(ts_ns % 1000000000),
		(uint32_t)len,
		wire_len,
	};

	memcpy(p, words, sizeof(words));
}

static int write_all(int fd, const uint8_t *p, size_t len)
{
	struct pollfd poller = {.fd = fd, .events = POLLOUT};
	ssize_t n;

	for (; len; p += n, len -= (size_t)n) {
		while ((n = write(fd, p, len)) < 0) {
			if (errno == EAGAIN)
				poll(&poller, 1, -1);
			else if (errno != EINTR)
				return -errno;
		}
	}
	return 0;
}

static int open_fd(struct snk *s, const char *path, struct fault *f)
{
	struct stat st;

	if (strcmp(path, "-")) {
		s->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			     0666);
		s->opened = s->fd >= 0;
	} else if (isatty(STDOUT_FILENO)) {
		return fault_set(f, -EINVAL,
				 "stdout is a terminal: name a "
				 "file, or pipe it on");
	}
	if (s->fd < 0 || fstat(s->fd, &st) < 0)
		return fault_set(f, -errno, "%s", strerror(errno));
	if (S_ISFIFO(st.st_mode))
		fcntl(s->fd, F_SETPIPE_SZ, BUFFER); /* best effort */
	return 0;
}

int snk_open(struct snk **out, const char *path, struct fault *f)
{
	struct snk *s = calloc(1, sizeof(*s));
	int rc;

	if (!s || !(s->buf = malloc(BUFFER))) {
		free(s);
		return fault_set(f, -ENOMEM, "out of memory");
	}
	s->fd = STDOUT_FILENO;
	if ((rc = open_fd(s, path, f))) {
		free(s->buf);
		free(s);
		return rc;
	}
	put_file_header(s);
	*out = s;
	return 0;
}

int snk_flush(struct snk *s)
{
	if (!s->err && s->len)
		s->err = write_all(s->fd, s->buf, s->len);
	s->len = 0;
	return s->err;
}

uint8_t *snk_room(struct snk *s, size_t len)
{
	if (len > PKT_MAX) {
		errno = EMSGSIZE;
		return NULL;
	}
	if (BUFFER - s->len < PCAP_RECORD_LEN + len && snk_flush(s)) {
		errno = -s->err;
		return NULL;
	}
	return s->buf + s->len + PCAP_RECORD_LEN;
}

void snk_done(struct snk *s, size_t len, uint64_t ts_ns)
{
	put_record_header(s->buf + s->len, len, (uint32_t)len, ts_ns);
	s->len += PCAP_RECORD_LEN + len;
}

int snk_tx(struct snk *s, const struct pkt *pkts, size_t n)
{
	uint8_t *p;

	for (size_t i = 0; i < n; i++) {
		if (!(p = snk_room(s, pkts[i].len)))
			return -errno;
		memcpy(p, pkts[i].data, pkts[i].len);
		put_record_header(p - PCAP_RECORD_LEN, pkts[i].len,
				  pkts[i].wire_len, pkts[i].ts_ns);
		s->len += PCAP_RECORD_LEN + pkts[i].len;
	}
	return s->err;
}

uint64_t snk_drops(const struct snk *s)
{
	(void)s;
	return 0;
}

const char *snk_kind(const struct snk *s)
{
	(void)s;
	return "pcap";
}

int snk_close(struct snk *s)
{
	int rc;

	if (!s)
		return 0;
	rc = snk_flush(s);
	if (s->opened && close(s->fd) < 0 && !rc)
		rc = -errno;
	free(s->buf);
	free(s);
	return rc;
}
