/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * requester_rig.h - a RoCEv2 transport with a window and the rig's responder,
 * joined by two pipes through which a test carries the frames, one by one, as
 * it likes. Time is what the test says.
 */
#ifndef TESTS_UNIT_REQUESTER_RIG_H
#define TESTS_UNIT_REQUESTER_RIG_H

#include <fcntl.h>

#include "base/rng.h"
#include "rdma_rig.h"

enum {
	LINK_BYTES = 1 << 20,
	LINK_FRAMES = 8192,
	PCAP_HEADER = 24,
	PCAP_RECORD = 16,
};

/* A pipe with a capture in it, and what was read out of it. */
struct line {
	int fd[2];
	struct snk *sink;
	bool begun; /* the header was read */
	uint8_t bytes[CRC_HEADROOM + LINK_BYTES];
	struct pkt pkts[LINK_FRAMES];
};

static inline void line_open(struct line *l)
{
	struct error err = {""};
	char path[32];

	if (pipe2(l->fd, O_CLOEXEC | O_NONBLOCK) < 0)
		rig_die("pipe", NULL);
	fcntl(l->fd[1], F_SETPIPE_SZ, LINK_BYTES);
	snprintf(path, sizeof(path), "/dev/fd/%d", l->fd[1]);
	if (snk_open(&l->sink, path, &err) < 0)
		rig_die(path, &err);
	l->begun = false;
}

static inline void line_close(struct line *l)
{
	snk_close(l->sink);
	close(l->fd[0]);
	close(l->fd[1]);
}

/* Takes out the frames that are there. */
static inline size_t line_take(struct line *l)
{
	uint8_t *p = l->bytes + CRC_HEADROOM;
	ssize_t got, len = 0;
	size_t n = 0;

	snk_flush(l->sink);
	while ((got = read(l->fd[0], p + len, LINK_BYTES - (size_t)len)) > 0)
		len += got;
	for (uint8_t *end = p + len; p < end && n < LINK_FRAMES; n++) {
		uint32_t words[4];

		if (!l->begun)
			p += PCAP_HEADER;
		l->begun = true;
		if (p == end)
			break;
		memcpy(words, p, sizeof(words));
		p += PCAP_RECORD;
		l->pkts[n] = (struct pkt){p, words[2], words[2], 1000};
		p += words[2];
	}
	return n;
}

#endif
