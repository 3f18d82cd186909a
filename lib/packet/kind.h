/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kind.h - the interface of kinds of sources and sinks, in this room.
 *
 * A kind embeds struct src or struct snk as the first member of its own struct.
 * What is done for each packet costs at most one indirect call.
 */
#ifndef PACKET_KIND_H
#define PACKET_KIND_H

#include "packet/pkt.h"

struct batch_pool; /* src.c */

struct src_ops {
	int (*rx)(struct src *s, struct pkt *pkts, int max, struct error *err);
	uint64_t (*drops)(struct src *s); /* NULL: there are none */
	/* From now on packets stay valid until it is closed; false, or NULL:
	 * they cannot, and src.c copies them. */
	bool (*hold)(struct src *s);
	void (*close)(struct src *s); /* NULL: there is nothing to do */
};

struct src {
	const struct src_ops *ops;
	const char *kind;
	int fd;
	int wait_ms;
	uint64_t done, size; /* bytes: see src_done() */
	/* Copies of packets for src_hold_batches(); NULL: none. */
	struct batch_pool *pool;
	int error; /* that src_rx_now() met, and why: for all later calls */
	struct error why;
};

struct snk_ops {
	/* The room at `at` is too small for a frame of len bytes: makes it
	 * large enough. Returns 0 or -errno. */
	int (*room)(struct snk *s, size_t len);
	/* A frame of len bytes was written to `at`. */
	void (*done)(struct snk *s, size_t len, uint32_t wire_len,
		     uint64_t ts_ns);
	int (*flush)(struct snk *s);
	/* Frames that were flushed and wait for an interface that does not take
	 * them; NULL: none do. */
	uint64_t (*left)(const struct snk *s);
	/* After the last flush: waits for what is on its way out; NULL: nothing
	 * ever is. */
	void (*settle)(struct snk *s);
	int (*close)(struct snk *s, int rc); /* after the last flush's rc */
};

struct snk {
	const struct snk_ops *ops;
	const char *kind;
	uint8_t *at;		/* where the next frame goes */
	size_t room;		/* bytes there */
	uint64_t drops;		/* frames that were not taken */
	const atomic_int *stop; /* snk_until(), or NULL */
};

#endif
