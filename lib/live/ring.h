/* SPDX-License-Identifier: BSD-2-Clause */
/* ring.h - private to live/: a packet socket and its ring of blocks
 * (TPACKET_V3), which the kernel fills. */
#ifndef LIVE_RING_H
#define LIVE_RING_H

#include "live/private.h"

enum {
	RING_BLOCK = 1 << 17, /* bytes: more than the longest frame, GRO's */
	/* Each is handed over after a millisecond: so many of these a reader
	 * may be away, however little comes. */
	RING_BLOCKS = 128,
};

struct ring {
	int fd;	       /* -1: closed */
	uint8_t *map;  /* or NULL */
	unsigned head; /* the block in hand */
	unsigned tail; /* the first that was not given back */
	uint32_t left; /* packets of the block in hand; 0: none is */
	uint8_t *next; /* the first of them */
};

/* Nothing comes before ring_listen(). Both return 0 or -errno. */
int ring_open(struct ring *r, const struct iface *i, struct fault *f);
int ring_listen(const struct ring *r, const struct iface *i, struct fault *f);

/* What POLLERR means: 0 or what is wrong for good. */
int ring_judge(const struct ring *r, const struct iface *i, struct fault *f);

void ring_close(struct ring *r);

#endif
