/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * far_wire.h - a region's file over a pair of descriptors: who has it hands
 * out byte ranges, who asks reads them as a memory_link's pieces. All asking of
 * keys and lists happens at that end.
 *
 *	hello    "DTAm"; version (2 bytes); 0 (2); size of the file (8)
 *	request  number of pieces (4); of each: offset (8), length (4)
 *	answer   bytes in all (4); they, piece after piece
 *
 * The hello comes unasked, each answer after its request; pieces are read in
 * their order, and after what was read before. Numbers are big-endian, bytes as
 * they lie in the file. The end of the input between two requests ends it. Who
 * asks for what is no request, or not in the file, gets no answer any more.
 */
#ifndef REGION_FAR_WIRE_H
#define REGION_FAR_WIRE_H

#include "region/far.h"

enum {
	WIRE_VERSION = 2,
	WIRE_PIECES = 65536,   /* of a request */
	WIRE_BYTES = 16 << 20, /* of an answer */
	WIRE_HELLO = 16,
	WIRE_PIECE = 12,
	WIRE_REQUEST = 4 + WIRE_PIECES * WIRE_PIECE,
};

/*
 * Hands out the file of size bytes until the input ends or stop becomes true:
 * 0. -EBADMSG, -ERANGE: what was asked is no request; else -errno. f tells.
 */
int wire_serve(const uint8_t *file, uint64_t size, int in, int out,
	       const atomic_int *stop, struct fault *f);

/* The asking end. */
struct wire {
	int fd; /* a socket: writing to one that is gone raises nothing */
	const atomic_int *stop;
	uint8_t *request, *answer;
};

/* Closes nothing: fd is the caller's. */
int wire_init(struct wire *w, int fd, const atomic_int *stop);
void wire_fini(struct wire *w);

/*
 * Waits for the hello. Returns 0; -EPIPE: the other end went away, without a
 * reason; -EBADMSG, -EPROTONOSUPPORT: it is no other end, or not of this
 * version, and f tells; or -errno.
 */
int wire_hello(struct wire *w, uint64_t *size, struct fault *f);

/* All pieces, by as few requests as they fit in. -errno as above. */
int wire_read(struct wire *w, const struct memory_piece *p, size_t n,
	      struct fault *f);

#endif
